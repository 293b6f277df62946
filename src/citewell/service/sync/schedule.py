"""Runs whose time has come, as jobs of the server's worker; none twice at once."""

from __future__ import annotations

import asyncio
import logging

from citewell.errors import CitewellError
from citewell.runtime.app import App
from citewell.service.jobs.job_lease import Holder
from citewell.service.sync.run_sync import run_sync
from citewell.service.sync.sync_places import make_job_maker
from citewell.service.sync.sync_report import SyncReport
from citewell.store.job_rows import Job

log = logging.getLogger(__name__)
LOOK = 5.0  # seconds between two looks at the clock


async def start_due_syncs_forever(app: App) -> None:
    """What the disk refuses is tried again at the next look."""
    while True:
        try:
            if await app.syncs.start_due(make_job_maker(app)):
                app.new_job.set()
        except CitewellError as error:
            log.warning("schedules wait: %s", error.message)
        except Exception:
            log.exception("schedules wait")
        await asyncio.sleep(LOOK)


async def run_sync_job(app: App, job: Job, holder: Holder) -> SyncReport:
    """A run as a job: its report is the job's result."""
    return await run_sync(app, str(job.payload["sync_id"]), holder.tell, allowed=holder.check_held)

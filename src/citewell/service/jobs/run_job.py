"""One job to its end: done, failed, cancelled, put off, or handed back. A fault of one job never
stops the worker, and what was acknowledged is not lost because the disk refuses.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from citewell.errors import CitewellError, Conflict, Stopped, StorageError, TransientError
from citewell.instrumentation import observe_operation
from citewell.messages import dump_model
from citewell.runtime.app import App
from citewell.service.jobs.job_lease import Holder
from citewell.service.jobs.sent_files import delete_sent_files
from citewell.service.knowledge.give_feedback import KIND as FEEDBACK
from citewell.store.job_claims import LONGEST_PAUSE
from citewell.store.job_rows import Job, count_postponements
from citewell.store.jobs import Jobs
from citewell.types import Shown

log = logging.getLogger(__name__)
Work = Callable[[App, Job, Holder], Awaitable[Shown]]
PAUSE = 5.0  # seconds that a job waits after what may pass: four times as long each time
# how often in a row: a disk that refuses for a day, a model or a site that is away for an hour
PASSING: dict[type[CitewellError], int] = {StorageError: 100, TransientError: 8}


async def run_job(app: App, job: Job, work: Work) -> None:
    """Run one job to its end by `work`; a fault of one job never stops the worker."""
    with observe_operation("job", job.kind, ids={"job_id": job.job_id}) as this:
        log.info("job begins: %s", job.kind)
        this.facts["state"] = await _execute_job(app, job, work)
        log.info("job %s: %s", this.facts["state"], job.kind)


async def _execute_job(app: App, job: Job, work: Work) -> str:
    """How it ended: `done`, `failed`, `cancelled`, `taken`, or `queued` again (disk refused)."""
    state = "done"
    try:
        report = await Holder(app, job).run_held(lambda holder: work(app, job, holder))
        await app.jobs.finish(job.job_id, dump_model(report), attempt=job.attempts)
    except (
        asyncio.CancelledError,
        Stopped,
    ):  # what it asked an agent is cut off together with this worker
        await asyncio.shield(asyncio.create_task(_release_job(app.jobs, job)))
        raise asyncio.CancelledError from None
    except Conflict as error:
        return await _handle_lost_job(app, job, error)
    except CitewellError as error:
        most = next((most for kind, most in PASSING.items() if isinstance(error, kind)), 0)
        if job.kind != FEEDBACK and count_postponements(job) < most:
            # `try_again` does it for a vote, which says so meanwhile
            return await _postpone_job(app, job, error)
        state = "failed"
        log.warning("job failed: %s", error.code)
        await app.jobs.fail(job.job_id, error, attempt=job.attempts)
    except Exception as error:
        state = "failed"
        log.exception("job %s", job.job_id)
        fault = {
            "code": "internal",
            "message": f"internal error: {type(error).__name__}",
            "hint": "the server's log says where",
        }
        await app.jobs.fail(job.job_id, fault, attempt=job.attempts)
    if state == "done":  # what failed keeps what it was sent, to be tried again
        await delete_sent_files(app, job.payload)
    return state


async def _postpone_job(app: App, job: Job, error: CitewellError) -> str:
    """Nothing acknowledged is lost while something is away: the job waits with its bytes."""
    pause = min(LONGEST_PAUSE, PAUSE * 4 ** count_postponements(job))
    log.warning("job waits for %.0f seconds: %s", pause, error.message)
    try:
        return (await app.jobs.put_off(job.job_id, error, pause, attempt=job.attempts)).state
    except Conflict as conflict:
        return await _handle_lost_job(app, job, conflict)


async def _handle_lost_job(app: App, job: Job, error: Conflict) -> str:
    """It was cancelled, or another worker has it now, and its files."""
    log.warning("%s", error.message)
    if (await app.jobs.get(job.job_id)).state != "cancelled":
        return "taken"
    await delete_sent_files(app, job.payload)
    return "cancelled"


async def _release_job(jobs: Jobs, job: Job) -> None:
    """A server that is stopped hands its job back: stopping is no fault of the job's."""
    try:
        await jobs.release(job.job_id, attempt=job.attempts)
    except CitewellError as error:
        # it ended just now, or the disk refuses: then its lease runs out
        log.warning("%s", error.message)

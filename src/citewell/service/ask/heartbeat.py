"""Signs of life of a run under way, so that nobody takes it up; freed on leaving."""

from __future__ import annotations

import asyncio
import logging

from citewell.errors import CitewellError, Conflict
from citewell.service.ask.run import Run

log = logging.getLogger(__name__)
# seconds between two; a lease lasts LEASE_SECONDS of store/runs.py, so five may be missed
BEAT = 5.0


class RunHeartbeat:
    """As long as the block lasts, whether or not anything is kept of the run yet."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def __aenter__(self) -> None:
        self._beating = asyncio.create_task(self._send_heartbeats())

    async def __aexit__(self, *_: object) -> None:
        self._beating.cancel()
        await asyncio.shield(
            asyncio.gather(self._beating, self._release_run(), return_exceptions=True)
        )

    async def _send_heartbeats(self) -> None:
        run = self._run
        while True:
            await asyncio.sleep(BEAT)
            if not run.holder:
                continue
            try:
                if await run.app.runs.renew(run.trace_id, run.holder):
                    run.stop.set()
            except Conflict:
                return  # taken over, or ended; it is told at its next step
            except CitewellError as error:
                # the lease may last until the next sign
                log.warning("run %s: %s", run.trace_id, error.message)

    async def _release_run(self) -> None:
        run = self._run
        if not run.holder:
            return
        try:
            await run.app.runs.release(run.trace_id, run.holder)
        except CitewellError as error:
            log.warning("run %s: %s", run.trace_id, error.message)  # its lease runs out

"""Jobs that were under way in several processes that died: each is tried alone, in a process of its
own. A process that dies here while the one that started it lives was killed by its job; where both
die nobody is to blame. It ends with its input, so it never outlives the server for long.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import sys
from contextlib import suppress
from pathlib import Path

import anyio

from citewell.config import Settings
from citewell.runtime.app import App
from citewell.store.jobs import Jobs
from citewell.store.processes import name_process

log = logging.getLogger(__name__)
PROGRAM = "from citewell.service.jobs.isolated_process import serve; serve()"
PACKAGES = str(Path(__file__).resolve().parents[3])  # where `citewell` is
POLL = 5.0  # seconds between two looks for such jobs
SECONDS_TO_STOP = 10.0  # that it has to hand its job back


async def run_isolated_jobs_forever(app: App) -> None:
    """For ever, in a server: whenever there is such a job."""
    while True:
        try:
            await run_isolated_jobs(app.jobs, app.settings)
        except Exception:
            log.exception("jobs that are to be tried alone wait")
        await asyncio.sleep(POLL)


async def run_isolated_jobs(jobs: Jobs, settings: Settings, kind: str = "") -> None:
    """Those (of this kind) that wait, one after the other. Raises StorageError."""
    while await jobs.has_suspects(kind):
        name, code = await _run_process(settings, kind)
        if not code:
            continue
        blamed = await jobs.record_crash(name)
        for job in blamed:
            log.warning(
                "job %s was alone in a process that died (%d): it is %s",
                job.job_id,
                code,
                job.state,
            )
        if not blamed:
            log.warning("the process that tries jobs alone ended (%d) without one", code)
            return


async def _run_process(settings: Settings, kind: str) -> tuple[str, int]:
    """Run one to its end; its name, and its exit code. Cancelled, it hands back what it is at."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), PACKAGES])}
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-c",
        PROGRAM,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        env=environment,
    )
    assert child.stdin is not None
    name = name_process(child.pid)
    try:
        with suppress(ConnectionError):  # it has ended already
            child.stdin.write(pickle.dumps((settings, kind)))
            await child.stdin.drain()
        return name, await child.wait()
    finally:
        child.stdin.close()
        with anyio.CancelScope(shield=True):
            try:
                async with asyncio.timeout(SECONDS_TO_STOP):
                    await child.wait()
            except TimeoutError:
                child.kill()
                await child.wait()

"""The program of a process that tries jobs alone (isolated_jobs.py)."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import sys
import threading
from contextlib import suppress

from citewell.config import Settings
from citewell.errors import CitewellError
from citewell.runtime.app import App
from citewell.service.jobs.isolated_jobs import SECONDS_TO_STOP
from citewell.service.jobs.worker import process_job

log = logging.getLogger(__name__)


def serve() -> None:
    """The program of that process."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    settings, kind = pickle.load(sys.stdin.buffer)  # noqa: S301 - the parent wrote it
    try:
        asyncio.run(_run_jobs(settings, kind))
    except CitewellError as error:  # the disk, as a rule: the parent tries again
        log.warning("jobs cannot be tried alone: %s", error.message)
        sys.exit(1)


async def _run_jobs(settings: Settings, kind: str) -> None:
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None

    def watch() -> None:
        """The input's end is the parent's end, or its wish."""
        while os.read(
            sys.stdin.fileno(), 4_096
        ):  # not its buffer, whose lock the exit would wait for
            pass
        with suppress(RuntimeError):  # it is over anyway
            loop.call_soon_threadsafe(task.cancel)
        threading.Event().wait(SECONDS_TO_STOP)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    with suppress(asyncio.CancelledError):
        async with App(settings) as app:
            while (job := await app.jobs.claim(kind, alone=True)) is not None:
                await process_job(app, job)

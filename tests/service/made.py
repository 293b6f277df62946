"""What several tests of the service need: the scripted model, a worker, a paper of a page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.jobs.worker import run_worker
from citewell.store.job_rows import ENDED, Job

PAPER = """# A Lamp That Learns

Ann Keeper, Ben Wick

# Abstract

We present LampNet, a lamp that learns when ships pass and saves a third of its energy. It was tried
in two harbours for a year.

# 1 Introduction

Lighthouses burn all night although few ships pass. Keepers have asked for lamps that wait for
ships. Earlier lamps used clocks and failed in fog. We ask whether a small network can foresee the
next ship.

# 2 Method

LampNet is a recurrent network with 64 hidden units. It reads the times of the last twenty ships and
the height of the tide. It was trained for ten epochs with a learning rate of 0.01. The loss counts
a dark lamp for a ship a hundred times as much as an idle lamp, because that is what the keepers of
both harbours told us when we asked them.
"""


def script(app: App) -> ScriptedLLM:
    assert isinstance(app.llm, ScriptedLLM)
    return app.llm


@asynccontextmanager
async def working(app: App) -> AsyncIterator[None]:
    task = asyncio.create_task(run_worker(app))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def ended(app: App, job_id: str) -> Job:
    async with asyncio.timeout(120):
        while (job := await app.jobs.get(job_id)).state not in ENDED:  # noqa: ASYNC110  # a row of the table
            await asyncio.sleep(0.02)
    return job

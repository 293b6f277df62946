"""A worker that is stopped while a job ends for another reason."""

from __future__ import annotations

import asyncio

import pytest
from tests.service.test_jobs import upload

from citewell.runtime.app import App
from citewell.service.jobs import worker
from citewell.service.jobs.submit import submit_uploads
from citewell.store.job_rows import Job


async def test_a_worker_ends_though_its_job_hides_the_cancellation(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()

    async def lose_job(_: App, __: Job) -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return  # as when the job was cancelled by its owner in the same moment

    monkeypatch.setattr(worker, "process_job", lose_job)
    working = asyncio.create_task(worker.run_worker(app))
    await submit_uploads(app, "docs", [upload("a.md")])
    await begun.wait()
    working.cancel()
    done, _ = await asyncio.wait({working}, timeout=30)
    assert done == {working}

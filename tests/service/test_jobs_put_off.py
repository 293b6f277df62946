"""Jobs that the disk refuses: they wait with their bytes."""

from __future__ import annotations

import io
import sqlite3
import time
from contextlib import closing
from typing import Any

import pytest

from citewell.config import Settings
from citewell.errors import CitewellError, StorageError
from citewell.runtime.app import App
from citewell.service.jobs import run_job
from citewell.service.jobs import worker as jobs
from citewell.service.jobs.run_job import PASSING
from citewell.service.jobs.submit import cancel_or_discard_job, retry_job, submit_uploads
from citewell.service.library.add import add_sources
from citewell.service.library.uploads import Upload
from citewell.store.job_claims import LONGEST_PAUSE
from citewell.store.job_rows import Job
from citewell.store.leases import Leases

WHY = {"code": StorageError.code, "message": "the disk is full", "hint": "free some space"}


class Refusing:
    """In the place of `add_sources`: the disk refuses so often, then the work is done."""

    def __init__(self, times: int, kind: type[CitewellError] = StorageError) -> None:
        self.times = times
        self.kind = kind

    async def __call__(self, *arguments: Any) -> object:
        if self.times:
            self.times -= 1
            raise self.kind(WHY["message"], hint=WHY["hint"])
        return await add_sources(*arguments)


def upload() -> Upload:
    return Upload("a.md", io.BytesIO(b"# Lighthouse\n\nIt was built in 1857.\n"))


@pytest.fixture
async def job(app: App) -> Job:
    return await submit_uploads(app, "docs", [upload()])


async def run(app: App) -> None:
    """Every job that may be taken now, until none may."""
    while (claimed := await app.jobs.claim()) is not None:
        await jobs.process_job(app, claimed)


def folders(app: App) -> list[str]:
    """Of the bytes that are there."""
    return [path.name for path in (app.settings.home / "uploads").iterdir()]


async def test_an_upload_outlives_a_disk_that_refuses(
    app: App, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often: it waits with its bytes and why, and becomes its document."""
    monkeypatch.setattr(jobs, "add_sources", Refusing(4))
    await run(app)
    waits = await app.jobs.get(job.job_id)
    assert (waits.state, waits.attempts, waits.error) == ("queued", 0, {**WHY, "times": "1"})
    assert folders(app) == [job.payload["folder"]]
    later = time.monotonic() + LONGEST_PAUSE
    monkeypatch.setattr(app.jobs, "_leases", Leases(15.0, lambda: later))
    monkeypatch.setattr(run_job, "PAUSE", 0.0)
    await run(app)
    done = await app.jobs.get(job.job_id)
    assert (done.state, done.error) == ("done", None)
    assert [info.uri for info in await app.catalog.documents("docs")] == ["upload:a.md"]
    assert folders(app) == []


@pytest.mark.sqlite
async def test_another_process_writes_for_longer_than_we_wait(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is free again when the job is put off, and its bytes are there."""
    monkeypatch.setattr("citewell.store.dialects.sqlite_file.BUSY_SECONDS", 0.2)
    async with App(settings) as app:
        job = await submit_uploads(app, "docs", [upload()])
        claimed = await app.jobs.claim()
        assert claimed is not None
        put_off = app.jobs.put_off
        with closing(sqlite3.connect(settings.database, isolation_level=None)) as other:

            async def when_free(*arguments: Any, **named: Any) -> Job:
                other.execute("ROLLBACK")
                return await put_off(*arguments, **named)

            monkeypatch.setattr(app.jobs, "put_off", when_free)
            other.execute("BEGIN IMMEDIATE")
            await jobs.process_job(app, claimed)
        waits = await app.jobs.get(job.job_id)
        assert waits.state == "queued"
        assert "another process is writing" in (waits.error or {})["message"]
        assert folders(app) == [job.payload["folder"]]


@pytest.mark.parametrize("kind", PASSING)
async def test_what_always_refuses_ends_a_job(
    app: App, job: Job, kind: type[CitewellError], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk, or a model that is away: after so many refusals the job fails, says why, and keeps
    its bytes; its pauses grow, up to the longest.
    """
    most = PASSING[kind]
    monkeypatch.setattr(jobs, "add_sources", Refusing(most + 1, kind))
    pauses: list[float] = []
    put_off = app.jobs.put_off

    async def at_once(job_id: str, error: CitewellError, seconds: float, *, attempt: int) -> Job:
        pauses.append(seconds)
        return await put_off(job_id, error, 0.0, attempt=attempt)

    monkeypatch.setattr(app.jobs, "put_off", at_once)
    await run(app)
    failed = await app.jobs.get(job.job_id)
    assert (failed.state, failed.error) == ("failed", {**WHY, "code": kind.code})
    assert folders(app) == [job.payload["folder"]]
    assert pauses == [5, 20, 80, 320, *[900] * (most - 4)]
    await retry_job(app, job.job_id)
    await run(app)
    assert (await app.jobs.get(job.job_id)).state == "done"
    assert folders(app) == []


async def test_a_job_cancelled_while_the_disk_refuses_is_over(
    app: App, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not come back to the queue, and its bytes go."""

    async def refuses(*_: Any) -> object:
        await cancel_or_discard_job(app, job.job_id)
        raise StorageError("the disk is full")

    monkeypatch.setattr(jobs, "add_sources", refuses)
    await run(app)
    assert (await app.jobs.get(job.job_id)).state == "cancelled"
    assert folders(app) == []

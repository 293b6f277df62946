"""Uploads as jobs that a kill does not lose."""

from __future__ import annotations

import asyncio
import io
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from citewell.config import Settings
from citewell.errors import InvalidInput
from citewell.knowledge.jobs import Job
from citewell.service.add import add_data, add_file, pending
from citewell.service.app import App
from citewell.service.jobs import ORPHAN, Upload, submit, work

TEXT = "# Lighthouse\n\nThe lighthouse was built in 1857.\n"


def upload(name: str, text: str = TEXT) -> Upload:
    return Upload(name, io.BytesIO(text.encode("utf-8")))


@asynccontextmanager
async def working(app: App) -> AsyncIterator[None]:
    task = asyncio.create_task(work(app))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def ended(app: App, job_id: str) -> Job:
    async with asyncio.timeout(20):
        while (job := await app.jobs.get(job_id)).state not in {"done", "failed"}:  # noqa: ASYNC110  # a row of the table
            await asyncio.sleep(0.02)
    return job


async def left(app: App, names: list[str]) -> None:
    """Wait until these folders of bytes are left: they go right after their job has ended."""
    uploads = app.settings.home / "uploads"
    async with asyncio.timeout(5):
        while [path.name for path in uploads.iterdir()] != names:  # noqa: ASYNC110  # the worker's doing
            await asyncio.sleep(0.02)


async def test_upload_becomes_documents(app: App) -> None:
    """A job adds its files, embeds them, reports each one, and leaves no bytes behind."""
    async with working(app):
        job = await submit(
            app, "docs", [upload("a.md"), upload("../../etc/灯塔.md", "# 灯塔\n\n灯塔建于一八五七年。\n"), upload("x.xyz")]
        )
        done = await ended(app, job.job_id)
        await left(app, [])
    assert done.state == "done"
    assert done.result is not None
    statuses = {file["path"]: file["status"] for file in done.result["files"]}
    assert statuses == {"upload:a.md": "added", "upload:灯塔.md": "added", "upload:x.xyz": "failed"}
    assert {info.uri for info in await app.catalog.documents("docs")} == {"upload:a.md", "upload:灯塔.md"}
    [collection] = await app.catalog.collections()
    assert collection.embedded == collection.chunks > 0


async def test_killed_server_finishes_at_the_next_start(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job taken by a worker that died is done by the next one, from the bytes stored before it was acknowledged."""
    async with App(settings) as first:
        job = await submit(first, "docs", [upload("a.md")])
        monkeypatch.setattr(first.jobs, "_lease", -1.0)  # the lease of a worker long dead
        assert (await first.jobs.claim()) is not None
    async with App(settings) as second, working(second):
        done = await ended(second, job.job_id)
    assert (done.state, done.attempts) == ("done", 2)


async def test_fault_of_one_job_does_not_stop_the_worker(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that fails in an unforeseen way is marked so, and the next one is done."""

    async def breaks_on_b(*arguments: object, **named: object) -> object:
        if named["name"] == "b.md":
            raise ZeroDivisionError
        return await add_file(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("citewell.service.jobs.add_file", breaks_on_b)
    async with working(app):
        bad = await submit(app, "docs", [upload("b.md")])
        good = await submit(app, "docs", [upload("a.md")])
        assert (await ended(app, bad.job_id)).error == {
            "code": "internal",
            "message": "internal error: ZeroDivisionError",
            "hint": "the server's log says where",
        }
        assert (await ended(app, good.job_id)).state == "done"


async def test_worker_embeds_what_a_killed_run_left(app: App) -> None:
    """At its start the worker embeds chunks that wait."""
    await add_data(app, TEXT.encode(), "a.md", "/a.md", "docs")
    assert await pending(app) > 0
    async with working(app), asyncio.timeout(10):
        while await pending(app):  # noqa: ASYNC110  # rows of the table
            await asyncio.sleep(0.02)


async def test_upload_is_found_by_words_while_another_is_embedded(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long embedding does not keep the next upload from being read."""

    async def never(*_: object) -> int:
        await asyncio.sleep(60)
        return 0

    monkeypatch.setattr("citewell.service.jobs.embed_pending", never)
    async with working(app), asyncio.timeout(10):
        await submit(app, "docs", [upload("a.md")])
        await submit(app, "docs", [upload("b.md", "# Harbour\n\nThe harbour is deep.\n")])
        while not await app.index.by_words("harbour", 5):  # noqa: ASYNC110  # rows of the table
            await asyncio.sleep(0.02)


async def test_bytes_of_no_job_are_thrown_away(app: App) -> None:
    """A folder that no job needs goes after a day; a young one and one of a waiting job stay."""
    job = await submit(app, "docs", [upload("a.md")])
    uploads = app.settings.home / "uploads"
    old = time.time() - ORPHAN - 60
    for name in ("old", "young"):
        (uploads / name).mkdir()
    for name in ("old", str(job.payload["folder"])):
        os.utime(uploads / name, (old, old))
    async with working(app):
        assert (await ended(app, job.job_id)).state == "done"
        assert (await app.catalog.documents("docs"))[0].uri == "upload:a.md"
        await left(app, ["young"])


async def test_collection_name_is_checked_first(app: App) -> None:
    """A job is not made for a collection that cannot be."""
    with pytest.raises(InvalidInput, match="not allowed"):
        await submit(app, " ", [upload("a.md")])
    assert await app.jobs.list() == []

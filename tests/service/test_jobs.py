"""Uploads as jobs that a kill does not lose."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import shutil
import time
from collections.abc import Sequence
from typing import Any, BinaryIO

import pytest
from tests.service.made import ended, working

from citewell.config import Settings
from citewell.errors import Conflict, InvalidInput, StorageError
from citewell.models.base import Vector
from citewell.models.scripted import ScriptedEmbedder
from citewell.runtime.app import App
from citewell.runtime.limits import Turns
from citewell.runtime.progress import ignore_progress
from citewell.service.jobs import worker as jobs
from citewell.service.jobs.submit import cancel_or_discard_job, submit_uploads
from citewell.service.jobs.worker import WORKERS
from citewell.service.library.add import Source, add_sources
from citewell.service.library.chunking import cut_document
from citewell.service.library.collections import delete_collection
from citewell.service.library.embedding import Embedding
from citewell.service.library.intake import add_data
from citewell.service.library.uploads import ORPHAN, Upload
from citewell.store.job_rows import Job
from citewell.store.leases import Leases
from citewell.types import Chunk

TEXT = "# Lighthouse\n\nThe lighthouse was built in 1857.\n"


def upload(name: str, text: str = TEXT) -> Upload:
    return Upload(name, io.BytesIO(text.encode("utf-8")))


async def never(*_: object) -> Vector:
    """An embedder that takes for ever."""
    await asyncio.sleep(60)
    raise AssertionError


async def left(app: App, names: list[str]) -> None:
    """Wait until these folders of bytes are left: they go right after their job has ended."""
    uploads = app.settings.home / "uploads"
    async with asyncio.timeout(120):
        while [path.name for path in uploads.iterdir()] != names:  # noqa: ASYNC110  # the worker's doing
            await asyncio.sleep(0.02)


async def test_upload_becomes_documents(app: App) -> None:
    """A job adds its files, embeds them, reports each one, and leaves no bytes behind."""
    async with working(app):
        job = await submit_uploads(
            app,
            "docs",
            [
                upload("a.md"),
                upload("../../etc/灯塔.md", "# 灯塔\n\n灯塔建于一八五七年。\n"),
                upload("x.xyz"),
            ],
        )
        done = await ended(app, job.job_id)
        await left(app, [])
    assert done.state == "done"
    assert done.result is not None
    statuses = {file["path"]: file["status"] for file in done.result["files"]}
    assert statuses == {"upload:a.md": "added", "upload:灯塔.md": "added", "upload:x.xyz": "failed"}
    assert {info.uri for info in await app.catalog.documents("docs")} == {
        "upload:a.md",
        "upload:灯塔.md",
    }
    [collection] = await app.collections.list_all()
    assert collection.embedded == collection.chunks > 0


async def test_killed_server_finishes_at_the_next_start(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job taken by a worker that died is done by the next one, from the bytes stored before it
    was acknowledged.
    """
    async with App(settings) as first:
        job = await submit_uploads(first, "docs", [upload("a.md")])
        monkeypatch.setattr(first.jobs, "_leases", Leases(-1.0))  # the lease of a worker long dead
        assert (await first.jobs.claim()) is not None
    async with App(settings) as second, working(second):
        done = await ended(second, job.job_id)
    assert (done.state, done.attempts) == ("done", 2)


async def test_fault_of_one_job_does_not_stop_the_worker(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that fails in an unforeseen way is marked so, and the next one is done."""

    async def breaks_on_b(app: App, sources: Sequence[Source], *arguments: Any) -> object:
        if sources[0].name == "b.md":
            raise ZeroDivisionError
        return await add_sources(app, sources, *arguments)

    monkeypatch.setattr(jobs, "add_sources", breaks_on_b)
    async with working(app):
        bad = await submit_uploads(app, "docs", [upload("b.md")])
        good = await submit_uploads(app, "docs", [upload("a.md")])
        assert (await ended(app, bad.job_id)).error == {
            "code": "internal",
            "message": "internal error: ZeroDivisionError",
            "hint": "the server's log says where",
        }
        assert (await ended(app, good.job_id)).state == "done"


async def test_worker_embeds_what_a_killed_run_left(app: App) -> None:
    """At its start the worker embeds chunks that wait."""
    await add_data(app, TEXT.encode(), "a.md", "/a.md", "docs")
    assert await app.pending_chunks.count_unembedded() > 0
    async with working(app), asyncio.timeout(120):
        while await app.pending_chunks.count_unembedded():  # noqa: ASYNC110  # rows of the table
            await asyncio.sleep(0.02)


async def test_upload_is_found_by_words_while_another_is_embedded(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long embedding does not keep the next upload from being read."""

    monkeypatch.setattr(ScriptedEmbedder, "passages", never)
    async with working(app), asyncio.timeout(120):
        await submit_uploads(app, "docs", [upload("a.md")])
        await submit_uploads(app, "docs", [upload("b.md", "# Harbour\n\nThe harbour is deep.\n")])
        while not await app.index.search_words("harbour", 5):  # noqa: ASYNC110  # rows of the table
            await asyncio.sleep(0.02)


async def test_a_failed_upload_waits_for_no_embedding(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be read is told at once, though another upload has the only turn."""
    app.turns = Turns(requests=1)
    monkeypatch.setattr(ScriptedEmbedder, "passages", never)
    async with working(app):
        await submit_uploads(app, "docs", [upload("a.md")])
        async with asyncio.timeout(30):
            while not await app.pending_chunks.count_unembedded():  # noqa: ASYNC110  # rows of the table
                await asyncio.sleep(0.02)
            bad = await submit_uploads(app, "other", [upload("b.pdf", "%PDF-1.7 cut off")])
            done = await ended(app, bad.job_id)
    assert done.state == "done"
    assert done.result is not None
    assert [each["status"] for each in done.result["files"]] == ["failed"]


async def test_bytes_of_no_job_are_thrown_away(app: App) -> None:
    """A folder that no job needs goes after a day; a young one and one of a waiting job stay."""
    job = await submit_uploads(app, "docs", [upload("a.md")])
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
        await submit_uploads(app, " ", [upload("a.md")])
    assert await app.jobs.list() == []


@pytest.mark.parametrize("broken", ["sweep_hidden_copies", "sweep_sent_files", "embed_pending"])
async def test_fault_at_the_start_does_not_stop_the_worker(
    app: App, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """What cannot be tidied up or embedded at the start is logged, and uploads are done all the
    same.
    """
    whole = getattr(jobs, broken)
    calls: list[object] = []

    def fails_once(*arguments: object, **named: object) -> object:
        calls.append(arguments)
        if len(calls) == 1:
            raise PermissionError(13, "Permission denied")
        return whole(*arguments, **named)

    monkeypatch.setattr(jobs, broken, fails_once)
    async with working(app):
        job = await submit_uploads(app, "docs", [upload("a.md")])
        assert (await ended(app, job.job_id)).state == "done"
    assert calls
    assert await app.pending_chunks.count_unembedded() == 0


async def test_fault_of_the_queue_does_not_stop_the_worker(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An exception nobody thought of is logged with where it was, and the next look finds the
    job.
    """
    claim = app.jobs.claim
    left_to_fail = [RuntimeError("oops")] * WORKERS

    async def fails_at_first(least: int) -> Job | None:
        if left_to_fail:
            raise left_to_fail.pop()
        return await claim(least=least)

    monkeypatch.setattr(app.jobs, "claim", fails_at_first)
    async with working(app):
        while left_to_fail:  # noqa: ASYNC110  # the workers' doing
            await asyncio.sleep(0.01)
        job = await submit_uploads(app, "docs", [upload("a.md")])
        assert (await ended(app, job.job_id)).state == "done"
    assert "RuntimeError: oops" in caplog.text


async def test_restarts_use_up_no_attempt(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server stopped more often than a job may be tried hands the job back each time; then it is
    done.
    """
    whole = ScriptedEmbedder.passages
    monkeypatch.setattr(ScriptedEmbedder, "passages", never)
    job = await submit_uploads(app, "docs", [upload("a.md")])
    for _ in range(4):
        async with working(app), asyncio.timeout(120):
            while not (await app.jobs.get(job.job_id)).detail.startswith("0 of"):  # noqa: ASYNC110  # rows of the table
                await asyncio.sleep(0.01)
        stopped = await app.jobs.get(job.job_id)
        assert (stopped.state, stopped.attempts) == ("queued", 0)
        await app.jobs.claim()
        await app.jobs.report_progress(job.job_id, 0, 0, "")
        await app.jobs.release(job.job_id, attempt=1)
    monkeypatch.setattr(ScriptedEmbedder, "passages", whole)
    async with working(app):
        done = await ended(app, job.job_id)
    assert (done.state, done.attempts) == ("done", 1)
    assert done.result is not None
    assert [file["status"] for file in done.result["files"]] == ["added"]


async def test_cancelled_job_stops_and_keeps_what_it_added(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that waits and one that runs end at once; their bytes go; whole documents stay and are
    embedded later.
    """
    whole = ScriptedEmbedder.passages
    monkeypatch.setattr(ScriptedEmbedder, "passages", never)
    monkeypatch.setattr("citewell.service.jobs.job_lease.BEAT", 0.05)
    waits = await submit_uploads(app, "docs", [upload("b.md")])
    assert (await cancel_or_discard_job(app, waits.job_id)).state == "cancelled"
    async with working(app):
        job = await submit_uploads(app, "docs", [upload("a.md")])
        async with asyncio.timeout(120):
            while not await app.index.search_words("lighthouse", 5):  # noqa: ASYNC110  # rows of the table
                await asyncio.sleep(0.02)
        assert (await cancel_or_discard_job(app, job.job_id)).state == "cancelled"
        await left(app, [])
        with pytest.raises(Conflict, match="cancelled already"):
            await cancel_or_discard_job(app, job.job_id)
    assert [info.uri for info in await app.catalog.documents("docs")] == ["upload:a.md"]
    monkeypatch.setattr(ScriptedEmbedder, "passages", whole)
    async with working(app), asyncio.timeout(120):
        while await app.pending_chunks.count_unembedded():  # noqa: ASYNC110  # rows of the table
            await asyncio.sleep(0.02)


async def test_small_upload_is_not_kept_waiting_by_a_large_one(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Embedding goes by turns: the second job ends long before the first, which began before it."""
    whole = ScriptedEmbedder.passages

    async def slow(self: ScriptedEmbedder, texts: Sequence[str]) -> Vector:
        await asyncio.sleep(0.05)
        return await whole(self, texts)

    monkeypatch.setattr(ScriptedEmbedder, "passages", slow)
    monkeypatch.setattr("citewell.service.library.embedding.REQUEST", 1)
    async with working(app):
        large = await submit_uploads(
            app,
            "docs",
            [upload(f"{n}.md", f"# Note {n}\n\nThe number is {n}.\n") for n in range(100)],
        )
        async with asyncio.timeout(120):
            while (await app.jobs.get(large.job_id)).done < 5:  # noqa: ASYNC110  # rows of the table
                await asyncio.sleep(0.02)
        small = await submit_uploads(app, "docs", [upload("a.md")])
        assert (await ended(app, small.job_id)).state == "done"
        assert (await app.jobs.get(large.job_id)).state == "running"


async def test_killed_job_reports_what_its_first_attempt_added(app: App) -> None:
    """A file that was added before the kill is `added` in the job's report, not `unchanged`."""
    job = await submit_uploads(
        app, "docs", [upload("a.md"), upload("b.md", "# Harbour\n\nThe harbour is deep.\n")]
    )
    claimed = await app.jobs.claim()
    assert claimed is not None
    source = Source(
        "upload:a.md", app.settings.home / "uploads" / str(job.payload["folder"]) / "0", "a.md"
    )
    [added] = await add_sources(
        app, [source], "docs", ignore_progress, Embedding(app), lambda _: None, None
    )
    await app.jobs.report_progress(
        job.job_id, 1, 2, attempt=1, result={"files": [added.model_dump(mode="json")]}
    )
    await app.jobs.release(job.job_id, attempt=1)
    async with working(app):
        done = await ended(app, job.job_id)
    assert done.result is not None
    assert [(file["path"], file["status"]) for file in done.result["files"]] == [
        ("upload:a.md", "added"),
        ("upload:b.md", "added"),
    ]


async def test_full_disk_is_told_and_leaves_nothing(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second file does not fit: an error of ours names the folder, and the first file's bytes
    are gone.
    """
    copy, calls = shutil.copyfileobj, []

    def full(source: BinaryIO, target: BinaryIO) -> None:
        calls.append(target.name)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        copy(source, target)

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(StorageError, match=r"uploads.*No space left on device"):
        await submit_uploads(app, "docs", [upload("a.md"), upload("b.md")])
    assert len(calls) == 2
    assert await app.jobs.list() == []
    await left(app, [])


async def test_job_that_cannot_be_made_leaves_no_bytes(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database refuses after the bytes are stored: they go too."""

    async def refuses(*_: object) -> Job:
        raise StorageError("the disk is full")

    monkeypatch.setattr(app.jobs, "create", refuses)
    with pytest.raises(StorageError):
        await submit_uploads(app, "docs", [upload("a.md")])
    await left(app, [])


async def test_nothing_is_added_once_a_job_was_cancelled(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even the file that was being read, though its worker has not heard of it yet."""
    reading, go_on = asyncio.Event(), asyncio.Event()

    async def slow(*arguments: Any) -> Sequence[Chunk]:
        reading.set()
        await go_on.wait()
        return await cut_document(*arguments)

    monkeypatch.setattr("citewell.service.library.intake.cut_document", slow)
    async with working(app):
        job = await submit_uploads(app, "docs", [upload("a.md")])
        await reading.wait()
        await cancel_or_discard_job(app, job.job_id)
        go_on.set()
        await left(app, [])
    assert await app.collections.list_all() == []


async def test_a_collection_that_is_deleted_takes_its_uploads_along(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upload on its way into it is cancelled; one into another goes on."""
    monkeypatch.setattr(ScriptedEmbedder, "passages", never)
    async with working(app):
        jobs = [await submit_uploads(app, name, [upload("a.md")]) for name in ("docs", "other")]
        async with asyncio.timeout(120):
            while len(await app.collections.list_all()) < 2:  # noqa: ASYNC110  # rows of the table
                await asyncio.sleep(0.02)
        await delete_collection(app, "docs")
        assert (await app.jobs.get(jobs[0].job_id)).state == "cancelled"
        assert (await app.jobs.get(jobs[1].job_id)).state == "running"
    assert [info.name for info in await app.collections.list_all()] == ["other"]

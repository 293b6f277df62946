"""Runs on a schedule, and what answers say of documents that are kept current."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import update
from tests.service.sync.worlds import FolderWorld

from citewell.config import Settings
from citewell.config.document_settings import SyncSettings
from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.runtime.app import App
from citewell.service.ask.locate import find_span
from citewell.service.ask.survey_documents import Surveyor
from citewell.service.jobs.worker import run_worker
from citewell.service.sync import schedule, watch_folders
from citewell.service.sync.durations import format_duration, parse_duration
from citewell.service.sync.run_sync import run_sync
from citewell.service.sync.sync_places import (
    add_sync,
    find_target,
    get_sync,
    list_syncs,
    make_job_maker,
    remove_sync,
    schedule_sync,
    submit_sync,
)
from citewell.store.index.protocol import Filter
from citewell.store.schema.job_tables import syncs


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with App(settings) as opened:
        yield opened


@pytest.fixture
def world(tmp_path: Path) -> FolderWorld:
    (tmp_path / "place").mkdir()
    made = FolderWorld(tmp_path / "place")
    made.write("lamp.txt", b"The lamp is electric.\n")
    return made


async def test_the_worker_runs_what_is_due(
    app: App, world: FolderWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "LOOK", 0.05)
    info = await add_sync(app, world.place, "kept", 3600)
    never = await add_sync(app, world.place, "other", 0)
    working = asyncio.create_task(run_worker(app))
    try:
        async with asyncio.timeout(120):
            while (done := await get_sync(app, info.sync_id)).report is None:  # noqa: ASYNC110 - a row of a database
                await asyncio.sleep(0.05)
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    assert done.report is not None
    assert done.report.added == 1
    assert done.ran_at is not None
    assert done.next_at == pytest.approx(done.ran_at + 3600)
    assert (await get_sync(app, never.sync_id)).report is None
    assert (await app.jobs.get(done.job_id)).state == "done"


async def test_a_folder_is_looked_at_when_it_changes(
    app: App, world: FolderWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_folders, "LOOK", 0.2)
    monkeypatch.setattr(watch_folders, "REST", 100)
    info = await add_sync(app, world.place, "kept", 86_400)
    await run_sync(app, info.sync_id)
    forgotten = update(syncs).values(job_id="job_that_ended_long_ago")
    await app.db.write_beside(lambda connection: connection.execute(forgotten))
    working = asyncio.create_task(run_worker(app))
    try:
        async with asyncio.timeout(120):
            await asyncio.sleep(1)
            world.write("tower.txt", b"The tower is red.\n")
            while len(await app.catalog.documents("kept")) < 2:  # noqa: ASYNC110 - rows of a database
                await asyncio.sleep(0.1)
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def test_a_place_is_started_once(app: App, world: FolderWorld) -> None:
    info = await add_sync(app, world.place, "kept", 60)
    first = await app.syncs.start_due(make_job_maker(app))
    assert len(first) == 1
    assert await app.syncs.start_due(make_job_maker(app)) == []
    assert (await submit_sync(app, info.sync_id)).job_id == first[0]
    assert (await get_sync(app, info.sync_id)).state == "waiting"


async def test_a_citation_says_as_of_when(app: App, world: FolderWorld) -> None:
    info = await add_sync(app, world.place, "kept", 0)
    first = await run_sync(app, info.sync_id)
    doc_id = (await app.catalog.documents("kept"))[0].doc_id
    assert (await find_span(app, doc_id, 0, 8)).citation.as_of == first.began_at
    second = await run_sync(app, info.sync_id)
    assert second.unchanged == 1
    assert (await find_span(app, doc_id, 0, 8)).citation.as_of == second.began_at
    world.remove("lamp.txt")
    await run_sync(app, info.sync_id)
    assert (await find_span(app, doc_id, 0, 8)).citation.as_of == second.began_at


async def test_a_survey_leaves_out_what_is_gone(app: App, world: FolderWorld) -> None:
    world.write("tower.txt", b"The tower is red.\n")
    info = await add_sync(app, world.place, "kept", 0)
    await run_sync(app, info.sync_id)
    lamp = await app.catalog.find("kept", str(world.top / "lamp.txt"))
    assert lamp is not None
    world.remove("lamp.txt")
    await run_sync(app, info.sync_id)
    for doc_ids, wanted in (((), "The tower is red."), ((lamp.doc_id,), "The lamp is electric.")):
        where = Filter(collections=("kept",), doc_ids=doc_ids)
        run: Any = SimpleNamespace(app=app, where=where)
        found = await Surveyor(run).survey("What is this about?")
        assert [hit.text.strip() for hit in found.hits] == [wanted]


async def test_what_is_gone_for_long_is_removed(settings: Settings, world: FolderWorld) -> None:
    now = settings.model_copy(update={"sync": SyncSettings(gone_days=0)})
    async with App(now) as app:
        info = await add_sync(app, world.place, "kept", 0)
        await run_sync(app, info.sync_id)
        world.remove("lamp.txt")
        report = await run_sync(app, info.sync_id)
        assert len(report.gone) == len(report.removed) == 1
        assert (report.gone_count, report.removed_count) == (1, 1)
        assert await app.catalog.documents("kept") == []
        assert await app.syncs.items(info.sync_id) == {}


async def test_what_another_place_has_is_not_gone(app: App, world: FolderWorld) -> None:
    world.write("inner/lamp.txt", b"The inner lamp is red.\n")
    outer = await add_sync(app, world.place, "kept", 0)
    inner = await add_sync(app, f"{world.place}/inner", "kept", 0)
    await run_sync(app, outer.sync_id)
    await run_sync(app, inner.sync_id)
    await app.syncs.forget_items(inner.sync_id, list(await app.syncs.items(inner.sync_id)))
    await run_sync(app, inner.sync_id)
    assert (await remove_sync(app, inner.sync_id, documents=True)).documents == 0
    assert (await remove_sync(app, outer.sync_id, documents=True)).documents == 2


async def test_places_are_found_and_removed(app: App, world: FolderWorld) -> None:
    info = await add_sync(app, world.place, "kept", 0)
    with pytest.raises(Conflict):
        await add_sync(app, world.place, "kept", 0)
    assert (await find_target(app, world.place)).sync_id == info.sync_id
    assert (await find_target(app, info.sync_id)).place == world.place
    assert [each.sync_id for each in await list_syncs(app, "kept")] == [info.sync_id]
    assert (await schedule_sync(app, info.sync_id, 120)).every == 120
    with pytest.raises(InvalidInput):
        await schedule_sync(app, info.sync_id, 5)
    await run_sync(app, info.sync_id)
    await remove_sync(app, info.sync_id)
    assert len(await app.catalog.documents("kept")) == 1
    with pytest.raises(NotFound):
        await find_target(app, info.sync_id)


async def test_a_place_goes_with_its_collection(app: App, world: FolderWorld) -> None:
    info = await add_sync(app, world.place, "kept", 0)
    await run_sync(app, info.sync_id)
    await app.collections.delete("kept")
    assert await list_syncs(app) == []
    with pytest.raises(NotFound):
        await get_sync(app, info.sync_id)


async def test_a_secret_is_read_where_it_is(
    app: App, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = "davs://alice@example.invalid/dav"
    info = await add_sync(app, place, "kept", 0, secret="env:CLOUD")
    report = await run_sync(app, info.sync_id)
    assert report.error is not None
    assert "$CLOUD, which is not set" in report.error["message"]
    file = await add_sync(app, place, "other", 0, secret=f"file:{tmp_path}/missing")
    report = await run_sync(app, file.sync_id)
    assert report.error is not None
    assert "missing" in report.error["message"]
    monkeypatch.setenv("CLOUD", "open-sesame")
    report = await run_sync(app, info.sync_id)
    assert report.error is not None  # there is no such host
    assert "not set" not in report.error["message"]
    with pytest.raises(InvalidInput):
        await add_sync(app, place, "third", 0, secret="open-sesame")


def test_durations() -> None:
    for said, seconds in (("15m", 900), ("1h", 3600), ("2 D", 172_800), ("90", 90), ("0", 0)):
        assert parse_duration(said) == seconds
    for seconds in (60, 900, 3600, 86_400, 604_800, 90):
        assert parse_duration(format_duration(seconds)) == seconds
    for said in ("", "often", "-1h", "1.5h", "1y"):
        with pytest.raises(InvalidInput):
            parse_duration(said)


async def test_a_place_is_named_as_it_was_added(app: App) -> None:
    """With what stands behind the question mark, which tells two places of one address apart."""
    bucket = "s3://shelf/docs/?endpoint=https://{}.example.com"
    one = await add_sync(app, bucket.format("one"), "first", 0)
    two = await add_sync(app, bucket.format("two"), "second", 0)
    assert (await find_target(app, bucket.format("one"))).sync_id == one.sync_id
    assert (await find_target(app, bucket.format("two"))).sync_id == two.sync_id
    with pytest.raises(NotFound, match="no watched place"):
        await find_target(app, bucket.format("three"))
    feed = await add_sync(app, "https://EXAMPLE.com/feed.xml", "kept", 0)
    assert (await find_target(app, "https://EXAMPLE.com/feed.xml")).sync_id == feed.sync_id

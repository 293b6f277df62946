"""What every kind of place has to do: new, changed, gone, renamed and broken items, and a run that
is cut off and goes on.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.service.sync.worlds import WORLDS, FeedWorld, MailWorld, World

from citewell.config import Settings
from citewell.errors import Conflict
from citewell.runtime.app import App
from citewell.service.ask.search import SearchRequest, search
from citewell.service.sync.run_sync import run_sync
from citewell.service.sync.sync_places import add_sync
from citewell.service.sync.sync_report import SyncReport


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    with WORLDS[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    listed = settings.model_copy(update={"allow_private_hosts": ("127.0.0.1", "localhost")})
    async with App(listed) as opened:
        yield opened


async def add(app: App, world: World) -> str:
    info = await add_sync(app, world.place, "kept", 3600, password=world.password)
    return info.sync_id


def sums(report: SyncReport) -> dict[str, int]:
    assert report.error is None, report.error
    assert report.whole
    return {
        name: value
        for name in ("added", "replaced", "unchanged", "failed")
        if (value := getattr(report, name))
    } | ({"gone": len(report.gone)} if report.gone else {})


async def texts(app: App) -> list[str]:
    """Of documents that are there, in order."""
    found = [info for info in await app.catalog.documents("kept") if info.gone_since is None]
    return sorted([(await app.catalog.content(info.doc_id)).text.strip() for info in found])


async def hits(app: App, *doc_ids: str) -> str:
    """All that a search finds, of these documents or of any."""
    request = SearchRequest(query="electric lamp", collection="kept", doc_ids=list(doc_ids))
    return " ".join(hit.text for hit in (await search(app, request)).hits)


def text(words: str) -> bytes:
    return f"{words}\n".encode()


async def test_new_items_are_added_and_then_unchanged(app: App, world: World) -> None:
    world.write("lamp.txt", text("The lamp is electric."))
    world.write("plans/tower.txt", text("The tower is red."))
    sync_id = await add(app, world)
    assert sums(await run_sync(app, sync_id)) == {"added": 2}
    assert sums(await run_sync(app, sync_id)) == {"unchanged": 2}
    joined = "\n".join(await texts(app))
    assert "The lamp is electric." in joined
    assert "The tower is red." in joined
    for info in await app.catalog.documents("kept"):
        assert info.embedded == info.chunks > 0
        seen = (await app.syncs.items(sync_id)).values()
        assert info.uri in {item.document for item in seen}


async def test_names_are_as_people_read_them(app: App, world: World) -> None:
    name = "lamp.txt" if isinstance(world, FeedWorld) else "灯塔 1%20 + é.txt"  # a page has a URL
    world.write(name, text("The lamp is electric."))
    world.write("tower.txt", text("The tower is red."))
    sync_id = await add(app, world)
    assert sums(await run_sync(app, sync_id)) == {"added": 2}
    assert sums(await run_sync(app, sync_id)) == {"unchanged": 2}
    if not isinstance(world, MailWorld):  # its messages have numbers
        uris = {info.uri for info in await app.catalog.documents("kept")}
        assert any(uri.endswith(name) for uri in uris)


async def test_changed_items_are_read_again(app: App, world: World) -> None:
    world.write("lamp.txt", text("The lamp burns oil."))
    world.write("tower.txt", text("The tower is red."))
    sync_id = await add(app, world)
    await run_sync(app, sync_id)
    world.write("lamp.txt", text("The lamp is electric now."))
    assert sums(await run_sync(app, sync_id)) == {"replaced": 1, "unchanged": 1}
    joined = "\n".join(await texts(app))
    assert "electric" in joined
    assert "oil" not in joined


async def test_what_is_gone_is_marked_and_not_found(app: App, world: World) -> None:
    world.write("lamp.txt", text("The lamp is electric."))
    world.write("tower.txt", text("The tower is red."))
    sync_id = await add(app, world)
    await run_sync(app, sync_id)
    assert "electric" in await hits(app)
    world.remove("lamp.txt")
    report = await run_sync(app, sync_id)
    assert sums(report) == {"unchanged": 1, "gone": 1}
    gone = [info for info in await app.catalog.documents("kept") if info.gone_since is not None]
    assert [info.gone_since for info in gone] == [report.began_at]
    assert "electric" not in await hits(app)
    assert "electric" in await hits(app, gone[0].doc_id)  # who names it finds it
    assert sums(await run_sync(app, sync_id)) == {"unchanged": 1}  # told once


async def test_what_comes_back_is_found_again(app: App, world: World) -> None:
    world.write("lamp.txt", text("The lamp is electric."))
    world.write("tower.txt", text("The tower is red."))
    sync_id = await add(app, world)
    await run_sync(app, sync_id)
    world.remove("lamp.txt")
    await run_sync(app, sync_id)
    world.write("lamp.txt", text("The lamp is electric."))
    report = await run_sync(app, sync_id)
    assert report.gone == []
    assert report.failed == 0
    assert "electric" in "\n".join(await texts(app))
    assert "electric" in await hits(app)


async def test_renamed_items_are_there_once(app: App, world: World) -> None:
    world.write("lamp.txt", text("The lamp is electric."))
    world.write("tower.txt", text("The tower is red."))
    sync_id = await add(app, world)
    await run_sync(app, sync_id)
    world.rename("lamp.txt", "light.txt")
    assert sums(await run_sync(app, sync_id)) == {"added": 1, "unchanged": 1, "gone": 1}
    joined = "\n".join(await texts(app))
    assert joined.count("The lamp is electric.") == 1


async def test_a_broken_item_costs_itself_only(app: App, world: World) -> None:
    world.break_item("bad")
    world.write("tower.txt", text("The tower is red."))
    sync_id = await add(app, world)
    report = await run_sync(app, sync_id)
    assert sums(report) == {"added": 1, "failed": 1}
    assert next(file.reason for file in report.files if file.status == "failed")
    again = await run_sync(app, sync_id)
    assert sums(again) == {"unchanged": 1, "failed": 1}  # told until it is solved


async def test_a_run_that_is_cut_off_goes_on(app: App, world: World) -> None:
    for number in range(8):
        world.write(f"{number}.txt", text(f"Lamp number {number} is electric."))
    sync_id = await add(app, world)
    asked = 0

    async def cut() -> None:
        nonlocal asked
        asked += 1
        if asked > 6:
            raise Conflict("cut off")

    with pytest.raises(Conflict):
        await run_sync(app, sync_id, allowed=cut)
    before = await app.catalog.documents("kept")
    assert len(before) < 8
    assert sums(await run_sync(app, sync_id)) in (
        {"added": 8 - len(before), "unchanged": len(before)},
        # a document whose item was not noted yet is looked at again, and is as it was
        {"added": 8 - len(before)},
    )
    after = await app.catalog.documents("kept")
    assert len(after) == 8
    assert {info.version for info in after} == {1}


async def test_a_run_leaves_its_report(app: App, world: World) -> None:
    world.write("tower.txt", text("The tower is red."))
    sync_id = await add(app, world)
    report = await run_sync(app, sync_id)
    kept = await app.syncs.get(sync_id)
    assert SyncReport(**kept.report) == report
    assert world.password not in str(kept) or not world.password

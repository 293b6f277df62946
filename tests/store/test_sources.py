"""Sources in the database: kept, listed, changed, removed; a password is handed out to whoever
connects alone.
"""

# ruff: noqa: ASYNC240 - a test waits for its own small files

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.store.db import Database
from citewell.store.source_rows import Source, check_source_name
from citewell.store.sources import Sources

URL = "postgresql://u:s3cret@host/shop"
SHOP = Source(
    name="shop",
    dialect="postgres",
    location="postgresql://u:***@host/shop",
    fingerprint="f1",
    warnings=["w"],
)


@pytest.fixture
async def sources(tmp_path: Path) -> AsyncIterator[Sources]:
    async with Database(tmp_path / "citewell.db") as db:
        yield Sources(db, clock=lambda: 1000.0)


async def test_put_get_list(sources: Sources) -> None:
    put = await sources.put(SHOP, URL)
    assert put == await sources.get("shop") == (await sources.list())[0]
    assert (put.created_at, put.refreshed_at, put.warnings, put.is_file) == (
        1000.0,
        1000.0,
        ["w"],
        False,
    )
    assert await sources.location("shop") == URL
    assert "s3cret" not in put.model_dump_json() + repr(put)


async def test_a_new_reading_keeps_the_description(sources: Sources) -> None:
    await sources.put(SHOP, URL)
    await sources.set_description("shop", "terms: {revenue: sum of price}")
    await sources.set_problem("shop", "it is gone")
    assert (await sources.get("shop")).problem == "it is gone"
    again = await sources.put(SHOP.model_copy(update={"fingerprint": "f2"}), URL, unless=URL)
    assert (again.fingerprint, again.problem) == ("f2", "")
    assert again.description == "terms: {revenue: sum of price}"


async def test_a_name_is_one_place(sources: Sources) -> None:
    await sources.put(SHOP, URL)
    with pytest.raises(Conflict, match="from another place") as raised:
        await sources.put(SHOP, "/elsewhere.csv", unless="/elsewhere.csv")
    assert "s3cret" not in raised.value.message + raised.value.hint
    assert await sources.location("shop") == URL


async def test_unknown_names_suggest_near_ones(sources: Sources) -> None:
    await sources.put(SHOP, URL)
    for verb in (sources.get, sources.remove, sources.location):
        with pytest.raises(NotFound) as raised:
            await verb("shp")
        assert raised.value.hint == "did you mean shop?"


async def test_remove_leaves_nothing_of_a_password(sources: Sources, tmp_path: Path) -> None:
    await sources.put(SHOP, URL)
    assert (await sources.remove("shop")).name == "shop"
    assert await sources.list() == []
    assert b"s3cret" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize("name", ["", " x", "../x", "a/b", "a\\b", "..", "a\0b", "a\nb", "x" * 300])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(InvalidInput, match="not allowed"):
        check_source_name(name)


@pytest.mark.parametrize("name", ["费用", 'it\'s "mine"', "a b", "2024.v1"])
def test_names(name: str) -> None:
    assert check_source_name(name) == name

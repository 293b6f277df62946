"""Passwords of sources are not in the file; they open for this home and this source alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from tests.store.earlier import be_earlier

from citewell.errors import Conflict, SourceUnavailable
from citewell.store.db import Database
from citewell.store.migrations.migration_list import MIGRATIONS
from citewell.store.source_rows import Source
from citewell.store.sources import Sources
from citewell.store.users.home_key import FILE
from citewell.store.users.sealing import MARK, open_sealed, seal_secret

URL = "postgresql://reader:hunter2-Pa55@db.example/shop"


def shop(name: str = "shop") -> Source:
    return Source(name=name, dialect="postgres", location="postgresql://reader@db.example/shop")


def bytes_of(home: Path) -> bytes:
    return b"".join(each.read_bytes() for each in sorted(home.iterdir()))


async def test_a_password_is_not_in_the_file(path: Path, db: Database) -> None:
    sources = Sources(db)
    await sources.put(shop(), URL)
    await sources.put(shop(), URL, unless=URL)  # what is sealed is compared by what it was
    with pytest.raises(Conflict):
        await sources.put(shop(), URL + "2", unless=URL + "2")
    assert await sources.location("shop") == URL
    await sources.put(Source(name="t", dialect="duckdb", location="/a/t.csv"), "/a/t.csv")
    assert await sources.location("t") == "/a/t.csv"
    await db.forget()
    assert b"hunter2" not in bytes_of(path.parent)


async def test_rows_of_before_are_taken_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what stood there is overwritten, in the log of writes too."""
    names = [each.__name__ for each in MIGRATIONS]
    before = MIGRATIONS[: names.index("m018_sealed_sources")]
    be_earlier(monkeypatch, before)
    row = "'shop', 'postgres', :url, '', '{}', '[]', 'f', '[]', '', 1.0, 1.0, ''"

    def fill(connection: Connection) -> None:
        connection.execute(text(f"INSERT INTO sources VALUES ({row})"), {"url": URL})

    async with Database(path) as db:
        await db.write(fill)
    assert b"hunter2" in bytes_of(path.parent)
    monkeypatch.undo()
    async with Database(path) as db:
        assert b"hunter2" not in bytes_of(path.parent)
        assert await Sources(db).location("shop") == URL
    assert b"hunter2" not in bytes_of(path.parent)


async def test_what_is_moved_or_changed_does_not_open(path: Path, db: Database) -> None:
    sources, home = Sources(db), path.parent
    await sources.put(shop(), URL)
    await sources.put(shop("other"), URL)
    same = await db.read(
        lambda connection: len(
            {*connection.execute(text("SELECT location FROM sources")).scalars()}
        )
    )
    assert same == 2  # no two seals are alike
    await db.write(
        lambda c: c.exec_driver_sql(
            "UPDATE sources SET location = (SELECT location FROM sources WHERE name = 'other')"
        )
    )
    assert await sources.location("other") == URL
    with pytest.raises(SourceUnavailable, match="damaged"):
        await sources.location("shop")
    for bad in (MARK, MARK + "x:y", seal_secret(home, "x", "y")[:-4] + "AAAA"):
        with pytest.raises(SourceUnavailable):
            open_sealed(home, bad, "y")


async def test_without_its_key_it_is_told(path: Path, db: Database) -> None:
    """Which source, and what to do."""
    sources = Sources(db)
    await sources.put(shop(), URL)
    (path.parent / FILE).unlink()
    with pytest.raises(SourceUnavailable, match="shop was sealed with another key") as told:
        await sources.location("shop")
    assert "citewell.key" in told.value.hint
    assert (await sources.list())[0].location == "postgresql://reader@db.example/shop"

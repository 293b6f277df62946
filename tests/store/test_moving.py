"""A home moved from SQLite into PostgreSQL and back: every row, in order, searchable; cut off,
changed meanwhile, into a database that has data.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, text, update
from tests.store.conftest import EMBEDDER, Shelf

from citewell.errors import Conflict, NotFound, StorageError
from citewell.store.db import Database
from citewell.store.index.adapters import INDEXES
from citewell.store.moving.batches import MOVED
from citewell.store.moving.move import move_all
from citewell.store.moving.target import put_batch
from citewell.store.schema.conversations import folders
from citewell.store.schema.people import audit

FOLDERS = select(folders.c.name).order_by(folders.c.rowid)


async def ignore(*_: object) -> None:
    """Nobody watches."""


def fill_rows(connection: Connection) -> None:
    rows = [
        {"folder_id": f"f{n}", "user_id": "ann", "name": name, "created_at": float(n)}
        for n, name in enumerate(["zebra", "Ärger", "灯塔", "a\0b"])
    ]
    connection.execute(insert(folders), rows)
    names = ("channel", "who", "action", "kind", "subject", "detail", "key", "mac")
    for seq in (3, 7):
        connection.execute(insert(audit).values(seq=seq, at=0.1, **dict.fromkeys(names, "x")))


async def fill_home(path: Path) -> None:
    async with Database(path) as db:
        await db.write(fill_rows)
        shelf = Shelf(db)
        for n in range(3):
            await shelf.put(f"/{n}.txt", f"The pump {n} costs 520 yuan.", f"水泵的价格是{n}元。")
        await shelf.catalog.delete((await shelf.put("/gone.txt", "gone")).doc_id)


async def read_all(path: Path, url: str = "") -> dict[str, Any]:
    """What people see of it."""
    async with Database(path, url) as db:
        shelf = Shelf(db)
        shelf.index = INDEXES[db.dialect](db, EMBEDDER)
        found = await shelf.put("/new.txt", "A new one.")
        return {
            "near": await shelf.nearest("The pump 1 costs 520 yuan.", 1),
            "worded": sorted(await shelf.worded("价格")),
            "folders": await db.read(lambda c: list(c.execute(FOLDERS).scalars())),
            "new": (await shelf.catalog.chunks(found.doc_id))[0].text,
        }


async def test_there_and_back(path: Path, tmp_path: Path, postgres_database: str) -> None:
    await fill_home(path)
    there = await move_all(Database(path), Database(path, postgres_database), ignore)
    assert there.counts["documents"] == 3
    assert there.counts["audit"] == 3  # the collection that came by itself among them
    back_path = tmp_path / "back" / "citewell.db"
    back = await move_all(Database(path, postgres_database), Database(back_path), ignore)
    assert back.counts == there.counts
    assert back.checksums == there.checksums
    expected = await read_all(path)
    assert expected["near"] == ["The pump 1 costs 520 yuan."]
    assert len(expected["worded"]) == 3
    seen = expected | {"folders": ["zebra", "Ärger", "灯塔", "a\ufffdb"]}
    assert await read_all(path, postgres_database) == seen
    assert await read_all(back_path) == seen


async def test_numbers_are_not_given_twice(path: Path, postgres_database: str) -> None:
    """Of what was deleted before the move, too."""
    await fill_home(path)
    await move_all(Database(path), Database(path, postgres_database), ignore)
    for url in ("", postgres_database):
        async with Database(path, url) as db:
            made = await Shelf(db).put("/next.txt", "next", embed=False)
            rows = await db.read(lambda c: c.execute(text("SELECT doc, id FROM chunks")).all())
            assert [row.id for row in rows if row.doc == made.doc_id] == [8]


async def test_a_move_that_was_cut_off_goes_on(path: Path, postgres_database: str) -> None:
    """Until its end the database is opened by nothing else."""
    await fill_home(path)

    async def cut(done: int, total: int, name: str) -> None:
        if name == "chunks":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await move_all(Database(path), Database(path, postgres_database), cut)
    assert (await Database(path, postgres_database).look()).state == "moving"
    with pytest.raises(StorageError, match="has not come to its end"):
        await Database(path, postgres_database).open()
    moved = await move_all(Database(path), Database(path, postgres_database), ignore)
    assert 0 < moved.resumed < sum(moved.counts.values())
    assert moved.counts["chunks"] == 6
    async with Database(path, postgres_database) as db:
        assert await Shelf(db).count("chunks") == 6


async def test_a_database_with_data_is_left_alone(path: Path, home_url: str) -> None:
    await fill_home(path)
    async with Database(path, home_url) as db:
        await db.write(fill_rows)
    with pytest.raises(Conflict, match=r"data already, in .*folders"):
        await move_all(Database(path), Database(path, home_url), ignore)
    async with Database(path, home_url) as db:
        assert await Shelf(db).count("documents") == 0


async def test_a_source_in_use_or_not_there(path: Path, tmp_path: Path, home_url: str) -> None:
    with pytest.raises(NotFound):
        await move_all(Database(path), Database(path, home_url), ignore)
    async with Database(path):
        with pytest.raises(Conflict, match="has it open"):
            await move_all(Database(path), Database(path, home_url), ignore)
    async with Database(path, home_url):
        with pytest.raises(Conflict, match="at work with it"):
            await move_all(Database(path, home_url), Database(tmp_path / "b" / "c.db"), ignore)


async def test_nobody_writes_meanwhile_and_what_differs_is_said(
    path: Path, postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from citewell.store.dialects import sqlite_file

    await fill_home(path)
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    refused: list[str] = []

    async def write(done: int, total: int, name: str) -> None:
        with pytest.raises(StorageError) as caught:
            async with Database(path) as db:
                await db.write(lambda c: c.execute(update(folders).values(name="other")))
        refused.append(caught.value.message)

    def lose_a_row(
        connection: Connection, of: Any, rows: Sequence[Any], *more: Any, **kw: Any
    ) -> None:
        put_batch(connection, of, rows[1:] if of is folders else rows, *more, **kw)

    monkeypatch.setattr("citewell.store.moving.move.put_batch", lose_a_row)
    with pytest.raises(StorageError, match=r"not the same, in folders \(4, 3\)"):
        await move_all(Database(path), Database(path, postgres_database), write)
    assert "another process is writing" in refused[0]
    assert len(MOVED) > 30

"""Several processes on one database, and what a kill in the middle of writing leaves behind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest
from sqlalchemy import Connection

from citewell.store.db import Database
from citewell.store.index.adapters import INDEXES
from citewell.store.index.protocol import Filter

if TYPE_CHECKING:
    from tests.store.conftest import Shelf


@pytest.fixture(params=sorted(INDEXES))
def database_url(request: pytest.FixtureRequest) -> str:
    """Every adapter, each on its own kind of database."""
    return "" if request.param == "sqlite" else str(request.getfixturevalue("home_url"))


WRITER = Path(__file__).with_name("writer.py")


@contextmanager
def writing(
    path: Path, url: str, mode: str
) -> Iterator[tuple[subprocess.Popen[str], IO[str], IO[str]]]:
    """The writer, its output and its input; killed at the end."""
    command = [sys.executable, str(WRITER), str(path), url, mode]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process, process.stdout, process.stdin
        finally:
            process.kill()


async def test_another_process_is_followed(shelf: Shelf, path: Path, database_url: str) -> None:
    """What another process commits, an index that was open before finds with its next search: new,
    replaced and deleted.
    """
    await shelf.put("own", "own text")
    assert await shelf.nearest("own text") == ["own text"]
    with writing(path, database_url, "told") as (_, out, orders):

        def tell(order: str) -> None:
            orders.write(order + "\n")
            orders.flush()
            assert out.readline() == "done\n"

        tell("put theirs their text")
        assert await shelf.worded("their") == ["their text"]
        assert (await shelf.nearest("their text"))[0] == "their text"
        tell("put theirs better words")
        assert await shelf.worded("their") == []
        assert set(await shelf.nearest("their text")) == {"better words", "own text"}
        tell("priority own 3")
        for search in (shelf.worded, shelf.nearest):
            assert await search("own text", where=Filter(least_priority=1)) == ["own text"]
        tell("delete theirs")
        assert await shelf.worded("better") == []
        assert await shelf.nearest("better words") == ["own text"]
        await shelf.put("again", "ours again")  # and this one can still write
        assert await shelf.worded("ours") == ["ours again"]


@pytest.mark.parametrize("acknowledged", [3, 30])
async def test_kill_in_the_middle_of_writing(
    shelf: Shelf, db: Database, path: Path, database_url: str, acknowledged: int
) -> None:
    """All that was acknowledged is there, the one step under way is whole or absent, and chunks,
    words and vectors agree.
    """
    with writing(path, database_url, "forever") as (process, out, _):
        lines = [out.readline() for _ in range(2 * acknowledged)]
        process.kill()
        lines += out.readlines()
    steps = [tuple(line.split()) for line in lines if line.endswith("\n")]
    kept = {uri: version for word, uri, version in steps if word != "begin"}
    word, uri, version = steps[-1]
    under_way = {uri: version} if word == "begin" else {}
    found = {info.uri: info for info in await shelf.catalog.documents("default")}
    for uri, version in kept.items():
        texts = (
            (await shelf.catalog.content(found[uri].doc_id)).text.split("\n")
            if uri in found
            else []
        )
        possible = [version, under_way.get(uri, version)]
        assert texts in [
            [f"round {v} part {i}" for i in range(5)] if v != "deleted" else [] for v in possible
        ]
    assert set(found) <= set(kept) | set(under_way)
    await everything_agrees(shelf, db)
    await shelf.embed()
    for info in found.values():
        assert len(await shelf.nearest("round", 100)) == 5 * len(found)
        assert len(await shelf.nearest("round", 100, Filter(kinds=("summary",)))) == len(found)
        assert (await shelf.catalog.document(info.doc_id)).chunks == 5


async def everything_agrees(shelf: Shelf, db: Database) -> None:
    """SQLite's own checks, and ours between tables."""

    def check(connection: Connection) -> list[object]:
        sql = connection.exec_driver_sql
        if db.dialect == "sqlite":
            assert sql("PRAGMA integrity_check").scalar_one() == "ok"
            assert sql("PRAGMA foreign_key_check").all() == []
            sql("INSERT INTO words (words) VALUES ('integrity-check')")
        else:
            assert (
                sql("SELECT chunk, embedder FROM vector_index ORDER BY 1").all()
                == sql("SELECT id, embedder FROM chunks WHERE embedder <> '' ORDER BY 1").all()
            )
            packed = "SELECT unnest(ids) FROM word_segments EXCEPT SELECT chunk FROM word_gone"
            assert (
                sql(f"SELECT chunk FROM word_news UNION ALL ({packed}) ORDER BY 1").all()
                == sql("SELECT rowid FROM words ORDER BY 1").all()
            )
            assert (
                sql("SELECT sum(chunks), sum(tokens) FROM word_totals").one()
                == sql("SELECT count(*), sum(size) FROM words").one()
            )
        assert (
            sql("SELECT id FROM chunks ORDER BY id").all()
            == sql("SELECT rowid FROM words ORDER BY rowid").all()
        )
        embedded = sql("SELECT id FROM chunks WHERE embedder <> '' ORDER BY id").all()
        assert embedded == sql("SELECT chunk FROM vectors ORDER BY chunk").all()
        assert (
            sql(
                "SELECT count(*) FROM files WHERE sha256 NOT IN (SELECT sha256 FROM documents)"
            ).scalar_one()
            == 0
        )
        return list(sql("SELECT doc, count(*) FROM chunks GROUP BY doc HAVING count(*) <> 6").all())

    assert await db.write(check) == []

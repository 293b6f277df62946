"""What was deleted from PostgreSQL is in no file of its tables any more."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from citewell.store.db import Database
from citewell.store.dialects import erasure
from citewell.store.sessions import Sessions
from citewell.types import Message

SECRET = "Zebrafink 7781"


def find_secret(url: str) -> set[str]:
    """The files of tables and indexes that hold it, once all pages are on the disk."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
    folder = Path(str(make_url(url).query["host"])) / "base"
    return {
        file.name
        for file in folder.rglob("*")
        if file.is_file() and SECRET.encode() in file.read_bytes()
    }


async def tell_secrets(db: Database) -> None:
    """In rows of their table, and in long values that lie apart; then they are deleted."""
    sessions = Sessions(db)
    ids = [(await sessions.create("qa", "ann", SECRET)).session_id for _ in range(20)]
    for number, each in enumerate(ids):
        said = "".join(chr(0x4E00 + (number * 7919 + n * 104729) % 20_000) for n in range(4_000))
        await sessions.append(each, [Message(role="user", content=f"{SECRET} {said}")])
    await sessions.create("qa", "bob", "something else")
    for each in ids:
        await sessions.delete(each)


async def test_nothing_is_left_in_the_files(path: Path, home_url: str) -> None:
    async with Database(path, home_url) as db:
        await tell_secrets(db)
        assert await db.forget() == []
        assert find_secret(home_url) != set(), "it is this that has to be looked for"
        assert await db.forget(strict=True) == []
        assert find_secret(home_url) == set()
        assert [info.title for info in await Sessions(db).list("bob")] == ["something else"]


async def test_what_cannot_be_written_anew_is_named(
    path: Path, home_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "WAITING", 0.3)
    async with Database(path, home_url) as db:
        with psycopg.connect(home_url) as reader:
            reader.execute("SELECT count(*) FROM folders")  # holds a lock on it
            assert await db.forget(strict=True) != []
        assert await db.forget(strict=True) == []
        monkeypatch.setattr(erasure, "MOST", 0)
        assert "sessions" in await db.forget(strict=True)

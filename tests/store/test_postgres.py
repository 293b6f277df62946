"""A home in PostgreSQL: transactions, other writers, restarts, and what is said when it fails."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, insert, make_url, select, text, update

from citewell.errors import ConfigError, StorageError
from citewell.store.db import Database
from citewell.store.schema.library import collections
from citewell.store.schema.people import audit


async def open_home(path: Path, url: str) -> Database:
    return await Database(path, url).open()


async def test_an_empty_database_is_filled_once(path: Path, postgres_database: str) -> None:
    """By four that start at once; text is ordered by its bytes, rows by their arrival."""
    opened = await asyncio.gather(*(open_home(path, postgres_database) for _ in range(4)))
    db = opened[0]
    rows = [{"name": name, "created_at": 1.0} for name in ("b", "B", "_", "é", "a")]
    await db.write(lambda c: c.execute(insert(collections), rows))
    names = select(collections.c.name)
    read = await db.read(lambda c: list(c.execute(names.order_by(collections.c.name)).scalars()))
    assert read == ["B", "_", "a", "b", "é"]
    came = await db.read(lambda c: list(c.execute(names.order_by(collections.c.rowid)).scalars()))
    assert came == ["b", "B", "_", "é", "a"]
    for each in opened:
        await each.close()


async def test_a_transaction_is_whole_and_a_reader_writes_nothing(
    path: Path, home_url: str
) -> None:
    def fail(connection: Connection) -> None:
        connection.execute(insert(collections), {"name": "a\0b", "created_at": 1.0})
        raise ZeroDivisionError

    async with Database(path, home_url) as db:
        with pytest.raises(ZeroDivisionError):
            await db.write(fail)
        kept = select(collections.c.name)
        assert await db.read(lambda c: c.execute(kept).all()) == []
        with pytest.raises(StorageError, match="cannot be written to"):
            await db.read(
                lambda c: c.execute(insert(collections), {"name": "a", "created_at": 1.0})
            )
        await db.write(lambda c: c.execute(insert(collections), {"name": "a\0b", "created_at": 1}))
        assert await db.read(lambda c: c.execute(kept).scalar_one()) == "a\ufffdb"


async def test_writers_that_read_first_do_not_lose_each_others_writes(
    path: Path, home_url: str
) -> None:
    """Two servers count up one row: as if one writer came after the other."""

    def count_up(connection: Connection) -> None:
        row = connection.execute(select(collections.c.created_at)).scalar_one()
        connection.execute(update(collections).values(created_at=row + 1))

    async with Database(path, home_url) as one, Database(path, home_url) as two:
        await one.write(lambda c: c.execute(insert(collections), {"name": "n", "created_at": 0}))
        await asyncio.gather(*(db.write(count_up) for db in (one, two) * 20))
        at = await one.read(lambda c: c.execute(select(collections.c.created_at)).scalar_one())
    assert at == 40


async def test_only_one_of_two_that_look_first_comes_in(path: Path, home_url: str) -> None:
    """No unique index tells them: the second looks again."""

    def take_place(connection: Connection, name: str) -> bool:
        if connection.execute(select(collections.c.name)).first() is not None:
            return False
        connection.execute(insert(collections), {"name": name, "created_at": 1.0})
        return True

    async with Database(path, home_url) as one, Database(path, home_url) as two:
        came = await asyncio.gather(one.write(take_place, "a"), two.write(take_place, "b"))
    assert sorted(came) == [False, True]


async def test_connections_that_were_cut_are_made_again(path: Path, home_url: str) -> None:
    """Between two transactions, and in the middle of one that had not ended."""
    cut = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    begun: list[int] = []

    def add(connection: Connection) -> None:
        connection.execute(insert(collections), {"name": "a", "created_at": 1.0})
        begun.append(1)
        if len(begun) == 1:
            with psycopg.connect(home_url, autocommit=True) as other:
                other.execute(cut)
            connection.execute(select(collections.c.name))

    async with Database(path, home_url) as db:
        await db.read(lambda c: c.execute(select(1)))
        with psycopg.connect(home_url, autocommit=True) as other:
            other.execute(cut)
        assert await db.read(lambda c: c.execute(select(1)).scalar_one()) == 1
        await db.write(add)
        assert len(begun) == 2
        assert await db.read(lambda c: c.execute(select(collections.c.name)).all()) == [("a",)]


async def test_a_server_that_was_killed_comes_back(path: Path, home_url: str) -> None:
    """One of its processes dies by SIGKILL: it ends all others, recovers from its log, and whoever
    asks meanwhile waits. What was acknowledged is there.
    """
    add = insert(collections)
    async with Database(path, home_url) as db:
        await db.write(lambda c: c.execute(add, {"name": "before", "created_at": 1.0}))
        pid = await db.read(lambda c: c.execute(text("SELECT pg_backend_pid()")).scalar_one())
        os.kill(pid, signal.SIGKILL)
        await db.write(lambda c: c.execute(add, {"name": "while", "created_at": 1.0}))
        names = await db.read(lambda c: set(c.execute(select(collections.c.name)).scalars()))
    assert names == {"before", "while"}


async def test_the_audit_log_is_only_added_to(path: Path, home_url: str) -> None:
    async with Database(path, home_url) as db:
        names = ("channel", "who", "action", "kind", "subject", "detail", "key", "mac")
        row = dict.fromkeys(names, "x") | {"at": 1.0}
        await db.write(lambda c: c.execute(insert(audit), row))
        with pytest.raises(StorageError, match="only added to"):
            await db.write(lambda c: c.execute(update(audit).values(who="y")))


async def test_a_statement_that_takes_too_long(path: Path, home_url: str) -> None:
    async with Database(path, home_url, statement_seconds=0.2) as db:
        with pytest.raises(StorageError, match="took too long"):
            await db.read(lambda c: c.execute(text("SELECT pg_sleep(5)")))


async def test_a_full_disk_is_named_and_nothing_is_kept(path: Path, home_url: str) -> None:
    def fill(connection: Connection) -> None:
        connection.execute(insert(collections), {"name": "a", "created_at": 1.0})
        connection.exec_driver_sql("DO 'BEGIN RAISE SQLSTATE ''53100''; END'")

    async with Database(path, home_url) as db:
        with pytest.raises(StorageError, match="disk is full") as caught:
            await db.write(fill)
        assert "nothing of this change was kept" in caught.value.hint
        assert await db.read(lambda c: c.execute(select(collections.c.name)).all()) == []


async def test_what_is_wrong_is_said_without_the_password(path: Path, home_url: str) -> None:
    hidden = "s3cr3t%2Fword"
    for url, said in (
        (f"postgresql://u:{hidden}@127.0.0.1:1/d", "cannot be reached"),
        (f"postgres://u:{hidden}@host.invalid/d", "cannot be reached"),
        (f"postgresql://u:{hidden}@127.0.0.1:1/d?nonsense={hidden}", "nonsense"),
        (home_url.replace("postgres@", f"nobody:{hidden}@"), "does not let this user in"),
        (str(make_url(home_url).set(database="gone")), "no database of this name"),
    ):
        with pytest.raises(StorageError, match=said) as caught:
            await Database(path, url).open()
        assert "s3cr3t" not in caught.value.explanation
    for wrong in (f"mysql://u:{hidden}@h/d", f"no address {hidden}"):
        with pytest.raises(ConfigError, match="CITEWELL_DATABASE_URL") as config:
            Database(path, wrong)
        assert "s3cr3t" not in config.value.explanation

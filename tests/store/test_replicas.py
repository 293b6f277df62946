"""Searches by a streaming replica of PostgreSQL, and what becomes of all work when the database
itself is lost and the replica takes its place.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from tests.servers.replica import Followed
from tests.store.conftest import Shelf

from citewell.errors import StorageError
from citewell.store.db import Database

HOST = "SELECT current_setting('unix_socket_directories')"
PATIENCE = 120.0


def name_server(connection: Connection) -> str:
    return str(connection.execute(text(HOST)).scalar_one())


async def await_search(db: Database, place: Path) -> None:
    """Until searches go there."""
    async with asyncio.timeout(PATIENCE):
        while await db.search(name_server) != str(place):  # noqa: ASYNC110 - it is elsewhere
            await asyncio.sleep(0.1)


def follow(path: Path, followed: Followed, lag: float = 5.0, url: str = "") -> Database:
    return Database(path, url or followed.url, replica_urls=[followed.replica_url], replica_lag=lag)


async def test_searches_go_to_a_replica_that_is_near(path: Path, followed: Followed) -> None:
    """Reads and writes do not; one that stands still, or is down, is left out until it has caught
    up.
    """
    primary = Path(followed.server.pgdata)
    async with follow(path, followed) as db:
        shelf = Shelf(db)
        await shelf.put("a.md", "The harbour is deep.")
        await await_search(db, followed.folder)
        assert await db.read(name_server) == str(primary)
        assert await shelf.worded("harbour") == ["The harbour is deep."]
        assert await shelf.nearest("The harbour is deep.") == ["The harbour is deep."]
        followed.ask("SELECT pg_wal_replay_pause()", followed.replica_url)
        await shelf.put("b.md", "The lighthouse is tall.")
        await await_search(db, primary)
        assert await shelf.worded("lighthouse") == ["The lighthouse is tall."]
        followed.ask("SELECT pg_wal_replay_resume()", followed.replica_url)
        await await_search(db, followed.folder)
        assert await shelf.worded("lighthouse") == ["The lighthouse is tall."]
        followed.kill()
        assert await shelf.worded("lighthouse") == ["The lighthouse is tall."]
        assert await db.search(name_server) == str(primary)
        followed.start()
        await await_search(db, followed.folder)


async def test_what_was_deleted_is_not_shown(path: Path, followed: Followed) -> None:
    """Also while the replica still has it: texts come from the database itself."""
    async with follow(path, followed, lag=600.0) as db:
        shelf = Shelf(db)
        info = await shelf.put("a.md", "The harbour is deep.")
        await await_search(db, followed.folder)
        async with asyncio.timeout(PATIENCE):
            while not await shelf.index.search_words("harbour", 3):  # noqa: ASYNC110 - elsewhere
                await asyncio.sleep(0.1)
        followed.ask("SELECT pg_wal_replay_pause()", followed.replica_url)
        await shelf.catalog.delete(info.doc_id)
        assert await shelf.index.search_words("harbour", 3)
        assert await shelf.worded("harbour") == []


async def test_the_replica_takes_the_place_of_the_database(path: Path, followed: Followed) -> None:
    """Named together (`target_session_attrs=read-write`): whoever asks meanwhile waits or is told,
    what was acknowledged is there, and work goes on by itself.
    """
    async with Database(path, followed.either_url) as db:
        shelf = Shelf(db)
        await shelf.put("a.md", "The harbour is deep.")
        acknowledged = ["The harbour is deep."]
        written = followed.ask("SELECT pg_current_wal_flush_lsn()")
        async with asyncio.timeout(PATIENCE):
            behind = f"SELECT pg_last_wal_replay_lsn() < '{written}'::pg_lsn"
            while followed.ask(behind, followed.replica_url):  # noqa: ASYNC110 - elsewhere
                await asyncio.sleep(0.05)
        followed.kill_primary()
        asking = asyncio.create_task(shelf.worded("harbour"))
        adding = asyncio.create_task(shelf.put("b.md", "The lighthouse is tall.", embed=False))
        await asyncio.sleep(1.0)
        followed.promote()
        assert await asking == acknowledged
        try:
            await adding
        except StorageError as error:
            pytest.fail(f"a write that had not begun to be kept waits: {error.message}")
        assert await db.read(name_server) == str(followed.folder)
        assert await shelf.worded("lighthouse") == ["The lighthouse is tall."]

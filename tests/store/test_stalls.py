"""PostgreSQL at the end of a way that takes what is sent, answers nothing and does not close."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, make_url, select, text
from tests.servers.stalls import Road, make_road

from citewell.errors import DatabaseAway, StorageError
from citewell.store.db import Database
from citewell.store.dialects import bounded_connection, database_url, job_notices, postgres_server
from citewell.store.jobs import Jobs
from citewell.store.schema.library import collections


@pytest.fixture
async def road(home_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Road]:
    """To the server of `home_url`; all times are a tenth of what they are, or less."""
    monkeypatch.setitem(database_url.CONNECT, "connect_timeout", "2")
    for module, names in (
        (bounded_connection, ("IDLE_SECONDS", "LONGER")),
        (job_notices, ("QUIET", "ANSWER", "AGAIN")),
        (postgres_server, ("RETRY_SECONDS", "WRITING_SECONDS")),
    ):
        for name in names:
            monkeypatch.setattr(module, name, getattr(module, name) / 10)
    socket = f"{make_url(home_url).query['host']}/.s.PGSQL.5432"
    async with make_road(socket) as made:
        yield made


def read_one(connection: Connection) -> int:
    return int(connection.execute(select(1)).scalar_one())


async def test_nobody_waits_for_ever(path: Path, home_url: str, road: Road) -> None:
    """In the middle of a statement, on connections that stood idle, and in the queue for one of
    them; when the way is open again all goes on, and of what was refused nothing is there.
    """

    def add(connection: Connection) -> None:
        connection.execute(insert(collections), {"name": "a", "created_at": 1.0})
        asyncio.run_coroutine_threadsafe(stall(), loop).result()
        connection.execute(text("SELECT 1"))

    async def stall() -> None:
        road.open.clear()
        stalled.set()

    stalled = asyncio.Event()
    loop = asyncio.get_running_loop()
    address = make_url(home_url).set(host="127.0.0.1", port=road.port, query={})
    through = address.render_as_string(hide_password=False)
    heard = asyncio.Event()
    async with (
        Database(path, through, statement_seconds=0.5) as db,
        Database(path, home_url) as near,
    ):
        await asyncio.gather(*(db.read(read_one) for _ in range(4)))
        listening = asyncio.create_task(db.server.listen_for_jobs(heard.set))
        await heard.wait()
        heard.clear()
        began, added = time.monotonic(), asyncio.create_task(db.write(add))
        await stalled.wait()
        reads = (db.read(read_one) for _ in range(60))
        failed = await asyncio.gather(added, *reads, return_exceptions=True)
        assert {type(each) for each in failed} == {DatabaseAway}
        assert time.monotonic() - began < 15
        road.open.set()
        assert await db.read(read_one) == 1
        assert await near.read(lambda c: c.execute(select(collections)).all()) == []
        async with asyncio.timeout(20):
            await heard.wait()  # it was noticed there too
            heard.clear()
            while True:  # the server has to notice that the first writer is silent
                with suppress(StorageError):
                    await Jobs(near).create("add", {})
                    break
            await heard.wait()
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

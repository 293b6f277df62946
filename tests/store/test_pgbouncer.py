"""PgBouncer in transaction mode before the database: few connections for many transactions, nothing
that outlives one, and notices that go around it.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import psycopg
from sqlalchemy import Connection, text
from tests.servers.pgbouncer import CONNECTIONS, pool

from citewell.store.db import Database
from citewell.store.jobs import Jobs
from citewell.store.schema.metadata import metadata

PATIENCE = 60.0


def add_one(connection: Connection) -> None:
    held = connection.execute(text("SELECT title FROM sessions")).scalar_one()
    connection.execute(text("UPDATE sessions SET title = :n"), {"n": str(int(held) + 1)})


async def test_many_transactions_share_few_connections(
    path: Path, pooled_url: str, home_url: str
) -> None:
    """Of two servers; none of the writes is lost, though each reads first, and what is set for a
    transaction is gone with it.
    """
    put = "INSERT INTO sessions VALUES ('s', 'ann', '0', 'x', NULL, 0)"
    async with Database(path, pooled_url) as one, Database(path, pooled_url) as other:
        await one.write(lambda connection: connection.execute(text(put)))
        await asyncio.gather(*((one, other)[n % 2].write(add_one) for n in range(60)))
        count = text("SELECT title FROM sessions")
        assert await other.read(lambda c: c.execute(count).scalar_one()) == "60"
        with psycopg.connect(home_url, autocommit=True) as direct:
            ask = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            row = direct.execute(ask).fetchone()
            assert row is not None
            assert 1 < row[0] <= CONNECTIONS + 1
    with psycopg.connect(pooled_url.replace("+psycopg", ""), autocommit=True) as left:
        for _ in range(CONNECTIONS * 3):
            asked = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')"
            assert left.execute(asked).fetchone() == ("0", "0")


async def test_two_upgrades_through_it(
    path: Path, postgres_database: str, pgbouncer_folder: str
) -> None:
    url = pool(postgres_database, pgbouncer_folder)
    await asyncio.gather(*(Database(path, url).upgrade() for _ in range(2)))
    async with Database(path, url) as db:
        names = await db.read(
            lambda c: set(c.execute(text("SELECT tablename FROM pg_tables")).scalars())
        )
    assert set(metadata.tables) <= names


async def test_notices_go_around_it(path: Path, pooled_url: str, home_url: str) -> None:
    """A worker hears of a job by the direct address; without one it does not listen at all."""
    heard = asyncio.Event()
    async with Database(path, pooled_url, direct_url=home_url) as db:
        listening = asyncio.create_task(db.server.listen_for_jobs(heard.set))
        async with asyncio.timeout(PATIENCE):
            await heard.wait()  # it listens
            heard.clear()
            await Jobs(db).create("add", {})
            await heard.wait()
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
    async with Database(path, pooled_url) as db:
        begun = time.monotonic()
        await db.server.listen_for_jobs(heard.set)
        assert time.monotonic() - begun < PATIENCE

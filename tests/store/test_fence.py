"""A statement that forgets whose rows it means sees none of others, in PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx
import pytest
import yaml
from pydantic import SecretStr
from sqlalchemy import Connection, bindparam, delete, insert, make_url, select, update
from tests.conftest import REPOSITORY
from tests.interfaces.auth import people, with_users
from tests.servers.replica import find_program

from citewell.config import Settings
from citewell.errors import StorageError
from citewell.interfaces.http import create_app
from citewell.runtime.app import App
from citewell.service.admin.doctor import _check_database
from citewell.store import traces as trace_store
from citewell.store.db import Database
from citewell.store.dialects.fence import FENCE, bypasses_fences, lift_fence
from citewell.store.schema.conversations import folders, traces
from citewell.store.schema.metadata import metadata

FENCED = ("sessions", "traces", "memories", "runs", "folders", "live_runs")
NAMES = ("ann", "it's 100 % \\bob;--")


@contextmanager
def asked_by(name: str) -> Iterator[None]:
    before = FENCE.set(name)
    yield
    FENCE.reset(before)


def fill(connection: Connection, table_name: str, user: str) -> None:
    """A row of this user."""
    table = metadata.tables[table_name]
    row = {
        column.name: 0.0
        if not isinstance(python := column.type.python_type(), str | bytes)
        else python
        for column in table.c
        if not column.system
    }
    row |= {column.name: f"of {user}" for column in table.primary_key if not column.system}
    connection.execute(insert(table), row | {"user_id": user})


@pytest.fixture
async def plain(path: Path, plain_home_url: str) -> AsyncIterator[Database]:
    async with Database(path, plain_home_url) as db:
        yield db


@pytest.mark.parametrize("name", FENCED)
async def test_rows_of_others_are_not_there(plain: Database, name: str) -> None:
    """To read, change, delete or put; each sees their own, and work of nobody all."""
    table = metadata.tables[name]

    def read(connection: Connection) -> set[str]:
        return set(connection.execute(select(table.c.user_id)).scalars())

    for user in NAMES:
        with asked_by(user):
            await plain.write(fill, name, user)
    assert await plain.read(read) == set(NAMES)
    for user in NAMES:
        with asked_by(user):
            assert await plain.read(read) == {user}
            with pytest.raises(StorageError):
                await plain.write(fill, name, "eve")
            with lift_fence():
                assert await plain.read(read) == set(NAMES)
    with asked_by("eve"):
        for statement in (delete(table), update(table).values(user_id="eve")):
            changed = await plain.write(
                lambda connection, statement=statement: connection.execute(statement).rowcount  # type: ignore[misc]  # bound now
            )
            assert changed == 0
    with asked_by("ann"):
        await plain.write(lambda connection: connection.execute(delete(table)))
    assert await plain.read(read) == {NAMES[1]}


async def test_a_fence_is_lifted_for_as_long_as_is_said(plain: Database) -> None:
    """In an open transaction too; and none outlives its transaction."""
    for user in NAMES:
        await plain.write(fill, "folders", user)

    def count(connection: Connection) -> list[int]:
        ask = select(folders.c.user_id)
        counts = [len(connection.execute(ask).all())]
        with lift_fence(connection):
            counts.append(len(connection.execute(ask).all()))
        return [*counts, len(connection.execute(ask).all())]

    with asked_by("ann"):
        assert await plain.read(count) == [1, 2, 1]
    for _ in range(plain.server.connections * 2):
        assert await plain.read(count) == [2, 2, 2]


async def test_a_route_that_forgets_its_user(
    settings: Settings, plain_home_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Readers are kept apart by the fence alone; an administrator has none."""
    one = traces.c.trace_id == bindparam("id")
    anybody = select(traces.c.trace, traces.c.expires).where(one)
    monkeypatch.setattr(trace_store, "_GET_ONE", anybody)
    own = with_users(settings.model_copy(update={"database_url": SecretStr(plain_home_url)}))
    async with App(own) as app:
        transport = httpx.ASGITransport(create_app(app))
        async with people(app, "http://localhost", boss="admin", ann="reader", eve="reader") as by:
            for client in by.values():
                client._transport = transport
            await app.collections.create("docs")
            asked = {"question": "How deep is it?", "collection": "docs"}
            answer = (await by["ann"].post("/api/ask", json=asked)).json()
            path = f"/api/traces/{answer['trace_id']}"
            codes = {name: (await client.get(path)).status_code for name, client in by.items()}
            assert codes == {"boss": 200, "ann": 200, "eve": 404}


async def test_the_role_of_the_deployment_is_plain(
    tmp_path: Path, path: Path, postgres_url: str
) -> None:
    """deploy/database.sql makes the role and the database that compose.yaml names."""
    compose = yaml.safe_load((REPOSITORY / "deploy" / "compose.yaml").read_text("utf-8"))
    environment = compose["services"]["server"]["environment"]
    named = make_url(environment["CITEWELL_DATABASE_URL"].replace("${DATABASE_PASSWORD:?}", "x"))
    assert (named.username, named.database) == ("citewell", "citewell")
    script = str(REPOSITORY / "deploy" / "database.sql")
    assert "./database.sql" in "".join(compose["services"]["database"]["volumes"])
    psql = [str(find_program("psql")), "-X", "-v", "ON_ERROR_STOP=1", postgres_url, "-f"]
    environ = {**os.environ, "DATABASE_PASSWORD": "it's"}
    await anyio.run_process([*psql, script], env=environ)
    try:
        own = postgres_url.replace("postgres@/postgres?", "citewell@/citewell?")
        async with Database(path, own) as db:
            assert await db.read(bypasses_fences) is False
    finally:
        gone = tmp_path / "gone.sql"
        gone.write_text("DROP DATABASE citewell WITH (FORCE);\nDROP ROLE citewell;\n", "utf-8")
        await anyio.run_process([*psql, str(gone)])


async def test_a_superuser_is_told_that_it_passes(
    settings: Settings, path: Path, plain: Database, home_url: str
) -> None:
    assert await plain.read(bypasses_fences) is False
    own = with_users(settings.model_copy(update={"database_url": SecretStr(home_url)}))
    async with App(own) as app:
        assert await app.db.read(bypasses_fences) is True
        found = await _check_database(app)
        assert (found.state, "superuser" in found.advice) == ("warn", True)
    async with Database(path) as file:
        assert await file.read(bypasses_fences) is False

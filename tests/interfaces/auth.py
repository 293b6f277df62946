"""A server with users for tests: its settings, its people, and each one's own client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
from sqlalchemy import Connection, select
from tests.interfaces.jobs import wait_for_job

from citewell.config import AccessSettings, Settings
from citewell.runtime.app import App
from citewell.service.admin.users import add_user
from citewell.store.schema.metadata import metadata

MANY = AccessSettings(requests_a_minute=100_000, tries_a_minute=100_000)


def with_users(settings: Settings, **access: Any) -> Settings:
    """No chat model: answers are extracts of the evidence."""
    given = MANY.model_dump() | access
    return settings.model_copy(
        update={"auth": "token", "llm": "none", "access": AccessSettings(**given)}
    )


@asynccontextmanager
async def people(app: App, base: str, **roles: str) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """Each of these users with a role, as a client that shows their token."""
    async with AsyncExitStack() as stack:
        clients = {}
        for name, role in roles.items():
            token = (await add_user(app, name, role)).token
            client = httpx.AsyncClient(
                base_url=base, headers=bearer(token), trust_env=False, timeout=120
            )
            clients[name] = await stack.enter_async_context(client)
        yield clients


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def done(client: httpx.AsyncClient, job: dict[str, Any]) -> dict[str, Any]:
    """The job when it has ended well."""
    job = await wait_for_job(client, job["job_id"])
    assert job["state"] == "done", job
    return job


def code_of(reply: httpx.Response) -> str:
    return str(reply.json()["error"]["code"])


async def read_kept(app: App) -> bytes:
    """All that is kept: the bytes of SQLite's file, or the rows of PostgreSQL."""
    if app.db.dialect == "sqlite":
        return app.settings.database.read_bytes()

    def read(connection: Connection) -> str:
        return repr([connection.execute(select(table)).all() for table in metadata.sorted_tables])

    return (await app.db.read(read)).encode()

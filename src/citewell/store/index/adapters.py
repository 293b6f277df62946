"""The indexes that there are, by the name in the settings."""

from __future__ import annotations

from collections.abc import Callable

from citewell.store.db import Database
from citewell.store.index.base import Index


def _build_sqlite_index(db: Database, embedder: str) -> Index:
    from citewell.store.index.sqlite_index import SqliteIndex

    return SqliteIndex(db, embedder)


INDEXES: dict[str, Callable[[Database, str], Index]] = {
    "sqlite": _build_sqlite_index,
}

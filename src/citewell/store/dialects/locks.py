"""What a transaction of PostgreSQL holds to its end so that what it decides on stays as it is.
SQLite, which has one writer at a time, needs none of it.

The one rule: what is held has a path of names. Nobody else holds the same path, one above it or one
below it: `hold(c, "library", "papers")` waits for all who hold a document of that collection, and
they for it. Every transaction that writes has a part in the empty path: one that is `alone` holds
it, and so waits for all others; the others have it above what they hold.

Transactions that write are READ COMMITTED: a statement sees what was committed before it began, so
what is read after `hold`, or by SELECT ... FOR UPDATE, is true until the end. Whoever decides on

- one row that is there: reads it FOR UPDATE;
- one row that may come: writes it by ON CONFLICT, on a unique index;
- several rows, or on none being there: holds their path, as all do who add to them or take away;
- nothing that it has read: needs nothing. UPDATE ... WHERE looks at the newest version of a row.

Where two wait for each other all the same, the server ends one, which is run again.
"""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from sqlalchemy import Connection

_SHARED: Final = "pg_advisory_xact_lock_shared"
_WHOLE: Final = "pg_advisory_xact_lock"


def hold(connection: Connection, *path: str) -> None:
    """Wait until nobody holds it, then hold it to the end of the transaction, which is one that
    writes.
    """
    if connection.dialect.name == "postgresql":
        above = [f"{_SHARED}({_number_path(path[:depth])})" for depth in range(1, len(path))]
        connection.exec_driver_sql(
            "SELECT " + ", ".join([*above, f"{_WHOLE}({_number_path(path)})"])
        )


def write_first_lock(*, alone: bool) -> str:
    """The statement by which a transaction that writes begins."""
    return f"SELECT {_WHOLE if alone else _SHARED}({_number_path(())})"


@lru_cache(maxsize=10_000)
def _number_path(path: tuple[str, ...]) -> int:
    """Two paths that share a number wait for each other without need, once in a long time."""
    digest = blake2b(json.dumps(path).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)

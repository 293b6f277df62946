"""What was deleted from PostgreSQL, out of the files of its tables.

The one rule: VACUUM gives the room of deleted rows free and leaves their bytes there until other
rows need it (measured: of 59 rows 58 could still be read in the file), so a table is written anew
(VACUUM FULL), which locks it for that long. One that is too large for this, or in use all the time,
is named instead. Nothing here reaches the server's log, its replicas and its backups.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import URL

if TYPE_CHECKING:
    import psycopg

MOST: Final = 64 << 20  # bytes of a table that is written anew: about two seconds
WAITING: Final = 10.0  # seconds for transactions that may still see what was deleted, and for locks
_PAUSE: Final = 0.1


def rewrite_tables(url: URL, options: dict[str, Any]) -> list[str]:
    """The tables in whose files something may be left. Raises psycopg.Error."""
    import psycopg  # heavy

    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address, autocommit=True, **options) as connection:
        tables = connection.execute(_TABLES).fetchall()
        seen_by_none = _wait_for_readers(connection)
        return [
            name for name, size in tables if not (_rewrite(connection, name, size) and seen_by_none)
        ]


def _wait_for_readers(connection: psycopg.Connection[Any]) -> bool:
    """Until all transactions have ended that are open now: they may see rows that were deleted,
    which are kept for them. False where one goes on.
    """
    until = time.monotonic() + WAITING
    waited = {tuple(row) for row in connection.execute(_OPEN)}
    while waited and time.monotonic() < until:
        time.sleep(_PAUSE)
        waited &= {tuple(row) for row in connection.execute(_OPEN)}
    return not waited


def _rewrite(connection: psycopg.Connection[Any], name: str, size: int) -> bool:
    """It does not queue for the lock: all who read the table would queue behind it."""
    from psycopg import sql

    table, until = sql.Identifier(name), time.monotonic() + WAITING
    skipped: list[str | None] = []
    connection.add_notice_handler(lambda notice: skipped.append(notice.sqlstate))
    while size <= MOST and time.monotonic() < until:
        skipped.clear()
        connection.execute(sql.SQL("VACUUM (FULL, SKIP_LOCKED) {}").format(table))
        if _LOCKED not in skipped:
            return True
        time.sleep(_PAUSE)
    connection.execute(sql.SQL("VACUUM {}").format(table))
    return False


_LOCKED: Final = "55P03"
_TABLES: Final = """SELECT relname::text, pg_table_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relpersistence = 'p' AND relnamespace = current_schema()::regnamespace
        AND pg_has_role(relowner, 'USAGE')
    ORDER BY relname"""
_OPEN: Final = """SELECT pid, xact_start FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
        AND backend_type = 'client backend'"""

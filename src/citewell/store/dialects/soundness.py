"""Whether a database is sound, and how large it is. Functions of a connection."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, text


def find_faults(connection: Connection) -> list[str]:
    """What the database finds wrong with itself; nothing where it is sound. PostgreSQL is asked for
    indexes that were left half made: it checks its pages as it reads them.
    """
    said = connection.execute(_FAULTS[connection.dialect.name]).scalars()
    return [str(each) for each in said if each != "ok"]


def measure_database(connection: Connection) -> int:
    """Bytes, without SQLite's write-ahead log."""
    return int(connection.execute(_SIZES[connection.dialect.name]).scalar_one())


_FAULTS: Final = {
    "sqlite": text("PRAGMA quick_check"),
    "postgresql": text(
        "SELECT 'index ' || indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"
    ),
}
_SIZES: Final = {
    "sqlite": text("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"),
    "postgresql": text("SELECT pg_database_size(current_database())"),
}

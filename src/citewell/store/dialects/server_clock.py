"""The clock that all machines have in common which use one PostgreSQL."""

from __future__ import annotations

from sqlalchemy import Connection, extract, func, select

_NOW = select(extract("epoch", func.clock_timestamp()))


def read_server_clock(connection: Connection) -> float | None:
    """Seconds since the epoch, as the server of the database counts them, whatever the clocks of
    the machines that use it say. None for SQLite.
    """
    if connection.dialect.name != "postgresql":
        return None
    return float(connection.execute(_NOW).scalar_one())

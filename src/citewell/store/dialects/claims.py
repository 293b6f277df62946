"""What workers on many machines need of one PostgreSQL to take work from it; SQLite, which is used
on one machine by one writer at a time, needs none of it.
"""

from __future__ import annotations

from sqlalchemy import Connection, extract, func, select, text

_NOW = select(extract("epoch", func.clock_timestamp()))
_SEE_COMMITTED = text("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")


def begin_claim(connection: Connection) -> None:
    """The first word of a transaction that takes one row of many and passes over those that others
    have locked: it sees what they have committed. Serializable, each would be run again because
    of all the others.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(_SEE_COMMITTED)


def read_server_clock(connection: Connection) -> float | None:
    """Seconds since the epoch, as the server of the database counts them, whatever the clocks of
    the machines that use it say. None for SQLite.
    """
    if connection.dialect.name != "postgresql":
        return None
    return float(connection.execute(_NOW).scalar_one())

"""Whose request a transaction is of, told to PostgreSQL: its policies (revision 0005) then keep the
rows of others away, also from a statement that forgot its `user_id = ...`. SQLite has none.

The one rule: whoever means everybody's rows in a request says so, with `lift_fence`; work that
nobody asked for (workers, commands) has no fence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from sqlalchemy import Connection, text

# a user's id; empty: all rows are seen
FENCE: Final[ContextVar[str]] = ContextVar("citewell_fence", default="")


def write_fence() -> str:
    """What a transaction says at its beginning; empty where there is no fence."""
    name = FENCE.get().replace("\x00", "\ufffd").replace("'", "''").replace("%", "%%")
    return f"; SET LOCAL citewell.user_id = '{name}'" if name else ""


@contextmanager
def lift_fence(connection: Connection | None = None) -> Iterator[None]:
    """All rows are seen: by the transactions that begin in the block, or, from here on in the
    block, by the one that is open.
    """
    if connection is None:
        before = FENCE.set("")
        try:
            yield
        finally:
            FENCE.reset(before)
        return
    fenced = write_fence().removeprefix("; ") if connection.dialect.name == "postgresql" else ""
    if fenced:
        connection.exec_driver_sql("SET LOCAL citewell.user_id = ''")
    yield
    if fenced:
        connection.exec_driver_sql(fenced)


def bypasses_fences(connection: Connection) -> bool:
    """Whether this role sees all rows, whatever a policy says: a superuser does."""
    if connection.dialect.name != "postgresql":
        return False
    return bool(connection.execute(_PASSES).scalar_one())


_PASSES: Final = text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")

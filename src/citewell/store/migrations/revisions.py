"""Which schema a database has, and how it comes to the one that this Citewell knows.

`REVISIONS` names every file of `versions/` by its number, in order, so a start looks at one row and
imports Alembic only where there is something to do. A revision that has been released is never
changed; the next one corrects it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from sqlalchemy import Connection, inspect, text

REVISIONS: Final = ("0001", "0002", "0003", "0004")
BASELINE: Final = REVISIONS[0]
FOLDER: Final = Path(__file__).parent
# as Alembic makes it
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)
MOVING: Final = "moving"  # in its place, until all rows of another database have come
State = Literal["empty", "current", "older", "later", "foreign", "moving"]


def get_head() -> str:
    """The last that this Citewell knows."""
    return REVISIONS[-1]


def get_revision(connection: Connection) -> str | None:
    """None: it was never under Alembic."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return str(found) if found else None


def judge_revision(connection: Connection) -> State:
    """How a database of PostgreSQL stands to what this Citewell knows."""
    revision = get_revision(connection)
    if revision is None:
        return "foreign" if inspect(connection).get_table_names() else "empty"
    if revision == get_head():
        return "current"
    if revision == MOVING:
        return "moving"
    return "older" if revision in REVISIONS else "later"


def set_baseline(connection: Connection) -> None:
    """A file of SQLite whose own steps are all done; nothing where it is further already."""
    connection.exec_driver_sql(_TABLE)
    if get_revision(connection) is None:
        insert = text("INSERT INTO alembic_version VALUES (:revision)")
        connection.execute(insert, {"revision": BASELINE})


def apply_revisions(connection: Connection) -> None:
    """All that are missing, in the transaction that is open: every one or none."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    command.upgrade(config, get_head())

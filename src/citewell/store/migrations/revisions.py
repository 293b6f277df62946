"""Which schema a database has, and how it comes to the one that this Citewell knows.

`REVISIONS` names every file of `versions/` by its number, in order, so a start looks at one row and
imports Alembic only where there is something to do. A revision that has been released is never
changed; the next one corrects it.

A server of an earlier version works on, and starts, with a later schema whose further revisions are
all additive: which is the first version that may is kept with the schema, for the earlier one knows
nothing of what came after it. Only in PostgreSQL: a file of SQLite has one version's servers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from sqlalchemy import Connection, inspect, text

REVISIONS: Final = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")
# those with which an earlier version works on: new tables, and new columns with a default, that it
# need not know of. What takes away or changes comes a release after the last use. Versions that
# know nothing after 0004 are not let in: they hold none of the locks by which writers respect each
# other
ADDITIVE: Final = frozenset(REVISIONS[REVISIONS.index("0005") + 1 :])
BASELINE: Final = REVISIONS[0]
FOLDER: Final = Path(__file__).parent
# as Alembic makes it
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)
MOVING: Final = "moving"  # in its place, until all rows of another database have come
State = Literal["empty", "current", "older", "ahead", "later", "foreign", "moving"]


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
    if revision in REVISIONS:
        return "older"
    return "ahead" if _read_floor(connection) in REVISIONS else "later"


def _read_floor(connection: Connection) -> str | None:
    """The last revision that a version has to know to work with this schema."""
    if connection.dialect.name != "postgresql":
        return None
    return connection.exec_driver_sql(
        "SELECT obj_description('alembic_version'::regclass, 'pg_class')"
    ).scalar()


def _keep_floor(connection: Connection) -> None:
    floor = next(each for each in reversed(REVISIONS) if each not in ADDITIVE)
    connection.exec_driver_sql(f"COMMENT ON TABLE alembic_version IS '{floor}'")


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
    if connection.dialect.name == "postgresql":
        _keep_floor(connection)

"""The tables of a MySQL or MariaDB database as its catalogue tells them, and what its user may do
beyond reading. The catalogue lists only what the user may read, and nothing is added to it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.messages import Text
from citewell.sql.engines.engine import Column, ForeignKey, Table
from citewell.sql.engines.profile import Found, quote_name
from citewell.sql.engines.values import detect_kind

if TYPE_CHECKING:
    from pymysql.cursors import Cursor

TABLES = """
SELECT table_name, table_type, table_rows, table_comment FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
ORDER BY table_name"""
COLUMNS = """
SELECT table_name, column_name, column_type, column_comment FROM information_schema.columns
WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position"""
KEYS = """
SELECT table_name, constraint_name, column_name, referenced_table_schema, referenced_table_name,
    referenced_column_name
FROM information_schema.key_column_usage
WHERE table_schema = DATABASE()
    AND (constraint_name = 'PRIMARY' OR referenced_table_name IS NOT NULL)
ORDER BY table_name, constraint_name, ordinal_position"""
SYSTEM = {"information_schema", "mysql", "performance_schema", "sys"}
WRITING = re.compile(r"\b(ALL PRIVILEGES|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|SUPER)\b")


def find_tables(cursor: Cursor) -> list[Found]:
    cursor.execute(TABLES)
    tables = cursor.fetchall()
    cursor.execute(COLUMNS)
    columns: dict[str, list[Column]] = {}
    for table, name, kind, comment in cursor.fetchall():
        columns.setdefault(table, []).append(Column(name, kind, detect_kind(kind), comment))
    primary, foreign = _load_keys(cursor)
    found = []
    for name, kind, rows, comment in tables:
        view = kind == "VIEW"
        keys = primary.get(name, ()), tuple(foreign.get(name, ()))
        table = Table(
            name,
            tuple(columns.get(name, ())),
            "" if view else comment,
            None if view else rows,
            *keys,
        )
        found.append(Found(table, quote_name(name, "mysql"), view))
    return found


def _load_keys(cursor: Cursor) -> tuple[dict[str, tuple[str, ...]], dict[str, list[ForeignKey]]]:
    cursor.execute(KEYS)
    parts: dict[tuple[str, str], list[tuple[str, str | None, str | None, str | None]]] = {}
    for table, constraint, *part in cursor.fetchall():
        parts.setdefault((table, constraint), []).append(tuple(part))
    cursor.execute("SELECT DATABASE()")
    (here,) = cursor.fetchone() or ("",)
    primary: dict[str, tuple[str, ...]] = {}
    foreign: dict[str, list[ForeignKey]] = {}
    for (table, constraint), columns in parts.items():
        _, schema, target, _ = columns[0]
        names = tuple(column[0] for column in columns)
        if constraint == "PRIMARY":
            primary[table] = names
        elif target:
            shown = target if schema == here else f"{schema}.{target}"
            foreign.setdefault(table, []).append(
                ForeignKey(names, shown, tuple(str(column[3]) for column in columns))
            )
    return primary, foreign


def list_notes(cursor: Cursor) -> list[str]:
    """What whoever adds the source should know of its user."""
    return [*_check_rights(cursor), *_list_other_databases(cursor)]


def _list_other_databases(cursor: Cursor) -> list[str]:
    """Databases beside the one that is asked."""
    cursor.execute("SHOW DATABASES")
    every = [str(row[0]) for row in cursor.fetchall()]
    cursor.execute("SELECT DATABASE()")
    (here,) = cursor.fetchone() or ("",)
    others = sorted(name for name in every if name != here and name.lower() not in SYSTEM)
    if not others:
        return []
    some = ", ".join(others[:3]) + (f" and {len(others) - 3:,} more" if len(others) > 3 else "")
    return [
        (
            Text(
                "the user may also see {some}; statements may only name tables of {here}; "
                "a user for {here} alone is safer",
                some=some,
                here=here,
            )
        )
    ]


def _check_rights(cursor: Cursor) -> list[str]:
    cursor.execute("SHOW GRANTS")
    # the rights of `GRANT SELECT, FILE ON *.* TO ...`: a name or a password behind them is no right
    given = [str(row[0]).partition(" ON ") for row in cursor.fetchall()]
    everywhere = " ".join(rights for rights, _, what in given if what.startswith("*.*"))
    advice = "a user with SELECT alone is safer"
    if re.search(r"\b(FILE|ALL PRIVILEGES|SUPER)\b", everywhere):
        return [
            Text(
                "the user has the FILE right or all rights, which reach files of the "
                "server; {advice}",
                advice=advice,
            )
        ]
    if any(WRITING.search(rights) for rights, _, _ in given):
        return [
            (
                Text(
                    "the user may change tables; every statement runs in a read-only "
                    "transaction all the same; {advice}",
                    advice=advice,
                )
            )
        ]
    return []

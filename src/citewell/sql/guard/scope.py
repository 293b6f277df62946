"""Whose tables a statement names: those of its source, or others that the same login could read. A
table that is named with its schema or database is one of the source's. A bare name means a table of
the source's own database to every engine, or a name that the statement itself gives; whether it is
there, the engine knows.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from citewell.errors import StatementRefused
from citewell.messages import Text
from citewell.sql.engines.engine import Dialect

if TYPE_CHECKING:
    from sqlglot import exp

# what may stand before a table of the source, whatever the source is
OWN: Final[dict[Dialect, frozenset[str]]] = {
    "duckdb": frozenset({"main"}),
    "sqlite": frozenset({"main"}),
    "postgres": frozenset({"public"}),
    "mysql": frozenset(),
}
_NAMED: Final = 5  # tables that a hint names
_QUERY: Final = re.compile(r"\b(?:select|with|values|from|table)\b", re.IGNORECASE)
_EXPLAIN: Final = re.compile(r"\s*explain\b", re.IGNORECASE)
# the guard takes no names with a dot there
_OTHER: Final = re.compile(r"\s*(?:describe|desc|show|summarize)\b", re.IGNORECASE)


def check_scope(sql: str, dialect: Dialect, tables: Collection[str]) -> None:
    """A statement that has passed the guard. `tables`: names as they are in a `Schema`, those of
    another schema with it before a dot. Raises StatementRefused for a table of another schema,
    database or file.
    """
    if "." not in sql or _OTHER.match(sql):
        return
    from sqlglot import exp

    known = {name.casefold() for name in tables}
    for table in _parse_statement(sql, dialect).find_all(exp.Table):
        parts = [part.casefold() for part in (table.catalog, table.db) if part]
        if not parts or isinstance(table.this, exp.Func):
            continue
        name = table.name.casefold()
        if ".".join([*parts, name]) in known or (
            parts[-1] in OWN[dialect] and len(parts) == 1 and name in known
        ):
            continue
        said = ".".join(part for part in (table.catalog, table.db, table.name) if part)
        hint = Text(
            "Ask tables of the source: {tables}",
            tables=", ".join(sorted(tables)[:_NAMED]) + (" …" if len(tables) > _NAMED else ""),
        )
        raise StatementRefused(Text("{said} is no table of this source.", said=said), hint=hint)


def _parse_statement(sql: str, dialect: Dialect) -> exp.Expr:
    import sqlglot
    from sqlglot.errors import SqlglotError

    if _EXPLAIN.match(sql) and (found := _QUERY.search(sql)):
        sql = sql[found.start() :]
    try:
        return sqlglot.parse_one(sql, dialect=dialect)
    except (SqlglotError, ValueError, RecursionError):
        raise StatementRefused(
            Text("What the statement explains cannot be read."),
            hint=Text("Explain a plain SELECT."),
        ) from None

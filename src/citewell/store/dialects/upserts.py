"""INSERT where a row may exist already, for SQLite and PostgreSQL alike.

The one rule: columns are named, never counted, and every other difference is in `expressions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy import Column, Insert, Table, insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ClauseElement, SyntaxExtension
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.expression import alias
from sqlalchemy.sql.selectable import FromClause
from sqlalchemy.sql.visitors import InternalTraversal

_NAME: Final = "excluded"


class _OnConflict(SyntaxExtension, ClauseElement):
    """ON CONFLICT (keys) DO UPDATE SET names = values; without names, DO NOTHING."""

    _traverse_internals = [  # noqa: RUF012 - as SQLAlchemy declares it
        ("keys", InternalTraversal.dp_string_list),
        ("names", InternalTraversal.dp_string_list),
        ("changes", InternalTraversal.dp_clauseelement_list),
    ]

    def __init__(self, keys: Iterable[str], changes: Mapping[str, ColumnElement[Any]]) -> None:
        self.keys, self.names = list(keys), list(changes)
        self.changes = list(changes.values())

    def apply_to_insert(self, insert_stmt: Insert) -> None:
        insert_stmt.apply_syntax_extension_point(lambda _: [self], "post_values")


@compiles(_OnConflict)
def _write_on_conflict(clause: _OnConflict, compiler: SQLCompiler, **kw: Any) -> str:
    quote = compiler.preparer.quote
    if not clause.names:
        return "ON CONFLICT DO NOTHING"
    keys = ", ".join(map(quote, clause.keys))
    changes = ", ".join(
        f"{quote(name)} = {compiler.process(change.self_group(), **kw | {'include_table': True})}"
        for name, change in zip(clause.names, clause.changes, strict=True)
    )
    return f"ON CONFLICT ({keys}) DO UPDATE SET {changes}"


def get_excluded(table: Table) -> FromClause:
    """The row that could not be inserted, for the expressions of `upsert`."""
    return alias(table, _NAME)


def upsert(
    table: Table,
    *keys: Column[Any],
    update: Iterable[Column[Any]] | Mapping[Column[Any], ColumnElement[Any]] | None = None,
) -> Insert:
    """INSERT; where a row with the same `keys` (a unique index has them) is there, `update` takes
    the new values: columns, or expressions by column over `table` (the row that is there) and
    `get_excluded(table)`. None: all columns but the keys, so then all have to be given.

    Values are given as for every `insert`: on execution, or by `.values(...)`.
    """
    excluded = get_excluded(table)
    if update is None:
        update = [each for each in table.c if each not in set(keys) and not each.system]
    if not isinstance(update, Mapping):
        update = {each: excluded.c[each.key] for each in update}
    changes = {column.name: change for column, change in update.items()}
    return _insert(table, _OnConflict([each.name for each in keys], changes))


def insert_or_ignore(table: Table) -> Insert:
    """INSERT; nothing where a unique index has its row already. `rowcount` says which it was."""
    return _insert(table, _OnConflict((), {}))


def _insert(table: Table, clause: _OnConflict) -> Insert:
    return insert(table).ext(clause).execution_options(preserve_rowcount=True)

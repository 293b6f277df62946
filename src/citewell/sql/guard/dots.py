"""PostgreSQL calls functions by a dot too: where `x` has no column f, it takes `x.f` for f(x).

What stands before the dot decides what f is given. A function in FROM that gives single values
hands over the value itself, so `x.ts_stat` would run a text as SQL; everything else (tables,
subqueries, VALUES) hands over a row, which few functions take.

A closed world. A qualifier must be named in FROM, and the name after the dot must be a column of
every function in FROM that may be meant by it, in whatever part of the statement that stands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.errors import StatementRefused
from citewell.messages import Text
from citewell.sql.guard.allowed_functions import ROW_FUNCTIONS
from citewell.sql.guard.bounds import get_function_names

if TYPE_CHECKING:
    from sqlglot import exp

LONGEST_NAME = 63  # bytes; PostgreSQL cuts off the rest, so that two names become one
_FIELDS = ("key", "value")  # the columns of json_each and its kin
_NEVER = re.compile(r"(pg|lo|dblink)_")
_FOLD = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_CALL = Text("which PostgreSQL may read as a function.")


def check_dots(tree: exp.Expr) -> None:
    """Raises StatementRefused for a dot that may be a call."""
    from sqlglot import exp

    for dot in tree.find_all(exp.Dot):
        if not isinstance(dot.expression, exp.Star):
            raise StatementRefused(
                Text(
                    "A dot after an expression ({name}), {call}",
                    name=dot.expression.name,
                    call=_CALL,
                ),
                hint=Text("Name a column as table.column."),
            )
    qualified = [column for column in tree.find_all(exp.Column) if column.table]
    if not qualified:
        return
    known = _collect_sources(tree)
    for column in qualified:
        _check_column(column, known)


def _check_column(column: exp.Column, known: dict[str, list[set[str] | None]]) -> None:
    from sqlglot import exp

    told = f"{column.table}.{column.name}"
    meant = known.get(_fold_source_name(column.table))
    if meant is None:
        raise StatementRefused(
            Text("{told}: {table} is not named in FROM.", told=told, table=column.table),
            hint=Text("Use the names and aliases of FROM."),
        )
    if isinstance(column.this, exp.Star):
        return
    name = _fold_name(column.this)
    if len(name.encode()) > LONGEST_NAME or len(column.table.encode()) > LONGEST_NAME:
        raise StatementRefused(
            Text(
                "{told}: a name longer than {longest_name} bytes, which PostgreSQL cuts off.",
                told=told[:80],
                longest_name=LONGEST_NAME,
            ),
            hint=Text("Use a shorter alias."),
        )
    if _NEVER.match(name.lower()) or name in ROW_FUNCTIONS:
        raise StatementRefused(
            Text("{told}, {call}", told=told, call=_CALL),
            hint=Text("Give the column another name in a subquery."),
        )
    if any(columns is not None and name not in columns for columns in meant):
        raise StatementRefused(
            Text("{told}, {call}", told=told, call=_CALL),
            hint=Text("Name the columns in the alias: AS x(n)."),
        )


def _collect_sources(tree: exp.Expr) -> dict[str, list[set[str] | None]]:
    """What stands in FROM, by its name: the columns of a function, None of what gives rows."""
    from sqlglot import exp

    found: dict[str, list[set[str] | None]] = {}
    for source in tree.find_all(exp.Table, exp.Subquery, exp.Lateral, exp.Unnest, exp.Values):
        alias = source.args.get("alias")
        inner = source.this if isinstance(source, exp.Table | exp.Lateral) else source
        called = alias.name if alias is not None else ""
        if not isinstance(inner, exp.Func):
            names = [called or (source.name if isinstance(source, exp.Table) else "")]
            columns = None
        elif isinstance(source, exp.Unnest) and isinstance(source.parent, exp.Lateral):
            continue  # seen as the Lateral
        else:
            names = [called] if called else sorted(get_function_names(inner))
            columns = _list_function_columns(source, inner, alias)
        for name in filter(None, names):
            found.setdefault(_fold_source_name(name), []).append(columns)
    return found


def _list_function_columns(source: exp.Expr, inner: exp.Func, alias: exp.Expr | None) -> set[str]:
    """The columns of a function in FROM: its alias's, and its own where the list is shorter."""
    from sqlglot import exp

    listed = [
        _fold_name(column)
        for column in (alias.args.get("columns") if alias is not None else None) or []
    ]
    if isinstance(offset := inner.args.get("offset"), exp.Expr):
        listed.append(_fold_name(offset))  # where sqlglot keeps the last of a list WITH ORDINALITY
    names = get_function_names(inner)
    several = isinstance(inner, exp.Unnest) and len(inner.expressions) > 1
    own: list[str] = []
    if any(name.endswith(("_each", "_each_text")) for name in names):
        own = list(_FIELDS)
    elif alias is not None and alias.name and alias.this is not None:
        own = [] if several else [_fold_name(alias.this)]
    elif not several:
        own = sorted(names)[:1] if len(names) == 1 else []
    if source.args.get("ordinality") or offset:
        own.append("ordinality")
    return {*listed, *own[len(listed) :]}


def _fold_name(node: exp.Expr) -> str:
    """A name as PostgreSQL keeps it: unquoted in lower case, quoted as it is."""
    from sqlglot import exp

    if isinstance(node, exp.ColumnDef):
        node = node.this
    quoted = isinstance(node, exp.Identifier) and node.args.get("quoted")
    return node.name if quoted else node.name.translate(_FOLD)


def _fold_source_name(name: str) -> str:
    """Names that PostgreSQL may keep apart are one here: every source meant is asked."""
    return name.casefold()

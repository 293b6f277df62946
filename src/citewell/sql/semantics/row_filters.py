"""The rows of a table that count: conditions of a description, put into statements. Where a
statement says itself, by the same columns, which rows it wants, it has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from citewell.messages import Text
from citewell.sql.engines.engine import Schema, Table
from citewell.sql.semantics.description import Description
from citewell.sql.semantics.metrics import Misnamed, read_expression
from citewell.sql.semantics.statement_tree import (
    Sources,
    list_places,
    map_sources,
    owns_node,
    resolve_column,
    write_alias,
    write_column,
)


@dataclass(frozen=True, slots=True)
class RowFilter:
    """The rows of a table that count. `columns`: those that the condition is about."""

    table: str
    sql: str
    tree: Any
    columns: frozenset[str]


def list_filters(description: Description, schema: Schema) -> list[RowFilter]:
    """Those that fit the schema."""
    tables = {table.name.casefold(): table for table in schema.tables}
    found = []
    for name, said in description.tables.items():
        table = tables.get(name.casefold())
        if table is None or not said.filter:
            continue
        try:
            found.append(build_filter(table, said.filter, schema))
        except Misnamed:
            continue
    return found


def build_filter(table: Table, sql: str, schema: Schema) -> RowFilter:
    """Raises Misnamed, also for a column of another table."""
    tree, reads = read_expression(sql, schema, table)
    other = next((each for each in reads if each[0] != table.name), None)
    if other is not None:
        raise Misnamed(
            Text("{column} is no column of {table}", column=".".join(other), table=table.name)
        )
    if not reads:
        raise Misnamed(Text("{sql} names no column", sql=sql))
    return RowFilter(table.name, sql, tree, frozenset(name for _, name in reads))


def put_filters(select: Any, schema: Schema, filters: Sequence[RowFilter]) -> None:
    """The rows that count, unless the statement says itself by these columns which do."""
    from sqlglot import exp

    sources = map_sources(select, schema)
    outer = any(each.side for each in select.args.get("joins", []))
    for place in list_places(select):
        table = place.this
        if not isinstance(table, exp.Table) or table.alias_or_name not in sources:
            continue
        alias = table.alias_or_name
        for each in filters:
            if each.table != sources[alias].table.name or _is_stated(select, alias, each, sources):
                continue
            condition = exp.Paren(this=each.tree.copy())
            for column in list(condition.find_all(exp.Column)):
                own = None if outer else write_alias(alias, sources)
                column.replace(write_column(column.name, own))
            if not isinstance(condition.this, exp.Or):
                condition = condition.this
            if not outer:
                select.where(condition, copy=False)
                continue
            bare = table.copy()
            bare.set("alias", None)
            rows = exp.select("*").from_(bare).where(condition)
            place.set("this", rows.subquery(write_alias(alias, sources)))


def _is_stated(select: Any, alias: str, row: RowFilter, sources: Sources) -> bool:
    """Whether the statement's own conditions are about a column of the filter."""
    from sqlglot import exp

    conditions = [
        *([select.args["where"]] if select.args.get("where") else []),
        *(join.args["on"] for join in select.args.get("joins", []) if join.args.get("on")),
    ]
    for each in conditions:
        for column in each.find_all(exp.Column):
            own = owns_node(select, column) and resolve_column(column, sources)
            if own and own[0] == alias and own[1] in {name.casefold() for name in row.columns}:
                return True
    return False

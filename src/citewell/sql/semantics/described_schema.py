"""A schema with what its description says: comments, synonyms, joins. What the description says
stands before what the engine said; names in it that the schema does not have are left out here, and
told by `check_description.py`.
"""

from __future__ import annotations

from dataclasses import replace

from citewell.sql.engines.engine import Column, ForeignKey, Schema, Table
from citewell.sql.parse_sql import parse_sql
from citewell.sql.semantics.description import DescribedColumn, DescribedTable, Description


def describe_schema(schema: Schema, description: Description) -> Schema:
    """The schema as linking and prompt take it."""
    described = {name.casefold(): each for name, each in description.tables.items()}
    joins = [
        join
        for text in description.joins
        if isinstance(join := parse_join(text, schema), tuple) and not _is_known(*join, schema)
    ]
    tables = []
    for table in schema.tables:
        found = _describe_table(table, described.get(table.name.casefold()))
        keys = [key for name, key in joins if name == table.name]
        tables.append(replace(found, foreign_keys=(*found.foreign_keys, *keys)))
    return replace(schema, tables=tuple(tables))


def _is_known(table: str, join: ForeignKey, schema: Schema) -> bool:
    """Whether one of the two tables has such a key."""
    back = ForeignKey(join.target_columns, table, join.columns)
    ways = {(table, join), (join.table, back)}
    return any((each.name, key) in ways for each in schema.tables for key in each.foreign_keys)


def _describe_table(table: Table, said: DescribedTable | None) -> Table:
    if said is None:
        return table
    columns = {name.casefold(): each for name, each in said.columns.items()}
    return replace(
        table,
        comment=said.comment or table.comment,
        synonyms=tuple(said.synonyms),
        columns=tuple(
            _describe_column(column, columns.get(column.name.casefold()))
            for column in table.columns
        ),
    )


def _describe_column(column: Column, said: DescribedColumn | None) -> Column:
    if said is None:
        return column
    named = tuple((each, value) for value, called in said.values.items() for each in called)
    stored = tuple(value for value in said.values if value not in column.values)
    text = column.kind == "text"
    return replace(
        column,
        comment=said.comment or column.comment,
        synonyms=tuple(said.synonyms),
        values=(*column.values, *stored) if text else column.values,
        value_synonyms=named,
    )


def parse_join(text: str, schema: Schema) -> tuple[str, ForeignKey] | str | None:
    """The table that a join stands at, and its key: `a.x = b.y AND a.z = b.w`. A text: the name
    in it that the schema does not have; None: it is no join.
    """
    from sqlglot import exp

    if (tree := parse_sql(text, schema.dialect)) is None:
        return None
    pairs = list(tree.flatten()) if isinstance(tree, exp.And) else [tree]
    sides: dict[str, list[str]] = {}
    for pair in pairs:
        if not isinstance(pair, exp.EQ):
            return None
        for side in (pair.this, pair.expression):
            if not isinstance(side, exp.Column) or not side.table:
                return None
            place = find_column(schema, get_table_name(side), side.name)
            if place is None:
                return str(side.sql(dialect=schema.dialect))
            sides.setdefault(place[0].name, []).append(place[1].name)
    if len(sides) != 2 or any(len(columns) != len(pairs) for columns in sides.values()):
        return None
    (one, mine), (other, theirs) = sides.items()
    return one, ForeignKey(tuple(mine), other, tuple(theirs))


def find_column(schema: Schema, table: str, column: str) -> tuple[Table, Column] | None:
    """By their names in any case; the only one of its name where no table is named."""
    found = [
        (each, own)
        for each in schema.tables
        if not table or each.name.casefold() == table.casefold()
        for own in each.columns
        if own.name.casefold() == column.casefold()
    ]
    return found[0] if len(found) == 1 else None


def get_table_name(column: object) -> str:
    """Of a column in a tree: `sales.orders` of `sales.orders.amount`."""
    parts = (getattr(column, "db", ""), getattr(column, "table", ""))
    return ".".join(part for part in parts if part)

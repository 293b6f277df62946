"""Names as the schema has them, in a statement that the grammar let through: tables that are called
T1 by their own name, columns by theirs. A column goes with the table that has it. Where an alias
says another one, for a statement names its columns before its tables, the tables that it reads
decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from citewell.sql.engines.engine import Schema, Table
from citewell.sql.parse_sql import parse_sql
from citewell.sql.schema_text import get_quote_mark, quote_name, quote_path

Edit = tuple[int, int, str]  # from, to, what stands there instead
_ALIAS = re.compile(r"[Tt][1-9]")


def write_plain_names(sql: str, schema: Schema) -> str:
    """The statement without aliases of tables and with the schema's names; as it is where it cannot
    be parsed, or needs its aliases: it reads a table twice side by side, or a SELECT inside another
    speaks of the outer one's tables.
    """
    from sqlglot import exp

    if (tree := parse_sql(sql, schema.dialect)) is None:
        return sql
    edits: list[Edit] = []
    try:
        for select in tree.find_all(exp.Select):
            edits += _plan_edits(select, schema)
    except _Needed:
        return sql
    for start, end, text in sorted(edits, reverse=True):
        sql = sql[:start] + text + sql[end:]
    return sql


class _Needed(Exception):
    """The statement needs its aliases."""


def _plan_edits(select: Any, schema: Schema) -> Iterator[Edit]:
    """Those of one SELECT, without the ones inside it."""
    from sqlglot import exp

    known = {table.name.lower(): table for table in schema.tables}
    read: dict[str, Table] = {}
    for each in select.find_all(exp.Table):
        table = known.get(".".join(part.name for part in each.parts).lower())
        if each.parent_select is not select:
            continue
        if table is None or table in read.values():
            raise _Needed
        read[each.alias_or_name.lower()] = table
        start, end = _find_span(each.parts[0])[0], _find_span(each.parts[-1])[1]
        if each.alias:
            end = _find_span(each.args["alias"].this)[1]
        yield start, end, quote_path(table.name, get_quote_mark(schema.dialect))
    for column in select.find_all(exp.Column):
        if column.parent_select is select and not isinstance(column.this, exp.Star):
            yield from _plan_column(column, read, get_quote_mark(schema.dialect))


def _plan_column(column: Any, read: dict[str, Table], mark: str) -> Iterator[Edit]:
    """Bare where one table is read, else with its table before it."""
    said = read.get(column.table.lower())
    if column.table and said is None and not _ALIAS.fullmatch(column.table):
        raise _Needed
    for table in [*([said] if said else []), *read.values()]:
        name = next((c.name for c in table.columns if c.name.lower() == column.name.lower()), None)
        if name is None:
            continue
        start, end = _find_span(column.this)
        yield start, end, quote_name(name, mark)
        if column.table:
            before = "" if len(read) == 1 else f"{quote_path(table.name, mark)}."
            yield _find_span(column.args["table"])[0], start, before
        return
    if column.table:
        raise _Needed


def _find_span(identifier: Any) -> tuple[int, int]:
    """Where a name stands in the statement, quotes included."""
    return identifier.meta["start"], identifier.meta["end"] + 1

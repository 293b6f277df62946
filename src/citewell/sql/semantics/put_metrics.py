"""The columns of a statement that stand for metrics, replaced by the metrics' own expressions.
Tables that a metric reads are joined from its own table, each row of which counts once where the
joins lead to one row each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citewell.messages import Text
from citewell.sql.engines.engine import Schema
from citewell.sql.join_paths import Pairs, list_join_columns
from citewell.sql.schema_text import quote_path
from citewell.sql.semantics.described_schema import get_table_name
from citewell.sql.semantics.metrics import Measure, Misnamed
from citewell.sql.semantics.statement_tree import (
    Named,
    Sources,
    map_sources,
    owns_node,
    write_alias,
    write_column,
)


def _list_above(node: Any, select: Any) -> list[Any]:
    """What a node stands in, within its SELECT."""
    found = []
    while (node := node.parent) is not select:
        found.append(node)
    return found


def put_metrics(select: Any, schema: Schema, measures: Sequence[Measure]) -> None:
    from sqlglot import exp

    sources = map_sources(select, schema)
    named = {each.name.casefold(): each for each in measures}
    used: list[Measure] = []
    for column in list(select.find_all(exp.Column)):
        measure = named.get(column.name.casefold())
        if measure is None or not owns_node(select, column):
            continue
        alias = _find_alias(column, measure, sources)
        if alias:
            _put_metric(column, measure, sources, schema, select)
            used.append(measure)
    if used:
        _group_rest(select)


def _find_alias(column: Any, measure: Measure, sources: Sources) -> str:
    """Under what name a SELECT reads the table of a metric; empty where the column is no metric."""
    said = get_table_name(column).casefold()
    for alias, (table, _) in sources.items():
        if table.name == measure.table and said in {"", alias.casefold(), table.name.casefold()}:
            return alias
    return ""


def _put_metric(
    column: Any, measure: Measure, sources: Sources, schema: Schema, select: Any
) -> None:
    from sqlglot import exp

    above = _list_above(column, select)
    if any(isinstance(each, exp.Where | exp.Join | exp.Group) for each in above):
        raise Misnamed(
            Text("{name} is a metric: compare it in HAVING, not in WHERE", name=measure.name)
        )
    outer = next((each for each in above if isinstance(each, exp.AggFunc)), None)
    if outer is not None and not (isinstance(outer, exp.Sum) and outer.this is column):
        raise Misnamed(
            Text("{name} is a metric: write it alone, in no other function", name=measure.name)
        )
    _join_tables(select, measure, sources, schema)
    aliases = {each.table.name: alias for alias, each in reversed(sources.items())}
    tree = measure.tree.copy()
    for each in list(tree.find_all(exp.Column)):
        own = write_column(each.name, write_alias(aliases[each.table], sources))
        each.replace(own)
    place = outer if outer is not None else column
    shown = place.parent is select and place.arg_key == "expressions"
    if shown:
        tree = exp.alias_(tree, measure.name, quoted=True)
    elif isinstance(tree, exp.Binary):
        tree = exp.Paren(this=tree)
    place.replace(tree)


def _join_tables(select: Any, measure: Measure, sources: Sources, schema: Schema) -> None:
    """Tables that a metric reads and the statement does not, joined along keys."""
    import sqlglot
    from sqlglot import exp

    known = {table.name: table for table in schema.tables}
    steps = [
        each for name in measure.tables[1:] for each in find_join_path(measure.table, name, schema)
    ]
    for before, after, pairs in steps:
        here = {each.table.name: alias for alias, each in sources.items()}
        if after in here:
            continue
        one = write_alias(here[before], sources)
        other = exp.to_identifier(after, quoted=True)
        on = exp.and_(
            *(
                write_column(mine, one.copy()).eq(write_column(theirs, other.copy()))
                for mine, theirs in pairs
            )
        )
        path = sqlglot.to_table(quote_path(after), dialect="postgres")
        joined = exp.alias_(path, other, table=True)
        select.append("joins", exp.Join(this=joined, side="LEFT", on=on))
        sources[after] = Named(known[after], quoted=True)


def find_join_path(first: str, wanted: str, schema: Schema) -> list[tuple[str, str, Pairs]]:
    """The joins, (table, next table, pairs of columns), that lead from one to another, as few
    as there can be. Raises Misnamed where none do.
    """
    known = {table.name: table for table in schema.tables}
    came: dict[str, tuple[str, Pairs]] = {}
    wave = [first]
    while wave and wanted not in came:
        after: list[str] = []
        for name in wave:
            for other in schema.tables:
                if other.name in {*came, first}:
                    continue
                if ways := list_join_columns(known[name], other):
                    came[other.name] = name, ways[0]
                    after.append(other.name)
        wave = after
    if wanted not in came:
        raise Misnamed(Text("no join leads from {tables} to {name}", tables=first, name=wanted))
    steps, at = [], wanted
    while at in came:
        before, pairs = came[at]
        steps.append((before, at, pairs))
        at = before
    return steps[::-1]


def _group_rest(select: Any) -> None:
    """What is shown beside a metric is what it is told by."""
    from sqlglot import exp

    if select.args.get("group") is not None:
        return
    order = select.args.get("order")
    shown = [each.unalias() for each in select.expressions]
    names = {each.alias_or_name.casefold() for each in select.expressions}
    ordered = [
        each.this
        for each in (order.expressions if order else [])
        if each.this.sql().casefold() not in names
    ]
    for key in dict.fromkeys([*shown, *ordered]):
        if key.find(exp.Column) and not key.find(exp.AggFunc, exp.Query):
            select.group_by(key.copy(), copy=False)

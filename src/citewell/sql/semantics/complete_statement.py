"""A statement as a model wrote it, made whole by the description: metrics in their own words, the
rows that count. What is put in is reported by `list_applied`, from the statement that ran.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from citewell.sql.engines.engine import Schema
from citewell.sql.parse_sql import parse_sql
from citewell.sql.semantics.description import Description
from citewell.sql.semantics.metrics import list_measures
from citewell.sql.semantics.put_metrics import put_metrics
from citewell.sql.semantics.row_filters import list_filters, put_filters
from citewell.sql.semantics.statement_tree import (
    fold_expression,
    map_sources,
    owns_node,
    split_conditions,
    split_where,
)


@dataclass(frozen=True, slots=True)
class Applied:
    """What a statement has of the description: a metric (`name`, its `sql`), or the rows of the
    table `name` that count.
    """

    kind: Literal["metric", "filter"]
    name: str
    sql: str


def complete_statement(sql: str, schema: Schema, description: Description) -> str:
    """The statement to run. Raises Misnamed where a metric stands where none can."""
    measures, filters = list_measures(description, schema), list_filters(description, schema)
    tree = parse_sql(sql, schema.dialect) if measures or filters else None
    if tree is None:
        return sql
    from sqlglot import exp

    before = tree.sql(dialect=schema.dialect)
    for select in list(tree.find_all(exp.Select)):
        put_metrics(select, schema, measures)
    for select in list(tree.find_all(exp.Select)):
        put_filters(select, schema, filters)
    after = tree.sql(dialect=schema.dialect)
    return sql if after == before else str(after)


def list_applied(sql: str, schema: Schema, description: Description) -> list[Applied]:
    """What of the description stands in a statement, whoever wrote it there."""
    measures, filters = list_measures(description, schema), list_filters(description, schema)
    tree = parse_sql(sql, schema.dialect) if measures or filters else None
    if tree is None:
        return []
    from sqlglot import exp

    found: list[Applied] = []
    for select in tree.find_all(exp.Select):
        sources = map_sources(select, schema)
        for measure in measures:
            nodes = [
                each for each in select.find_all(type(measure.tree)) if owns_node(select, each)
            ]
            if any(
                fold_expression(each, sources) == fold_expression(measure.tree, {})
                for each in nodes
            ):
                found.append(Applied("metric", measure.name, measure.sql))
        stated = {fold_expression(each, sources) for each in split_where(select)}
        found += [
            Applied("filter", each.table, each.sql)
            for each in filters
            if {fold_expression(part, {}) for part in split_conditions(each.tree)} <= stated
        ]
    return list(dict.fromkeys(found))

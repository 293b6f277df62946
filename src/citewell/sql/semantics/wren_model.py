"""What a model of WrenAI (its MDL, a JSON file) says of tables: descriptions, relationships,
calculated fields and metrics. Names of its models become names of the tables that they stand for;
what is a query of its own is named, not taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from citewell.messages import Text
from citewell.sql.engines.engine import Schema
from citewell.sql.parse_sql import parse_sql
from citewell.sql.semantics.description import DescribedColumn, DescribedTable, Description, Metric
from citewell.sql.semantics.imported import (
    Imported,
    Part,
    fit_tables,
    make_metric,
    read_list,
    read_text,
)

Node = dict[str, Any]


@dataclass(slots=True)
class _Model:
    """`tables`: name of a model -> of its table; `columns`: (model, column) -> the stored one."""

    tables: dict[str, str] = field(default_factory=dict)
    columns: dict[tuple[str, str], str] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)
    left: list[tuple[str, str]] = field(default_factory=list)


def read_wren(document: Any, schema: Schema) -> Imported:
    """`document`: the MDL, loaded."""
    root = document if isinstance(document, dict) else {}
    found = _Model()
    enums = {read_text(each.get("name")): each for each in read_list(root.get("enumDefinitions"))}
    tables = {}
    for model in read_list(root.get("models")):
        name = read_text(model.get("name"))
        reference = model.get("tableReference")
        table = read_text(reference.get("table")) if isinstance(reference, dict) else ""
        if not table:
            found.left.append((name, Text("it is a query of its own")))
            continue
        found.tables[name] = table
        tables[table] = _read_table(name, table, model, enums, found)
    joins = [
        join
        for each in read_list(root.get("relationships"))
        if (join := _read_join(each, schema, found))
    ]
    for metric in read_list(root.get("metrics")):
        _read_metric(metric, found)
    found.left += [
        (read_text(view.get("name")), Text("it is a query of its own"))
        for view in read_list(root.get("views"))
    ]
    description = Description(tables=tables, joins=joins, metrics=found.metrics)
    return fit_tables(Imported(description, found.left), schema)


def _read_properties(node: Node) -> tuple[str, str]:
    """Description and display name."""
    said = node.get("properties")
    properties = said if isinstance(said, dict) else {}
    description = properties.get("description") or node.get("description")
    display = properties.get("displayName") or node.get("displayName")
    return read_text(description), read_text(display)


def _read_table(
    name: str, table: str, model: Node, enums: dict[str, Node], found: _Model
) -> DescribedTable:
    comment, display = _read_properties(model)
    others = [each for each in (name, display) if each and each.casefold() != table.casefold()]
    columns = {}
    for column in read_list(model.get("columns")):
        own, expression = read_text(column.get("name")), read_text(column.get("expression"))
        if column.get("relationship") and not column.get("isCalculated"):
            continue
        if column.get("isCalculated") or (expression and not _is_name(expression)):
            comment_of, label = _read_properties(column)
            found.metrics[own] = make_metric(Part(expression, table), comment_of, label, own)
            continue
        stored = expression.strip('"`') or own
        found.columns[name, own] = stored
        columns[stored] = _read_column(own, stored, column, enums)
    kept = {each: said for each, said in columns.items() if said != DescribedColumn()}
    return DescribedTable(comment=comment, synonyms=list(dict.fromkeys(others)), columns=kept)


def _is_name(expression: str) -> bool:
    return expression.strip('"`').isidentifier()


def _read_column(name: str, stored: str, column: Node, enums: dict[str, Node]) -> DescribedColumn:
    comment, display = _read_properties(column)
    others = [each for each in (name, display) if each and each.casefold() != stored.casefold()]
    values = {
        read_text(each.get("value")): [read_text(each.get("name"))]
        for each in read_list(enums.get(read_text(column.get("enum")), {}).get("values"))
        if read_text(each.get("value")) and each.get("value") != each.get("name")
    }
    return DescribedColumn(comment=comment, synonyms=list(dict.fromkeys(others)), values=values)


def _read_join(relationship: Node, schema: Schema, found: _Model) -> str:
    """The condition over tables; empty where it cannot be read."""
    from sqlglot import exp

    name, said = read_text(relationship.get("name")), read_text(relationship.get("condition"))
    if (tree := parse_sql(said, schema.dialect)) is None:
        found.left.append((name, Text("its condition cannot be read")))
        return ""
    for column in tree.find_all(exp.Column):
        model = column.table
        if model in found.tables:
            stored = found.columns.get((model, column.name), column.name)
            column.set("this", exp.to_identifier(stored, quoted=not stored.isidentifier()))
            table = found.tables[model]
            column.set("table", exp.to_identifier(table, quoted=not table.isidentifier()))
    return str(tree.sql(dialect=schema.dialect))


def _read_metric(metric: Node, found: _Model) -> None:
    """`{name, baseObject, measure: [{name, expression}]}`, or `{name, models, aggregation}`."""
    name, (comment, display) = read_text(metric.get("name")), _read_properties(metric)
    models = metric.get("models")
    base = read_text(metric.get("baseObject")) or (
        read_text(models[0]) if isinstance(models, list) and models else ""
    )
    if base not in found.tables:
        found.left.append((name, Text("it is of {base}, which is no table", base=base or "?")))
        return
    measures = read_list(metric.get("measure"))
    if aggregation := read_text(metric.get("aggregation")):
        measures = [{"name": name, "expression": aggregation}]
    for each in measures:
        own = read_text(each.get("name")) or name
        part = Part(read_text(each.get("expression")), found.tables[base])
        only = len(measures) == 1
        found.metrics[own] = make_metric(
            part, comment or _read_properties(each)[0], display or (name if only else ""), own
        )

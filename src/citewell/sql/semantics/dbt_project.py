"""What a dbt project says of its models: descriptions, tests of relationships, and its semantic
layer, in the form with `semantic_models` and in the later one inside `models`. A metric is taken
where it is one expression over one model; all others are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from citewell.messages import Text
from citewell.sql.engines.engine import Schema
from citewell.sql.semantics.description import DescribedColumn, DescribedTable, Description, Metric
from citewell.sql.semantics.imported import (
    Imported,
    Part,
    combine_parts,
    fit_tables,
    make_metric,
    read_list,
    read_text,
)
from citewell.sql.semantics.metrics import Misnamed

_REF = re.compile(r"""(?:ref|source)\(\s*(?:['"][^'"]*['"]\s*,\s*)?['"]([^'"]+)['"]""")
_NAME = re.compile(r"[A-Za-z_]\w*")
_FIELD = re.compile(r"""\{\{\s*(?:Time)?(?:Dimension|Entity)\(\s*['"]([^'"]+)['"][^)]*\)\s*\}\}""")
_AGGREGATES = {
    "sum": "SUM({})",
    "min": "MIN({})",
    "max": "MAX({})",
    "average": "AVG({})",
    "count": "COUNT({})",
    "count_distinct": "COUNT(DISTINCT {})",
    "sum_boolean": "SUM(CASE WHEN {} THEN 1 ELSE 0 END)",
    "median": "MEDIAN({})",
}
Node = dict[str, Any]


@dataclass(slots=True)
class _Project:
    """`columns`: (table, name of an entity or a dimension) -> the expression behind it."""

    schema: Schema
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    joins: list[str] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    foreign: list[tuple[str, str, str]] = field(default_factory=list)
    fields: dict[tuple[str, str], str] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)
    left: list[tuple[str, str]] = field(default_factory=list)


def read_dbt(documents: Iterable[Any], schema: Schema) -> Imported:
    """`documents`: the project's YAML files, loaded."""
    project = _Project(schema)
    found = [each for each in documents if isinstance(each, dict)]
    models = [model for each in found for model in read_list(each.get("models"))]
    semantic = [model for each in found for model in read_list(each.get("semantic_models"))]
    sources = [
        table
        for each in found
        for source in read_list(each.get("sources"))
        for table in read_list(source.get("tables"))
    ]
    for each in [*models, *sources]:
        _read_model(each, project)
    for each in semantic:
        _read_semantic_model(each, project)
    for entity, table, column in project.foreign:
        if entity in project.keys and not project.keys[entity].startswith(f"{table}."):
            project.joins.append(f"{table}.{column} = {project.keys[entity]}")
    of_models = [(each, model) for model in models for each in read_list(model.get("metrics"))]
    top = [(each, None) for document in found for each in read_list(document.get("metrics"))]
    _read_metrics([*of_models, *top], project)
    description = Description(
        tables={name: _build_table(said) for name, said in project.tables.items()},
        joins=project.joins,
        metrics=project.metrics,
    )
    return fit_tables(Imported(description, project.left), schema)


def _build_table(said: dict[str, Any]) -> DescribedTable:
    columns = {
        name: DescribedColumn(comment=column["comment"], synonyms=column["synonyms"])
        for name, column in said["columns"].items()
        if column["comment"] or column["synonyms"]
    }
    return DescribedTable(comment=said["comment"], columns=columns)


def _get_table(project: _Project, name: str) -> dict[str, Any]:
    return project.tables.setdefault(name, {"comment": "", "columns": {}})


def _get_column(project: _Project, table: str, name: str) -> dict[str, Any]:
    columns: dict[str, Any] = _get_table(project, table)["columns"]
    said: dict[str, Any] = columns.setdefault(name, {"comment": "", "synonyms": []})
    return said


def _read_model(model: Node, project: _Project) -> None:
    name = read_text(model.get("identifier") or model.get("alias") or model.get("name"))
    if not name:
        return
    table = _get_table(project, name)
    table["comment"] = table["comment"] or read_text(model.get("description"))
    for column in read_list(model.get("columns")):
        own = read_text(column.get("name"))
        if not own:
            continue
        said = _get_column(project, name, own)
        said["comment"] = said["comment"] or read_text(column.get("description"))
        for test in read_list(column.get("data_tests") or column.get("tests")):
            _read_relationship(name, own, test.get("relationships"), project)
        entity, dimension = column.get("entity"), column.get("dimension")
        if isinstance(entity, dict):
            _read_entity(name, {"expr": own, "name": own, **entity}, project)
        if isinstance(dimension, dict):
            _read_dimension(name, {"expr": own, "name": own, **dimension}, project)
        elif dimension or entity:
            project.fields[name, own] = own


def _read_relationship(table: str, column: str, test: Any, project: _Project) -> None:
    if not isinstance(test, dict):
        return
    said = {**test, **(test["arguments"] if isinstance(test.get("arguments"), dict) else {})}
    to = _REF.search(read_text(said.get("to")))
    if to and (there := read_text(said.get("field"))):
        project.joins.append(f"{table}.{column} = {to[1]}.{there}")


def _read_semantic_model(model: Node, project: _Project) -> None:
    name = read_text(model.get("name"))
    found = _REF.search(read_text(model.get("model")))
    table = found[1] if found else name
    said = _get_table(project, table)
    said["comment"] = said["comment"] or read_text(model.get("description"))
    for entity in read_list(model.get("entities")):
        _read_entity(table, entity, project)
    for dimension in read_list(model.get("dimensions")):
        _read_dimension(table, dimension, project)
    for measure in read_list(model.get("measures")):
        called = read_text(measure.get("name"))
        try:
            project.parts[called] = _read_aggregate(measure, table)
        except Misnamed as error:
            project.left.append((called, error.message))
            continue
        if measure.get("create_metric") is True:
            project.metrics[called] = make_metric(
                project.parts[called],
                read_text(measure.get("description")),
                read_text(measure.get("label")),
                called,
            )


def _read_entity(table: str, entity: Node, project: _Project) -> None:
    name = read_text(entity.get("name"))
    column = read_text(entity.get("expr")) or name
    project.fields[table, name] = column
    if not _NAME.fullmatch(column):
        return
    if entity.get("type") in {"primary", "unique", "natural"}:
        project.keys.setdefault(name, f"{table}.{column}")
    elif entity.get("type") == "foreign":
        project.foreign.append((name, table, column))


def _read_dimension(table: str, dimension: Node, project: _Project) -> None:
    name = read_text(dimension.get("name"))
    column = read_text(dimension.get("expr")) or name
    project.fields[table, name] = column
    if not _NAME.fullmatch(column):
        return
    said = _get_column(project, table, column)
    said["comment"] = said["comment"] or read_text(dimension.get("description"))
    for other in (name, read_text(dimension.get("label"))):
        if other and other.casefold() != column.casefold() and other not in said["synonyms"]:
            said["synonyms"].append(other)


def _read_aggregate(said: Node, table: str) -> Part:
    """A measure, or a simple metric of the later form. Raises Misnamed."""
    agg = read_text(said.get("agg")).lower()
    expr = said.get("expr")
    column = str(expr) if isinstance(expr, int) else read_text(expr) or read_text(said.get("name"))
    if agg not in _AGGREGATES or said.get("non_additive_dimension"):
        raise Misnamed(Text("{kind} cannot be written as one expression", kind=agg or "?"))
    return Part(_AGGREGATES[agg].format("*" if column == "1" and agg == "count" else column), table)


def _read_metrics(metrics: list[tuple[Node, Node | None]], project: _Project) -> None:
    """In any order: one that is made of others waits for them."""
    waiting = {read_text(each.get("name")): (each, model) for each, model in metrics}
    for _ in range(len(waiting) + 1):
        for name, (each, model) in list(waiting.items()):
            try:
                part = _build_part(each, model, project)
            except Misnamed as error:
                project.left.append((name, error.message))
                del waiting[name]
                continue
            if part is None:
                continue
            project.parts[name] = part
            label, comment = read_text(each.get("label")), read_text(each.get("description"))
            project.metrics[name] = make_metric(part, comment, label, name)
            del waiting[name]
    project.left += [(name, Text("a metric that it is made of is missing")) for name in waiting]


def _build_part(metric: Node, model: Node | None, project: _Project) -> Part | None:
    """None while what it is made of is not there. Raises Misnamed."""
    kind = read_text(metric.get("type")) or "simple"
    said = {**metric, **_read_mapping(metric.get("type_params"))}
    if kind == "simple" and model is not None and said.get("agg"):
        part: Part | None = _read_aggregate(said, read_text(model.get("name")))
    elif kind == "simple":
        part = _find_part(said.get("measure"), project)
    elif kind == "ratio":
        part = _combine(
            {"n": said.get("numerator"), "d": said.get("denominator")},
            lambda names: f"{names['n']} * 1.0 / NULLIF({names['d']}, 0)",
            project,
        )
    elif kind == "derived":
        inputs = said.get("metrics") or said.get("input_metrics") or []
        part = _build_derived(inputs, read_text(said.get("expr")), project)
    else:
        raise Misnamed(Text("{kind} cannot be written as one expression", kind=kind))
    return None if part is None else _filter_part(part, metric.get("filter"), project)


def _read_mapping(value: Any) -> Node:
    return value if isinstance(value, dict) else {}


def _find_part(said: Any, project: _Project) -> Part | None:
    """A measure or metric by its name, or `{name, filter}`. Raises Misnamed."""
    node = said if isinstance(said, dict) else {"name": said}
    if node.get("offset_window") or node.get("offset_to_grain"):
        raise Misnamed(Text("it compares with an earlier time"))
    part = project.parts.get(read_text(node.get("name")))
    return None if part is None else _filter_part(part, node.get("filter"), project)


def _combine(said: Mapping[str, Any], write: Any, project: _Project) -> Part | None:
    parts = {name: _find_part(each, project) for name, each in said.items()}
    there = {name: part for name, part in parts.items() if part is not None}
    return combine_parts(there, write, project.schema) if len(there) == len(parts) else None


def _build_derived(inputs: Any, expr: str, project: _Project) -> Part | None:
    nodes = inputs if isinstance(inputs, list) else []
    said: dict[str, Any] = {}
    for each in nodes:
        node = each if isinstance(each, dict) else {"name": each}
        said[read_text(node.get("alias")) or read_text(node.get("name"))] = node
    if not said or not expr:
        raise Misnamed(Text("it has no expression"))

    def write(names: Mapping[str, str]) -> str:
        return _NAME.sub(lambda found: names.get(found[0], found[0]), expr)

    return _combine(said, write, project)


def _filter_part(part: Part, said: Any, project: _Project) -> Part:
    """With a condition of dbt's, whose fields are looked up. Raises Misnamed."""
    conditions = said if isinstance(said, list) else [said]
    written = [read_text(each) for each in conditions if read_text(each)]
    if not written:
        return part

    def replace(found: re.Match[str]) -> str:
        name = found[1].rpartition("__")[2]
        column = project.fields.get((part.table, name))
        if column is None:
            raise Misnamed(Text("its filter reads {name}, which its table lacks", name=found[1]))
        return column

    own = [f"({_FIELD.sub(replace, each)})" for each in written]
    if any("{{" in each for each in own):
        raise Misnamed(Text("its filter is not understood"))
    return Part(part.sql, part.table, " AND ".join([*([part.filter] if part.filter else []), *own]))

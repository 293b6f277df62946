"""A description held against a schema: names that do not exist, expressions that say nothing. Every
name is looked up; what a statement would only show is for `list_trials`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citewell.messages import Text
from citewell.sql.engines.engine import Schema, Table
from citewell.sql.schema_text import get_quote_mark, quote_name, quote_path
from citewell.sql.semantics.complete_statement import complete_statement
from citewell.sql.semantics.described_schema import describe_schema, parse_join
from citewell.sql.semantics.description import DescribedTable, Description, Lines, Path, Problem
from citewell.sql.semantics.metrics import Measure, Misnamed, build_measure
from citewell.sql.semantics.row_filters import build_filter

NAMED = 12  # names that a hint lists


@dataclass(frozen=True, slots=True)
class Trial:
    """A statement that shows whether the part of a description in `line` works."""

    line: int
    sql: str


def check_names(description: Description, lines: Lines, schema: Schema) -> list[Problem]:
    """In the order of their lines."""
    found = [
        *_check_tables(description, lines, schema),
        *_check_joins(description, lines, schema),
        *_check_metrics(description, lines, describe_schema(schema, description)),
    ]
    return sorted(found, key=lambda each: each.line)


def _check_tables(description: Description, lines: Lines, schema: Schema) -> Iterator[Problem]:
    known = {table.name.casefold(): table for table in schema.tables}
    for name, said in description.tables.items():
        path: Path = ("tables", name)
        table = known.get(name.casefold())
        if table is None:
            near = suggest_near(name, [each.name for each in schema.tables])
            yield Problem(lines.find(path), Text("no table {name}", name=name), near)
            continue
        columns = [each.name for each in table.columns]
        folded = {each.casefold() for each in columns}
        for column in said.columns:
            if column.casefold() not in folded:
                yield Problem(
                    lines.find((*path, "columns", column)),
                    Text("{table} has no column {name}", table=table.name, name=column),
                    suggest_near(column, columns),
                )
        yield from _check_filter(table, said, lines.find((*path, "filter")), schema)


def _check_filter(
    table: Table, said: DescribedTable, line: int, schema: Schema
) -> Iterator[Problem]:
    if said.filter:
        try:
            build_filter(table, said.filter, schema)
        except Misnamed as error:
            yield Problem(line, error.message, _suggest_name(error.name, schema))


def _check_joins(description: Description, lines: Lines, schema: Schema) -> Iterator[Problem]:
    for at, text in enumerate(description.joins):
        found = parse_join(text, schema)
        if isinstance(found, str):
            yield Problem(
                lines.find(("joins", at)),
                Text("no column {name}", name=found),
                _suggest_name(found, schema),
            )
        elif found is None:
            yield Problem(
                lines.find(("joins", at)),
                Text("{text} is no join of two tables", text=text),
                Text("write orders.customer_id = customers.id"),
            )


def _check_metrics(description: Description, lines: Lines, schema: Schema) -> Iterator[Problem]:
    for name, said in description.metrics.items():
        try:
            measure = build_measure(name, description, schema)
            complete_statement(write_trial(measure, schema), schema, description)
        except Misnamed as error:
            key = "table" if said.table and error.name == said.table else "sql"
            yield Problem(
                lines.find(("metrics", name, key)), error.message, _suggest_name(error.name, schema)
            )


def list_trials(description: Description, lines: Lines, schema: Schema) -> list[Trial]:
    """A statement for each metric and filter of a description whose names are right."""
    described = describe_schema(schema, description)
    mark = get_quote_mark(schema.dialect)
    known = {table.name.casefold(): table.name for table in schema.tables}
    trials = [
        Trial(
            lines.find(("tables", name, "filter")),
            f"SELECT count(*) FROM {quote_path(known[name.casefold()], mark)} WHERE {said.filter}",  # noqa: S608 - the guard judges it
        )
        for name, said in description.tables.items()
        if said.filter
    ]
    for name in description.metrics:
        sql = write_trial(build_measure(name, description, described), described)
        line = lines.find(("metrics", name, "sql"))
        trials.append(Trial(line, complete_statement(sql, described, description)))
    return trials


def write_trial(measure: Measure, schema: Schema) -> str:
    """The metric of all rows, as a statement before it is made whole."""
    mark = get_quote_mark(schema.dialect)
    return f"SELECT {quote_name(measure.name, mark)} FROM {quote_path(measure.table, mark)}"  # noqa: S608


def _suggest_name(name: str, schema: Schema) -> str:
    """For a table, a column, or a column with its table before it."""
    if not name:
        return ""
    table, _, column = name.replace('"', "").replace("`", "").rpartition(".")
    tables = [each for each in schema.tables if each.name.casefold() == table.casefold()]
    if table and not tables:
        return suggest_near(table, [each.name for each in schema.tables])
    columns = [own.name for each in tables or schema.tables for own in each.columns]
    if columns.count(column) > 1:
        return Text("several tables have it: write table.column")
    return suggest_near(column, columns)


def suggest_near(name: str, known: Sequence[str]) -> str:
    """The nearest names, else some of those that there are."""
    folded = {each.casefold(): each for each in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    if close:
        return Text("did you mean {close}?", close=" or ".join(folded[each] for each in close))
    return Text("there are: {known}", known=", ".join(list(known)[:NAMED])) if known else ""

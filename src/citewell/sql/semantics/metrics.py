"""Metrics of a description: as columns that a statement may name, and as what stands for them. The
model names a metric, and its expression is put there by code, as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from citewell.messages import Text
from citewell.sql.engines.engine import Column, Schema, Table
from citewell.sql.semantics.described_schema import find_column, get_table_name
from citewell.sql.semantics.description import Description
from citewell.text.tokens import tokenize_query

TYPE = "METRIC"  # of the column that stands for one
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"\w+")


class Misnamed(Exception):
    """Why an expression cannot be read against a schema. `name`: what the schema does not have."""

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.message, self.name = message, name


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric against a schema. `table`: whose rows are counted. `tree`: its expression, each
    column with the full name of its table. `reads`: (table, column) of what it is made of.
    """

    name: str
    names: tuple[str, ...]
    table: str
    tree: Any
    sql: str
    comment: str
    reads: tuple[tuple[str, str], ...]

    @property
    def tables(self) -> tuple[str, ...]:
        """Those that it reads, its own first."""
        return tuple(dict.fromkeys((self.table, *(table for table, _ in self.reads))))


def list_measures(description: Description, schema: Schema) -> list[Measure]:
    """Those that fit the schema; the others are told by `check_description.py`."""
    found = []
    for name in description.metrics:
        try:
            found.append(build_measure(name, description, schema))
        except Misnamed:
            continue
    return found


def build_measure(name: str, description: Description, schema: Schema) -> Measure:
    """Raises Misnamed."""
    from sqlglot import exp

    said = description.metrics[name]
    own = _find_table(said.table, schema) if said.table else None
    tree, reads = read_expression(said.sql, schema, own)
    if tree.find(exp.AggFunc) is None:
        raise Misnamed(Text("{sql} counts, sums or averages nothing", sql=said.sql))
    if own is None and not reads:
        raise Misnamed(Text("it names no column: say with `table` whose rows it counts"))
    table = own or _find_table(reads[0][0], schema)
    if said.filter:
        condition, more = read_expression(said.filter, schema, table)
        tree, reads = _keep_rows(tree, condition), [*reads, *more]
    if any(column.name.casefold() == name.casefold() for column in table.columns):
        raise Misnamed(Text("{table} has a column {name}", table=table.name, name=name))
    names = (name, *said.synonyms)
    places = tuple(dict.fromkeys(reads))
    return Measure(name, names, table.name, tree, said.sql, said.comment, places)


def _find_table(name: str, schema: Schema) -> Table:
    found = next((each for each in schema.tables if each.name.casefold() == name.casefold()), None)
    if found is None:
        raise Misnamed(Text("no table {name}", name=name), name)
    return found


def read_expression(
    text: str, schema: Schema, table: Table | None = None
) -> tuple[Any, list[tuple[str, str]]]:
    """An expression over columns of the schema, and the (table, column) that it reads. `table`:
    where a column without a table is looked for first. Raises Misnamed.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(text, dialect=schema.dialect)
    except (SqlglotError, RecursionError) as error:
        first = str(error).partition("\n")[0]
        raise Misnamed(Text("{sql} is no expression: {error}", sql=text, error=first)) from None
    if not isinstance(tree, exp.Condition) or tree.find(exp.Query):
        raise Misnamed(Text("{sql} is no expression of columns", sql=text))
    reads = []
    for column in list(tree.find_all(exp.Column)):
        named = get_table_name(column) or (table.name if table is not None else "")
        place = find_column(schema, named, column.name) or find_column(
            schema, get_table_name(column), column.name
        )
        if place is None:
            raise Misnamed(Text("no column {name}", name=column.sql()), str(column.sql()))
        reads.append((place[0].name, place[1].name))
        full = exp.column(place[1].name, table=place[0].name, quoted=True)
        if column is tree:
            tree = full
        else:
            column.replace(full)
    return tree, reads


def fold_filter(sql: str, condition: str, schema: Schema) -> str:
    """An expression over the rows of a condition only, names as they are. Raises Misnamed."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        tree, rows = (sqlglot.parse_one(each, dialect=schema.dialect) for each in (sql, condition))
    except (SqlglotError, RecursionError):
        raise Misnamed(Text("{sql} is no expression of columns", sql=sql)) from None
    return str(_keep_rows(tree, rows).sql(dialect=schema.dialect))


def _keep_rows(tree: Any, condition: Any) -> Any:
    """The expression over the rows of a condition only."""
    from sqlglot import exp

    def wrap(value: Any) -> Any:
        one = exp.Literal.number(1) if isinstance(value, exp.Star) else value
        return exp.Case(ifs=[exp.If(this=condition.copy(), true=one)])

    tree = tree.copy()
    for each in list(tree.find_all(exp.AggFunc)):
        inner = each.this
        if isinstance(inner, exp.Distinct):
            inner.set("expressions", [wrap(part.copy()) for part in inner.expressions])
        elif inner is not None:
            each.set("this", wrap(inner.copy()))
    return tree


def add_metrics(schema: Schema, measures: Sequence[Measure], question: str) -> Schema:
    """The schema as a statement is written over it: each metric is a column of its table; the
    figures that a named one is made of are left out, unless the question names them besides.
    """
    named = find_named(question, measures)
    hidden = {place for each in named for place in each.reads} - {
        (table.name, column.name)
        for table in schema.tables
        for column in table.columns
        if column.kind != "number" or _is_key(table, column) or _is_named(column, question, named)
    }
    tables = []
    for table in schema.tables:
        kept = tuple(each for each in table.columns if (table.name, each.name) not in hidden)
        own = tuple(_make_column(each) for each in measures if each.table == table.name)
        tables.append(replace(table, columns=(*kept, *own)))
    return replace(schema, tables=tuple(tables))


def _make_column(measure: Measure) -> Column:
    comment = f"{measure.sql}; {measure.comment}" if measure.comment else measure.sql
    return Column(measure.name, TYPE, "number", comment=comment, synonyms=measure.names[1:])


def _is_key(table: Table, column: Column) -> bool:
    keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    return column.name in keys


def _is_named(column: Column, question: str, named: Sequence[Measure]) -> bool:
    """The question says the column's name, or a synonym, outside the name of a metric."""
    rest = question.casefold()
    for name in sorted((name for each in named for name in each.names), key=len, reverse=True):
        rest = rest.replace(name.casefold(), " ")
    return any(is_name_in_question(name, rest) for name in (column.name, *column.synonyms))


def find_named(question: str, measures: Sequence[Measure]) -> list[Measure]:
    """The metrics whose name, or a synonym, stands in the question."""
    return [
        each for each in measures if any(is_name_in_question(name, question) for name in each.names)
    ]


def is_name_in_question(name: str, question: str) -> bool:
    """Whether the words of a name follow each other in a question, inflected or not."""
    if _HAN.search(name):
        return name.casefold() in question.casefold()
    words, said = list(_stem(name)), list(_stem(question))
    return bool(words) and any(
        said[at : at + len(words)] == words for at in range(len(said) - len(words) + 1)
    )


def _stem(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.replace("_", " ")):
        yield from tokenize_query(word) or [word.casefold()]

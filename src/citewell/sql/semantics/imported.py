"""A description that comes from another semantic layer: what of it fits a schema, and what is added
to what people wrote. What does not fit is named with the reason; what people wrote stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from citewell.messages import Text
from citewell.sql.engines.engine import Schema, Table
from citewell.sql.semantics.described_schema import parse_join
from citewell.sql.semantics.description import DescribedTable, Description, Metric
from citewell.sql.semantics.metrics import Misnamed, fold_filter


@dataclass(slots=True)
class Imported:
    """`left`: what was not taken, and why."""

    description: Description = field(default_factory=Description)
    left: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Part:
    """A metric while it is read, or what another one is made of."""

    sql: str
    table: str
    filter: str = ""

    def fold(self, schema: Schema) -> str:
        """Its expression with the filter in it."""
        return fold_filter(self.sql, self.filter, schema) if self.filter else self.sql


def fit_tables(found: Imported, schema: Schema) -> Imported:
    """Without the tables, columns and joins that the schema does not have."""
    known = {table.name.casefold(): table for table in schema.tables}
    bare = {table.name.rpartition(".")[2].casefold(): table for table in schema.tables}
    tables: dict[str, DescribedTable] = {}
    for name, said in found.description.tables.items():
        table = known.get(name.casefold()) or bare.get(name.casefold())
        if table is None:
            found.left.append((name, Text("the source has no such table")))
        else:
            tables[table.name] = _fit_columns(said, table, found)
    joins = []
    for join in dict.fromkeys(found.description.joins):
        if isinstance(parse_join(join, schema), tuple):
            joins.append(join)
        else:
            found.left.append((join, Text("the source has no such tables or columns")))
    update = {"tables": tables, "joins": joins}
    return Imported(found.description.model_copy(update=update), found.left)


def _fit_columns(said: DescribedTable, table: Table, found: Imported) -> DescribedTable:
    known = {column.name.casefold(): column.name for column in table.columns}
    columns = {}
    for name, column in said.columns.items():
        if name.casefold() in known:
            columns[known[name.casefold()]] = column
        else:
            found.left.append((f"{table.name}.{name}", Text("the table has no such column")))
    return said.model_copy(update={"columns": columns})


def add_described(kept: Description, new: Description) -> Description:
    """What was kept, and what is new besides."""
    tables = dict(kept.tables)
    for name, said in new.tables.items():
        before = tables.get(name)
        tables[name] = said if before is None else _add_table(before, said)
    return Description(
        tables=tables,
        joins=list(dict.fromkeys([*kept.joins, *new.joins])),
        metrics={**new.metrics, **kept.metrics},
        terms={**new.terms, **kept.terms},
    )


def _add_table(before: DescribedTable, said: DescribedTable) -> DescribedTable:
    columns = dict(before.columns)
    for name, column in said.columns.items():
        columns[name] = (
            column
            if name not in columns
            else columns[name].model_copy(
                update={
                    "comment": columns[name].comment or column.comment,
                    "synonyms": columns[name].synonyms or column.synonyms,
                    "values": columns[name].values or column.values,
                }
            )
        )
    return before.model_copy(
        update={
            "comment": before.comment or said.comment,
            "synonyms": before.synonyms or said.synonyms,
            "columns": columns,
        }
    )


def make_metric(part: Part, comment: str = "", label: str = "", name: str = "") -> Metric:
    other = [label] if label and label.casefold() != name.casefold() else []
    return Metric(
        sql=part.sql, table=part.table, filter=part.filter, comment=comment, synonyms=other
    )


def combine_parts(
    parts: Mapping[str, Part], write: Callable[[Mapping[str, str]], str], schema: Schema
) -> Part:
    """One metric of others of the same table. Raises Misnamed."""
    tables = {part.table.casefold() for part in parts.values()}
    if len(tables) != 1:
        raise Misnamed(Text("it is made of figures of several tables"))
    folded = {name: f"({part.fold(schema)})" for name, part in parts.items()}
    return Part(write(folded), next(iter(parts.values())).table)


def read_text(value: Any) -> str:
    """A text of somebody's file, on one line; empty where it is none."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def read_list(value: Any) -> list[dict[str, Any]]:
    """The mappings in a list of somebody's file."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

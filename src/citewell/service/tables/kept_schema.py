"""The schema of a source as it is kept, and back. What is kept is what the engine said, and the
keys that the file itself told of, which a copy does not enforce.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import unquote, urlsplit

from citewell.ingest.tables.table_store import ImportedTable
from citewell.sql.engines.engine import Column, ForeignKey, Schema, Table
from citewell.sql.plan_types import Term
from citewell.sql.semantics.described_schema import describe_schema
from citewell.sql.semantics.description import parse_description
from citewell.sql.semantics.metrics import add_metrics, list_measures
from citewell.store.source_rows import Source


def dump_tables(schema: Schema) -> list[dict[str, Any]]:
    """The tables as JSON, without what the source's description says of them."""
    tables = [asdict(table) for table in schema.tables]
    for table in tables:
        del table["synonyms"]
        for column in table["columns"]:
            del column["synonyms"], column["value_synonyms"]
    return tables


def load_schema(source: Source) -> Schema:
    """The schema as it was when the source was last read."""
    return Schema(source.dialect, tuple(_load_table(each) for each in source.tables))


def load_described(source: Source) -> Schema:
    """The schema with what people wrote of it, metrics as columns, to hold questions against."""
    description = parse_description(source.description)
    schema = describe_schema(load_schema(source), description)
    return add_metrics(schema, list_measures(description, schema), "")


def get_terms(source: Source) -> tuple[Term, ...]:
    """What words mean in its tables."""
    terms = parse_description(source.description).terms
    return tuple(Term(term, meaning) for term, meaning in terms.items())


def get_table_names(source: Source) -> frozenset[str]:
    """Of its tables, as statements may name them; in MySQL also with the database."""
    names = {str(each["name"]) for each in source.tables}
    database = (
        unquote(urlsplit(source.location).path).strip("/") if source.dialect == "mysql" else ""
    )
    return frozenset(names | {f"{database}.{name}" for name in names if database})


def add_keys(schema: Schema, imported: Sequence[ImportedTable]) -> Schema:
    """A copy's schema with its database's keys; keys to tables left out are dropped."""
    known = {table.name: table.keys for table in imported}
    columns = {
        table.name.casefold(): {column.name.casefold(): column.name for column in table.columns}
        for table in schema.tables
    }
    names = {table.name.casefold(): table.name for table in schema.tables}

    def complete(table: Table) -> Table:
        keys = known.get(table.name)
        if keys is None:
            return table
        own = columns[table.name.casefold()]
        foreign = []
        for parts, target, target_parts in keys.foreign:
            theirs = columns.get(target.casefold(), {})
            here = tuple(own.get(part.casefold(), "") for part in parts)
            there = tuple(theirs.get(part.casefold(), "") for part in target_parts)
            if all(here) and all(there):
                foreign.append(ForeignKey(here, names[target.casefold()], there))
        primary = tuple(own.get(part.casefold(), "") for part in keys.primary)
        return replace(
            table, primary_key=primary if all(primary) else (), foreign_keys=tuple(foreign)
        )

    return replace(schema, tables=tuple(complete(table) for table in schema.tables))


def _load_table(each: dict[str, Any]) -> Table:
    columns = tuple(
        Column(**{**column, "values": tuple(column["values"])}) for column in each["columns"]
    )
    foreign = tuple(
        ForeignKey(tuple(k["columns"]), k["table"], tuple(k["target_columns"]))
        for k in each["foreign_keys"]
    )
    return Table(
        **{
            **each,
            "columns": columns,
            "foreign_keys": foreign,
            "primary_key": tuple(each["primary_key"]),
        }
    )

"""Shared by all tables: the MetaData, the type of integers, and the column of insertion order."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from pydantic import BaseModel
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Identity,
    Integer,
    MetaData,
    Table,
    bindparam,
    func,
)

metadata = MetaData()
# 64 bits in both: SQLite knows an INTEGER PRIMARY KEY only by this name
BigInt = Integer().with_variant(BigInteger(), "postgresql")
# compared and ordered by bytes in both, whatever the server's language
Text = sqlalchemy.Text().with_variant(sqlalchemy.Text(collation="C"), "postgresql")


def make_rowid() -> Column[int]:
    """Rows in the order in which they came. SQLite has this column by itself; in PostgreSQL the
    migrations make it, for a system column is in no CREATE TABLE.
    """
    return Column("rowid", BigInt, Identity(always=True), system=True)


def pick_columns(table: Table, shown: type[BaseModel]) -> list[Column[Any]]:
    """The columns that a model has fields for, in the order of its fields."""
    return [table.c[name] for name in shown.model_fields if name in table.c]


def match_optional(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """A condition: equal to the named parameter, or that is None. For NOT NULL columns."""
    return column == func.coalesce(bindparam(name, type_=column.type), column)

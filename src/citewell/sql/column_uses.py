"""What a statement may do with a column: reckon with it, take its year, group by it. In doubt an
engine is taken at its strictest; SQLite, which takes nearly all, is not.
"""

from __future__ import annotations

import re
from dataclasses import replace

from citewell.sql.engines.engine import Column, Dialect, Schema

MOSTLY = 0.8  # of the texts of a column, from which on they are figures
_NUMBER = re.compile(r"-?\d{1,12}(?:\.\d+)?")


def is_figure(column: Column, dialect: Dialect) -> bool:
    """SQLite reckons with figures that are stored as texts, too."""
    if column.kind == "number" or dialect != "sqlite" or not column.values:
        return column.kind == "number"
    figures = [value for value in column.values if _NUMBER.fullmatch(value)]
    return len(figures) >= MOSTLY * len(column.values)


def is_day(column: Column, dialect: Dialect) -> bool:
    """Not a time of the day or an interval, which have no year."""
    dated = column.type.lower().startswith(("date", "timestamp"))
    return column.kind == "date" and (dated or dialect == "sqlite")


def drop_nested(schema: Schema) -> Schema:
    """Without columns of lists, documents and the like, which most engines cannot group."""
    if schema.dialect == "sqlite":
        return schema
    plain = [
        replace(table, columns=tuple(each for each in table.columns if each.kind != "other"))
        for table in schema.tables
    ]
    return replace(schema, tables=tuple(table for table in plain if table.columns))

"""Rows as people read them: columns called in words, months and days without the clock, in the
order of time where a statement asks for none. No value changes; what is left out of a date is a
clock that stands at midnight in every row, and a day that is the first in every row of a column of
months.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from citewell.sql.column_label import build_headings, label_columns
from citewell.sql.engines.engine import Rows, Schema, Value

_MIDNIGHT = re.compile(r"(\d{4}-\d{2}-\d{2})[ T]00:00:00(?:[+-]00:?00)?")
_FIRST = re.compile(r"(\d{4}-\d{2})-01")
_MONTH = re.compile(r"\bmonth\b|月")
_CURRENCY = re.compile(r"\bin ([A-Z]{3}|[€$£¥￥])\W*$")
_FRACTION = re.compile(r"dec|numeric|real|double|float|money", re.IGNORECASE)
_ORDERED = re.compile(r"\border\s+by\b", re.IGNORECASE)


def arrange_rows(rows: Rows, sql: str, schema: Schema, lang: str) -> Rows:
    """`rows` of `sql`, for people. `lang`: of the headings."""
    columns = [
        _cut_dates(name, [row[at] for row in rows.rows]) for at, name in enumerate(rows.columns)
    ]
    plain = replace(rows, rows=tuple(zip(*columns, strict=True)) if rows.rows else ())
    named = replace(plain, columns=tuple(build_headings(plain, lang, find_currencies(schema))))
    return named if _ORDERED.search(sql) or rows.truncated else _sort_by_time(named, lang)


def find_currencies(schema: Schema) -> dict[str, str]:
    """The currency of each column of fractions that has one as its comment, as sheets are read
    (`in €`), or at the end of its table's.
    """
    return {
        column.name.lower(): found[1]
        for table in schema.tables
        for column in table.columns
        if column.kind == "number"
        and (
            found := _CURRENCY.search(column.comment)
            or (_CURRENCY.search(table.comment) if _FRACTION.search(column.type) else None)
        )
    }


def _cut_dates(name: str, values: Sequence[Value]) -> list[Value]:
    days = _shorten_all(values, _MIDNIGHT)
    return _shorten_all(days, _FIRST) if _MONTH.search(name.lower()) else days


def _shorten_all(values: Sequence[Value], pattern: re.Pattern[str]) -> list[Value]:
    """The first group of each value where all are of the pattern; else as they were."""
    matched = [
        pattern.fullmatch(value) if isinstance(value, str) else None
        for value in values
        if value is not None
    ]
    if not all(matched):
        return [*values]
    return [pattern.sub(r"\1", value) if isinstance(value, str) else value for value in values]


def _sort_by_time(rows: Rows, lang: str) -> Rows:
    """By the one column of times, where each row has its own."""
    times = [at for at, label in enumerate(label_columns(rows, lang)) if label.role == "time"]
    if len(times) != 1 or len(rows.columns) < 2:
        return rows
    (at,) = times
    values = [row[at] for row in rows.rows]
    if None in values or len(set(values)) < len(values) or len({*map(type, values)}) != 1:
        return rows
    order = sorted(range(len(values)), key=lambda place: cast("Any", values[place]))
    return replace(rows, rows=tuple(rows.rows[place] for place in order))

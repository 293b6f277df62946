"""What a database hands out, made into what JSON can hold, within the limits of one statement.
Nothing is rounded in silence; a number that a float cannot hold exactly stays text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from citewell.sql.engines.engine import Kind, Limits, Rows, Value

BYTES_SHOWN = 32  # of a binary value: enough to tell one from another
# how the engines' own names of types begin; the first line that fits
_NUMBERS = (
    "u?(tiny|small|medium|big|huge)?int|uinteger|dec|numeric|number|real|float|double|money|"
    "smallmoney|fixed|(big|small)?serial|bignum|long$|short$|currency|unsigned|year"
)
_TEXTS = (
    "n?(var)?char|bpchar|(tiny|medium|long|n|ci)?text|string|clob|nclob|name$|enum|set\\b|"
    "native character"
)
_KINDS: tuple[tuple[Kind, str], ...] = (
    ("other", r".*(\]|range)$|struct|map\b|list|array|union|json|variant|point"),
    ("bool", r"bool(ean)?$|logical$|tinyint\(1\)$"),
    ("date", "date|time|interval$|interval "),
    ("number", _NUMBERS),
    ("text", _TEXTS),
)
_ISO = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d(:?\d\d)?|Z)?)?$")


def detect_kind(type_name: str) -> Kind:
    """Of a column, by the engine's name of its type."""
    name = type_name.strip().lower()
    return next((kind for kind, pattern in _KINDS if re.match(pattern, name)), "other")


def infer_kind(values: Iterable[Value]) -> Kind:
    """Where the engine does not tell a type: what all values of the column are."""
    known = [value for value in values if value is not None]
    if not known:
        return "other"
    if all(isinstance(value, bool) for value in known):
        return "bool"
    if all(isinstance(value, int | float) for value in known):
        return "number"
    if all(isinstance(value, str) and _ISO.match(value) for value in known):
        return "date"
    return "text"


def to_plain_value(value: Any) -> Value:
    """Times as ISO text, bytes as short hex, lists and structs as JSON, NaN as text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return _convert_decimal(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _format_duration(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return _format_bytes(bytes(value[: BYTES_SHOWN + 1]))
    if isinstance(value, dict | list | tuple | set | frozenset):
        return json.dumps(_convert_nested(value), ensure_ascii=False)
    return str(value)


def _convert_decimal(value: Decimal) -> Value:
    if not value.is_finite():
        return str(value)
    if value == value.to_integral_value():
        return int(value) if value.adjusted() < 400 else str(value)
    short = float(value)
    return short if Decimal(repr(short)) == value else str(value)


def _format_duration(value: timedelta) -> str:
    """`-1 day 02:00:00` reads badly: the sign first, then days, then the clock."""
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    clock = str(value - timedelta(days=value.days))
    days = f"{value.days} days " if value.days else ""
    return f"{sign}{days}{clock.zfill(8) if '.' not in clock else clock.zfill(15)}"


def _format_bytes(value: bytes) -> str:
    return value.hex() if len(value) <= BYTES_SHOWN else value[:BYTES_SHOWN].hex() + "…"


def _convert_nested(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(to_plain_value(key)): _convert_nested(inner) for key, inner in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((_convert_nested(inner) for inner in value), key=str)
    if isinstance(value, list | tuple):
        return [_convert_nested(inner) for inner in value]
    return to_plain_value(value)


def make_names_distinct(names: Iterable[str]) -> tuple[str, ...]:
    """`name`, `name_2` for columns called alike; a nameless one is `column_1` by its place."""
    found: list[str] = []
    for place, given in enumerate(names, 1):
        name = base = given or f"column_{place}"
        number = 2
        while name in found:
            name, number = f"{base}_{number}", number + 1
        found.append(name)
    return tuple(found)


def gather_rows(
    names: Sequence[str],
    kinds: Sequence[Kind | None],
    rows: Iterator[Sequence[Any]],
    limits: Limits,
) -> Rows:
    """Takes rows up to a limit, never more than one beyond. A kind None: by the values."""
    kept: list[tuple[Value, ...]] = []
    characters, truncated = 0, False
    for raw in rows:
        if len(kept) >= limits.rows:
            truncated = True
            break
        row = tuple(to_plain_value(value) for value in raw)
        size = sum(len(value) if isinstance(value, str) else len(str(value)) for value in row)
        if characters + size > limits.characters:
            truncated = True
            if not kept:  # one row alone is too long: its texts are cut, so that something is seen
                kept.append(_shorten_row(row, limits.characters // max(1, len(row))))
            break
        characters += size
        kept.append(row)
    told = tuple(kind or infer_kind(row[place] for row in kept) for place, kind in enumerate(kinds))
    return Rows(make_names_distinct(names), told, tuple(kept), truncated)


def _shorten_row(row: tuple[Value, ...], most: int) -> tuple[Value, ...]:
    return tuple(
        value[:most] + "…" if isinstance(value, str) and len(value) > most else value
        for value in row
    )

"""One cell in words: a figure with its marks and unit, a missing value told as missing, a text on
one line. A cell is data. Whatever stands in it, it comes out as one short line without control
characters.
"""

from __future__ import annotations

import math
import re
from calendar import month_name
from collections.abc import Sequence

from citewell.sql.column_label import Label
from citewell.sql.engines.engine import Rows, Value
from citewell.text.normalize import normalize_text

LONGEST = 60  # characters of a text within a sentence
LONGEST_QUOTED = 300  # the same within a quote
CURRENCIES = {"EUR", "USD", "GBP", "CNY", "CHF", "元", "欧元", "美元", "€", "$", "£", "¥", "￥"}
_NOTHING = {"en": "no value", "zh": "无值"}
_BLANK = {"en": "(empty)", "zh": "（空）"}
_BOOL = {"en": {True: "yes", False: "no"}, "zh": {True: "是", False: "否"}}
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")


def format_cell(value: Value, label: Label, lang: str) -> str:
    """For a sentence: 1234.5 of `cost_eur` is `1,234.50 EUR`, of `customer_id` as it stands."""
    if value is None:
        return _NOTHING.get(lang, _NOTHING["en"])
    if isinstance(value, bool):
        return _BOOL.get(lang, _BOOL["en"])[value]
    if isinstance(value, int | float):
        text = (
            format_number(value, cents=label.unit in CURRENCIES)
            if label.role == "quantity"
            else format_plain_number(value)
        )
        return text + (label.unit if label.unit == "%" else f" {label.unit}" if label.unit else "")
    if label.role == "time" and (month := _MONTH.fullmatch(value)):
        return _format_month(int(month[1]), int(month[2]), lang)
    return shorten_text(value, LONGEST) or _BLANK.get(lang, _BLANK["en"])


def _format_month(year: int, month: int, lang: str) -> str:
    """`2024-03` as it is said."""
    return f"{year}年{month}月" if lang == "zh" else f"{month_name[month]} {year}"


def shorten_text(text: str, longest: int) -> str:
    """On one line, at most so long; what is cut off is seen to be."""
    flat = normalize_text(_ESCAPE.sub("", text))
    return flat if len(flat) <= longest else flat[: longest - 1].rstrip() + "…"


def format_number(value: float, *, cents: bool = False) -> str:
    """With thousands marks; of a fraction at most two decimals (`cents`: both of them), below 1
    four figures that count.
    """
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value) or abs(value) >= 1e15:
        return f"{value:g}"
    if cents:
        return f"{value:,.2f}"
    if value == int(value):
        return f"{int(value):,}"
    text = (
        (f"{value:,.2f}" if abs(value) >= 1 else f"{float(f'{value:.4g}'):.12f}")
        .rstrip("0")
        .rstrip(".")
    )
    return text if text not in {"0", "-0", ""} else f"{value:.4g}"


def format_plain_number(value: float) -> str:
    """As an id or a year is written: 2023, not 2,023 and not 2023.0."""
    return (
        str(int(value))
        if isinstance(value, float) and math.isfinite(value) and value == int(value)
        else str(value)
    )


def format_rows(rows: Rows, most: int) -> list[str]:
    """The first `most` rows as quoted: `column: value; column: value`, values unformatted."""
    return [
        "; ".join(
            f"{shorten_text(name, LONGEST_QUOTED)}: {_format_raw(value)}"
            for name, value in zip(rows.columns, row, strict=True)
        )
        for row in rows.rows[:most]
    ]


def _format_raw(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    return shorten_text(value, LONGEST_QUOTED) if isinstance(value, str) else str(value)


def join_list(parts: Sequence[str], lang: str) -> str:
    """As a list in a sentence."""
    if lang == "zh":
        return "、".join(parts)
    return " and ".join(parts) if len(parts) < 3 else ", ".join(parts[:-1]) + " and " + parts[-1]

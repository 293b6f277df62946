"""Numbers, dates and truth values as a spreadsheet shows them: `45%`, `¥1,234.50`, `2024-03-05`,
never `45291.0`. What a format code is not known to mean is left alone, and the number is shown in
full.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from typing import Any, Final

# number formats that a workbook names by number only, of those that change how a number reads
BUILT_IN: Final = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    **dict.fromkeys((5, 6, 37, 38), "#,##0"),
    **dict.fromkeys((7, 8, 39, 40), "#,##0.00"),
}
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.[0#?]*)?")
_SYMBOL = re.compile(r"\[\$([^\]-]*)[^\]]*\]")
_BRACKETS = re.compile(r"\[[^\]]*\]")
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|_.|\*.')
_UNKNOWN = re.compile(r"[eE][+-]|/|@|[ymdhs]", re.IGNORECASE)
_MOST_DECIMALS: Final = 10


def format_value(value: Any, code: str = "") -> str:
    """`value` of a cell as text, under the format `code` (empty: as the program likes)."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return format_number(value, code) or format_general(value)
    if isinstance(value, dt.datetime):
        return value.strftime("%Y-%m-%d") if value.time() == dt.time() else _format_datetime(value)
    if isinstance(value, dt.timedelta):
        hours, rest = divmod(round(value.total_seconds()), 3600)
        return f"{hours}:{rest // 60:02}" + (f":{rest % 60:02}" if rest % 60 else "")
    if isinstance(value, dt.time):
        return value.strftime("%H:%M:%S" if value.second else "%H:%M")
    return str(value)


def _format_datetime(value: dt.datetime) -> str:
    return value.strftime("%Y-%m-%d %H:%M:%S" if value.second else "%Y-%m-%d %H:%M")


def format_general(value: float) -> str:
    """A number in full: `5`, not `5.0`; `0.3`, not `0.30000000000000004`; no exponent unless it is
    huge or tiny.
    """
    if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124 - the test for what is no number
        return ""
    if float(value).is_integer() and abs(value) < 1e18:
        return str(int(value))
    text = format(value, ".12g")
    return format(Decimal(text), "f") if "e-" in text and abs(value) > 1e-12 else text


def format_number(value: float, code: str) -> str:
    """`value` under an Excel number format; empty where its code is not understood."""
    positive, _, rest = code.partition(";")
    section = positive if value >= 0 or not rest else rest.partition(";")[0]
    bare = _BRACKETS.sub("", _SYMBOL.sub("", _LITERAL.sub("", section)))
    section = _BRACKETS.sub("", _SYMBOL.sub(lambda match: f'"{match[1]}"', section))
    digits = _DIGITS.search(bare)
    if not digits or _UNKNOWN.search(bare) or len(_DIGITS.findall(bare)) > 1:
        return ""
    pattern = digits.group()
    decimals = min(len(pattern.partition(".")[2]), _MOST_DECIMALS)
    scaled = abs(value) * (100 if "%" in bare else 1)
    number = format(
        scaled, f",.{decimals}f" if "," in pattern.partition(".")[0] else f".{decimals}f"
    )
    if pattern.endswith("#") and "." in number:
        number = number.rstrip("0").rstrip(".")
    affix = _LITERAL.sub(lambda match: match[1] or match[2] or "", section)
    before, found, after = affix.partition(pattern)
    minus = "-" if value < 0 and "(" not in before and "-" not in before else ""
    return f"{minus}{before.lstrip()}{number}{after.rstrip()}" if found else ""

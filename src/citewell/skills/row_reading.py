"""A row of a table as a person reads it: `annual_spend_eur: 45000` says an annual spend of 45,000 euros.

The one rule: the row is only read, words and units beside what stands there; quotes stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from citewell.skills.table_rows import CELL, beside, cells, is_row

_IDENTIFIER = re.compile(r"[A-Za-z]\w*", re.ASCII)
_SEAM = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BARE = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
_CURRENCIES = (
    ("eur", re.compile(r"(?<![a-z])(?:eur|euros?)(?![a-z])|€", re.IGNORECASE)),
    ("usd", re.compile(r"(?<![a-z])(?:usd|dollars?)(?![a-z])|\$|美元", re.IGNORECASE)),
    ("gbp", re.compile(r"(?<![a-z])gbp(?![a-z])|£|英镑", re.IGNORECASE)),
    ("元", re.compile(r"(?<![a-z])(?:cny|rmb|yuan)(?![a-z])|人民币|[（(_/]元[)）]?$", re.IGNORECASE)),
)
_NO_MONEY = re.compile(r"\b(?:rates?|ratio|share|percent|pct|count|number)\b|汇率|比|数量", re.IGNORECASE)
# What a sum says beyond the figure of the only row of its key: nothing.
_TOTAL = re.compile(
    r"\b(?:in total|total|overall|altogether)\b|总共|一共|合计|总计|总(?=支出|额|金额|费用|采购|成本|收入|销售)", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def as_read(text: str) -> str:
    """A row with the words of its identifiers, and the currency of a column's name at its figure; other text as it is."""
    if not is_row(text):
        return text
    return CELL.join(_cell(label, value) if label else value for label, value in cells(text))


def without_total(claim: str, rows: Sequence[str], around: str) -> str:
    """The claim without its "total", where a quoted row whose key it names is the only one of that key beside it."""
    for row in filter(is_row, rows):
        key = cells(row)[0][1].strip().casefold()
        others = [cells(other)[0][1].strip().casefold() for other in beside(row, around) if other != row.strip()]
        keys = [key, *others]
        named = [each for each in keys if each and each in claim.casefold()]
        if named == [key] and others and len(set(keys)) == len(keys):
            return _TOTAL.sub(" ", claim)
    return claim


def _cell(label: str, value: str) -> str:
    words = _words(label)
    unit = _currency(words) if _BARE.fullmatch(value.strip()) else ""
    name = label if words == label else f"{label} {words}"
    return f"{name}: {value} {unit}".rstrip()


def _words(label: str) -> str:
    """An identifier's words; the `no` of order_no denies nothing."""
    if not _IDENTIFIER.fullmatch(label):
        return label
    return " ".join("number" if word.casefold() == "no" else word for word in _SEAM.split(label) if word)


def _currency(label: str) -> str:
    """The one currency that a column's name gives; empty where it gives none, or two, or counts something else."""
    found = [name for name, pattern in _CURRENCIES if pattern.search(label)]
    return found[0] if len(found) == 1 and not _NO_MONEY.search(label) else ""

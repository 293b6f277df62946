"""What the name of a column says: its words, its unit, and whether its figures count something. An
id and a year are figures, but no quantities: they are never summed up, drawn or given thousands
marks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from citewell.sql.engines.engine import Kind, Rows, Value
from citewell.text.split_words import split_words
from citewell.types import ColumnLook

Role = Literal["id", "time", "quantity", "plain"]

_AGGREGATE = re.compile(
    r"^\s*(count|sum|avg|min|max|"
    r'total)(?:_star)?\s*\(\s*(?:distinct\s+)?["`\[]?([^()]*?)["`\]]?\s*\)\s*$',
    re.IGNORECASE,
)
_DISTINCT = re.compile(r"\(\s*distinct\b", re.IGNORECASE)
_PAIR = re.compile(
    r"^\s*(sum|avg|min|max)\s*\(\s*\(?([^()*/+-]+?)\s*([*/+-])\s*([^()*/+-]+?)\)?\s*\)\s*$",
    re.IGNORECASE,
)
_SIGNS = {"*": "×", "/": "÷", "+": "+", "-": "−"}
_SIGN = re.compile(r" [×÷+−] ")
_CAST = re.compile(
    r"^\s*(?:round|cast|coalesce|try_cast|ifnull)\s*\((.*?)(?:,\s*[\w.]+|\s+as\s+[\w()]+)?\)\s*$",
    re.IGNORECASE,
)
# What the engines call the columns of the expressions that `statement_grammar` has, and of those
# that connected models write for them.
_COMPUTED = {
    "share": re.compile(r".*\*\s*100(?:\.0)?\)?\s*/.*", re.DOTALL),
    "month": re.compile(
        r"\s*(?:\"?month\"?\(|(?:strftime|to_char|date_format)\(.*(?:%Y-)?%m'|to_char\(.*MM'|"
        r"date_trunc\('month')",
        re.IGNORECASE,
    ),
    "year": re.compile(
        r"\s*(?:\"?year\"?\(|strftime\(.*'%Y'|to_char\(.*'YYYY'|date_trunc\('year')", re.IGNORECASE
    ),
}
_BARE = {"count", "sum", "avg", "min", "max"}  # what PostgreSQL calls the column of an aggregate
_UNIT_IN_NAME = re.compile(r"^(.*?)\s*[(\[（【]\s*([^()\[\]（）【】]{1,12})\s*[)\]）】]\s*$")
_UNITS = {
    "pct": "%",
    "percent": "%",
    "percentage": "%",
    "rmb": "CNY",
    "kwh": "kWh",
    "mwh": "MWh",
    "kw": "kW",
    **{
        code.lower(): code
        for code in ("EUR", "USD", "GBP", "CNY", "JPY", "CHF", "kg", "km", "cm", "mm")
    },
}
_IDS = split_words("id ids code key no nr uuid guid zip postcode zipcode phone isbn sku iban")
_NUMBERED = split_words(
    "order phone account invoice serial room flight tracking card customer employee"
)
_ID_ZH = re.compile(
    r"(?:编号|代码|编码|号码|邮编|电话|工号|学号|单号|证号|序号|主键|ID)$", re.IGNORECASE
)
_TIMES = split_words("year yr month quarter week weekday date day time timestamp datetime hour")
_TIME_ZH = re.compile(r"(?:年份?|年度|月份?|季度|日期|时间|星期|周次?|(?<!生)日)$")
_SAID: dict[str, dict[str, str]] = {
    "en": {
        "count": "count",
        "sum": "total",
        "total": "total",
        "avg": "average",
        "min": "lowest",
        "max": "highest",
        "year": "year",
        "month": "month",
        "share": "share",
    },
    "zh": {
        "count": "数量",
        "sum": "合计",
        "total": "合计",
        "avg": "平均值",
        "min": "最小值",
        "max": "最大值",
        "year": "年份",
        "month": "月份",
        "share": "占比",
    },
}


@dataclass(frozen=True, slots=True)
class Label:
    """`words` for people; `unit` behind each figure (`%` without a space), or empty."""

    words: str
    unit: str
    role: Role


def label_columns(rows: Rows, lang: str) -> list[Label]:
    """One a column, in order."""
    return [
        label_column(name, kind, [row[at] for row in rows.rows], lang)
        for at, (name, kind) in enumerate(zip(rows.columns, rows.kinds, strict=True))
    ]


def list_looks(rows: Rows, lang: str) -> list[ColumnLook]:
    """For the page, one a column."""
    return [ColumnLook(role=each.role, unit=each.unit) for each in label_columns(rows, lang)]


def build_headings(
    rows: Rows, lang: str, currencies: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """What stands above each column for people: its name, but for what has none (`count_star()`)
    its label, where that does not make two columns the same; and the unit of its figures.
    `currencies`: of columns, by their names in small letters.
    """
    found = [
        _build_heading(name, each, currencies)
        for name, each in zip(rows.columns, label_columns(rows, lang), strict=True)
    ]
    return [
        name if found.count(words) > 1 else words
        for name, words in zip(rows.columns, found, strict=True)
    ]


def _build_heading(name: str, label: Label, currencies: Mapping[str, str]) -> str:
    aggregate, of = _split_aggregate(_strip_wrapper(name))
    nameless = bool(aggregate) or _find_computed(name) != ""
    heading = label.words if nameless else name
    unit = label.unit if nameless else ""
    if not unit and label.role == "quantity" and aggregate != "count":
        parts = _SIGN.split((of or name).lower())
        unit = next((currencies[part] for part in parts if part in currencies), "")
    return f"{heading} ({unit})" if unit else heading


def _find_computed(name: str) -> str:
    """What an expression without a name is: `month`, `year`, `share`; empty for any other."""
    return next((what for what, pattern in _COMPUTED.items() if pattern.match(name)), "")


def label_column(name: str, kind: Kind, values: Sequence[Value], lang: str) -> Label:
    """Of a column by its name (`avg(age)`, `cost_eur`, `费用（万元）`), its kind and its values."""
    if computed := _find_computed(name):
        words = _SAID.get(lang, _SAID["en"])[computed]
        share = computed == "share"
        return Label(words, "%" if share else "", "quantity" if share else "time")
    aggregate, of = _split_aggregate(_strip_wrapper(name))
    base, unit = _split_unit(of)
    words = _format_words(base)
    if aggregate == "count":
        different = _DISTINCT.search(name) is not None
        return Label(_describe_count(words, lang, different=different), "", "quantity")
    role = _detect_role(base, kind, values) if aggregate in {"", "min", "max"} else "quantity"
    if aggregate:
        said = _SAID.get(lang, _SAID["en"])[aggregate]
        words = (
            said
            if not words
            else f"{_pad_latin(words)}的{said}"
            if lang == "zh"
            else f"{said} {words}"
        )
    return Label(words or name.strip() or "?", unit if role == "quantity" else "", role)


def _strip_wrapper(name: str) -> str:
    """Without what only rounds or converts it."""
    wrapped = _CAST.match(name)
    return wrapped[1] if wrapped else name


def _split_aggregate(name: str) -> tuple[str, str]:
    """The function and what it is of: `avg(T1.age)` is avg of age, `sum((a * b))` sum of a × b."""
    if pair := _PAIR.match(name):
        one, other = (part.rpartition(".")[2].strip('"`[] ') for part in (pair[2], pair[4]))
        return pair[1].lower(), f"{one} {_SIGNS[pair[3]]} {other}"
    if found := _AGGREGATE.match(name):
        return found[1].lower(), "" if found[2].strip() in {"*", "1"} else found[2].rpartition(".")[
            2
        ].strip('"`[] ')
    return (name.strip().lower(), "") if name.strip().lower() in _BARE else ("", name)


def _describe_count(words: str, lang: str, *, different: bool) -> str:
    if not words:
        return _SAID.get(lang, _SAID["en"])["count"]
    if lang == "zh":
        before = "不同的" + " " * words[:1].isascii() if different else ""
        return f"{before}{_pad_latin(words)}的数量"
    return f"count of {'different ' * different}{words}"


def _pad_latin(words: str) -> str:
    """Chinese keeps Latin words apart by a space."""
    return words + " " * words[-1:].isascii()


def _split_unit(name: str) -> tuple[str, str]:
    """The name without its unit, and the unit."""
    if (found := _UNIT_IN_NAME.match(name)) and found[1].strip():
        return found[1], found[2].strip()
    parts = split_name(name)
    if len(parts) > 1 and parts[-1].lower() in _UNITS:
        return " ".join(parts[:-1]), _UNITS[parts[-1].lower()]
    whole = _UNITS.get(name.strip().lower(), "")
    return name, "%" if whole == "%" or "%" in name or name.rstrip().endswith(
        ("百分比", "占比率")
    ) else ""


def split_name(name: str) -> list[str]:
    """`song_releaseYear` in its words."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [part for part in re.split(r"[_\s.\-]+", split) if part]


def _format_words(name: str) -> str:
    """In small letters, but for what is written in capitals alone (IT, ID)."""
    parts = split_name(name.strip('"`[] '))
    return " ".join(part if part.isupper() and len(part) <= 4 else part.lower() for part in parts)


def _detect_role(name: str, kind: Kind, values: Sequence[Value]) -> Role:
    parts = [part.lower() for part in split_name(name)]
    last = parts[-1] if parts else ""
    numbered = last in {"number", "num"} and len(parts) > 1 and parts[-2] in _NUMBERED
    if last in _IDS or numbered or _ID_ZH.search(name.strip()):
        return "id"
    if (
        kind == "date"
        or last in _TIMES
        or _TIME_ZH.search(name.strip())
        or ("year" in parts and _has_only_years(values))
    ):
        return "time"
    return "quantity" if kind == "number" else "plain"


def _has_only_years(values: Sequence[Value]) -> bool:
    there = [value for value in values if value is not None]
    return bool(there) and all(re.fullmatch(r"[12]\d{3}", str(value).strip()) for value in there)

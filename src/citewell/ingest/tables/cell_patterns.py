"""What a cell of text is, by patterns: numbers, money, dates, yes and no, nothing; and the SQL that
reads one. A pattern fits the whole of a cleaned cell or not at all.
"""

from __future__ import annotations

from typing import Final

from citewell.ingest.tables.column_names import quote_literal

CURRENCY: Final = r"(?:CN¥|US\$|HK\$|RMB|CNY|USD|EUR|GBP|HKD|JPY|人民币|欧元|美元|元|[¥$€£])"
_PLAIN: Final = r"[-+]?(?:(?:0|[1-9]\d{0,14})(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
_GROUPED: Final = r"(?:[1-9]\d{0,2}(?:,\d{3})+|0|[1-9]\d{0,14})(?:\.\d+)?|\.\d+"
_SIGNED: Final = rf"[-+]?\s*{CURRENCY}?\s*[-+]?(?:{_GROUPED})\s*{CURRENCY}?"
DAY: Final = (
    r"\d{4}(?:-\d{1,2}-\d{1,2}|/\d{1,2}/\d{1,2}|\.\d{1,2}\.\d{1,2}|年\s?\d{1,2}月\s?\d{1,2}[日号])"
)
CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?"
_MONTHS: Final = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
PATTERNS: Final = {
    "int": r"[-+]?(?:0|[1-9]\d{0,17})",
    "number": _PLAIN,
    "money": rf"{_SIGNED}|\(\s*{CURRENCY}?\s*(?:{_GROUPED})\s*{CURRENCY}?\s*\)",
    "percent": rf"[-+]?(?:{_GROUPED})\s*%",
    "comma": r"[-+]?(?:[1-9]\d{0,2}(?:\.\d{3})+|0|[1-9]\d*)(?:,\d+)?",
    "date": rf"{DAY}(?:[T ]\s*{CLOCK}Z?)?",
    "serial": r"[2-7]\d{4}(?:\.\d+)?",
    "compact": r"(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])",
    "turned": r"\d{1,2}(?:/\d{1,2}/|\.\d{1,2}\.|-\d{1,2}-)\d{4}",
    "worded": rf"\d{{1,2}}[- ]{_MONTHS}[- ,]+\d{{4}}|{_MONTHS} \d{{1,2}},? \d{{4}}",
    "bool": r"(?i:true|false)",
    "gap": r"(?i:-|—|–|--|/|n/a|na|nan|null|none|nil|无|空|未知|待定|tbd)",
    "zeros": r"[-+]?0\d+",
}
_ERROR: Final = r"#(?:DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!|SPILL!|CALC!|GETTING_DATA)"
_FULL_WIDTH: Final = ("０１２３４５６７８９．，％（）－＋￥　", "0123456789.,%()-+¥ ")


def build_clean_sql(column: str) -> str:
    """The text of a cell with its full-width signs as the usual ones."""
    return (
        f"trim(translate({column}, "
        f"{quote_literal(_FULL_WIDTH[0])}, {quote_literal(_FULL_WIDTH[1])}))"
    )


def build_text_sql(column: str) -> str:
    """The text of a cell as it is; none where it is an error of a spreadsheet program."""
    return (
        f"CASE WHEN starts_with({column}, '#') AND regexp_full_match({column}, "
        f"{quote_literal(_ERROR)}) THEN NULL ELSE {column} END"
    )


def build_number_sql(value: str) -> str:
    """The number in a cleaned cell, as a DOUBLE; NULL where there is none."""
    digits = f"regexp_replace({value}, '[^0-9.eE+-]', '', 'g')"
    sign = f"CASE WHEN starts_with({value}, '(') THEN '-' ELSE '' END"
    return f"try_cast({sign} || {digits} AS DOUBLE)"


def build_match_sql(value: str, kind: str) -> str:
    return " OR ".join(
        f"regexp_full_match({value}, {quote_literal(PATTERNS[each])})" for each in kind.split("|")
    )


def build_value_sql(column: str) -> str:
    """The cleaned cell, NULL where it says that there is nothing."""
    value = build_clean_sql(build_text_sql(column))
    return (
        f"CASE WHEN regexp_full_match({value}, {quote_literal(PATTERNS['gap'])}) THEN NULL "
        f"ELSE {value} END"
    )

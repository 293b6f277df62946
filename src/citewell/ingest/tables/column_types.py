"""What a column of text holds: numbers however they are written, dates, yes and no, or text; told
by all of its cells.

The one rule: a column is converted as a whole or stays text. `007` stays text, two currencies stay
text, and so does a date that may be read in two ways; what stays text though it nearly was
something else is said.
"""

# ruff: noqa: S608 - names in statements are quoted or our own, texts are quoted

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from citewell.ingest.tables.column_names import quote_literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SAMPLE: Final = (
    20_000  # cells that the first guess is made on; all cells then have to agree with it
)
_NEARLY: Final = 0.8  # share of cells of a kind from which it is said what the others are
_MOST_GAPS: Final = 0.5  # share of cells that may say that there is nothing

_CURRENCY: Final = r"(?:CN¥|US\$|HK\$|RMB|CNY|USD|EUR|GBP|HKD|JPY|人民币|欧元|美元|元|[¥$€£])"
_PLAIN: Final = r"[-+]?(?:(?:0|[1-9]\d{0,14})(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
_GROUPED: Final = r"(?:[1-9]\d{0,2}(?:,\d{3})+|0|[1-9]\d{0,14})(?:\.\d+)?|\.\d+"
_SIGNED: Final = rf"[-+]?\s*{_CURRENCY}?\s*[-+]?(?:{_GROUPED})\s*{_CURRENCY}?"
_DAY: Final = (
    r"\d{4}(?:-\d{1,2}-\d{1,2}|/\d{1,2}/\d{1,2}|\.\d{1,2}\.\d{1,2}|年\s?\d{1,2}月\s?\d{1,2}[日号])"
)
_CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?"
_MONTHS: Final = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
PATTERNS: Final = {
    "int": r"[-+]?(?:0|[1-9]\d{0,17})",
    "number": _PLAIN,
    "money": rf"{_SIGNED}|\(\s*{_CURRENCY}?\s*(?:{_GROUPED})\s*{_CURRENCY}?\s*\)",
    "percent": rf"[-+]?(?:{_GROUPED})\s*%",
    "comma": r"[-+]?(?:[1-9]\d{0,2}(?:\.\d{3})+|0|[1-9]\d*)(?:,\d+)?",
    "date": rf"{_DAY}(?:[T ]\s*{_CLOCK}Z?)?",
    "serial": r"[2-7]\d{4}(?:\.\d+)?",
    "compact": r"(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])",
    "turned": r"\d{1,2}(?:/\d{1,2}/|\.\d{1,2}\.|-\d{1,2}-)\d{4}",
    "worded": rf"\d{{1,2}}[- ]{_MONTHS}[- ,]+\d{{4}}|{_MONTHS} \d{{1,2}},? \d{{4}}",
    "bool": r"(?i:true|false)",
    "gap": r"(?i:-|—|–|--|/|n/a|na|nan|null|none|nil|无|空|未知|待定|tbd)",
    "zeros": r"[-+]?0\d+",
}
_ERROR: Final = r"#(?:DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!|SPILL!|CALC!|GETTING_DATA)"
_DATED: Final = re.compile(r"\bdate\b|日期", re.IGNORECASE)
_WORDED_FORMS: Final = [
    "%d %b %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%b %d %Y",
    "%B %d %Y",
]
_FULL_WIDTH: Final = ("０１２３４５６７８９．，％（）－＋￥　", "0123456789.,%()-+¥ ")


@dataclass(slots=True)
class Plan:
    """How a column of text is stored: `expression` makes its values, NULL where a cell says that
    there is none.
    """

    type: str
    expression: str
    comment: str = ""
    warnings: list[str] = field(default_factory=list)


Make = Callable[[str, dict[str, int]], "Plan | None"]


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


class Chooser:
    """Looks at the columns of one table of text. `decimal_comma`: the file's lists are separated by
    semicolons.
    """

    def __init__(
        self,
        connection: DuckDBPyConnection,
        table: str,
        *,
        decimal_comma: bool = False,
        sheet: bool = False,
    ) -> None:
        self._connection = connection
        self._table = table
        self._decimal_comma = decimal_comma
        self._sheet = sheet

    def choose_plan(self, column: str, name: str, *, dates_only: bool = False) -> Plan:
        """`name`: what people call the column; some words say what its numbers are."""
        counts = self._count_kinds(column, SAMPLE)
        fitting = self._find_fitting_kinds(counts, name, dates_only=dates_only)
        if fitting and counts["total"] == SAMPLE:
            kinds = {
                "gap",
                "zeros",
                *(part for kind, _ in fitting for part in (kind, *kind.split("|"))),
            }
            # what might have to be said of a column that is text after all
            kinds |= {
                kind
                for kind in ("number", "money", "percent", "date", "turned")
                if counts[kind] or fitting[0][0] == "int"
            }
            counts = {**dict.fromkeys(counts, 0), **self._count_kinds(column, 0, sorted(kinds))}
        for kind, make in self._find_fitting_kinds(counts, name, dates_only=dates_only):
            plan = make(column, counts)
            if plan is not None:
                return self._add_warnings(
                    plan, column, name, counts["gap"] if kind != "bool" else 0
                )
        return self._plan_text(column, name, counts, dates_only=dates_only)

    def _find_fitting_kinds(
        self, counts: dict[str, int], name: str, *, dates_only: bool
    ) -> list[tuple[str, Make]]:
        return [
            (kind, make)
            for kind, make in self._list_kinds(name, dates_only=dates_only)
            if self._is_all_of_kind(counts, kind)
        ]

    def _list_kinds(self, name: str, *, dates_only: bool) -> list[tuple[str, Make]]:
        days: list[tuple[str, Make]] = [
            ("date", self._plan_date),
            ("turned", self._plan_ambiguous_date),
            ("worded", self._plan_month_name_date),
        ]
        if dates_only:
            return days
        named = (
            [("serial", self._plan_serial_date), ("compact", self._plan_compact_date)]
            if _DATED.search(name)
            else []
        )
        comma = [("comma", self._plan_decimal_comma)] if self._decimal_comma else []
        mixed = [("date|serial", self._plan_date)] if self._sheet else []
        return [
            *named,
            ("int", self._plan_int),
            ("number", self._plan_number),
            *comma,
            ("money", self._plan_money),
            ("percent", self._plan_percent),
            *days,
            *mixed,
            ("bool", self._plan_bool),
        ]

    def _build_match_sql(self, value: str, kind: str) -> str:
        return " OR ".join(
            f"regexp_full_match({value}, {quote_literal(PATTERNS[each])})"
            for each in kind.split("|")
        )

    def _count_kinds(
        self, column: str, most: int, wanted: Iterable[str] = (*PATTERNS, "date|serial")
    ) -> dict[str, int]:
        """How many cells there are of each kind, among the first `most` (0: all) that hold
        anything.
        """
        kinds = {kind: self._build_match_sql("v", kind) for kind in wanted}
        counted = ", ".join(f"count_if({test})" for test in kinds.values())
        limit = f"LIMIT {most}" if most else ""
        inner = (
            f"SELECT {build_clean_sql(build_text_sql(column))} AS v FROM {self._table} "
            f"WHERE {column} IS NOT "
            f"NULL {limit}"
        )
        row: Any = self._connection.execute(f"SELECT count(v), {counted} FROM ({inner})").fetchone()
        return dict(zip(("total", *kinds), (count or 0 for count in row), strict=True))

    def _is_all_of_kind(self, counts: dict[str, int], kind: str) -> bool:
        """Whether every cell is of that kind or says that there is nothing."""
        gaps = counts["gap"]
        return (
            counts[kind] > 0
            and counts[kind] + gaps == counts["total"]
            and gaps <= _MOST_GAPS * counts["total"]
        )

    def _build_value_sql(self, column: str) -> str:
        """The cleaned cell, NULL where it says that there is nothing."""
        value = build_clean_sql(build_text_sql(column))
        return (
            f"CASE WHEN regexp_full_match({value}, {quote_literal(PATTERNS['gap'])}) THEN NULL "
            f"ELSE {value} END"
        )

    def _plan_int(self, column: str, _: dict[str, int]) -> Plan:
        return Plan("BIGINT", f"try_cast({self._build_value_sql(column)} AS BIGINT)")

    def _plan_number(self, column: str, _: dict[str, int]) -> Plan:
        return self._plan_exact(f"({self._build_value_sql(column)})", lambda value: value)

    def _plan_exact(self, value: str, strip: Callable[[str], str]) -> Plan:
        """A DECIMAL where all numbers fit into one of 18 digits, 6 of them behind the point; else a
        DOUBLE.

        Sums of money stay exact then: 0.1 + 0.2 is 0.3.
        """
        bare = strip("v")
        shape = (
            f"SELECT max(length(regexp_extract({bare}, '\\.(\\d*)', 1))), "
            f"max(length(regexp_extract({bare}, '(\\d*)', 1))), "
            f"bool_or(contains(lower({bare}), 'e')) FROM (SELECT ltrim({value}, '+-(¥$€£ ') AS v "
            f"FROM {self._table})"
        )
        row: Any = self._connection.execute(shape).fetchone()
        scale, before, exponent = row[0] or 0, row[1] or 0, bool(row[2])
        result = build_number_sql(value)
        if exponent or scale > 6 or before + scale > 18:
            return Plan("DOUBLE", result)
        if not scale:
            return Plan("BIGINT", f"try_cast({result} AS BIGINT)")
        sign = f"CASE WHEN starts_with({value}, '(') THEN '-' ELSE '' END"
        digits = f"regexp_replace({value}, '[^0-9.+-]', '', 'g')"
        return Plan(
            f"DECIMAL(18, {scale})", f"try_cast({sign} || {digits} AS DECIMAL(18, {scale}))"
        )

    def _plan_money(self, column: str, _: dict[str, int]) -> Plan | None:
        value = self._build_value_sql(column)
        signs = (
            f"SELECT DISTINCT regexp_extract({value}, {quote_literal(_CURRENCY)}) "
            f"FROM {self._table} "
            f"WHERE {column} IS NOT NULL"
        )
        found = sorted({row[0] for row in self._connection.execute(signs).fetchall()} - {"", None})
        if len(found) > 1:
            return None
        plan = self._plan_exact(f"({value})", lambda each: f"replace({each}, ',', '')")
        if found:
            plan.comment = f"in {found[0]}"
        return plan

    def _plan_percent(self, column: str, _: dict[str, int]) -> Plan:
        fraction = f"round({build_number_sql(f'({self._build_value_sql(column)})')} / 100, 12)"
        note = "percentages are kept as fractions: 12% is 0.12"
        return Plan("DOUBLE", fraction, "a share: 0.12 is 12 %", [note])

    def _plan_decimal_comma(self, column: str, _: dict[str, int]) -> Plan:
        value = f"replace(replace({self._build_value_sql(column)}, '.', ''), ',', '.')"
        plan = self._plan_exact(f"({value})", lambda each: each)
        plan.warnings.append("a comma in its numbers is read as the decimal sign")
        return plan

    def _plan_day(self, column: str, moment: str) -> Plan | None:
        """DATE, or TIMESTAMP where a cell has a time; None where a cell names a day that is
        none.
        """
        value = self._build_value_sql(column)
        both = f"SELECT {value} AS v, {moment} AS m FROM {self._table}"
        check = f"SELECT count(v) - count(m), bool_or(m::TIME <> TIME '00:00') FROM ({both})"
        row: Any = self._connection.execute(check).fetchone()
        if row[0]:
            return None
        return Plan("TIMESTAMP", moment) if row[1] else Plan("DATE", f"CAST({moment} AS DATE)")

    def _plan_date(self, column: str, counts: dict[str, int]) -> Plan | None:
        value = f"({self._build_value_sql(column)})"
        day = (
            f"regexp_replace(regexp_extract({value}, {quote_literal('^' + _DAY)}), "
            "'\\s?[年月/.]\\s?', '-', 'g')"
        )
        clock = f"regexp_extract({value}, {quote_literal(_CLOCK)})"
        moment = f"try_cast(rtrim(rtrim({day}, '日号') || ' ' || {clock}) AS TIMESTAMP)"
        if counts["date"] + counts["gap"] < counts["total"]:
            moment = f"coalesce({moment}, {self._build_serial_sql(column)})"
        plan = self._plan_day(column, moment)
        if plan is not None and counts["date"] + counts["gap"] < counts["total"]:
            plan.warnings.append(
                "numbers among its dates are read as days counted from 1899-12-30, as "
                "spreadsheets do"
            )
        return plan

    def _build_serial_sql(self, column: str) -> str:
        days = (
            f"CASE WHEN regexp_full_match({self._build_value_sql(column)}, '[0-9.]+') THEN "
            f"try_cast({self._build_value_sql(column)} AS DOUBLE) END"
        )
        return f"(TIMESTAMP '1899-12-30' + to_seconds(round(86400 * {days})))"

    def _plan_serial_date(self, column: str, _: dict[str, int]) -> Plan | None:
        plan = self._plan_day(column, self._build_serial_sql(column))
        if plan is not None:
            plan.warnings.append(
                "its numbers are read as days counted from 1899-12-30, as spreadsheets do"
            )
        return plan

    def _plan_compact_date(self, column: str, _: dict[str, int]) -> Plan | None:
        plan = self._plan_day(column, f"try_strptime({self._build_value_sql(column)}, '%Y%m%d')")
        if plan is not None:
            plan.warnings.append("its numbers are read as dates: 20240105 is 2024-01-05")
        return plan

    def _plan_ambiguous_date(self, column: str, _: dict[str, int]) -> Plan | None:
        """Day first or month first: told by numbers over 12; where none is, nobody can tell."""
        value = f"regexp_replace({self._build_value_sql(column)}, '[.-]', '/', 'g')"
        plans = [
            self._plan_day(column, f"try_strptime({value}, {quote_literal(form)})")
            for form in ("%d/%m/%Y", "%m/%d/%Y")
        ]
        fitting = [plan for plan in plans if plan is not None]
        if len(fitting) != 1:
            return None
        order = "day, month, year" if plans[0] is not None else "month, day, year"
        fitting[0].warnings.append(f"its dates are read as {order}")
        return fitting[0]

    def _plan_month_name_date(self, column: str, _: dict[str, int]) -> Plan | None:
        return self._plan_day(
            column, f"try_strptime({self._build_value_sql(column)}, {_WORDED_FORMS!r})"
        )

    def _plan_bool(self, column: str, _: dict[str, int]) -> Plan:
        return Plan("BOOLEAN", f"try_cast({self._build_value_sql(column)} AS BOOLEAN)")

    def _add_warnings(self, plan: Plan, column: str, name: str, gaps: int) -> Plan:
        """The plan with its warnings under the column's name, and one about the cells that are left
        empty.
        """
        if gaps:
            plan.warnings.append(self._describe_gaps(column))
        plan.warnings = [f'column "{name}": {warning}' for warning in plan.warnings]
        return plan

    def _describe_gaps(self, column: str) -> str:
        gap = (
            f"regexp_full_match({build_clean_sql(build_text_sql(column))},"
            f" {quote_literal(PATTERNS['gap'])})"
        )
        seen = (
            f"SELECT count(*), list_sort(list_distinct(list({column})))[:3] FROM {self._table} "
            f"WHERE {gap}"
        )
        row: Any = self._connection.execute(seen).fetchone()
        words = ", ".join(f'"{each}"' for each in row[1])
        what = "1 cell that says" if row[0] == 1 else f"{row[0]:,} cells that say"
        return f"{what} {words} {'is' if row[0] == 1 else 'are'} left empty"

    def _plan_text(
        self, column: str, name: str, counts: dict[str, int], *, dates_only: bool
    ) -> Plan:
        plan = Plan("VARCHAR", build_text_sql(column))
        if dates_only or not counts["total"]:
            return plan
        reason = ""
        if counts["turned"] == counts["total"]:
            reason = "its dates may be read in two ways; write them as 2024-01-31"
        elif counts["money"] and counts["money"] + counts["gap"] == counts["total"]:
            reason = "its numbers are in several currencies"
        elif not counts["zeros"]:
            kind = max(("money", "percent", "date"), key=lambda each: counts[each])
            if counts[kind] >= _NEARLY * counts["total"]:
                reason = self._describe_misfits(column, kind)
        if reason:
            plan.warnings.append(f'column "{name}" is kept as text: {reason}')
        return plan

    def _describe_misfits(self, column: str, kind: str) -> str:
        """The cells because of which a column is no column of numbers or dates."""
        value = (
            f"SELECT {build_clean_sql(build_text_sql(column))} AS v FROM {self._table} "
            f"WHERE {column} IS NOT NULL"
        )
        test = f"NOT ({self._build_match_sql('v', kind + '|gap')})"
        row: Any = self._connection.execute(
            f"SELECT count(*), min(v) FROM ({value}) WHERE {test}"
        ).fetchone()
        words = "a date" if kind == "date" else "a number"
        if not row[0]:
            return f"some of its cells are no {words[2:]} there is"
        return (
            f"{row[0]:,} of its cells {'is' if row[0] == 1 else 'are'} not {words}, such as "
            f'"{row[1][:40]}"'
        )

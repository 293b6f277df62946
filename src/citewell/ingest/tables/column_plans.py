"""How a column of text is stored as numbers, dates or yes and no: the SQL that converts its cells.
A plan that a cell does not bear is none, and the column stays text.
"""

# ruff: noqa: S608 - names in statements are quoted or our own, texts are quoted

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from citewell.ingest.tables.cell_patterns import (
    CLOCK,
    CURRENCY,
    DAY,
    build_number_sql,
    build_value_sql,
)
from citewell.ingest.tables.column_names import quote_literal
from citewell.messages import Text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_WORDED_FORMS: Final = [
    "%d %b %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%b %d %Y",
    "%B %d %Y",
]


@dataclass(slots=True)
class Plan:
    """How a text column is stored: `expression` makes its values, NULL where a cell says so."""

    type: str
    expression: str
    comment: str = ""
    warnings: list[str] = field(default_factory=list)


class Planner:
    """Makes the plans for the columns of one table of text. Each wants the quoted name of a
    column, and how many of its cells are of each kind.
    """

    def __init__(self, connection: DuckDBPyConnection, table: str) -> None:
        self._connection = connection
        self._table = table

    def plan_int(self, column: str, _: dict[str, int]) -> Plan:
        return Plan("BIGINT", f"try_cast({build_value_sql(column)} AS BIGINT)")

    def plan_number(self, column: str, _: dict[str, int]) -> Plan:
        return self._plan_exact(f"({build_value_sql(column)})", lambda value: value)

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

    def plan_money(self, column: str, _: dict[str, int]) -> Plan | None:
        value = build_value_sql(column)
        signs = (
            f"SELECT DISTINCT regexp_extract({value}, {quote_literal(CURRENCY)}) "
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

    def plan_percent(self, column: str, _: dict[str, int]) -> Plan:
        fraction = f"round({build_number_sql(f'({build_value_sql(column)})')} / 100, 12)"
        note = "percentages are kept as fractions: 12% is 0.12"
        return Plan("DOUBLE", fraction, "a share: 0.12 is 12 %", [note])

    def plan_decimal_comma(self, column: str, _: dict[str, int]) -> Plan:
        value = f"replace(replace({build_value_sql(column)}, '.', ''), ',', '.')"
        plan = self._plan_exact(f"({value})", lambda each: each)
        plan.warnings.append(Text("a comma in its numbers is read as the decimal sign"))
        return plan

    def _plan_day(self, column: str, moment: str) -> Plan | None:
        """DATE, or TIMESTAMP where a cell has a time; None where a cell is no day."""
        value = build_value_sql(column)
        both = f"SELECT {value} AS v, {moment} AS m FROM {self._table}"
        check = f"SELECT count(v) - count(m), bool_or(m::TIME <> TIME '00:00') FROM ({both})"
        row: Any = self._connection.execute(check).fetchone()
        if row[0]:
            return None
        return Plan("TIMESTAMP", moment) if row[1] else Plan("DATE", f"CAST({moment} AS DATE)")

    def plan_date(self, column: str, counts: dict[str, int]) -> Plan | None:
        value = f"({build_value_sql(column)})"
        day = (
            f"regexp_replace(regexp_extract({value}, {quote_literal('^' + DAY)}), "
            "'\\s?[年月/.]\\s?', '-', 'g')"
        )
        clock = f"regexp_extract({value}, {quote_literal(CLOCK)})"
        moment = f"try_cast(rtrim(rtrim({day}, '日号') || ' ' || {clock}) AS TIMESTAMP)"
        if counts["date"] + counts["gap"] < counts["total"]:
            moment = f"coalesce({moment}, {self._build_serial_sql(column)})"
        plan = self._plan_day(column, moment)
        if plan is not None and counts["date"] + counts["gap"] < counts["total"]:
            plan.warnings.append(
                Text(
                    "numbers among its dates are read as days counted from 1899-12-30, as "
                    "spreadsheets do"
                )
            )
        return plan

    def _build_serial_sql(self, column: str) -> str:
        days = (
            f"CASE WHEN regexp_full_match({build_value_sql(column)}, '[0-9.]+') THEN "
            f"try_cast({build_value_sql(column)} AS DOUBLE) END"
        )
        return f"(TIMESTAMP '1899-12-30' + to_seconds(round(86400 * {days})))"

    def plan_serial_date(self, column: str, _: dict[str, int]) -> Plan | None:
        plan = self._plan_day(column, self._build_serial_sql(column))
        if plan is not None:
            plan.warnings.append(
                Text("its numbers are read as days counted from 1899-12-30, as spreadsheets do")
            )
        return plan

    def plan_compact_date(self, column: str, _: dict[str, int]) -> Plan | None:
        plan = self._plan_day(column, f"try_strptime({build_value_sql(column)}, '%Y%m%d')")
        if plan is not None:
            plan.warnings.append(Text("its numbers are read as dates: 20240105 is 2024-01-05"))
        return plan

    def plan_ambiguous_date(self, column: str, _: dict[str, int]) -> Plan | None:
        """Day first or month first: told by numbers over 12; where none is, nobody can tell."""
        value = f"regexp_replace({build_value_sql(column)}, '[.-]', '/', 'g')"
        plans = [
            self._plan_day(column, f"try_strptime({value}, {quote_literal(form)})")
            for form in ("%d/%m/%Y", "%m/%d/%Y")
        ]
        fitting = [plan for plan in plans if plan is not None]
        if len(fitting) != 1:
            return None
        order = Text("day, month, year") if plans[0] is not None else Text("month, day, year")
        fitting[0].warnings.append(Text("its dates are read as {order}", order=order))
        return fitting[0]

    def plan_month_name_date(self, column: str, _: dict[str, int]) -> Plan | None:
        return self._plan_day(column, f"try_strptime({build_value_sql(column)}, {_WORDED_FORMS!r})")

    def plan_bool(self, column: str, _: dict[str, int]) -> Plan:
        return Plan("BOOLEAN", f"try_cast({build_value_sql(column)} AS BOOLEAN)")

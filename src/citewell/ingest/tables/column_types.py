"""What a column of text holds: numbers however they are written, dates, yes and no, or text; told
by all of its cells. A column is converted as a whole or stays text. `007` stays text, two
currencies stay text, and so does a date that may be read in two ways; what stays text though it
nearly was something else is said.
"""

# ruff: noqa: S608 - names in statements are quoted or our own, texts are quoted

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from citewell.ingest.tables.cell_patterns import (
    PATTERNS,
    build_clean_sql,
    build_match_sql,
    build_text_sql,
)
from citewell.ingest.tables.column_names import quote_literal
from citewell.ingest.tables.column_plans import Plan, Planner
from citewell.messages import Text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# cells that the first guess is made on; all cells then have to agree with it
SAMPLE: Final = 20_000
_NEARLY: Final = 0.8  # share of cells of a kind from which it is said what the others are
_MOST_GAPS: Final = 0.5  # share of cells that may say that there is nothing
_DATED: Final = re.compile(r"\bdate\b|日期", re.IGNORECASE)

Make = Callable[[str, dict[str, int]], "Plan | None"]


class Chooser:
    """Looks at one table's columns of text. `decimal_comma`: the file has semicolons."""

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
        self._planner = Planner(connection, table)
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
            ("date", self._planner.plan_date),
            ("turned", self._planner.plan_ambiguous_date),
            ("worded", self._planner.plan_month_name_date),
        ]
        if dates_only:
            return days
        named = (
            [
                ("serial", self._planner.plan_serial_date),
                ("compact", self._planner.plan_compact_date),
            ]
            if _DATED.search(name)
            else []
        )
        comma = [("comma", self._planner.plan_decimal_comma)] if self._decimal_comma else []
        mixed = [("date|serial", self._planner.plan_date)] if self._sheet else []
        return [
            *named,
            ("int", self._planner.plan_int),
            ("number", self._planner.plan_number),
            *comma,
            ("money", self._planner.plan_money),
            ("percent", self._planner.plan_percent),
            *days,
            *mixed,
            ("bool", self._planner.plan_bool),
        ]

    def _count_kinds(
        self, column: str, most: int, wanted: Iterable[str] = (*PATTERNS, "date|serial")
    ) -> dict[str, int]:
        """How many cells of each kind, among the first `most` (0: all) that hold anything."""
        kinds = {kind: build_match_sql("v", kind) for kind in wanted}
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

    def _add_warnings(self, plan: Plan, column: str, name: str, gaps: int) -> Plan:
        """The plan with its warnings under the column's name, and one about cells left empty."""
        if gaps:
            plan.warnings.append(self._describe_gaps(column))
        plan.warnings = [
            Text('column "{name}": {warning}', name=name, warning=warning)
            for warning in plan.warnings
        ]
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
        return (
            Text("{what} {words} is left empty", what=what, words=words)
            if row[0] == 1
            else Text("{what} {words} are left empty", what=what, words=words)
        )

    def _plan_text(
        self, column: str, name: str, counts: dict[str, int], *, dates_only: bool
    ) -> Plan:
        plan = Plan("VARCHAR", build_text_sql(column))
        if dates_only or not counts["total"]:
            return plan
        reason = ""
        if counts["turned"] == counts["total"]:
            reason = Text("its dates may be read in two ways; write them as 2024-01-31")
        elif counts["money"] and counts["money"] + counts["gap"] == counts["total"]:
            reason = Text("its numbers are in several currencies")
        elif not counts["zeros"]:
            kind = max(("money", "percent", "date"), key=lambda each: counts[each])
            if counts[kind] >= _NEARLY * counts["total"]:
                reason = self._describe_misfits(column, kind)
        if reason:
            plan.warnings.append(
                Text('column "{name}" is kept as text: {reason}', name=name, reason=reason)
            )
        return plan

    def _describe_misfits(self, column: str, kind: str) -> str:
        """The cells because of which a column is no column of numbers or dates."""
        value = (
            f"SELECT {build_clean_sql(build_text_sql(column))} AS v FROM {self._table} "
            f"WHERE {column} IS NOT NULL"
        )
        test = f"NOT ({build_match_sql('v', kind + '|gap')})"
        row: Any = self._connection.execute(
            f"SELECT count(*), min(v) FROM ({value}) WHERE {test}"
        ).fetchone()
        words = "a date" if kind == "date" else "a number"
        if not row[0]:
            return Text("some of its cells are no {words} there is", words=words[2:])
        return (
            Text(
                '{row:,} of its cells is not {words}, such as "{row2}"',
                row=row[0],
                words=words,
                row2=row[1][:40],
            )
            if row[0] == 1
            else Text(
                '{row:,} of its cells are not {words}, such as "{row2}"',
                row=row[0],
                words=words,
                row2=row[1][:40],
            )
        )

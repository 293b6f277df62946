"""What stands in the tables of a schema: row counts, the commonest values of texts, lowest and
highest of numbers and dates. It takes no longer than its time, whatever the size; what there was no
time for is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from citewell.sql.engines.engine import Column, Dialect, Table
from citewell.sql.engines.values import to_plain_value

INSPECT_SECONDS = 20.0  # for all tables together
PROBE_SECONDS = 1.0  # for one look into one table
LARGE = 100_000  # rows; of larger tables a sample is read for the values
SAMPLE = 50_000
MOST_CHARACTERS = 80  # of a stored value
AT_ONCE = 50  # columns in one look; SQLite takes 2,000 results and 500 parts of a union
# (statement, seconds); None: refused, or out of time
Ask = Callable[[str, float], list[Sequence[Any]] | None]


@dataclass(frozen=True, slots=True)
class Found:
    """A table as its catalogue describes it. `source`: its quoted name. `rows`: an estimate."""

    table: Table
    source: str
    is_view: bool = False
    remote: bool = False  # somewhere else: not looked into


@dataclass(slots=True)
class Budget:
    """The time of a whole inspection."""

    until: float

    @classmethod
    def of(cls, seconds: float) -> Budget:
        return cls(time.monotonic() + seconds)

    def get_probe_seconds(self) -> float:
        return min(PROBE_SECONDS, self.until - time.monotonic())

    @property
    def over(self) -> bool:
        return self.get_probe_seconds() < 0.02


def quote_name(name: str, dialect: Dialect) -> str:
    mark = "`" if dialect == "mysql" else '"'
    return mark + name.replace(mark, mark * 2) + mark


def inspect_tables(
    found: Sequence[Found], ask: Ask, dialect: Dialect, values: int, budget: Budget
) -> tuple[list[Table], list[str]]:
    """The tables with what stands in them, and what was left out; small tables first."""
    order = sorted(range(len(found)), key=lambda place: (found[place].table.rows or 0, place))
    tables = [one.table for one in found]
    left: list[str] = []
    for place in order:
        one = found[place]
        if one.remote:
            continue
        if budget.over:
            left.append(one.table.name)
            continue
        tables[place] = _TableInspector(one, ask, dialect, values, budget).build_table()
    if not left:
        return tables, []
    some = ", ".join(sorted(left)[:5]) + (", ..." if len(left) > 5 else "")
    return tables, [
        (
            f"no time was left to look into {len(left)} of {len(found)} tables ({some}): their "
            "values are unknown"
        )
    ]


class _TableInspector:
    """Into one table."""

    def __init__(
        self, found: Found, ask: Ask, dialect: Dialect, values: int, budget: Budget
    ) -> None:
        self.found, self.dialect, self.values, self.budget = found, dialect, values, budget
        self._ask = ask
        self.rows = self._count_rows()
        self.large = self.rows is None or self.rows > LARGE

    def ask(self, sql: str) -> list[Sequence[Any]] | None:
        return None if self.budget.over else self._ask(sql, self.budget.get_probe_seconds())

    def build_table(self) -> Table:
        table = self.found.table
        columns = {column.name: column for column in table.columns}
        for column in self._read_ranges():
            columns[column.name] = column
        if self.values:
            for column in self._read_values(
                {name: column for name, column in columns.items() if column.kind == "text"}
            ):
                columns[column.name] = column
        return replace(table, columns=tuple(columns.values()), rows=self.rows)

    def _count_rows(self) -> int | None:
        """Exact where that is quick, else the engine's estimate."""
        estimate = self.found.table.rows
        if estimate is not None and estimate > LARGE:
            return estimate
        told = self.ask(f"SELECT count(*) FROM {self.found.source}")  # noqa: S608 - quoted
        return int(told[0][0]) if told else estimate

    def _build_sample_source(self, columns: Sequence[Column]) -> str:
        """What a large table is read from."""
        whole = self.found.source
        if not self.large:
            return whole
        if self.rows and not self.found.is_view and self.dialect in {"duckdb", "postgres"}:
            share = f"{max(0.01, min(100.0, 100.0 * SAMPLE / self.rows)):.2f}"
            percent = " PERCENT" if self.dialect == "duckdb" else ""
            return f"{whole} TABLESAMPLE SYSTEM ({share}{percent}) REPEATABLE (7)"
        names = ", ".join(quote_name(column.name, self.dialect) for column in columns)
        return f"(SELECT {names} FROM {whole} LIMIT {SAMPLE}) AS part"  # noqa: S608 - quoted

    def _read_ranges(self) -> Iterator[Column]:
        """Lowest and highest of numbers and dates, distinct texts: of all rows if time allows."""
        asked = [
            column
            for column in self.found.table.columns
            if column.kind in {"number", "date", "text"}
        ]
        for some in _split_parts(asked):
            wanted = [part for column in some for part in self._build_aggregates(column)]
            picked = ", ".join(wanted)
            told = self.ask(f"SELECT {picked} FROM {self.found.source}")  # noqa: S608 - quoted
            if told is None and self.large:
                told = self.ask(f"SELECT {picked} FROM {self._build_sample_source(some)}")  # noqa: S608 - quoted
            if not told:
                continue
            for place, column in enumerate(some):
                first, second = told[0][2 * place : 2 * place + 2]
                if column.kind == "text":
                    yield replace(column, distinct=None if first is None else int(first))
                else:
                    yield replace(
                        column, lowest=to_plain_value(first), highest=to_plain_value(second)
                    )

    def _build_aggregates(self, column: Column) -> tuple[str, str]:
        name = quote_name(column.name, self.dialect)
        if column.kind == "date" and self.dialect == "duckdb":  # see duckdb._zones_as_text
            return f"min({name})::VARCHAR", f"max({name})::VARCHAR"
        if column.kind != "text":
            return f"min({name})", f"max({name})"
        return ("NULL" if self.large else f"count(DISTINCT {name})"), "NULL"

    def _read_values(self, columns: dict[str, Column]) -> Iterator[Column]:
        for some in _split_parts(list(columns.values())):
            source = self._build_sample_source(some)
            told = self.ask(
                " UNION ALL ".join(
                    self._build_commonest_query(place, column, source)
                    for place, column in enumerate(some)
                )
            )
            if told is None:
                continue
            for place, column in enumerate(some):
                mine = sorted((-int(row[2]), str(row[1])) for row in told if int(row[0]) == place)
                known = tuple(text for _, text in mine[: self.values])
                all_of_them = len(mine) <= self.values and not self.large
                yield replace(
                    column, values=known, distinct=len(mine) if all_of_them else column.distinct
                )

    def _build_commonest_query(self, place: int, column: Column, source: str) -> str:
        name = quote_name(column.name, self.dialect)
        cut = (
            f"substr(CAST({name} AS {'CHAR' if self.dialect == 'mysql' else 'TEXT'}), "
            f"1, {MOST_CHARACTERS})"
        )
        grouped = (
            f"SELECT {place} AS k, {cut} AS v, count(*) AS n "  # noqa: S608 - quoted
            f"FROM {source} WHERE {name} IS NOT NULL GROUP BY 2"
        )
        return (
            f"SELECT k, v, n FROM ({grouped} ORDER BY 3 DESC, 2 LIMIT {self.values + 1}) AS "  # noqa: S608 - quoted
            f"c{place}"
        )


def _split_parts(columns: list[Column]) -> Iterator[list[Column]]:
    for start in range(0, len(columns), AT_ONCE):
        yield columns[start : start + AT_ONCE]

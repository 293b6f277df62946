"""Rows of a sheet that add up the rows above them: left out, for a sum over them would count
everything twice. A row goes only if its label says total and its numbers are the sums; one that
only says so stays, and is told of.
"""

# ruff: noqa: S608 - names in statements are quoted or our own, texts are quoted

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from citewell.ingest.tables.cell_patterns import PATTERNS, build_clean_sql, build_number_sql
from citewell.ingest.tables.column_names import quote_literal
from citewell.messages import Text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LABEL: Final = (
    r"(?i)(?:(?:grand|sub|overall)[\s-]*)?totals?(?:\s.{0,30})?|.{0,30}\s(?:sub-?)?total|sum"
    r"|.{0,20}(?:合\s*计|总\s*计|小\s*计|共\s*计|汇\s*总|总\s*和)"
)
_MOST: Final = 50  # such rows; with more of them, they are what the table is about
_LABEL_COLUMNS: Final = 3  # the first ones, in which a label stands
_NEAR: Final = 1e-6  # of the sum: what rounding makes
_CENT: Final = 0.011


def drop_totals(connection: DuckDBPyConnection, raw: str, width: int) -> list[str]:
    """Take the rows out of `raw` that add up others. Returns what is to be said of them."""
    label = (
        f"coalesce({', '.join(f'c{n}' for n in range(min(width, _LABEL_COLUMNS)))}, '')"
        if width > 1
        else "''"
    )
    test = f"regexp_full_match(rtrim({label}, ' :：'), {quote_literal(_LABEL)})"
    rows = connection.execute(
        f"SELECT n, {label} FROM {raw} WHERE {test} ORDER BY n LIMIT {_MOST + 1}"
    ).fetchall()
    total: Any = connection.execute(f"SELECT count(*) FROM {raw}").fetchone()
    if not rows or len(rows) > _MOST or len(rows) == total[0]:
        return []
    numbers = [row[0] for row in rows]
    said: list[str] = []
    gone: list[int] = []
    since = -1
    for n, words in rows:
        if _is_total_row(connection, raw, width, n, numbers, since):
            gone.append(n)
            said.append(
                Text(
                    'row {row} ("{words}") adds up rows above it and is left out',
                    row=n,
                    words=words[:40],
                )
            )
        else:
            said.append(
                Text(
                    'row {row} ("{words}") looks like a total, but does not add up the rows '
                    "above it, and is kept",
                    row=n,
                    words=words[:40],
                )
            )
        since = n
    if gone:
        connection.execute(f"DELETE FROM {raw} WHERE n IN ({', '.join(map(str, gone))})")
    return said


def _is_total_row(
    connection: DuckDBPyConnection, raw: str, width: int, n: int, totals: list[int], since: int
) -> bool:
    """Whether row `n` has the sum of its column, of all rows above or since the last sum."""
    others = f"n < {n} AND n NOT IN ({', '.join(map(str, totals))})"
    found = False
    for start in range(0, width, 100):
        columns = range(start, min(width, start + 100))
        values = {c: f"({build_clean_sql(f'c{c}')})" for c in columns}
        figure = {
            c: f"CASE WHEN regexp_full_match({v}, {quote_literal(PATTERNS['money'])}) THEN "
            f"{build_number_sql(v)} END"
            for c, v in values.items()
        }
        own = (
            connection.execute(
                f"SELECT {', '.join(figure.values())} FROM {raw} WHERE n = {n}"
            ).fetchone()
            or ()
        )
        wanted = [c for c, value in zip(columns, own, strict=True) if value]
        if not wanted:
            continue
        sums = ", ".join(
            f"sum({figure[c]}), sum({figure[c]}) FILTER (n > {since}), count({figure[c]})"
            for c in wanted
        )
        above = connection.execute(f"SELECT {sums} FROM {raw} WHERE {others}").fetchone() or ()
        for place, c in enumerate(wanted):
            value, everything, group, count = own[c - start], *above[3 * place : 3 * place + 3]
            near = max(_CENT, _NEAR * abs(value))
            found = found or (
                bool(count)
                and any(s is not None and abs(value - s) <= near for s in (everything, group))
            )
    return found

"""Which chart helps with rows, if any. What is drawn is a quantity over something that names or
dates it; an id and a year are no quantities, and where a chart would say less than the sentence
there is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from citewell.sql.column_label import Label, label_columns
from citewell.sql.engines.engine import Rows, Value
from citewell.types import Chart

# Few enough to be told apart; a line may be longer, because its points are not read one by one.
FEWEST, MOST_BARS, MOST_SLICES, MOST_POINTS = 2, 30, 8, 500
FEWEST_OF_A_LINE, FEWEST_OF_A_CLOUD = 3, 8
MOST_SERIES = 4
MOST_COLUMNS = 5  # more is a listing, of which a chart shows too little
# two quantities are drawn side by side only where the larger is at most so many times the smaller
APART = 50.0
_SHARES = re.compile(
    r"share|proportion|percent|breakdown|占比|比例|百分比|份额|构成", re.IGNORECASE
)
_SHARE_COLUMN = re.compile(
    r"share|proportion|percent|pct|ratio|占比|比例|百分比|份额|%", re.IGNORECASE
)
_DATED = re.compile(
    r"\s*\d{4}(?:[-/.年]\s*(?:Q?\d{1,2})(?:[-/.月]\s*\d{1,2}日?)?月?|\s*Q[1-4]|年)?(?:[ "
    r"T]\d{2}:.*)?\s*"
)


def choose_chart(rows: Rows, question: str, lang: str) -> Chart | None:
    """None for a single value, a list, ids, and for more than can be read."""
    known = label_columns(rows, lang)
    quantities = [
        at for at, label in enumerate(known) if label.role == "quantity" and _has_figures(rows, at)
    ]
    if len(rows.rows) < FEWEST or not quantities or len(known) > MOST_COLUMNS:
        return None
    axis = _find_axis(rows, known)
    if axis is None:
        return _build_scatter_chart(rows, known, quantities)
    drawn = _pick_series(rows, quantities)
    title = _build_title(known, axis, drawn, lang)
    kind = _choose_kind(rows, known, axis, drawn, question)
    x, y = rows.columns[axis], [rows.columns[at] for at in drawn]
    return None if kind == "" else Chart(kind=kind, x=x, y=y, title=title)


def _has_figures(rows: Rows, at: int) -> bool:
    """Whether most of a column are finite figures, and not all the same zero."""
    values = [row[at] for row in rows.rows]
    there = [
        v
        for v in values
        if isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v)
    ]
    return len(there) >= max(FEWEST, 0.7 * len(values)) and any(there)


def _find_axis(rows: Rows, known: Sequence[Label]) -> int | None:
    """The column that names each row: a time, else a text, else an id of two; values once."""
    for wanted in ("time", "plain", "id") if len(known) == 2 else ("time", "plain"):
        for at, label in enumerate(known):
            values = [row[at] for row in rows.rows]
            if label.role == wanted and None not in values and len(set(values)) == len(values):
                return at
    return None


def _pick_series(rows: Rows, quantities: Sequence[int]) -> list[int]:
    """The first quantity, and those beside it that are of its size."""
    largest = {
        at: max((abs(v) for row in rows.rows if isinstance(v := row[at], int | float)), default=0.0)
        for at in quantities
    }
    first = largest[quantities[0]]
    near = [at for at in quantities if first and first / APART <= largest[at] <= first * APART]
    return near[:MOST_SERIES]


def _choose_kind(
    rows: Rows, known: Sequence[Label], axis: int, drawn: Sequence[int], question: str
) -> str:
    n = len(rows.rows)
    if (
        known[axis].role == "time"
        and _has_only_dates([row[axis] for row in rows.rows])
        and n >= FEWEST_OF_A_LINE
    ):
        return "line" if n <= MOST_POINTS else ""
    if len(drawn) == 1 and n <= MOST_SLICES and _has_pie_shares(rows, drawn[0], question):
        return "pie"
    return "bar" if n <= MOST_BARS else ""


def _has_only_dates(values: Sequence[Value]) -> bool:
    return all(
        _DATED.fullmatch(str(value)) or (isinstance(value, int) and 1 <= value <= 366)
        for value in values
    )


def _has_pie_shares(rows: Rows, at: int, question: str) -> bool:
    """Shares of a whole: the column is called so and adds up to 1 or 100, or the question asks for
    them and all are there.
    """
    values = [float(v) for row in rows.rows if isinstance(v := row[at], int | float)]
    if len(values) < len(rows.rows) or min(values) < 0 or rows.truncated:
        return False
    total = sum(values)
    whole = abs(total - 1) < 0.02 or abs(total - 100) < 2
    return whole and bool(_SHARE_COLUMN.search(rows.columns[at]) or _SHARES.search(question))


def _build_scatter_chart(
    rows: Rows, known: Sequence[Label], quantities: Sequence[int]
) -> Chart | None:
    """Two quantities and nothing beside them, many times: points."""
    if (
        len(known) != 2
        or len(quantities) != 2
        or not FEWEST_OF_A_CLOUD <= len(rows.rows) <= MOST_POINTS
    ):
        return None
    x, y = rows.columns
    return Chart(kind="scatter", x=x, y=[y], title=f"{known[1].words} / {known[0].words}")


def _build_title(known: Sequence[Label], axis: int, drawn: Sequence[int], lang: str) -> str:
    y = ("、" if lang == "zh" else ", ").join(known[at].words for at in drawn)
    units = {known[at].unit for at in drawn}
    unit = units.pop() if len(units) == 1 else ""
    if lang == "zh":
        return f"各{known[axis].words}的{y}" + (f"（{unit}）" if unit else "")
    return f"{y} by {known[axis].words}" + (f" ({unit})" if unit else "")

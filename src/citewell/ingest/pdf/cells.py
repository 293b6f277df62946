"""Where the columns of a table lie, and what stands in its cells. A word belongs to the column in
which its middle lies; a piece that no gap parts where columns part covers both.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from citewell.ingest.pdf.lines import Line, Word, normalize_text
from citewell.ingest.pdf.rules import Rule
from citewell.ingest.tables.header import ACROSS
from citewell.text.language import get_line_joiner

_NEAR_RULE: Final = 3.0  # points: a gap this near to an upright rule is the same
# of the rows have more than one piece, or it is not they that show the columns
_SEVERAL: Final = 0.4
_STRAY: Final = 0.1  # of the rows may run over a gap between columns


@dataclass(slots=True)
class Grid:
    """`lines[n]` are the pieces in `rows[n]`. `header`: how many first rows name the columns, None
    where not known. `places`: for each column, where the pieces begin and end that stand in it
    alone.
    """

    rows: list[list[str]]
    lines: list[list[Line]]
    places: list[list[tuple[float, float]]]
    header: int | None


def find_column_cuts(
    table: Sequence[Sequence[Line]], gap: float, upright: Sequence[float] = ()
) -> list[float]:
    """The middles of gaps of at least `gap` type sizes through all rows of several pieces."""
    several = [row for row in table if len(row) > 1]
    several = several if len(several) >= max(2, _SEVERAL * len(table)) else list(table)
    words = sorted((word.x0, word.x1) for row in several for line in row for word in line.words)
    if not words:
        return list(upright)
    size = min(line.size for row in several for line in row)
    allowed = int(_STRAY * len(several))
    found = [
        (low + high) / 2 for low, high in _find_gaps(words, allowed) if high - low >= gap * size
    ]
    found = [at for at in found if all(not _is_near_rule(at, rule, size) for rule in upright)]
    return sorted([*found, *upright])


def _is_near_rule(at: float, rule: float, size: float) -> bool:
    return abs(at - rule) < max(_NEAR_RULE, 1.5 * size)


def _find_gaps(words: list[tuple[float, float]], allowed: int) -> list[tuple[float, float]]:
    """Where at most `allowed` of `words` stand above each other, between the first and the last."""
    edges = sorted([(x0, 1) for x0, _ in words] + [(x1, -1) for _, x1 in words])
    depth, found = 0, []
    start: float | None = None
    for at, change in edges:
        before, depth = depth, depth + change
        if before > allowed >= depth:
            start = at
        elif before <= allowed < depth and start is not None:
            found.append((start, at))
            start = None
    return found


def build_grid(
    table: Sequence[list[Line]],
    places: Sequence[float],
    upright: Sequence[float],
    partial: Sequence[Rule],
    *,
    header: int | None,
    bands: Sequence[int] | None = None,
) -> Grid:
    """The cells of `table`, parted at `places`, some of which are `upright` rules. `partial`: short
    rules under names of several columns. `bands`: how many rows stand between one rule and the
    next; None: each row is one already.
    """
    grid = Grid([], [], [[] for _ in range(len(places) + 1)], header)
    for n, row in enumerate(table):
        short = [
            rule
            for rule in partial
            if -row[0].size < rule.at - min(line.y0 for line in row) < 0.5 * row[0].size
        ]
        if n < (header or 0):
            short += _make_header_rules(row, places, upright)
        short = [part for rule in short for part in _split_shared_rule(rule, row, places)]
        parts = [
            part
            for line in _sort_row_pieces(row)
            for part in _split_piece(line, places, upright, short)
        ]
        grid.rows.append(_build_row(parts, places, short, grid.places))
        grid.lines.append(list(row))
    if bands is not None:
        _name_rows(grid, bands)
        _join_continued_rows(grid)
    return grid


def _sort_row_pieces(row: Sequence[Line]) -> list[Line]:
    """The pieces of a row whose cells may run over several lines, from the top."""
    return sorted(row, key=lambda line: -line.y0)


def _build_row(
    parts: Sequence[Sequence[Word]],
    places: Sequence[float],
    partial: Sequence[Rule],
    alone: Sequence[list[tuple[float, float]]],
) -> list[str]:
    """The cells of a row; `alone` learns where the pieces stand that are in one column."""
    found = [""] * (len(places) + 1)
    for part in parts:
        first, last = _find_columns(part, places, partial)
        text = normalize_text(" ".join(word.text for word in part))
        found[first] = found[first] + get_line_joiner(found[first], text) + text
        for column in range(first + 1, last + 1):
            found[column] = found[column] or ACROSS
        if first == last:
            alone[first].append((part[0].x0, part[-1].x1))
    return found


def _split_shared_rule(rule: Rule, row: Sequence[Line], places: Sequence[float]) -> list[Rule]:
    """A rule under several pieces as one for each, where dealt out evenly; else none."""
    above = [line for line in row if rule.low - 2 <= (line.x0 + line.x1) / 2 <= rule.high + 2]
    if len(above) < 2:
        return [rule]
    edges = [
        rule.low,
        *(place for place in places if rule.low + 3 < place < rule.high - 3),
        rule.high,
    ]
    count, over = divmod(len(edges) - 1, len(above))
    if over or count < 2:
        return []
    return [Rule(rule.at, edges[count * n], edges[count * (n + 1)]) for n in range(len(above))]


def _make_header_rules(
    row: Sequence[Line], places: Sequence[float], upright: Sequence[float]
) -> list[Rule]:
    """For a header's piece alone between two upright rules, a rule under all columns there."""
    edges = (
        [min(line.x0 for line in row), *upright, max(*places, *(line.x1 for line in row)) + 4]
        if upright
        else []
    )
    found = []
    for left, right in pairwise(edges):
        between = [line for line in row if left < (line.x0 + line.x1) / 2 < right]
        if len(between) == 1 and sum(left < place < right for place in places):
            found.append(Rule(row[0].y0, left, right))
    return found


def _split_piece(
    line: Line, places: Sequence[float], upright: Sequence[float], partial: Sequence[Rule]
) -> list[list[Word]]:
    """A piece parted where a column's edge lies in a gap between its words that is wider than a
    space, or is a rule; not over a short rule, under which it stands as a name of several columns.
    """
    if any(rule.low - 2 < line.x0 and line.x1 < rule.high + 2 for rule in partial):
        return [list(line.words)]
    parts: list[list[Word]] = [[line.words[0]]] if line.words else []
    for before, word in pairwise(line.words):
        at = bisect_left(places, (before.x0 + before.x1) / 2)
        if at < len(places) and (word.x0 + word.x1) / 2 > places[at]:
            least = 0.1 if places[at] in upright else 0.45
            if word.x0 - before.x1 > least * line.size:
                parts.append([word])
                continue
        parts[-1].append(word)
    return parts


def _find_columns(
    part: Sequence[Word], places: Sequence[float], partial: Sequence[Rule]
) -> tuple[int, int]:
    """The first and the last column that a piece covers: those over the short rule under it, or
    those it reaches into.
    """
    left, right = part[0].x0, part[-1].x1
    for rule in partial:
        if rule.low - 2 <= (left + right) / 2 <= rule.high + 2 and rule.high - rule.low > 0.8 * (
            right - left
        ):
            return bisect_left(places, rule.low + 3), bisect_left(places, rule.high - 3)
    first, last = bisect_left(places, left + 1), bisect_left(places, right - 1)
    if last > first and len(part) == 1:
        return (bisect_left(places, (left + right) / 2),) * 2
    return first, max(first, last)


def _name_rows(grid: Grid, bands: Sequence[int]) -> None:
    """A name alone in the first column between two rules names every row between them."""
    at = 0
    keep: list[int] = []
    for n, count in enumerate(bands):
        own = range(at, at + count)
        at += count
        named = [row for row in own if grid.rows[row][0]]
        alone = (
            len(named) == 1
            and count > 1
            and n >= (1 if grid.header else 0)
            and len(grid.rows[named[0]]) > 2
        )
        only = alone and not any(grid.rows[named[0]][1:])
        if alone and (only or count > 2):
            for row in own:
                grid.rows[row][0] = grid.rows[named[0]][0]
        keep += [
            row
            for row in own
            if not (only and row == named[0] and _is_between_rows(grid, row, own))
        ]
    grid.rows, grid.lines = [grid.rows[n] for n in keep], [grid.lines[n] for n in keep]


def _is_between_rows(grid: Grid, row: int, own: range) -> bool:
    """Whether a row stands nearer to its neighbours than rows of the table do: a name beside."""
    others = [grid.lines[n][0].y0 for n in own if n != row]
    return min(abs(y - grid.lines[row][0].y0) for y in others) < 0.8 * grid.lines[row][0].size


def _join_continued_rows(grid: Grid) -> None:
    """A row without a first cell that fills few others goes on with the row before."""
    n = 1
    while n < len(grid.rows):
        row, before = grid.rows[n], grid.rows[n - 1]
        filled = [k for k, cell in enumerate(row) if cell]
        near = 0 < grid.lines[n - 1][-1].y0 - grid.lines[n][0].y0 < 1.5 * grid.lines[n][0].size
        if (
            near
            and not row[0]
            and len(row) > 1
            and 2 * len(filled) < len(row) + 1
            and all(before[k] for k in filled)
        ):
            for k in filled:
                before[k] += get_line_joiner(before[k], row[k]) + row[k] if row[k] != ACROSS else ""
            grid.lines[n - 1] += grid.lines.pop(n)
            grid.rows.pop(n)
            if grid.header and n < grid.header:
                grid.header -= 1
        else:
            n += 1

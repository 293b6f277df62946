"""The order in which a page is read: columns found by the white strips between them, one column
after the other. A strip parts columns only where running text stands on both sides of it, so that
tables, forms and lists are read row by row. Within a column, what the file gives in one go stays
together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from citewell.ingest.pdf.line_rows import group_rows
from citewell.ingest.pdf.lines import Line, compute_body_size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CELL: Final = 2.0  # points: the raster on which strips are looked for
_MOST_CELLS: Final = 2_000  # of the raster, each way: a larger page has larger cells
_MOST_STRIPS: Final = 60  # looked at on one page, the tallest first
_NARROWEST: Final = 8.0  # points: no strip between columns of running text is narrower
_FEWEST: Final = 4  # lines on each side of a strip
# type sizes that half the lines of a column are wide at least; cells and labels are shorter
_SHORTEST: Final = 9.0
_SHORT: Final = 12.0  # the same, where both sides stand row by row
_LOW_SHARE: Final = 0.12  # of a strip's height that has to be text, on each side
# of its side's width that half the lines fill at least; a side may hold several columns
_FILLED: Final = 0.2
_LOOSE: Final = 1.3  # type sizes between words of one line at most
_NEAR: Final = 2.2  # type sizes from a line to the next within a block


@dataclass(frozen=True, slots=True)
class Strip:
    """A white strip around `x`, from `low` up to `high`, with a column on each side."""

    x: float
    low: float
    high: float


def group_columns(lines: Sequence[Line]) -> list[list[Line]]:
    """`lines` in groups, in the order in which they are read; within a group as they came."""
    return _arrange_lines(list(lines), find_strips(lines))


def find_strips(lines: Sequence[Line]) -> list[Strip]:
    """The strips that part columns, the tallest first."""
    if len(lines) < 2 * _FEWEST:
        return []
    size = compute_body_size(lines) or lines[0].size
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    bottom, top = min(line.y0 for line in lines), max(line.y1 for line in lines)
    cell = max(_CELL, (right - left) / _MOST_CELLS, (top - bottom) / _MOST_CELLS)
    free = _find_free_cells(lines, (left, bottom, right, top), cell)
    found: list[Strip] = []
    for x, low, high in _find_free_strips(free, max(_NARROWEST, 0.8 * size), _FEWEST * size, cell):
        strip = Strip(left + x * cell, bottom + low * cell, bottom + high * cell)
        if not any(_is_same_gap(strip, other, size) for other in found) and _has_text_on_both_sides(
            strip, lines
        ):
            found.append(strip)
    return found


def _find_free_cells(
    lines: Sequence[Line], place: tuple[float, float, float, float], cell: float
) -> NDArray[np.bool_]:
    """Which cells of the raster no line covers: rows from the bottom, columns from the left."""
    import numpy as np

    left, bottom, right, top = place
    free = np.ones((int((top - bottom) / cell) + 1, int((right - left) / cell) + 1), dtype=np.bool_)
    for line in lines:
        across = slice(max(0, int((line.y0 - bottom) / cell)), int((line.y1 - bottom) / cell) + 1)
        free[across, max(0, int((line.x0 - left) / cell)) : int((line.x1 - left) / cell) + 1] = (
            False
        )
    return free


def _find_free_strips(
    free: NDArray[np.bool_], width: float, height: float, cell: float
) -> list[tuple[float, int, int]]:
    """(x, first row, end) of free strips so wide and high, tallest first, one of neighbours."""
    import numpy as np

    wide = max(1, round(width / cell) - 1)  # a cell that a letter touches counts as covered
    if free.shape[1] <= wide:
        return []
    both = np.lib.stride_tricks.sliding_window_view(free, wide, axis=1).all(axis=2)
    edges = np.diff(np.pad(both, ((1, 1), (0, 0))).astype(np.int8), axis=0).T
    # in the same order: by column, then by row
    starts, ends = (np.argwhere(edges == 1), np.argwhere(edges == -1))
    tall = (ends[:, 1] - starts[:, 1]) * cell >= height
    spans: dict[tuple[int, int], list[int]] = {}
    for (x, low), high in zip(starts[tall].tolist(), ends[tall, 1].tolist(), strict=True):
        spans.setdefault((low, high), []).append(x)
    found = [
        ((place[0] + place[-1] + wide) / 2, low, high, len(place))
        for (low, high), places in spans.items()
        for place in _group_neighbours(places)
    ]
    found.sort(key=lambda run: (run[1] - run[2], -run[3]))
    return [(x, low, high) for x, low, high, _ in found[:_MOST_STRIPS]]


def _group_neighbours(places: list[int]) -> list[list[int]]:
    groups: list[list[int]] = []
    for place in places:
        if groups and place == groups[-1][-1] + 1:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _is_same_gap(strip: Strip, other: Strip, size: float) -> bool:
    """Whether two strips lie in one gap between columns, beside each other."""
    return abs(strip.x - other.x) < 4 * size and min(strip.high, other.high) > max(
        strip.low, other.low
    )


def _has_text_on_both_sides(strip: Strip, lines: Sequence[Line]) -> bool:
    """Whether running text stands on both sides."""
    within = [line for line in lines if strip.low <= (line.y0 + line.y1) / 2 <= strip.high]
    sides = (
        [line for line in within if line.x1 <= strip.x + 1],
        [line for line in within if line.x0 >= strip.x - 1],
    )
    return all(_has_running_text(side, strip) for side in sides) and not _is_tabular(*sides)


def _has_running_text(side: Sequence[Line], strip: Strip) -> bool:
    if len(side) < _FEWEST:
        return False
    text = [line for line in side if not line.row]
    if not text:
        return False
    left, right = min(line.x0 for line in side), max(line.x1 for line in side)
    covered = sum(line.y1 - line.y0 for line in side) / (strip.high - strip.low)
    usual = _compute_usual_width(text)
    return (
        usual >= _SHORTEST * compute_body_size(text)
        and covered >= _LOW_SHARE
        and usual >= _FILLED * (right - left)
    )


def _compute_usual_width(lines: Sequence[Line]) -> float:
    """The width that half of the characters stand in a line of at least; so many short pieces do
    not hide a few long lines.

    Pieces that stand closer than columns do count as one: loosely set text falls apart.
    """
    found: list[list[float]] = []  # begin, end and number of characters
    for row in group_rows(lines):
        joined = [[row[0].x0, row[0].x1, len(row[0].text)]]
        for line in row[1:]:
            if line.x0 - joined[-1][1] < _LOOSE * line.size:
                joined[-1][1] = max(joined[-1][1], line.x1)
                joined[-1][2] += len(line.text)
            else:
                joined.append([line.x0, line.x1, len(line.text)])
        found += joined
    wanted = sum(count for _, _, count in found) / 2
    for left, right, count in sorted(found, key=lambda piece: piece[0] - piece[1]):
        wanted -= count
        if wanted <= 0:
            return right - left
    return 0.0


def _is_tabular(left: Sequence[Line], right: Sequence[Line]) -> bool:
    """Whether both sides stand row by row, in short pieces: cells."""
    heights = {round(line.y0) for line in left}
    text = [line for line in right if not line.row]
    beside = [line for line in text if {round(line.y0) + shift for shift in (-1, 0, 1)} & heights]
    both = [line for line in (*left, *right) if not line.row]
    return _compute_usual_width(both) < _SHORT * compute_body_size(both) and 2 * len(beside) > len(
        text
    )


def _arrange_lines(lines: list[Line], found: Sequence[Strip]) -> list[list[Line]]:
    """Above the tallest strip, left of it, right of it, below it; and so on within each."""
    for n, whole in enumerate(found):
        # it did so for the whole page, but not for this part of it
        if not _has_text_on_both_sides(whole, lines):
            continue
        strip = _trim_strip(whole, lines)
        above = [line for line in lines if (line.y0 + line.y1) / 2 > strip.high]
        below = [line for line in lines if (line.y0 + line.y1) / 2 < strip.low]
        beside = [line for line in lines if strip.low <= (line.y0 + line.y1) / 2 <= strip.high]
        left = [line for line in beside if (line.x0 + line.x1) / 2 < strip.x]
        right = [line for line in beside if (line.x0 + line.x1) / 2 >= strip.x]
        if left and right:
            rest = found[n + 1 :]
            return [
                group
                for part in (above, left, right, below)
                for group in _arrange_lines(part, rest)
            ]
    return [lines] if lines else []


def _trim_strip(strip: Strip, lines: Sequence[Line]) -> Strip:
    """The strip without what stands alone under its columns and above a line that crosses it: a
    heading of what follows.
    """
    within = [line for line in lines if strip.low <= (line.y0 + line.y1) / 2 <= strip.high]
    left = sorted((line for line in within if line.x1 <= strip.x), key=lambda line: line.y0)
    right = [line for line in within if line.x0 >= strip.x]
    if (
        not left
        or not right
        or not any(
            line.y1 <= strip.low + line.size for line in lines if line.x0 < strip.x < line.x1
        )
    ):
        return strip
    floor = min(line.y0 for line in right)
    for n, line in enumerate(left[:2]):
        above = left[n + 1] if n + 1 < len(left) else None
        if above is None or line.y1 > floor:
            return strip
        if above.y0 - line.y1 > 0.8 * line.size:
            return Strip(strip.x, (above.y0 + line.y1) / 2, strip.high)
    return strip


def sort_column(lines: Sequence[Line]) -> list[Line]:
    """One column's lines from top to bottom: blocks in file order, by where each begins."""
    blocks: list[list[Line]] = []
    for line in lines:
        if blocks and _is_next(blocks[-1][-1], line):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    blocks.sort(key=lambda block: (-round(max(line.y1 for line in block) / 2), block[0].x0))
    return [line for block in blocks for line in block]


def _is_next(before: Line, line: Line) -> bool:
    """Whether `line` goes on where `before` ends: in the row below, or farther right in its row."""
    if before.row or line.row:
        return before.row == line.row
    down, size = before.y0 - line.y0, max(before.size, line.size)
    if abs(down) < 0.6 * size:
        return line.x0 >= before.x1 - size
    return 0 < down < _NEAR * size and line.x0 < before.x1 + size and before.x0 < line.x1 + size

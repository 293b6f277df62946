"""Tables of a PDF without rules: columns that many rows keep."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median
from typing import Final

from citewell.ingest.pdf.cells import Grid, build_grid, find_column_cuts
from citewell.ingest.pdf.line_rows import group_rows
from citewell.ingest.pdf.lines import Line
from citewell.ingest.pdf.table_lines import build_table_lines, replace_lines
from citewell.text.language import estimate_tokens

# tokens of half the cells beyond which two columns without upright rules are no table
_MOST_LINE: Final = 12.0
FEWEST_ALIGNED: Final = 3  # rows of a table without rules
_LINED_UP: Final = 4.0  # points
_MOSTLY: Final = 0.55  # of a column's cells; the others may be names above them or indented
_NUMBERING = re.compile(
    r"[(（]?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.:)）]?|[-*+•·●○■□▪◦‣➢✓–—]|\[\d{1,3}\]"
)
_NUMBER = re.compile(r"[-+(<>≤≥≈~±$¥€£]?\s*\d")
_LEADERS: Final = "…"


def replace_aligned_tables(lines: list[Line], number: int) -> list[Line]:
    """The same for rows of one column of the page without any rule. `number`: of tables before."""
    for run in _find_aligned_runs([line for line in lines if not line.row]):
        inside = [line for row in run for line in row]
        places = find_column_cuts(run, 0.9)
        grid = build_grid(run, places, [], [], header=None)
        if is_table(grid, ruled_columns=False) and _has_short_cells(grid):
            number += 1
            lines = replace_lines(lines, inside, build_table_lines(grid, inside), number)
    return lines


def is_table(grid: Grid, *, ruled_columns: bool) -> bool:
    table = [row for row in grid.rows if any(row)]
    width = max(map(len, table), default=0)
    if len(table) < 2 or width < 2:
        return False
    filled = [sum(1 for cell in row if cell) for row in table]
    if sum(filled) < 0.4 * width * len(table) or sum(count > 1 for count in filled) < 0.6 * len(
        table
    ):
        return False
    first = [row[0] for row in table if row[0]]
    if width == 2 and sum(bool(_NUMBERING.fullmatch(cell)) for cell in first) > 0.6 * len(first):
        return False  # a list
    texts = [cell for row in table for cell in row if cell]
    if not ruled_columns and not all(map(_is_aligned, grid.places)):
        return False
    if any(_LEADERS in cell for cell in texts[: 2 * width]):
        return False  # contents
    return ruled_columns or median(map(estimate_tokens, texts)) <= (
        _MOST_LINE if width == 2 else 2 * _MOST_LINE
    )


def _is_aligned(places: Sequence[tuple[float, float]]) -> bool:
    """Whether most of a column's cells begin, end or are centred at one place."""
    edges = (
        [x0 for x0, _ in places],
        [x1 for _, x1 in places],
        [(x0 + x1) / 2 for x0, x1 in places],
    )
    return len(places) < 2 or any(
        sum(abs(x - median(edge)) < _LINED_UP for x in edge) > _MOSTLY * len(edge) for edge in edges
    )


def _has_short_cells(grid: Grid) -> bool:
    """Whether cells look like a table's without rules: short, and in two columns mostly figures."""
    table = [row for row in grid.rows if any(row)]
    width = max(map(len, table), default=0)
    texts = [cell for row in table for cell in row if cell]
    if (
        max(map(estimate_tokens, texts)) > 2 * _MOST_LINE
        or median(map(estimate_tokens, texts)) > _MOST_LINE / 2
    ):
        return False
    if sum(1 for row in table for cell in row if cell) < 0.6 * width * len(table):
        return False
    figures = sum(bool(_NUMBER.match(row[-1])) for row in table[1:])
    return width > 2 or (len(table) > FEWEST_ALIGNED and figures > 0.7 * (len(table) - 1))


def _find_aligned_runs(lines: list[Line]) -> list[list[list[Line]]]:
    """Rows one below the other of at least two pieces each; a single piece ends the run."""
    runs: list[list[list[Line]]] = [[]]
    for row in group_rows(lines):
        run = runs[-1]
        near = not run or run[-1][0].y0 - row[0].y0 < 2.5 * max(row[0].size, run[-1][0].size)
        if len(row) > 1 and near:
            run.append(row)
        else:
            runs.append([row] if len(row) > 1 else [])
    return [run for run in runs if len(run) >= FEWEST_ALIGNED]

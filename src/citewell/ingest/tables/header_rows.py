"""Which rows of a sheet name its columns, and how many."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from citewell.ingest.tables.header import ACROSS, SAMPLE, count_header_rows
from citewell.ingest.tables.table_text import fill_covered_cells, to_one_line

Row = Sequence[str]
MOST_SKIPPED: Final = 10  # lines above a header: titles, dates of the report, currencies
LONGEST_NAME: Final = 100  # characters of a cell that may be the name of a column
NOTHING: Final = frozenset({"", ACROSS})
_NUMBER: Final = re.compile(r"[-+(]?\s*[¥￥$€£]?\s*[-+]?\d[\d,.\s]*%?\)?")
_YEAR: Final = re.compile(r"(?:FY)?(?:19|20)\d\d年?|(?:19|20)\d\d[-/.年]\d{1,2}月?")


def locate_header(rows: Sequence[Row]) -> tuple[int, int]:
    """How many first rows stand above the header, and how many are it (0: there is none)."""
    grid = [[to_one_line(cell) for cell in row] for row in rows[:SAMPLE]]
    width = max(map(len, grid), default=0)
    above = 0
    for skip in range(min(MOST_SKIPPED + 1, len(grid))):
        if skip and count_filled_cells(grid[skip - 1]) > max(1, width / 2):
            break
        above = skip
        if width > 1 and get_lone_cell(grid[skip]):
            continue
        if count_filled_cells(grid[skip]) < width / 2:
            continue
        if depth := _count_header_rows(grid[skip:]):
            return skip, depth
    # rows with as much in them are rows of the table, if no header was found
    while above and count_filled_cells(grid[above - 1]) > 1:
        above -= 1
    return (above, 1) if above < len(grid) and _can_name_columns(grid[above]) else (above, 0)


def _count_header_rows(grid: list[list[str]]) -> int:
    """Two rows name the columns only where the first leaves places free, or spans some."""
    depth = count_header_rows([fill_covered_cells(row) for row in grid], usual=True)
    if depth > 1 and all(cell not in NOTHING for cell in grid[0]):
        depth = 1
    if depth > 1 and any(
        _NUMBER.fullmatch(cell) and not _YEAR.fullmatch(cell)
        for row in grid[1:depth]
        for cell in row
    ):
        depth = 1
    if depth:
        return depth
    return (
        1
        if _can_name_columns(grid[0]) and not (len(grid[0]) > 1 and _has_repeated_cell(grid))
        else 0
    )


def _can_name_columns(row: Row) -> bool:
    """Whether a row could name columns: short words in most cells, no number."""
    cells = [cell for cell in row if cell not in NOTHING]
    short = all(len(cell) <= LONGEST_NAME for cell in cells)
    numbers = any(_NUMBER.fullmatch(cell) and not _YEAR.fullmatch(cell) for cell in cells)
    return bool(cells) and short and not numbers and len(cells) >= 0.6 * len(row)


def _has_repeated_cell(grid: list[list[str]]) -> bool:
    """Whether a cell of the first row stands again in its column: a value, not a name."""
    return any(
        cell not in NOTHING and any(column < len(row) and row[column] == cell for row in grid[1:])
        for column, cell in enumerate(grid[0])
    )


def count_filled_cells(row: Row) -> int:
    return sum(cell not in NOTHING for cell in row)


def get_lone_cell(row: Row) -> str:
    """The only cell of a row that holds anything, empty where there are more."""
    cells = [cell for cell in row if cell not in NOTHING]
    return cells[0] if len(cells) == 1 else ""

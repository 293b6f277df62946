"""The tables that stand on a sheet, and the sheet's text made of them: titles, rows that name their
columns, notes. What a column is called is taken from the table that the cell stands in, never from
another on the same sheet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.tables.header import ACROSS, SAMPLE, count_header_rows
from citewell.ingest.tables.table_text import fill_covered_cells, format_table_lines, to_one_line

Grid = list[list[str]]

ROWS_A_BLOCK: Final = 20  # rows between two blank lines, at which a chunk may end
_LONGEST_TITLE: Final = 80  # characters of a line above a table that is its heading
# tables beside one another; with more runs of columns, it is one table with empty ones
_MOST_BESIDE: Final = 50
_NOTHING: Final = frozenset({"", ACROSS})


@dataclass(slots=True)
class Region:
    """Neighbouring cells: `rows` from column `left` on, `titles` the lines above them."""

    left: int
    rows: Grid
    titles: list[str] = field(default_factory=list)
    depth: int = 0  # rows that name the columns

    @property
    def width(self) -> int:
        return max(map(len, self.rows), default=0)


def add_sheet(out: Assembly, rows: Sequence[Sequence[str]], level: int) -> None:
    """Append the tables of a sheet. `rows` begin in column 1; `level`: of a table's title."""
    # where the last table with a header stood, and that header
    header: tuple[int, int, Grid] | None = None
    for region in find_regions(rows):
        _add_titles(out, region, level)
        if not region.rows:
            continue
        if region.depth:
            header = (region.left, region.width, region.rows[: region.depth])
            lines = format_table_lines(region.rows, header=region.depth)
        elif header and region.width > 2 and header[:2] == (region.left, region.width):
            # the table goes on below an empty row
            named = format_table_lines([*header[2], *region.rows], header=len(header[2]))
            lines = named[len(header[2]) :]
        else:
            lines = format_table_lines(region.rows, header=0)
        for n in range(0, len(lines), ROWS_A_BLOCK):
            out.rows(lines[n : n + ROWS_A_BLOCK])


def _add_titles(out: Assembly, region: Region, level: int) -> None:
    for n, title in enumerate(region.titles):
        if n == 0 and region.rows and len(title) <= _LONGEST_TITLE:
            out.heading(level, title)
        else:
            out.block(title)


def find_regions(rows: Sequence[Sequence[str]]) -> Iterator[Region]:
    """A sheet's tables, top to bottom, apart by empty rows, or columns between two headers."""
    first = 0
    held = [any(cell not in _NOTHING for cell in row) for row in rows]
    while first < len(rows):
        last = first
        while last < len(rows) and held[last]:
            last += 1
        if last > first:
            yield from _split_side_by_side(
                [[to_one_line(cell) for cell in row] for row in rows[first:last]]
            )
        first = last + 1


def _split_side_by_side(rows: Grid) -> Iterator[Region]:
    """The tables that stand beside one another in a run of rows without an empty one."""
    runs = _find_column_runs(rows)
    if len(runs) > _MOST_BESIDE:
        runs = [(runs[0][0], runs[-1][1])]
    parts: list[tuple[int, int, Region]] = []
    for start, end in runs:
        found = _make_region(rows, start, end)
        if parts and not (found.depth and parts[-1][2].depth):
            left = parts.pop()[0]  # one of the two is no table by itself
            parts.append((left, end, _make_region(rows, left, end)))
        else:
            parts.append((start, end, found))
    for start, end, found in parts:
        if len(parts) == 1:
            yield found
        else:
            yield from find_regions([[""] * start + row[start:end] for row in rows])


def _find_column_runs(rows: Grid) -> list[tuple[int, int]]:
    """The spans of neighbouring columns that hold anything."""
    held = sorted({n for row in rows for n, cell in enumerate(row) if cell not in _NOTHING})
    found: list[tuple[int, int]] = []
    for n in held:
        if found and found[-1][1] == n:
            found[-1] = (found[-1][0], n + 1)
        else:
            found.append((n, n + 1))
    return found


def _make_region(rows: Grid, start: int, end: int) -> Region:
    """The cells of some columns, with the lines above the table taken off and its header found."""
    cut = [row[start:end] for row in rows]
    cut = [row for row in cut if any(cell not in _NOTHING for cell in row)]
    found = Region(start, cut)
    while found.rows and end - start > 1 and (alone := _get_lone_cell(found.rows[0])):
        found.titles.append(alone)
        found.rows = found.rows[1:]
    found.depth = count_header_rows(
        [fill_covered_cells(row) for row in found.rows[:SAMPLE]], usual=True
    )
    return found


def _get_lone_cell(row: Sequence[str]) -> str:
    """The only cell of a row that holds anything, empty where there are more."""
    cells = [cell for cell in row if cell not in _NOTHING]
    return cells[0] if len(cells) == 1 else ""

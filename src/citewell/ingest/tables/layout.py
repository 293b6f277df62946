"""Where the tables are on a sheet, or in a file of separated values: which rows name the columns,
which are titles or notes.

The one rule: a row is never dropped in silence; it is a row of a table, or it is told of in
`Layout.warnings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from citewell.ingest.tables.header import ACROSS, SAMPLE, count_header_rows
from citewell.ingest.tables.table_text import build_column_names, fill_covered_cells, to_one_line

Row = Sequence[str]

LONG: Final = (
    50_000  # rows from which a grid is taken for one table: nobody puts several on so long a sheet
)
_MOST_SKIPPED: Final = 10  # lines above a header: titles, dates of the report, currencies
_LONGEST_NAME: Final = 100  # characters of a cell that may be the name of a column
_SHOWN: Final = 60  # characters of a line that a warning shows
_NOTHING: Final = frozenset({"", ACROSS})
_NUMBER: Final = re.compile(r"[-+(]?\s*[¥￥$€£]?\s*[-+]?\d[\d,.\s]*%?\)?")
_YEAR: Final = re.compile(r"(?:FY)?(?:19|20)\d\d年?|(?:19|20)\d\d[-/.年]\d{1,2}月?")
_NOTE: Final = re.compile(
    r"(?:[*※]|(?:备?注|说明|数据来源|来源|制表|编制|note|source|remark|prepared|generated|"
    r"printed|as of)s?\b)"
    r"|(?:备?注|说明|来源|制表人?)[:：]",
    re.IGNORECASE,
)


@dataclass(slots=True)
class FoundTable:
    """A table: its columns as they are named (some may be empty or alike) and its rows, each with
    its number in the file.
    """

    left: int
    width: int
    names: list[str]
    headed: bool
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)

    def cells(self, row: Row) -> list[str]:
        """The cells of a grid's row that are this table's. What another cell covers sideways is
        empty.
        """
        cut = [("" if cell == ACROSS else cell) for cell in row[self.left : self.left + self.width]]
        return cut + [""] * (self.width - len(cut))


@dataclass(slots=True)
class Layout:
    tables: list[FoundTable] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def find_tables(rows: Sequence[Row], first: int = 1, *, beside: bool = True) -> Layout:
    """The tables of a grid whose first row has the number `first`. `beside`: tables may stand side
    by side.
    """
    found = Layout()
    if len(rows) > LONG:
        _add_whole_grid(rows, first, found)
    else:
        _add_blocks(rows, first, found, beside=beside)
    if len(found.tables) > 1:
        empty = [table for table in found.tables if not table.rows]
        found.warnings += [
            f"left out, as no rows follow it: {_quote_lines([_join_cells(table.names)])}"
            for table in empty
        ]
        found.tables = [table for table in found.tables if table.rows] or found.tables[:1]
    return found


def locate_header(rows: Sequence[Row]) -> tuple[int, int]:
    """How many of the first rows stand above the header, and how many are the header (0: there is
    none).
    """
    grid = [[to_one_line(cell) for cell in row] for row in rows[:SAMPLE]]
    width = max(map(len, grid), default=0)
    above = 0
    for skip in range(min(_MOST_SKIPPED + 1, len(grid))):
        if skip and _count_filled_cells(grid[skip - 1]) > max(1, width / 2):
            break
        above = skip
        if width > 1 and _get_lone_cell(grid[skip]):
            continue
        if _count_filled_cells(grid[skip]) < width / 2:
            continue
        if depth := _count_header_rows(grid[skip:]):
            return skip, depth
    # rows with as much in them are rows of the table, if no header was found
    while above and _count_filled_cells(grid[above - 1]) > 1:
        above -= 1
    return (above, 1) if above < len(grid) and _can_name_columns(grid[above]) else (above, 0)


def _count_header_rows(grid: list[list[str]]) -> int:
    """Two rows name the columns only where the first leaves places free, or spans some."""
    depth = count_header_rows([fill_covered_cells(row) for row in grid], usual=True)
    if depth > 1 and all(cell not in _NOTHING for cell in grid[0]):
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
    cells = [cell for cell in row if cell not in _NOTHING]
    short = all(len(cell) <= _LONGEST_NAME for cell in cells)
    numbers = any(_NUMBER.fullmatch(cell) and not _YEAR.fullmatch(cell) for cell in cells)
    return bool(cells) and short and not numbers and len(cells) >= 0.6 * len(row)


def _has_repeated_cell(grid: list[list[str]]) -> bool:
    """Whether a cell of the first row stands again in its own column: then it is a value, not a
    name.
    """
    return any(
        cell not in _NOTHING and any(column < len(row) and row[column] == cell for row in grid[1:])
        for column, cell in enumerate(grid[0])
    )


def _count_filled_cells(row: Row) -> int:
    return sum(cell not in _NOTHING for cell in row)


def _get_lone_cell(row: Row) -> str:
    """The only cell of a row that holds anything, empty where there are more."""
    cells = [cell for cell in row if cell not in _NOTHING]
    return cells[0] if len(cells) == 1 else ""


def _add_whole_grid(rows: Sequence[Row], first: int, found: Layout) -> None:
    """The whole grid is one table."""
    start = next((n for n, row in enumerate(rows) if _count_filled_cells(row)), len(rows))
    sample = [row for row in islice(rows, start, start + 4 * SAMPLE) if _count_filled_cells(row)]
    skip, depth = locate_header(sample)
    seen, begin = 0, start
    while seen < skip + depth:
        seen += bool(_count_filled_cells(rows[begin]))
        begin += 1
    table = FoundTable(
        0, max(map(len, rows)), build_column_names(sample[skip : skip + depth]), headed=depth > 0
    )
    table.titles = [line for row in sample[:skip] if (line := _join_cells(row))]
    table.rows = [
        (first + n, table.cells(row))
        for n, row in enumerate(rows[begin:], begin)
        if _count_filled_cells(row)
    ]
    found.tables.append(table)


def _add_blocks(rows: Sequence[Row], first: int, found: Layout, *, beside: bool) -> None:
    """Tables from top to bottom, set apart by empty rows."""
    last: FoundTable | None = None
    titles: list[str] = []
    at = 0
    while at < len(rows):
        if not _count_filled_cells(rows[at]):
            at += 1
            continue
        end = at
        while end < len(rows) and _count_filled_cells(rows[end]):
            end += 1
        block = rows[at:end]
        spans = _find_column_spans(block, beside=beside)
        if len(spans) > 1:
            for left, right in spans:
                _add_blocks(
                    [[""] * left + list(row[left:right]) for row in block],
                    first + at,
                    found,
                    beside=beside,
                )
            last = None
        else:
            last = _add_block(block, first + at, spans[0], last, titles, found)
        at = end
    if titles:
        found.warnings.append(f"left out, as they are in no table: {_quote_lines(titles)}")


def _add_block(
    block: Sequence[Row],
    first: int,
    span: tuple[int, int],
    last: FoundTable | None,
    titles: list[str],
    found: Layout,
) -> FoundTable | None:
    """One table, the rest of the one above, or lines of text: the table that rows may still belong
    to.
    """
    left, right = span
    cut = [list(row[left:right]) + [""] * (right - left - len(row[left:right])) for row in block]
    skip, depth = locate_header(cut[: _count_rows_before_notes(cut, right - left)])
    names = (
        build_column_names(
            [[to_one_line(cell) for cell in row] for row in cut[skip : skip + depth]]
        )
        if depth
        else []
    )
    inside = last is not None and last.left <= left and right <= last.left + last.width
    if inside and last is not None and _is_continuation(last, cut, left, skip, names):
        again = (
            skip + depth if names and names == last.names[left - last.left :][: len(names)] else 0
        )
        _append_rows(last, block[again:], first + again, found)
        return last
    text = right - left == 1 or all(
        _count_filled_cells(row) == 1 or _is_form_line(row) for row in cut
    )
    if text and (
        last is not None or (len(block) <= _MOST_SKIPPED and not _is_one_column_table(cut))
    ):
        lines = [line for row in block if (line := _join_cells(row))]
        if last is None:
            titles += lines
        else:
            found.warnings.append(
                f"row {first}: left out, as it is in no table: {_quote_lines(lines)}"
            )
        return last
    table = FoundTable(left, right - left, names or [""] * (right - left), headed=depth > 0)
    table.titles = [*titles, *(line for row in block[:skip] if (line := _join_cells(row)))]
    titles.clear()
    found.tables.append(table)
    _append_rows(table, block[skip + depth :], first + skip + depth, found)
    return table


def _is_form_line(row: Row) -> bool:
    """`Currency: | EUR`, a line of a form."""
    cells = [cell for cell in row if cell not in _NOTHING]
    return len(cells) == 2 and cells[0].endswith((":", "："))


def _is_one_column_table(cut: Sequence[Row]) -> bool:
    """Whether cells below each other are a table of one column: more than a line, and not
    sentences.
    """
    return len(cut) > 2 and all(len(row) == 1 and len(row[0]) <= _LONGEST_NAME for row in cut)


def _is_continuation(
    table: FoundTable, cut: Sequence[Row], left: int, skip: int, names: list[str]
) -> bool:
    """Whether rows below an empty one are the table's: they repeat its header, or have none and
    fill half of its columns.
    """
    if names and names == table.names[left - table.left :][: len(names)]:
        return True
    if names and count_header_rows(
        [fill_covered_cells(row) for row in cut[skip:SAMPLE]], usual=True
    ):
        return False
    return skip == 0 and sum(map(_count_filled_cells, cut)) >= 0.5 * table.width * len(cut)


def _append_rows(table: FoundTable, rows: Sequence[Row], first: int, found: Layout) -> None:
    """Append rows; bands over the whole width and notes at the end are told of instead."""
    end = _count_rows_before_notes(rows, table.width)
    for number, row in enumerate(rows[end:], first + end):
        found.warnings.append(
            f"row {number}: left out, as it is a note: {_quote_lines([_join_cells(row)])}"
        )
    for number, row in enumerate(rows[:end], first):
        if not _count_filled_cells(row):
            continue
        if table.width > 2 and sum(cell == ACROSS for cell in row) >= table.width - 1:
            found.warnings.append(
                f"row {number}: left out, as it spans the table: {_quote_lines([_join_cells(row)])}"
            )
            continue
        table.rows.append((number, table.cells(row)))


def _count_rows_before_notes(rows: Sequence[Row], width: int) -> int:
    """How many rows there are before the notes at the end."""
    end = len(rows)
    while end and width > 2 and _NOTE.match(_get_lone_cell(rows[end - 1])):
        end -= 1
    return end


def _find_column_spans(block: Sequence[Row], *, beside: bool) -> list[tuple[int, int]]:
    """The column spans of tables side by side in a block of rows; one span where it is one table
    with empty columns.
    """
    columns = sorted({n for row in block for n, cell in enumerate(row) if cell not in _NOTHING})
    whole = [(columns[0], columns[-1] + 1)]
    if not beside or len(columns) == columns[-1] + 1 - columns[0]:
        return whole
    runs: list[tuple[int, int]] = []
    for n in columns:
        if runs and runs[-1][1] == n:
            runs[-1] = (runs[-1][0], n + 1)
        else:
            runs.append((n, n + 1))
    parts = [runs[0]]
    for run in runs[1:]:
        if _is_table_pair(block, parts[-1], run):
            parts.append(run)
        else:
            parts[-1] = (parts[-1][0], run[1])
    return parts if len(parts) > 1 else whole


def _is_table_pair(block: Sequence[Row], one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Two tables, not one with an empty column: each has a header, and they differ in length or
    name a column alike.
    """
    sides = [[row[left:right] for row in block] for left, right in (one, other)]
    if any(right - left < 2 for left, right in (one, other)):
        return False
    heads, extents = [], []
    for side in sides:
        held = [n for n, row in enumerate(side) if _count_filled_cells(row)]
        skip, depth = locate_header([side[n] for n in held])
        if not depth:
            return False
        heads.append(set(build_column_names([side[n] for n in held[skip : skip + depth]])))
        extents.append((held[0], held[-1]))
    return extents[0] != extents[1] or bool(heads[0] & heads[1] - {""})


def _join_cells(row: Row) -> str:
    return " ".join(to_one_line(cell) for cell in row if cell not in _NOTHING)


def _quote_lines(lines: Sequence[str]) -> str:
    def short(line: str) -> str:
        return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"

    shown = "; ".join(f'"{short(line)}"' for line in lines[:3])
    return shown + (f" and {len(lines) - 3} more" if len(lines) > 3 else "")


def number_rows(rows: Sequence[tuple[int, list[str]]]) -> Iterator[list[str]]:
    """Rows as they are stored first: their number, then their cells."""
    for number, cells in rows:
        yield [str(number), *cells]

"""Where the tables are on a sheet, or in a file of separated values: which rows name the columns,
which are titles or notes. A row is never dropped in silence; it is a row of a table, or it is told
of in `Layout.warnings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from citewell.ingest.tables.column_spans import find_column_spans
from citewell.ingest.tables.header import ACROSS, SAMPLE, count_header_rows
from citewell.ingest.tables.header_rows import (
    LONGEST_NAME,
    MOST_SKIPPED,
    NOTHING,
    Row,
    count_filled_cells,
    get_lone_cell,
    locate_header,
)
from citewell.ingest.tables.table_text import build_column_names, fill_covered_cells, to_one_line
from citewell.messages import Text

# rows from which a grid is taken for one table: nobody puts several on so long a sheet
LONG: Final = 50_000
_SHOWN: Final = 60  # characters of a line that a warning shows
_NOTE: Final = re.compile(
    r"(?:[*※]|(?:备?注|说明|数据来源|来源|制表|编制|note|source|remark|prepared|generated|"
    r"printed|as of)s?\b)"
    r"|(?:备?注|说明|来源|制表人?)[:：]",
    re.IGNORECASE,
)


@dataclass(slots=True)
class FoundTable:
    """A table: columns as named (perhaps empty or alike) and numbered rows of the file."""

    left: int
    width: int
    names: list[str]
    headed: bool
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)

    def cells(self, row: Row) -> list[str]:
        """The cells of a grid's row that are this table's; covered ones are empty."""
        cut = [("" if cell == ACROSS else cell) for cell in row[self.left : self.left + self.width]]
        return cut + [""] * (self.width - len(cut))


@dataclass(slots=True)
class Layout:
    tables: list[FoundTable] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def find_tables(rows: Sequence[Row], first: int = 1, *, beside: bool = True) -> Layout:
    """Tables of a grid whose first row is number `first`. `beside`: they may be side by side."""
    found = Layout()
    if len(rows) > LONG:
        _add_whole_grid(rows, first, found)
    else:
        _add_blocks(rows, first, found, beside=beside)
    if len(found.tables) > 1:
        empty = [table for table in found.tables if not table.rows]
        found.warnings += [
            Text(
                "left out, as no rows follow it: {lines}",
                lines=_quote_lines([_join_cells(table.names)]),
            )
            for table in empty
        ]
        found.tables = [table for table in found.tables if table.rows] or found.tables[:1]
    return found


def _add_whole_grid(rows: Sequence[Row], first: int, found: Layout) -> None:
    """The whole grid is one table."""
    start = next((n for n, row in enumerate(rows) if count_filled_cells(row)), len(rows))
    sample = [row for row in islice(rows, start, start + 4 * SAMPLE) if count_filled_cells(row)]
    skip, depth = locate_header(sample)
    seen, begin = 0, start
    while seen < skip + depth:
        seen += bool(count_filled_cells(rows[begin]))
        begin += 1
    table = FoundTable(
        0, max(map(len, rows)), build_column_names(sample[skip : skip + depth]), headed=depth > 0
    )
    table.titles = [line for row in sample[:skip] if (line := _join_cells(row))]
    table.rows = [
        (first + n, table.cells(row))
        for n, row in enumerate(rows[begin:], begin)
        if count_filled_cells(row)
    ]
    found.tables.append(table)


def _add_blocks(rows: Sequence[Row], first: int, found: Layout, *, beside: bool) -> None:
    """Tables from top to bottom, set apart by empty rows."""
    last: FoundTable | None = None
    titles: list[str] = []
    at = 0
    while at < len(rows):
        if not count_filled_cells(rows[at]):
            at += 1
            continue
        end = at
        while end < len(rows) and count_filled_cells(rows[end]):
            end += 1
        block = rows[at:end]
        spans = find_column_spans(block, beside=beside)
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
        found.warnings.append(
            Text("left out, as they are in no table: {lines}", lines=_quote_lines(titles))
        )


def _add_block(
    block: Sequence[Row],
    first: int,
    span: tuple[int, int],
    last: FoundTable | None,
    titles: list[str],
    found: Layout,
) -> FoundTable | None:
    """One table, the rest of the one above, or text: the table that rows may still belong to."""
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
        count_filled_cells(row) == 1 or _is_form_line(row) for row in cut
    )
    if text and (
        last is not None or (len(block) <= MOST_SKIPPED and not _is_one_column_table(cut))
    ):
        lines = [line for row in block if (line := _join_cells(row))]
        if last is None:
            titles += lines
        else:
            found.warnings.append(
                Text(
                    "row {first}: left out, as it is in no table: {lines}",
                    first=first,
                    lines=_quote_lines(lines),
                )
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
    cells = [cell for cell in row if cell not in NOTHING]
    return len(cells) == 2 and cells[0].endswith((":", "："))


def _is_one_column_table(cut: Sequence[Row]) -> bool:
    """Whether cells below each other are a table of one column: several, and not sentences."""
    return len(cut) > 2 and all(len(row) == 1 and len(row[0]) <= LONGEST_NAME for row in cut)


def _is_continuation(
    table: FoundTable, cut: Sequence[Row], left: int, skip: int, names: list[str]
) -> bool:
    """Whether rows below an empty one are the table's: same header, or half its columns filled."""
    if names and names == table.names[left - table.left :][: len(names)]:
        return True
    if names and count_header_rows(
        [fill_covered_cells(row) for row in cut[skip:SAMPLE]], usual=True
    ):
        return False
    return skip == 0 and sum(map(count_filled_cells, cut)) >= 0.5 * table.width * len(cut)


def _append_rows(table: FoundTable, rows: Sequence[Row], first: int, found: Layout) -> None:
    """Append rows; bands over the whole width and notes at the end are told of instead."""
    end = _count_rows_before_notes(rows, table.width)
    for number, row in enumerate(rows[end:], first + end):
        found.warnings.append(
            Text(
                "row {number}: left out, as it is a note: {lines}",
                number=number,
                lines=_quote_lines([_join_cells(row)]),
            )
        )
    for number, row in enumerate(rows[:end], first):
        if not count_filled_cells(row):
            continue
        if table.width > 2 and sum(cell == ACROSS for cell in row) >= table.width - 1:
            found.warnings.append(
                Text(
                    "row {number}: left out, as it spans the table: {lines}",
                    number=number,
                    lines=_quote_lines([_join_cells(row)]),
                )
            )
            continue
        table.rows.append((number, table.cells(row)))


def _count_rows_before_notes(rows: Sequence[Row], width: int) -> int:
    """How many rows there are before the notes at the end."""
    end = len(rows)
    while end and width > 2 and _NOTE.match(get_lone_cell(rows[end - 1])):
        end -= 1
    return end


def _join_cells(row: Row) -> str:
    return " ".join(to_one_line(cell) for cell in row if cell not in NOTHING)


def _quote_lines(lines: Sequence[str]) -> str:
    def shorten(line: str) -> str:
        return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"

    shown = Text("; ").join(f'"{shorten(line)}"' for line in lines[:3])
    return shown + (f" and {len(lines) - 3} more" if len(lines) > 3 else "")


def number_rows(rows: Sequence[tuple[int, list[str]]]) -> Iterator[list[str]]:
    """Rows as they are stored first: their number, then their cells."""
    for number, cells in rows:
        yield [str(number), *cells]

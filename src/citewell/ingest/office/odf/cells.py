"""OpenDocument tables: cells as text, merged ones said in each row; and the sheets of a
spreadsheet, read as a stream. Repeated rows and columns are counted before they are written out,
for one cell may claim to be a million.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.office.odf.inline import get_plain_text
from citewell.ingest.office.odf.styles import OFFICE, TABLE
from citewell.ingest.office.package import Package
from citewell.ingest.office.sheet_tables import add_sheet
from citewell.ingest.tables.header import ACROSS
from citewell.messages import Text

_WIDEST: Final = 2_000  # columns read
_MOST_EMPTY: Final = 2  # empty rows kept in a row: enough to set two tables apart


class Grid:
    """Rows of text, filled row by row until `most` cells are used up."""

    def __init__(self, most: int = 1_000_000) -> None:
        self.rows: list[list[str]] = []
        self.left_out = 0  # rows
        self._most = most
        # by column: rows still covered, and by what
        self._covering: dict[int, tuple[int, str]] = {}
        self._empty = 0

    def add(self, row: Any) -> None:
        """A `table:table-row`, as often as it says."""
        cells = self._read_cells(row)
        times = _parse_count(row, "number-rows-repeated", 1 << 20)
        filled = any(cell not in {"", ACROSS} for cell in cells)
        self._empty = 0 if filled else self._empty + times
        kept = times if filled else min(times, max(0, _MOST_EMPTY - self._empty + times))
        fitting = min(kept, self._most // len(cells)) if cells else kept
        self.left_out += kept - fitting if filled else 0
        self._most -= fitting * len(cells)
        self.rows += [cells] * fitting

    def _read_cells(self, row: Any) -> list[str]:
        cells: list[str] = []
        across = 0  # up to which column the last cell reaches
        for cell in row:
            if cell.tag not in {f"{TABLE}table-cell", f"{TABLE}covered-table-cell"}:
                continue
            text = get_cell_text(cell)
            for _ in range(
                min(_parse_count(cell, "number-columns-repeated", _WIDEST), _WIDEST - len(cells))
            ):
                at = len(cells)
                if cell.tag == f"{TABLE}table-cell":
                    across = at + self._record_span(cell, at, text)
                    cells.append(text)
                elif at < across:
                    cells.append(ACROSS)
                else:
                    cells.append(self._take_covered(at))
        while cells and not cells[-1]:
            cells.pop()
        return cells

    def _record_span(self, cell: Any, at: int, text: str) -> int:
        """Note what a cell that is merged downwards covers. How many columns it is wide."""
        wide = _parse_count(cell, "number-columns-spanned", _WIDEST) if text else 1
        tall = _parse_count(cell, "number-rows-spanned", 1 << 20)
        for n in range(wide):
            self._covering[at + n] = (tall - 1, ACROSS if n else text)
        return wide

    def _take_covered(self, at: int) -> str:
        """What a cell of a row above says in this column."""
        left, text = self._covering.get(at, (0, ""))
        self._covering[at] = (left - 1, text)
        return text if left > 0 else ""


def build_table_grid(table: Any) -> list[list[str]]:
    """The rows of a `table:table`, header rows first as they stand."""
    grid = Grid()
    for row in _iterate_rows(table):
        grid.add(row)
    return grid.rows


def _iterate_rows(table: Any) -> Iterator[Any]:
    """The rows of a table, none of a table that stands in a cell."""
    for child in table:
        if child.tag == f"{TABLE}table-row":
            yield child
        elif child.tag in {
            f"{TABLE}table-header-rows",
            f"{TABLE}table-rows",
            f"{TABLE}table-row-group",
        }:
            yield from _iterate_rows(child)


def get_cell_text(cell: Any) -> str:
    """What a cell shows; where it shows nothing, its value."""
    return get_plain_text(cell) or str(cell.get(f"{OFFICE}string-value") or "")


def _parse_count(element: Any, name: str, most: int) -> int:
    text = element.get(f"{TABLE}{name}") or "1"
    return max(1, min(int(text), most)) if text.isascii() and text.isdigit() else 1


def add_sheets(out: Assembly, package: Package, most_cells: int) -> list[str]:
    """Append a spreadsheet's sheets, so many cells in all. Returns warnings of what is left out."""
    from lxml import etree

    warnings: list[str] = []
    tags = (f"{TABLE}table", f"{TABLE}table-row")
    with package.open("content.xml") as stream:
        events = etree.iterparse(
            stream, events=("start", "end"), tag=tags, resolve_entities=False, no_network=True
        )
        grid, depth = Grid(most_cells), 0
        for event, element in events:
            if element.tag == f"{TABLE}table":
                depth += 1 if event == "start" else -1
                if event == "start" and depth == 1:
                    grid = Grid(most_cells)
                elif depth == 0:
                    most_cells -= _append_sheet(out, element, grid, warnings)
                    element.clear()
            elif event == "end" and depth == 1:
                grid.add(element)
                element.clear()
    return warnings


def _append_sheet(out: Assembly, table: Any, grid: Grid, warnings: list[str]) -> int:
    """Append a sheet that has been read. How many cells it holds."""
    name = table.get(f"{TABLE}name") or ""
    if any(any(row) for row in grid.rows):
        out.heading(1, name)
        add_sheet(out, grid.rows, 2)
    if grid.left_out:
        kept = len(grid.rows)
        warnings.append(
            Text(
                "sheet {name}: {kept:,} of {kept2:,} rows are read; raise ingest.max_cells "
                "for more",
                name=name,
                kept=kept,
                kept2=kept + grid.left_out,
            )
        )
    return sum(map(len, grid.rows))

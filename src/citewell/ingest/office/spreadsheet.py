"""Workbooks (.xlsx, .xlsm, .xls) through calamine: sheets as sections, their tables as rows that
read by themselves. A sheet whose cells reach too far is never opened, for the reader makes room for
every cell between the first and the last; what is left out is said.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.assemble import Assembly
from citewell.ingest.office.drawing import iterate_paragraphs, summarize_chart
from citewell.ingest.office.number_format import format_value
from citewell.ingest.office.ole import (
    MAGIC,
    detect_ole_kind,
    has_sector_cycle,
    make_container_error,
)
from citewell.ingest.office.package import Package, get_local_name
from citewell.ingest.office.sheet_tables import add_sheet
from citewell.ingest.office.workbook_scan import (
    Scan,
    find_sheet_parts,
    read_number_formats,
    scan_sheet,
)
from citewell.ingest.tables.header import ACROSS
from citewell.messages import Text
from citewell.types import Document

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLS: Final = "application/vnd.ms-excel"
MAX_XML: Final = 600_000_000  # bytes: sheets are read as a stream, not as a tree
# cells between the first and the last, filled or not; the reader takes 24 bytes for each
MAX_REACH: Final = 30_000_000


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """A workbook. Hidden sheets are read too, and named in a warning."""
    old = data.startswith(MAGIC)
    package = (
        None if old else Package(data, name, settings, "xl/", "an Excel workbook", max_xml=MAX_XML)
    )
    if old:
        check_old(data, name)
    reader = _Reader(package.data if package else data, name, package, settings.max_cells)
    reader.read()
    title = package.get_stated_title() if package else ""
    warnings = reader.warnings + (package.warnings if package else [])
    dated = package.read_date() if package else None
    return reader.out.document(
        name, XLS if old else XLSX, title=title, warnings=warnings, dated=dated
    )


def check_old(data: bytes, name: str) -> None:
    """Raises UnreadableFile where an OLE container is no workbook that can be opened."""
    if detect_ole_kind(data) != ".xls":
        raise make_container_error(data, name)
    if has_sector_cycle(data):
        raise UnreadableFile(Text("{name} is broken: its sectors run in circles", name=name))


class _Reader:
    """Reads sheet after sheet until `cells` are used up."""

    def __init__(self, data: bytes, name: str, package: Package | None, cells: int) -> None:
        self.out = Assembly()
        self.warnings: list[str] = []
        self._data = data
        self._name = name
        self._package = package
        self._parts = find_sheet_parts(package) if package else {}
        self._formats = read_number_formats(package) if package else {}
        self._cells = cells

    def read(self) -> None:
        import python_calamine

        book = open_book(self._data, self._name)
        hidden = [
            sheet.name
            for sheet in book.sheets_metadata
            if sheet.visible != python_calamine.SheetVisibleEnum.Visible
        ]
        for sheet in book.sheets_metadata:
            part = self._parts.get(sheet.name, "")
            rows = (
                self._read_sheet(book, sheet.name, part)
                if sheet.typ == python_calamine.SheetTypeEnum.WorkSheet
                else []
            )
            beside = [lines for lines in self._iterate_drawings(part) if any(lines)]
            if rows or beside:
                self.out.heading(1, sheet.name)
                add_sheet(self.out, rows, 2)
            for lines in beside:
                self.out.rows(lines)
        if not self.out.first_heading and self.warnings:
            raise UnreadableFile(
                Text(
                    "{name} cannot be read: {warnings}", name=self._name, warnings=self.warnings[0]
                )
            )
        if hidden:
            self.warnings.append(
                Text("hidden sheets are read too: {hidden}", hidden=", ".join(hidden))
            )

    def _read_sheet(self, book: Any, title: str, part: str) -> list[list[str]]:
        """The rows of a sheet as text, merged cells said in each row that they cover."""
        known = (
            scan_sheet(self._package, part, self._formats, self._cells)
            if self._package and part
            else Scan()
        )
        if known.reach > MAX_REACH:
            self.warnings.append(
                Text(
                    "sheet {title} is left out: its cells reach over {reach:,} places",
                    title=title,
                    reach=known.reach,
                )
            )
            return []
        try:
            sheet: CalamineSheet = book.get_sheet_by_name(title)
        except BaseException as error:  # noqa: BLE001 a panic of native code is no Exception
            # the others are read
            self.warnings.append(
                Text(
                    "sheet {title} is broken and is left out: {error}",
                    title=title,
                    error=explain_error(error),
                )
            )
            return []
        if sheet.start is None:
            return []
        rows = _read_rows(sheet, known.formats, max(self._cells // max(1, sheet.width), 0))
        self._cells -= len(rows) * sheet.width
        if sheet.height > len(rows):
            self.warnings.append(
                Text(
                    "sheet {title}: {rows:,} of {height:,} rows are read; raise "
                    "ingest.max_cells for more",
                    title=title,
                    rows=len(rows),
                    height=sheet.height,
                )
            )
        fill_merged_cells(rows, sheet)
        return rows

    def _iterate_drawings(self, part: str) -> Iterator[list[str]]:
        """What stands over a sheet's cells and beside them: text boxes, charts, comments."""
        if self._package is None or not part:
            return
        for relation in self._package.read_relations(part).values():
            if relation.kind == "drawing":
                yield list(iterate_paragraphs(self._package.parse_optional_part(relation.target)))
                for chart in self._package.read_relations(relation.target).values():
                    if chart.kind == "chart":
                        yield [summarize_chart(self._package.parse_optional_part(chart.target))]
            elif relation.kind == "comments":
                yield _read_comments(self._package.parse_optional_part(relation.target))


def open_book(data: bytes, name: str) -> Any:
    """The workbook of calamine. Raises UnreadableFile."""
    import python_calamine

    try:
        return python_calamine.load_workbook(io.BytesIO(data))
    except python_calamine.PasswordError:
        hint = Text("save it without a password and add it again")
        raise UnreadableFile(
            Text("{name} is protected by a password", name=name), hint=hint
        ) from None
    except BaseException as error:  # noqa: BLE001 a panic of native code is no Exception
        raise UnreadableFile(
            Text("{name} is broken: {error}", name=name, error=explain_error(error))
        ) from None


def explain_error(error: BaseException) -> str:
    """What the reader tripped over; a panic of its Rust code is no Exception. Others go on."""
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error
    return str(error)[:200]


def _read_rows(
    sheet: CalamineSheet, formats: dict[tuple[int, int], str], most: int
) -> list[list[str]]:
    """The first `most` rows as text. They begin where the first filled cell of the sheet stands."""
    top, left = sheet.start or (0, 0)
    rows = []
    for y, row in enumerate(islice(sheet.iter_rows(), most), start=top):
        rows.append(
            [
                format_value(value, formats.get((y, x), "")) if value != "" else ""
                for x, value in enumerate(row, start=left)
            ]
        )
    return rows


def fill_merged_cells(rows: list[list[str]], sheet: CalamineSheet) -> None:
    """Say what merged cells say in each row that they cover."""
    top, left = sheet.start or (0, 0)
    for (first_row, first_column), (last_row, last_column) in sheet.merged_cell_ranges or []:
        y, x = first_row - top, first_column - left
        if not (0 <= y < len(rows) and 0 <= x < len(rows[y]) and rows[y][x]):
            continue
        for row in rows[y : min(last_row - top + 1, len(rows))]:
            end = min(last_column - left + 1, len(row))
            row[x:end] = [rows[y][x], *[ACROSS] * (end - x - 1)]


def _read_comments(root: Any | None) -> list[str]:
    """Comments as `D4: text`."""
    lines = []
    for comment in [] if root is None else root.iter():
        if get_local_name(comment) == "comment":
            text = "".join(
                element.text or "" for element in comment.iter() if get_local_name(element) == "t"
            )
            lines.append(f"{comment.get('ref') or ''}: {' '.join(text.split())}")
    return lines

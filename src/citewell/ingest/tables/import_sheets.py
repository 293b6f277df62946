"""Workbooks into tables: Excel's, old and new, and OpenDocument's, through calamine. As for
documents, a sheet whose cells reach too far is never opened; and no sheet is cut short.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.assemble import get_file_stem
from citewell.ingest.office.ole import MAGIC
from citewell.ingest.office.package import Package
from citewell.ingest.office.spreadsheet import (
    MAX_REACH,
    MAX_XML,
    check_old,
    explain_error,
    fill_merged_cells,
    open_book,
)
from citewell.ingest.office.workbook_scan import find_sheet_parts, scan_sheet
from citewell.ingest.tables.column_names import clean_name
from citewell.ingest.tables.layout import FoundTable, find_tables, number_rows
from citewell.ingest.tables.table_store import Store
from citewell.messages import Text

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

_BLOCK: Final = 1 << 20
_DEFAULT_NAME: Final = re.compile(r"(?:sheet|工作表|表|tabelle|feuil)\s*\d*", re.IGNORECASE)
_ERRORS: Final = re.compile(rb'<c\b[^>]*\bt="e"')
_UNCOUNTED: Final = re.compile(rb"<f\b[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>")


def import_tables(store: Store, data: bytes, name: str, settings: IngestSettings) -> None:
    """Raises UnreadableFile where it is no workbook, or nothing in it can be read."""
    package = None
    if data.startswith(MAGIC):
        check_old(data, name)
    elif _is_open_document(data):
        # raises for bombs
        Package(data, name, settings, "content.xml", "an OpenDocument spreadsheet", max_xml=MAX_XML)
    else:
        package = Package(data, name, settings, "xl/", "an Excel workbook", max_xml=MAX_XML)
    _Book(store, package.data if package else data, name, package).read()


def _is_open_document(data: bytes) -> bool:
    return b"mimetypeapplication/vnd.oasis.opendocument" in data[:200]


class _Book:
    def __init__(self, store: Store, data: bytes, name: str, package: Package | None) -> None:
        self._store = store
        self._name = name
        self._package = package
        self._parts = find_sheet_parts(package) if package else {}
        self._book = open_book(data, name)

    def read(self) -> None:
        import python_calamine

        sheets = [
            s
            for s in self._book.sheets_metadata
            if s.typ == python_calamine.SheetTypeEnum.WorkSheet
        ]
        grids = [
            (sheet.name, *grid)
            for sheet in sheets
            if (grid := self._read_rows(sheet.name)) is not None
        ]
        for title, first, rows in grids:
            wanted = (
                get_file_stem(self._name)
                if len(grids) == 1 and _DEFAULT_NAME.fullmatch(title.strip())
                else title
            )
            self._add_tables(title, wanted, first, rows)
        hidden = [
            sheet.name
            for sheet in sheets
            if sheet.visible != python_calamine.SheetVisibleEnum.Visible
        ]
        if hidden:
            self._store.done.warnings.append(
                Text("hidden sheets are read too: {hidden}", hidden=", ".join(hidden))
            )
        if not self._store.done.tables:
            said = self._store.done.warnings
            raise UnreadableFile(
                Text("{name} holds no table: {said}", name=self._name, said=said[0])
                if said
                else Text("{name} holds no table", name=self._name)
            )

    def _add_tables(self, title: str, wanted: str, first: int, rows: list[list[str]]) -> None:
        found = find_tables(rows, first)
        for table in found.tables:
            kept = self._drop_empty_columns(table)
            if kept is None:
                continue
            name = (
                wanted
                if len(found.tables) == 1 or not table.titles
                else clean_name(table.titles[-1])
            )
            added = self._store.add_text(
                name,
                kept.names,
                _replace_empty_cells(number_rows(kept.rows)),
                sheet=True,
                headed=kept.headed,
            )
            if table.titles:
                self._store.comment(added.name, "", "; ".join(table.titles)[:500])
        self._store.done.warnings += [
            Text("sheet {title}: {warning}", title=title, warning=warning)
            for warning in found.warnings
        ]

    def _drop_empty_columns(self, table: FoundTable) -> FoundTable | None:
        """The table without columns that have neither name nor cell; None where nothing is left."""
        held = [
            n
            for n in range(table.width)
            if table.names[n : n + 1] > [""] or any(row[n] for _, row in table.rows)
        ]
        if not held:
            return None
        names = [table.names[n] if n < len(table.names) else "" for n in held]
        rows = (
            table.rows
            if len(held) == table.width
            else [(at, [row[n] for n in held]) for at, row in table.rows]
        )
        return FoundTable(table.left, len(held), names, table.headed, rows, table.titles)

    def _read_rows(self, title: str) -> tuple[int, list[list[str]]] | None:
        """The cells of a sheet as text, and the first row's number; None where there are none."""
        part = self._parts.get(title, "")
        if self._package and part:
            reach = scan_sheet(self._package, part, {}, 0).reach
            if reach > MAX_REACH:
                self._store.done.warnings.append(
                    Text(
                        "sheet {title} is left out: its cells reach over {reach:,} places",
                        title=title,
                        reach=reach,
                    )
                )
                return None
            self._warn_missing_values(title, part)
        try:
            sheet: CalamineSheet = self._book.get_sheet_by_name(title)
            if sheet.start is None:
                return None
            rows = [[to_exact_text(value) for value in row] for row in sheet.iter_rows()]
        except BaseException as error:  # noqa: BLE001 a panic of native code is no Exception
            self._store.done.warnings.append(
                Text(
                    "sheet {title} is broken and is left out: {error}",
                    title=title,
                    error=explain_error(error),
                )
            )
            return None
        fill_merged_cells(rows, sheet)
        return sheet.start[0] + 1, rows

    def _warn_missing_values(self, title: str, part: str) -> None:
        """Warn of cells without a value: errors, and formulas that no program has worked out."""
        assert self._package is not None
        errors = uncounted = 0
        rest = b""
        with self._package.open(part) as stream:
            while block := stream.read(_BLOCK):
                text = rest + block
                end = text.rfind(b"</c>") + 4
                errors += len(_ERRORS.findall(text, 0, end))
                uncounted += len(_UNCOUNTED.findall(text, 0, end))
                rest = text[end:][-_BLOCK:]
        if errors:
            self._store.done.warnings.append(
                Text(
                    "sheet {title}: {count} with an error, such as #DIV/0!, left empty",
                    title=title,
                    count=_count_cells(errors),
                )
            )
        if uncounted:
            hint = Text("open it in a spreadsheet program, save it and add it again")
            self._store.done.warnings.append(
                Text(
                    "sheet {title}: {count} without a value, left empty; {hint}",
                    title=title,
                    count=_count_formulas(uncounted),
                    hint=hint,
                )
            )


def to_exact_text(value: Any) -> str:
    """A cell as text that tells exactly what it holds."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        return format(value, ".15g")  # as many digits as a spreadsheet keeps
    if isinstance(value, dt.datetime):
        return (
            value.strftime("%Y-%m-%d")
            if value.time() == dt.time()
            else value.isoformat(" ", "seconds")
        )
    if isinstance(value, dt.timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return "" if value is None else str(value)


def _replace_empty_cells(rows: Iterator[list[str]]) -> Iterator[list[str | None]]:
    for row in rows:
        yield [cell or None for cell in row]


def _count_cells(number: int) -> str:
    return Text("{number:,} cells", number=number) if number != 1 else Text("1 cell")


def _count_formulas(number: int) -> str:
    return Text("{number:,} formulas", number=number) if number != 1 else Text("1 formula")

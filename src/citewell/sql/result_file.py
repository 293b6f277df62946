"""Rows as a file for other programs: CSV (RFC 4180) and XLSX. Nothing in a file is taken for a
formula. In a CSV a text that begins as one gets an apostrophe before it, as OWASP advises; a cell
of a sheet says that it is a text.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from citewell.sql.cell_text import CURRENCIES
from citewell.sql.column_label import Label, label_columns
from citewell.sql.engines.engine import Rows, Value, Writing

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

# without it Excel reads what is not ASCII as Windows' own letters
BYTE_ORDER_MARK: Final = "\ufeff"
_FORMULA: Final = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
_FIGURE: Final = re.compile(r"-?\d+(\.\d+)?")
_TIME: Final = re.compile(r"(\d{4}-\d{2})(-\d{2})?([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?")
_FIRST_YEAR: Final = 1900  # Excel knows no earlier day
_EXACT: Final = 10**15  # a cell holds 15 figures
_LONGEST: Final = 32_767  # characters of a cell
_SAMPLE: Final = 200  # rows by whose texts the width of a column is chosen
_WIDEST: Final = 60


def write_rows(rows: Rows, path: Path, how: Writing) -> None:
    """`rows` with their headings as the new file `path`."""
    if how.form == "xlsx":
        _write_sheet(rows, path, how.lang)
    else:
        _write_csv(rows, path)


def _write_csv(rows: Rows, path: Path) -> None:
    lines = (rows.columns, *rows.rows)
    plain = all(str(cell).isascii() for line in lines for cell in line if isinstance(cell, str))
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        file.write("" if plain else BYTE_ORDER_MARK)
        csv.writer(file, lineterminator="\r\n").writerows(
            [_to_csv_cell(cell) for cell in line] for line in lines
        )


def _to_csv_cell(value: Value) -> Value:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and _FORMULA.match(value) and not _FIGURE.fullmatch(value):
        return f"'{value}"
    return value


def _write_sheet(rows: Rows, path: Path, lang: str) -> None:
    """One sheet, its head in sight, figures and dates as such."""
    from xlsxwriter import Workbook

    known = label_columns(rows, lang)
    with Workbook(str(path), {"constant_memory": True}) as book:
        sheet, bold = book.add_worksheet(), book.add_format({"bold": True})
        forms = {form: book.add_format({"num_format": form}) for form in _FORMS}
        for at, name in enumerate(rows.columns):
            sheet.set_column(at, at, _choose_width(rows, at))
            sheet.write_string(0, at, _clean_text(name), bold)
        sheet.freeze_panes(1, 0)
        for number, row in enumerate(rows.rows, start=1):
            for at, value in enumerate(row):
                _write_cell(sheet, number, at, value, known[at], forms)
        if rows.rows:
            sheet.autofilter(0, 0, len(rows.rows), len(rows.columns) - 1)


_FORMS: Final = ("#,##0", "#,##0.00", "yyyy-mm", "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss")


def _write_cell(
    sheet: Worksheet, row: int, at: int, value: Value, label: Label, forms: dict[str, Format]
) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, at, value)
    elif isinstance(value, int | float) and abs(value) < _EXACT:
        sheet.write_number(row, at, value, forms.get(_choose_form(value, label)))
    elif label.role == "time" and (found := _read_time(str(value))) is not None:
        sheet.write_datetime(row, at, found[0], forms[found[1]])
    else:
        sheet.write_string(row, at, _clean_text(str(value)))


def _choose_form(value: float, label: Label) -> str:
    """How Excel shows a figure; empty: as it stands."""
    if label.role != "quantity":
        return ""
    if label.unit in CURRENCIES:
        return "#,##0.00"
    return "#,##0" if value == int(value) else ""


def _read_time(text: str) -> tuple[date, str] | None:
    """A day or a moment and how it is shown; None for what is none, or too early for Excel."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    month, day, clock = found[1], found[2] or "-01", found[3]
    try:
        moment = datetime.fromisoformat(f"{month}{day}{clock or ''}")
    except ValueError:
        return None
    if moment.year < _FIRST_YEAR:
        return None
    if clock:
        return moment, "yyyy-mm-dd hh:mm:ss"
    return moment.date(), "yyyy-mm-dd" if found[2] else "yyyy-mm"


def _clean_text(text: str) -> str:
    """Without half characters, and no longer than a cell may be."""
    return text.encode("utf-8", "replace").decode()[:_LONGEST]


def _choose_width(rows: Rows, at: int) -> int:
    cells: Sequence[Value] = [rows.columns[at], *(row[at] for row in rows.rows[:_SAMPLE])]
    return min(_WIDEST, max(8, *(_measure_width(str(cell)) + 2 for cell in cells)))


def _measure_width(text: str) -> int:
    """Letters that are wider than Latin ones count twice."""
    return sum(1 if letter.isascii() else 2 for letter in text[:_WIDEST])

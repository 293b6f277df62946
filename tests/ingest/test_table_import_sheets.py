"""Workbooks as people make them: titles, merged cells, several tables, errors, formulas, totals,
dates of all kinds.
"""

from __future__ import annotations

import datetime as dt
import importlib.util
import itertools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest

from citewell.config import IngestSettings
from citewell.ingest.tables.import_file import import_file
from citewell.ingest.tables.layout import find_tables
from citewell.ingest.tables.table_store import Imported

REPOSITORY = Path(__file__).resolve().parents[2]
Rows = Sequence[Sequence[str | float | None]]


def _builder() -> ModuleType:
    """The writer of the samples' workbooks."""
    spec = importlib.util.spec_from_file_location(
        "citewell_build_data", REPOSITORY / "samples" / "build_data.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


BUILD = _builder()
Book = Callable[..., tuple[Imported, duckdb.DuckDBPyConnection]]


@pytest.fixture
def book(tmp_path: Path) -> Book:
    number = itertools.count()

    def inner(
        sheets: dict[str, Rows] | bytes, merged: Sequence[str] = (), name: str = "book.xlsx"
    ) -> Any:
        data = (
            sheets
            if isinstance(sheets, bytes)
            else BUILD.workbook({title: (rows, merged) for title, rows in sheets.items()})
        )
        (tmp_path / "source").write_bytes(data)
        copy = str(tmp_path / f"copy{next(number)}")
        done = import_file(str(tmp_path / "source"), copy, name, IngestSettings())
        return done, duckdb.connect(copy, read_only=True)

    return inner


def test_the_samples_are_up_to_date() -> None:
    for name, data in BUILD.files().items():
        assert (REPOSITORY / "samples" / "data" / name).read_bytes() == data, name


def test_sheets_and_names(book: Book) -> None:
    head: Rows = [["id", "v"], [1, 2.5]]
    done, _ = book({"Sales.2024": head, "员工 名单": head, "Notes": []})
    assert [table.name for table in done.tables] == ["Sales_2024", "员工 名单"]


def test_a_sheet_nobody_named_is_called_after_the_file(book: Book) -> None:
    done, _ = book({"Sheet1": [["id", "v"], [1, 2.5]]}, name="费用.xlsx")
    assert [table.name for table in done.tables] == ["费用"]


def test_merged_titles_headers_and_groups(book: Book) -> None:
    rows: Rows = [
        ["部门费用", None, None, None],
        ["部门", "一月", None, "备注"],
        [None, "计划", "实际", None],
        ["研发部", 10, 12, "x"],
        [None, 20, 18, "y"],
        ["市场部", 5, 5, None],
        ["合计", 35, 35, None],
    ]
    done, asked = book({"费用": rows}, merged=["A1:D1", "A2:A3", "B2:C2", "D2:D3", "A4:A5"])
    assert asked.execute('SELECT * FROM "费用"').fetchall() == [
        ("研发部", 10, 12, "x"),
        ("研发部", 20, 18, "y"),
        ("市场部", 5, 5, None),
    ]
    assert [row[0] for row in asked.execute('DESCRIBE "费用"').fetchall()] == [
        "部门",
        "一月 计划",
        "一月 实际",
        "备注",
    ]
    assert done.warnings == ['row 7 ("合计") adds up rows above it and is left out']


def test_several_tables_on_a_sheet(book: Book) -> None:
    rows: Rows = [
        ["Costs by month"],
        ["Month", "Cost"],
        ["Jan", 5],
        ["Feb", 6],
        [],
        ["Mar", 7],
        [],
        ["Staff"],
        ["Name", "City", "Age"],
        ["Ann", "Rome", 30],
        ["Bob", "Paris", 41],
    ]
    done, asked = book({"Report": rows})
    assert {table.name: table.rows for table in done.tables} == {"Costs by month": 3, "Staff": 2}
    assert asked.execute('SELECT sum(Cost) FROM "Costs by month"').fetchall() == [(18,)]


def test_tables_side_by_side_and_a_free_column(book: Book) -> None:
    beside: Rows = [["k", "v", None, "k", "v"], ["a", 1, None, "x", 7], ["b", 2, None, "y", 8]]
    done, _ = book({"S": beside})
    assert [table.columns for table in done.tables] == [2, 2]
    free: Rows = [
        ["id", "name", None, "city", "age"],
        [1, "a", None, "x", 7],
        [2, "b", None, "y", 8],
    ]
    done, _ = book({"S": free})
    assert [(table.columns, table.rows) for table in done.tables] == [(4, 2)]


def test_dates_as_text_serials_and_words(book: Book) -> None:
    rows: Rows = [
        ["order", "date"],
        ["a", "2024-01-05"],
        ["b", 45297],
        ["c", "2024年1月7日"],
        ["d", "2024/1/8"],
    ]
    done, asked = book({"Orders": rows})
    assert asked.execute("SELECT date FROM Orders").fetchall() == [
        (dt.date(2024, 1, day),) for day in (5, 6, 7, 8)
    ]
    assert any("counted from 1899-12-30" in warning for warning in done.warnings)


def test_errors_and_formulas_without_values(book: Book) -> None:
    good: bytes = BUILD.workbook({"S": ([["k", "v"], ["a", 1], ["b", 2], ["c", 3]], [])})
    cells = {b'<c r="B2" s="2"><v>1</v></c>': b'<c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c>',
             b'<c r="B3" s="2"><v>2</v></c>': b'<c r="B3"><f>SUM(B4)</f></c>'}  # fmt: skip
    done, asked = book(_changed(good, cells))

    assert asked.execute(f'SELECT v FROM "{done.tables[0].name}"').fetchall() == [
        (None,),
        (None,),
        (3,),
    ]
    assert "sheet S: 1 cell with an error, such as #DIV/0!, left empty" in done.warnings
    assert any("1 formula without a value" in warning for warning in done.warnings)


def _changed(data: bytes, parts: dict[bytes, bytes]) -> bytes:
    import io
    import zipfile

    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            text = old.read(name)
            for before, after in parts.items():
                text = text.replace(before, after)
            new.writestr(name, text)
    return target.getvalue()


def test_workbooks_of_others(book: Book, shared_data: Path) -> None:
    """Sheets made by people: several tables on one, stacked headers, a hidden one."""
    done, asked = book(
        (shared_data / "ingest/docling/xlsx/xlsx_01.xlsx").read_bytes(), name="xlsx_01.xlsx"
    )
    assert {table.name: table.rows for table in done.tables} == {
        "Sheet1": 6, "Sheet2": 8, "Sheet2_2": 4, "Sheet2_3": 4, "Sheet3": 5, "Sheet3_2": 5,
    }  # fmt: skip
    assert asked.execute('SELECT "header second" FROM Sheet3 LIMIT 1').fetchall() == [(2,)]
    assert "hidden sheets are read too: Sheet4" in done.warnings


@pytest.mark.parametrize("rows", [[[]], [["", ""], ["", ""]], [["x"]]])
def test_next_to_nothing(rows: list[list[str]]) -> None:
    found = find_tables(rows)
    assert len(found.tables) <= 1


def test_no_row_is_dropped_in_silence() -> None:
    rows = [
        ["A report"],
        [],
        ["k", "v", "w"],
        ["a", "1", "2"],
        [],
        ["p. 3"],
        [],
        ["b", "2", "3"],
        ["Note: all in EUR", "", ""],
    ]
    found = find_tables(rows)
    told = " ".join(found.warnings + found.tables[0].titles)
    assert [cells for _, cells in found.tables[0].rows] == [["a", "1", "2"], ["b", "2", "3"]]
    assert all(words in told for words in ("A report", "p. 3", "Note: all in EUR"))

"""Workbooks to documents."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.assemble import Assembly
from citewell.ingest.office import spreadsheet
from citewell.ingest.office.number_format import format_value
from citewell.ingest.office.ole import MAGIC
from citewell.ingest.office.sheet_tables import add_sheet
from citewell.types import Document

Maker = Callable[[dict[str, str | bytes]], bytes]
MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STYLES = (
    f'<styleSheet {MAIN}><numFmts count="1"><numFmt numFmtId="170" '
    'formatCode="&quot;¥&quot;#,##0.00"/></numFmts>'
    '<cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="10"/><xf numFmtId="170"/><xf '
    'numFmtId="14"/></cellXfs></styleSheet>'
)


def cell(reference: str, value: str | float, style: int = 0) -> str:
    if isinstance(value, str):
        return f'<c r="{reference}" t="inlineStr" s="{style}"><is><t>{value}</t></is></c>'
    return f'<c r="{reference}" s="{style}"><v>{value}</v></c>'


def workbook(
    sheets: dict[str, str], *, hidden: Sequence[str] = (), extra: dict[str, str] | None = None
) -> dict[str, str | bytes]:
    """The parts of a workbook whose sheets have this XML below their root."""
    rows, listed, types = [], [], []
    files: dict[str, str | bytes] = {}
    for n, (name, xml) in enumerate(sheets.items()):
        state = ' state="hidden"' if name in hidden else ""
        listed.append(f'<sheet name="{name}" sheetId="{n + 1}" r:id="r{n}"{state}/>')
        rows.append(f'<Relationship Id="r{n}" Type="{R}/worksheet" Target="worksheets/s{n}.xml"/>')
        files[f"xl/worksheets/s{n}.xml"] = f"<worksheet {MAIN}>{xml}</worksheet>"
        types.append(f'<Override PartName="/xl/worksheets/s{n}.xml" ContentType="x"/>')
    rows.append(f'<Relationship Id="rs" Type="{R}/styles" Target="styles.xml"/>')
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    return files | {
        "[Content_Types].xml": f"<Types>{''.join(types)}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}"><Relationship Id="r" '
        f'Type="{R}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f"<workbook {MAIN} "
        f'xmlns:r="{R}"><sheets>{"".join(listed)}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": "<Relationships "
        f'xmlns="{package}">{"".join(rows)}</Relationships>',
        "xl/styles.xml": STYLES,
        **(extra or {}),
    }


def data(*rows: Sequence[str | float], merge: str = "") -> str:
    lines = []
    for y, row in enumerate(rows, start=1):
        cells = "".join(
            cell(f"{chr(65 + x)}{y}", value) for x, value in enumerate(row) if value != ""
        )
        lines.append(f'<row r="{y}">{cells}</row>')
    merged = f'<mergeCells><mergeCell ref="{merge}"/></mergeCells>' if merge else ""
    return f"<sheetData>{''.join(lines)}</sheetData>{merged}"


def parse(content: bytes, cells: int = 200_000) -> Document:
    return spreadsheet.parse(content, "book.xlsx", IngestSettings(max_cells=cells))


def test_sheets_are_sections(make_zip: Maker) -> None:
    """Sheets are headings, rows name their columns, merged cells are said in each row; hidden
    sheets are read and named.
    """
    sheets = {
        "销售": data(
            ["地区", "门店", "数量"], ["华东", "杭州", 12], ["", "上海", 3.5], merge="A2:A3"
        ),
        "空": data(),
        "内部": data(["编号", "名称"], [1, "甲"], [2, "乙"]),
    }
    document = parse(make_zip(workbook(sheets, hidden=["内部"])))
    assert document.text == (
        "销售\n\n地区 | 门店 | 数量\n地区: 华东 | 门店: 杭州 | 数量: 12\n地区: 华东 | 门店: 上海 "
        "| 数量: 3.5\n\n"
        "内部\n\n编号 | 名称\n编号: 1 | 名称: 甲\n编号: 2 | 名称: 乙"
    )
    assert [s.heading_path for s in document.sections] == [("销售",), ("内部",)]
    assert document.warnings == ("hidden sheets are read too: 内部",)


def test_numbers_as_the_sheet_shows_them(make_zip: Maker) -> None:
    """Percentages, money and dates read as in the sheet, by the style of each cell."""
    row = cell("A2", "x") + cell("B2", 0.125, 1) + cell("C2", 1234.5, 2) + cell("D2", 45291, 3)
    head = "".join(
        cell(f"{letter}1", name)
        for letter, name in zip("ABCD", ("店", "占比", "金额", "日期"), strict=True)
    )
    document = parse(
        make_zip(
            workbook({"s": f'<sheetData><row r="1">{head}</row><row r="2">{row}</row></sheetData>'})
        )
    )
    assert document.text.endswith("店: x | 占比: 12.50% | 金额: ¥1,234.50 | 日期: 2023-12-31")


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (5.0, "", "5"),
        (0.1 + 0.2, "", "0.3"),
        (1e-7, "", "0.0000001"),
        (-3.0, "", "-3"),
        (0.456, "0%", "46%"),
        (1234567.891, "#,##0.0#", "1,234,567.89"),
        (-5.0, "#,##0.00;(#,##0.00)", "(5.00)"),
        (-5.0, "0.0", "-5.0"),
        (12.0, '0"元"', "12元"),
        (12.0, "[$€-407] #,##0", "€ 12"),
        (12.5, "# ?/?", "12.5"),
        (12.5, "0.00E+00", "12.5"),
        (True, "", "TRUE"),
        (dt.datetime.fromisoformat("2024-03-05T00:00"), "", "2024-03-05"),
        (dt.datetime.fromisoformat("2024-03-05T09:30"), "", "2024-03-05 09:30"),
        (dt.date(2024, 3, 5), "", "2024-03-05"),
        (dt.timedelta(hours=30, minutes=5), "", "30:05"),
        (dt.time(8, 30), "", "08:30"),
    ],
)
def test_values(value: object, code: str, text: str) -> None:
    """Values read as people write them; a format that is not understood changes nothing."""
    assert format_value(value, code) == text


def lines(*rows: str) -> str:
    out = Assembly()
    add_sheet(out, [row.split("|") for row in rows], 2)
    return out.document("x", "y").text


def test_several_tables_on_a_sheet() -> None:
    """Tables beside and below one another keep their own columns; what has no header of its own
    stays with its neighbour.
    """
    assert lines("a|b||型号|价格", "1|2||T300|1999", "3|4||T500|2999", "5|6|||") == (
        "a | b\na: 1 | b: 2\na: 3 | b: 4\na: 5 | b: 6\n\n型号 | 价格\n型号: T300 | 价格: "
        "1999\n型号: T500 | 价格: 2999"
    )
    assert lines("1||Voltage||kV", "2||Current||A") == "1 | Voltage | kV\n2 | Current | A"


def test_a_table_goes_on_below_an_empty_row() -> None:
    """Rows below an empty one are named by the header above it, where they stand in the same
    columns.
    """
    assert (
        lines("店|城|额", "x|杭州|1", "||", "y|成都|2", "z|成都|3").splitlines()[-1]
        == "店: z | 城: 成都 | 额: 3"
    )


def test_long_tables_are_cut_into_blocks() -> None:
    """A blank line stands between groups of rows, where a chunk may end."""
    text = lines("a|b|c", *(f"{n}|{n}|{n}" for n in range(45)))
    assert [block.count("\n") + 1 for block in text.split("\n\n")] == [20, 20, 6]


def test_limits(make_zip: Maker) -> None:
    """Of a long sheet so many cells are read as are allowed, and the rest is said; a far cell is
    not made room for.
    """
    document = parse(
        make_zip(workbook({"s": data(["a", "b"], *([n, n] for n in range(99)))})), cells=40
    )
    assert document.text.splitlines()[-1] == "a: 18 | b: 18"
    assert document.warnings == (
        "sheet s: 20 of 100 rows are read; raise ingest.max_cells for more",
    )
    far = (
        f'<sheetData><row r="1">{cell("A1", "x")}</row><row '
        f'r="1048576">{cell("XFD1048576", "y")}</row></sheetData>'
    )
    with pytest.raises(UnreadableFile, match="its cells reach over 17,179,869,184 places"):
        parse(make_zip(workbook({"s": far})))
    both = parse(make_zip(workbook({"s": far, "t": data(["a", "b"], [1, 2], [3, 4])})))
    assert both.text.startswith("t\n\na | b")
    assert "sheet s is left out" in both.warnings[0]


def test_what_stands_beside_the_cells(make_zip: Maker) -> None:
    """Text boxes, chart titles and comments are read too."""
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    draw = "http://schemas.openxmlformats.org/drawingml/2006"
    extra = {
        "xl/worksheets/_rels/s0.xml.rels": f'<Relationships xmlns="{package}"><Relationship '
        f'Id="a" Type="{R}/drawing" '
        f'Target="../d.xml"/><Relationship Id="b" Type="{R}/comments" '
        'Target="../c.xml"/></Relationships>',
        "xl/d.xml": f'<x xmlns:a="{draw}/main"><a:p><a:r><a:t>数据来自财务部</a:t></a:r></a:p></x>',
        "xl/c.xml": f"<comments {MAIN}><comment "
        'ref="B2"><text><r><t>含税</t></r></text></comment></comments>',
        "xl/_rels/d.xml.rels": f'<Relationships xmlns="{package}"><Relationship Id="a" '
        f'Type="{R}/chart" '
        'Target="h.xml"/>'
        "</Relationships>",
        "xl/h.xml": f'<c:x xmlns:c="{draw}/chart" xmlns:a="{draw}/main"><c:chart><c:title>'
        "<a:p><a:r><a:t>月度销量</a:t></a:r></a:p></c:title><c:ser><c:tx><c:v>整车</c:v></c:t"
        "x></c:ser></c:chart></c:x>",
    }
    document = parse(make_zip(workbook({"s": data(["a", "b"], [1, 2])}, extra=extra)))
    assert document.text.split("\n\n")[2:] == ["数据来自财务部", "月度销量 | 整车", "B2: 含税"]


def test_refusals(make_zip: Maker) -> None:
    """A workbook under a password, a broken one and another kind of file are refused with the
    reason.
    """
    with pytest.raises(UnreadableFile, match="protected by a password"):
        parse(MAGIC + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(UnreadableFile, match="is broken"):
        parse(MAGIC + "Workbook".encode("utf-16-le") + b"\0" * 600)
    with pytest.raises(UnreadableFile, match="is not an Excel workbook"):
        parse(make_zip({"word/document.xml": "<x/>"}))

"""OpenDocument texts, presentations and spreadsheets to documents."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.office.odf import document as odf
from citewell.types import Document

Maker = Callable[[dict[str, str | bytes]], bytes]
URN = "urn:oasis:names:tc:opendocument:xmlns"
NAMES = ("office", "style", "text", "table", "presentation")
SPACES = " ".join(f'xmlns:{name}="{URN}:{name}:1.0"' for name in NAMES) + (
    f' xmlns:draw="{URN}:drawing:1.0" xmlns:svg="{URN}:svg-compatible:1.0" '
    f'xmlns:fo="{URN}:xsl-fo-compatible:1.0"'
    ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:m="http://www.w3.org/1998/Math/MathML"'
)
STYLES = """<office:automatic-styles>
<style:style style:name="P1" style:parent-style-name="Title"/><style:style style:name="Title"/>
<style:style style:name="P2"><style:paragraph-properties fo:break-before="page"/></style:style>
<style:style style:name="dp1">
<style:drawing-page-properties presentation:visibility="hidden"/></style:style>
<text:list-style style:name="L1">
<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
<text:list-level-style-number text:level="2" style:num-format="1" text:display-levels="2"/>
</text:list-style>
</office:automatic-styles>"""


def pack(make_zip: Maker, kind: str, body: str, **files: str) -> bytes:
    content = (
        "<office:x "
        f"{SPACES}>{STYLES}<office:body><office:{kind}>{body}</office:{kind}></office:body></offic"
        "e:x>"
    )
    named = {name.replace("__", "/") + ".xml": text for name, text in files.items()}
    return make_zip(
        {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content, **named}
    )


def parse(data: bytes, cells: int = 200_000) -> Document:
    return odf.parse(data, "x.odf", IngestSettings(max_cells=cells))


def test_text_in_order(make_zip: Maker) -> None:
    """Headings, spaces, notes, lists with their numbers, tables and text boxes come in document
    order.
    """
    body = """<text:table-of-content><text:p>目录</text:p></text:table-of-content>
      <text:p text:style-name="P1">手册</text:p><text:h text:outline-level="1">总则</text:h>
      <text:p>适用于<text:span>全体</text:span> <text:span>员工</text:span><text:s
      text:c="2"/>。<text:note>
      <text:note-citation>1</text:note-citation>
      <text:note-body><text:p>含实习生。</text:p></text:note-body></text:note></text:p>
      <text:p/><text:list text:style-name="L1"><text:list-item><text:p>甲</text:p><text:list>
      <text:list-item><text:p>乙</text:p></text:list-item></text:list></text:list-item>
      <text:list-item><text:p>丙</text:p></text:list-item></text:list>
      <text:list><text:list-item><text:p>丁</text:p></text:list-item></text:list>
      <text:p><draw:frame><draw:text-box>
      <text:p>框中</text:p></draw:text-box></draw:frame></text:p>"""
    meta = (
        f"<x {SPACES} "
        'xmlns:dc="d"><office:meta><dc:date>2024-03-01T00:00:00</dc:date></office:meta></x>'
    )
    document = parse(pack(make_zip, "text", body, meta=meta))
    assert document.text == (
        "手册\n\n总则\n\n适用于全体 员工  。¹\n¹ 含实习生。\n\n1. 甲\n1.1 乙\n2. 丙\n\n- 丁\n\n框中"
    )
    assert (document.title, document.dated) == ("手册", 1709251200.0)
    assert [s.heading_path for s in document.sections] == [(), ("总则",)]


def test_pages(make_zip: Maker) -> None:
    """A page ends where the layout ended it, also inside a paragraph, and where the writer did;
    once, if both say so.
    """
    body = """<text:p>one</text:p><text:soft-page-break/><text:p text:style-name="P2">two,
      <text:soft-page-break/>three</text:p>"""
    document = parse(pack(make_zip, "text", body))
    assert document.text == "one\n\ntwo, three"
    assert [(p.number, document.text[p.start : p.end].strip()) for p in document.pages] == [
        (1, "one"),
        (2, "two,"),
        (3, "three"),
    ]


def test_merged_cells_and_formulas(make_zip: Maker) -> None:
    """What a merged cell says is said in each of its rows; a formula kept beside the text is
    read.
    """
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>".format
    covered = "<table:covered-table-cell/>"
    rows = (
        cell("", "型号") + cell("", "项目") + cell("", "数值"),
        cell(' table:number-rows-spanned="2"', "T300") + cell("", "载重") + cell("", "120"),
        covered + cell("", "速度") + cell("", "25"),
    )
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    body = (
        f"<table:table>{table}</table:table><text:p><draw:frame><draw:object "
        'xlink:href="./O1"/></draw:frame></text:p>'
    )
    formula = (
        "<m:math "
        f"{SPACES}><m:msup><m:mi>x</m:mi><m:mn>2</m:mn></m:msup><m:annotation>x^2</m:annotation></"
        "m:math>"
    )
    document = parse(pack(make_zip, "text", body, O1__content=formula))
    assert document.text.splitlines()[-1] == "x²"
    assert "型号: T300 | 项目: 速度 | 数值: 25" in document.text


def test_spreadsheet(make_zip: Maker) -> None:
    """Cells read as shown; empty rows that claim to be a million cost nothing, filled ones stop at
    the limit and are said.
    """
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>".format
    row = "<table:table-row{}>{}</table:table-row>".format
    empty = row(
        ' table:number-rows-repeated="1048000"',
        '<table:table-cell table:number-columns-repeated="16384"/>',
    )
    sheet = (
        row("", cell("店") + cell("占比"))
        + row("", cell("杭州") + cell("12.5%"))
        + row("", cell("上海") + cell("8%"))
        + empty
    )
    document = parse(
        pack(
            make_zip,
            "spreadsheet",
            f'<table:table table:name="销售">{sheet}{row("", cell("注"))}</table:table>',
        )
    )
    assert document.text == "销售\n\n店 | 占比\n店: 杭州 | 占比: 12.5%\n店: 上海 | 占比: 8%\n\n注"
    bomb = row(
        ' table:number-rows-repeated="1048000"',
        "<table:table-cell "
        'table:number-columns-repeated="10"><text:p>x</text:p></table:table-cell>',
    )
    document = parse(
        pack(make_zip, "spreadsheet", f'<table:table table:name="b">{bomb}</table:table>'),
        cells=100,
    )
    assert document.warnings == (
        "sheet b: 10 of 1,048,000 rows are read; raise ingest.max_cells for more",
    )


def test_presentation(make_zip: Maker) -> None:
    """Slides are pages; shapes are read by their places; notes are labelled and hidden slides
    named.
    """
    frame = (
        '<draw:frame {} svg:x="{}cm" svg:y="{}cm" svg:width="9cm" '
        'svg:height="2cm"><draw:text-box><text:p>{}</text:p>'
        "</draw:text-box></draw:frame>"
    ).format
    first = (
        frame("", 12, 5, "右")
        + frame("", 1, 5, "左")
        + frame('presentation:class="title"', 1, 1, "题目")
    )
    notes = f"<presentation:notes>{frame('', 1, 1, '讲稿')}</presentation:notes>"
    body = (
        f"<draw:page>{first}{notes}</draw:page><draw:page "
        f'draw:style-name="dp1">{frame("", 1, 1, "二")}</draw:page>'
    )
    document = parse(pack(make_zip, "presentation", body))
    assert document.text == "题目\n\n左\n\n右\n\n备注：讲稿\n\n二"
    assert [p.number for p in document.pages] == [1, 2]
    assert document.warnings == ("hidden slides are read too: 2",)


def test_protected(make_zip: Maker) -> None:
    """A file whose parts are encrypted is refused with what to do."""
    manifest = "<x><encryption-data/></x>"
    with pytest.raises(UnreadableFile, match="protected by a password") as caught:
        parse(make_zip({"content.xml": b"\x93\x00", "META-INF/manifest.xml": manifest}))
    assert "without one" in caught.value.hint

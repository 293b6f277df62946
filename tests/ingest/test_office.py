"""Word documents to documents."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from typing import Any

import docx
import pytest
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.office import word as office
from citewell.ingest.office.ole import MAGIC
from citewell.ingest.office.package import MAX_XML
from citewell.ingest.office.word_numbering import Numbering, to_chinese, to_roman, write_number
from citewell.types import Document

SETTINGS = IngestSettings()


def save(word: Any) -> bytes:
    buffer = io.BytesIO()
    word.save(buffer)
    return buffer.getvalue()


def parse(word: Any) -> Document:
    return office.parse(save(word), "report.docx", SETTINGS)


def test_structure_in_order() -> None:
    """Headings, paragraphs, lists and tables come in document order; the title style gives the
    title.
    """
    word = docx.Document()
    word.add_paragraph("年度报告", style="Title")
    word.add_heading("Intro", level=1)
    word.add_paragraph("First.")
    word.add_paragraph("one", style="List Bullet")
    word.add_paragraph("two", style="List Bullet")
    table = word.add_table(rows=2, cols=2)
    for cell, text in zip(
        [c for row in table.rows for c in row.cells], ["a", "b", "1", "2\n3"], strict=True
    ):
        cell.text = text
    word.add_heading("Detail", level=2)
    word.add_paragraph("Last.")
    document = parse(word)
    assert document.title == "年度报告"
    assert (
        document.text
        == "年度报告\n\nIntro\n\nFirst.\n\n- one\n- two\n\na | b\na: 1 | b: 2 3\n\nDetail\n\nLast."
    )
    assert [s.heading_path for s in document.sections] == [(), ("Intro",), ("Intro", "Detail")]
    assert document.pages == ()


def test_headings_by_local_name_and_outline_level() -> None:
    """A style named 标题 2 and a paragraph with an outline level are headings."""
    word = docx.Document()
    style = word.styles.add_style("标题 2", 1)
    word.add_paragraph("第一部分", style=style)
    paragraph = word.add_paragraph("Outlined")
    level = OxmlElement("w:outlineLvl")
    level.set(qn("w:val"), "0")
    paragraph._p.get_or_add_pPr().append(level)
    word.add_paragraph("text")
    assert [s.heading_path for s in parse(word).sections] == [("第一部分",), ("Outlined",)]


def test_chapter_lines_where_no_style_says_heading() -> None:
    """Without any heading style, lines such as 第一章 are headings."""
    word = docx.Document()
    for text in ("第一章 总则", "适用于所有人。", "第二章 细则", "好。"):
        word.add_paragraph(text)
    assert [s.heading_path for s in parse(word).sections] == [("第一章 总则",), ("第二章 细则",)]


def test_page_breaks_make_pages() -> None:
    """Explicit and rendered breaks count; the same break noted twice counts once; a break may fall
    inside a paragraph.
    """
    word = docx.Document()
    word.add_paragraph("page one")
    word.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    paragraph = word.add_paragraph()
    paragraph._p.append(
        parse_xml(f"<w:r {nsdecls('w')}><w:lastRenderedPageBreak/><w:t>page two, </w:t></w:r>")
    )
    paragraph._p.append(
        parse_xml(f"<w:r {nsdecls('w')}><w:lastRenderedPageBreak/><w:t>page three</w:t></w:r>")
    )
    document = parse(word)
    assert [(p.number, document.text[p.start : p.end].strip()) for p in document.pages] == [
        (1, "page one"),
        (2, "page two,"),
        (3, "page three"),
    ]
    assert "page two, page three" in document.text


def test_revisions_and_fields() -> None:
    """Insertions count, deletions and field codes do not; link text stays."""
    word = docx.Document()
    xml = (
        f"<w:p {nsdecls('w')}><w:ins><w:r><w:t>new "
        "</w:t></w:r></w:ins><w:del><w:r><w:delText>old </w:delText></w:r></w:del>"
        "<w:r><w:instrText>PAGE</w:instrText></w:r><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hype"
        "rlink></w:p>"
    )
    word.element.body.insert(0, parse_xml(xml))
    assert parse(word).text == "new link"


def test_merged_cells_repeat_downwards() -> None:
    """A cell merged over two rows is said in both, one merged over two columns once."""
    word = docx.Document()
    table = word.add_table(rows=3, cols=2)
    for row, texts in zip(table.rows, [("k", "v"), ("a", "1"), ("", "2")], strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    assert parse(word).text == "k | v\nk: a | v: 1\nk: a | v: 2"


def test_numbering() -> None:
    """Lists are numbered as Word shows them, Chinese and nested ones too."""
    levels = "".join(
        f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText '
        f'w:val="{text}"/></w:lvl>'
        for n, (form, text) in enumerate([("chineseCounting", "第%1条"), ("decimal", "%1.%2")])
    )
    root = parse_xml(
        f'<w:numbering {nsdecls("w")}><w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )
    numbering = Numbering(root)
    assert [numbering.label("1", n) for n in (0, 0, 1, 1, 0, 1)] == [
        "第一条 ",
        "第二条 ",
        "二.1 ",
        "二.2 ",
        "第三条 ",
        "三.1 ",
    ]
    assert numbering.label("7", 0) == ""
    assert [to_chinese(n) for n in (0, 3, 10, 12, 20, 103, 110, 2024)] == [
        "〇",
        "三",
        "十",
        "十二",
        "二十",
        "一百零三",
        "一百一十",
        "二千零二十四",
    ]
    assert (to_roman(1994), write_number(28, "upperLetter"), write_number(3, "decimalZero")) == (
        "mcmxciv",
        "BB",
        "03",
    )


def test_refusals_say_why() -> None:
    """An OLE file, a broken zip, a zip that is no Word file and a zip bomb are refused with the
    reason.
    """
    with pytest.raises(UnreadableFile, match="protected by a password"):
        office.parse(
            MAGIC + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"), "x.docx", SETTINGS
        )
    with pytest.raises(UnreadableFile, match=r"an old Word document \(\.doc\)"):
        office.parse(MAGIC + b"\0" * 600 + "WordDocument".encode("utf-16-le"), "x.docx", SETTINGS)
    with pytest.raises(UnreadableFile, match="broken"):
        office.parse(b"PK\x03\x04 not really", "x.docx", SETTINGS)
    with pytest.raises(UnreadableFile, match="not a Word document"):
        office.parse(pack({"a.txt": b"x"}), "x.docx", SETTINGS)
    with pytest.raises(UnreadableFile, match="too large"):
        office.parse(pack({"word/document.xml": b" " * (MAX_XML + 1)}), "bomb.docx", SETTINGS)
    with pytest.raises(UnreadableFile, match="times its size, as zip bombs do") as caught:
        office.parse(pack({"word/document.xml": b" " * 20_000_000}), "bomb.docx", SETTINGS)
    assert "ingest.max_ratio" in caught.value.hint
    with pytest.raises(UnreadableFile, match="packed in a way that Office files never are"):
        office.parse(pack({"word/document.xml": b"<x/>"}, zipfile.ZIP_BZIP2), "bomb.docx", SETTINGS)


def pack(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_tables_name_their_columns() -> None:
    """A header that is repeated on each page, or stands out in bold, names the columns; notes of
    cells stand below.
    """
    word = docx.Document()
    table = word.add_table(rows=3, cols=3)
    for row, texts in zip(
        table.rows, [("甲", "乙", "丙"), ("丁", "戊", "己"), ("庚", "辛", "壬")], strict=True
    ):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    pairs = word.add_table(rows=2, cols=2)
    for cell, text in zip(
        [c for row in pairs.rows for c in row.cells], ["姓名", "李雷", "部门", "研发"], strict=True
    ):
        cell.text = text
    assert parse(word).text.split("\n\n") == [
        "甲 | 乙 | 丙\n甲: 丁 | 乙: 戊 | 丙: 己\n甲: 庚 | 乙: 辛 | 丙: 壬",
        "姓名: 李雷\n部门: 研发",
    ]


def test_text_boxes_symbols_and_formulas() -> None:
    """What stands in a text box is read once, symbols of symbol fonts read as signs, formulas as a
    line.
    """
    math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    compatibility = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    box = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
    word = docx.Document()
    xml = (
        f'<w:p {nsdecls("w")} {math} {compatibility}><w:r><w:sym w:font="Wingdings" w:char="F0FC"/>'
        '<w:t xml:space="preserve"> ok </w:t></w:r>'
        "<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den"
        "></m:f></m:oMath>"
        f"<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></"
        "mc:AlternateContent></w:r></w:p>"
    )
    word.element.body.insert(0, parse_xml(xml))
    assert parse(word).text == "✓ ok a/b\n\nboxed"


def test_dated_by_its_properties() -> None:
    """A document carries the day on which it was last changed; one that says nothing carries
    none.
    """
    word = docx.Document()
    word.add_paragraph("x")
    word.core_properties.modified = dt.datetime(2024, 3, 1, tzinfo=dt.UTC)
    assert parse(word).dated == 1709251200.0


def test_a_level_that_is_skipped_counts() -> None:
    """A heading that skips a level makes the next one of that level the second."""
    levels = "".join(
        f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText '
        f'w:val="{text}"/></w:lvl>'
        for n, text in enumerate(("%1", "%1.%2", "%1.%2.%3"))
    )
    numbering = Numbering(
        parse_xml(
            f"<w:numbering {nsdecls('w')}><w:abstractNum "
            f'w:abstractNumId="0">{levels}</w:abstractNum>'
            '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
        )
    )
    assert [numbering.label("1", n) for n in (0, 2, 1)] == ["1 ", "1.1.1 ", "1.2 "]

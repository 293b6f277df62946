"""A DOCX from a sample's source: heading styles, tables, page breaks, page numbers. The one rule:
no clock, no chance.
"""

# ruff: noqa: INP001 - a folder of scripts

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from docx import Document
from docx.enum.text import WD_TAB_ALIGNMENT
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from build import Source
    from docx.document import Document as Docx
    from docx.table import Table
    from docx.text.paragraph import Paragraph
    from markdown_it.token import Token

TEXT_WIDTH = 16.4  # cm
GREEN = RGBColor(0x17, 0x46, 0x3E)
HEADINGS = {"h1": "Title", "h2": "Heading 1", "h3": "Heading 2"}
LISTS = {
    "bullet_list_open": "List Bullet",
    "ordered_list_open": "List Number",
    "blockquote_open": "Intense Quote",
}
# named, not embedded: word processors fall back by themselves
LATIN, CHINESE = ("Arial", "Microsoft YaHei")


def docx_bytes(source: Source) -> bytes:
    """One pass over the Markdown tokens, then the package is written anew with a fixed date for
    each part.
    """
    document = Document()
    _style(document, source)
    style, table, row, new_page = "Normal", None, -1, False
    for token in MarkdownIt("commonmark").enable("table").parse(source.body):
        kind = token.type
        if kind == "heading_open":
            style = HEADINGS[token.tag]
        elif kind in LISTS:
            style = LISTS[kind]
        elif kind in {
            "heading_close",
            "bullet_list_close",
            "ordered_list_close",
            "blockquote_close",
        }:
            style = "Normal"
        elif kind == "html_block":
            new_page = True
        elif kind == "table_open":
            table, row = document.add_table(0, 0, style="Light Grid Accent 3"), -1
        elif kind == "tr_open" and table is not None:
            table.add_row()
            row += 1
            column = 0
        elif kind == "inline" and table is not None:
            _cell(table, row, column, token)
            column += 1
        elif kind == "table_close":
            _widths(table)
            table = None
            document.add_paragraph()
        elif kind == "inline":
            paragraph = document.add_paragraph(style=style)
            paragraph.paragraph_format.page_break_before = new_page or None
            new_page = False
            _runs(paragraph, token)
    return _repacked(document)


def _style(document: Docx, source: Source) -> None:
    core = document.core_properties
    core.title, core.author, core.subject, core.comments = (
        source.title,
        source.company,
        source.number,
        "",
    )
    core.created = core.modified = core.last_printed = source.date.replace(tzinfo=None)
    core.language = source.lang
    for name in ("Normal", *HEADINGS.values()):
        style = document.styles[name]
        style.font.name = LATIN
        fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
        for theme in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
            fonts.attrib.pop(qn(f"w:{theme}"), None)
        fonts.set(qn("w:eastAsia"), CHINESE)
        if name != "Normal":
            style.font.color.rgb = GREEN
    document.styles["Normal"].font.size = Pt(10)
    section = document.sections[0]
    section.page_width, section.page_height = Cm(21), Cm(29.7)
    section.left_margin = section.right_margin = Cm(2.3)
    section.top_margin = section.bottom_margin = Cm(2.2)
    header = section.header.paragraphs[0]
    header.text = f"{source.company}\t\t{source.number}"
    header.paragraph_format.tab_stops.add_tab_stop(Cm(TEXT_WIDTH), WD_TAB_ALIGNMENT.RIGHT)
    _page_number(section.footer.paragraphs[0])


def _page_number(paragraph: Paragraph) -> None:
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), "PAGE")
    paragraph._p.append(field)  # noqa: SLF001 - python-docx has no fields of its own


def _cell(table: Table, row: int, column: int, token: Token) -> None:
    if column == len(table.columns):
        table.add_column(Cm(4))
    _runs(table.add_cell(row, column).paragraphs[0], token)


def _widths(table: Table) -> None:
    table.autofit = False
    for column in table.columns:
        column.width = Cm(TEXT_WIDTH / len(table.columns))


def _runs(paragraph: Paragraph, token: Token) -> None:
    bold = italic = False
    for part in token.children or []:
        if part.type in {"strong_open", "strong_close"}:
            bold = part.type == "strong_open"
        elif part.type in {"em_open", "em_close"}:
            italic = part.type == "em_open"
        else:
            run = paragraph.add_run(part.content or " ")
            run.bold, run.italic = bold or None, italic or None


def _repacked(document: Docx) -> bytes:
    first, out = io.BytesIO(), io.BytesIO()
    document.save(first)
    with zipfile.ZipFile(first) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(
                zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), old.read(name), zipfile.ZIP_DEFLATED
            )
    return out.getvalue()

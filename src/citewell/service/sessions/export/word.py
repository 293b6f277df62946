"""A conversation as a Word file (DOCX), with real footnotes. Python-docx knows no footnotes, so
their part of the file is made here; all else is its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from lxml import etree

from citewell.service.sessions.export.blocks import Block, Span
from citewell.service.sessions.export.conversation import Conversation, Note, Turn

if TYPE_CHECKING:
    from docx.document import Document

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_KIND = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
_CHINESE = "Microsoft YaHei"  # where it is missing, Word and others take a Chinese one they have


def write_word(talk: Conversation) -> bytes:
    import docx
    from docx.shared import Cm

    document = docx.Document()
    section = document.sections[0]
    section.page_width, section.page_height = Cm(21.0), Cm(29.7)
    section.left_margin = section.right_margin = Cm(2.5)
    document.core_properties.title, document.core_properties.author = talk.title, "Citewell"
    document.core_properties.comments = ""
    document.core_properties.language = talk.lang
    _set_styles(document)
    document.add_heading(talk.title, 0)
    writer = _Writer(document, talk.notes)
    for turn in talk.turns:
        writer.write_turn(turn)
    document.add_paragraph(talk.made, "Caption")
    _add_footnotes(document, writer.used)
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _set_styles(document: Document) -> None:
    """A Chinese font beside the Latin one, and the looks of footnotes."""
    from docx.enum.style import WD_STYLE_TYPE
    from docx.shared import Pt

    for style in document.styles:
        if style.name == "Normal" or (style.name or "").startswith(("Heading", "Title")):
            properties = style.element.get_or_add_rPr()
            found = properties.find(_name("rFonts"))
            if found is None:
                found = etree.SubElement(properties, _name("rFonts"))
            found.attrib.pop(_name("eastAsiaTheme"), None)
            found.set(_name("eastAsia"), _CHINESE)
    words = document.styles.add_style("footnote text", WD_STYLE_TYPE.PARAGRAPH)
    words.base_style, words.font.size = document.styles["Normal"], Pt(9)
    words.paragraph_format.space_after = Pt(2)
    mark = document.styles.add_style("footnote reference", WD_STYLE_TYPE.CHARACTER)
    mark.font.superscript = True


class _Writer:
    """Writes answers into a document. `used`: its footnotes, one a mark, as Word counts."""

    def __init__(self, document: Document, notes: Sequence[Note]) -> None:
        self.document = document
        self.notes = notes
        self.used: list[Note] = []

    def write_turn(self, turn: Turn) -> None:
        self.document.add_heading(turn.question, 1)
        if turn.asked:
            self.document.add_paragraph(turn.asked, "Caption")
        for block in turn.blocks:
            self._write_block(block)
        if turn.table:
            self._write_table([[[Span(cell)] for cell in row] for row in turn.table])
        if turn.sql:
            self._write_block(Block("code", [Span(turn.sql, code=True)]))
        for remark in turn.remarks:
            self.document.add_paragraph(f"⚠ {remark}", "Quote")

    def _write_block(self, block: Block) -> None:
        from docx.shared import Cm

        if block.kind == "table":
            self._write_table(block.rows)
            return
        if block.kind == "heading":
            paragraph = self.document.add_heading("", min(block.level + 1, 9))
        else:
            paragraph = self.document.add_paragraph()
        if block.kind == "item":  # a list's own numbers would go on through the whole file
            form = paragraph.paragraph_format
            form.left_indent, form.first_line_indent = Cm(0.8 * block.level), Cm(-0.6)
            form.tab_stops.add_tab_stop(Cm(0.8 * block.level))
            paragraph.add_run(f"{block.mark}\t")
        self._write_spans(paragraph, block.spans)

    def _write_spans(self, paragraph: Any, spans: Sequence[Span]) -> None:
        for span in spans:
            if span.note is not None:
                self.used.append(self.notes[span.note])
                run = paragraph.add_run(style="footnote reference")
                mark = etree.SubElement(run._r, _name("footnoteReference"))  # noqa: SLF001 - the library has no other door
                mark.set(_name("id"), str(len(self.used)))
                continue
            run = paragraph.add_run(span.text)
            run.bold, run.italic = span.bold or None, span.italic or None
            if span.code:
                run.font.name = "Consolas"

    def _write_table(self, rows: Sequence[Sequence[Sequence[Span]]]) -> None:
        table = self.document.add_table(len(rows), max(map(len, rows)), "Light Grid Accent 1")
        for row, cells in zip(rows, table.rows, strict=True):
            for spans, cell in zip(row, cells.cells, strict=False):
                self._write_spans(cell.paragraphs[0], spans)
        self.document.add_paragraph()


def _add_footnotes(document: Document, notes: Sequence[Note]) -> None:
    """The part that holds them; -1 and 0 are the lines above them."""
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part

    root = etree.Element(_name("footnotes"), nsmap={"w": W})
    for number, kind in ((-1, "separator"), (0, "continuationSeparator")):
        run = _add_note(root, number, kind)
        etree.SubElement(run, _name(kind))
    style = document.styles["footnote text"].style_id
    reference = document.styles["footnote reference"].style_id
    for number, note in enumerate(notes, start=1):
        run = _add_note(root, number, style=style)
        looks = etree.SubElement(run, _name("rPr"))
        etree.SubElement(looks, _name("rStyle")).set(_name("val"), reference)
        etree.SubElement(run, _name("footnoteRef"))
        text = etree.SubElement(etree.SubElement(run.getparent(), _name("r")), _name("t"))
        text.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
        text.text = f" {note.words}"
    body = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    part = Part(PackURI("/word/footnotes.xml"), _KIND, body, document.part.package)
    document.part.relate_to(part, _RELATION)


def _add_note(root: Any, number: int, kind: str = "", style: str = "") -> Any:
    """Its first run."""
    note = etree.SubElement(root, _name("footnote"))
    if kind:
        note.set(_name("type"), kind)
    note.set(_name("id"), str(number))
    paragraph = etree.SubElement(note, _name("p"))
    if style:
        looks = etree.SubElement(paragraph, _name("pPr"))
        etree.SubElement(looks, _name("pStyle")).set(_name("val"), style)
    return etree.SubElement(paragraph, _name("r"))


def _name(tag: str) -> str:
    return f"{{{W}}}{tag}"

"""The walk through a Word document's body: paragraphs, tables, content controls, text boxes.
Document order. A page begins where Word last ended one, or where the writer ended it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.office.page_breaks import PAGE, PageBreaks
from citewell.ingest.office.word_numbering import Numbering, W
from citewell.ingest.office.word_paragraph import Paragraph, format_note_mark, read_paragraph
from citewell.ingest.office.word_styles import (
    Style,
    Styles,
    get_numbering,
    get_outline_level,
    get_value,
)
from citewell.ingest.office.word_table import (
    build_table_grid,
    count_header_rows,
    get_cells,
    get_rows,
    is_first_row_bold,
)
from citewell.ingest.tables.header import ACROSS
from citewell.ingest.tables.table_text import format_table_lines
from citewell.text.line_breaks import get_chapter_level

_CONTAINERS: Final = frozenset(
    {
        f"{W}{name}"
        for name in (
            "sdt",
            "sdtContent",
            "ins",
            "moveTo",
            "smartTag",
            "customXml",
            "body",
            "txbxContent",
            "tc",
        )
    }
)
_LONGEST_HEADING: Final = 200  # characters; longer ones are text that was given a heading's style


class Body:
    """Appends what it reads to `out`. `notes`: elements of foot- and endnotes by kind and id.
    `graphics`: what a chart or diagram says, by the element that refers to it.
    """

    def __init__(
        self,
        out: Assembly,
        styles: Styles,
        numbers: Numbering,
        notes: dict[str, dict[str, Any]],
        graphics: Callable[[Any], list[str]],
        *,
        has_headings: bool,
    ) -> None:
        self.out = out
        self.title = ""
        self._styles = styles
        self._numbers = numbers
        self._notes = notes
        self._graphics = graphics
        self._has_headings = has_headings
        self._shown_notes = 0
        self._breaks = PageBreaks(out)
        self._in_list = False

    def read(self, element: Any) -> None:
        """Every block below `element`."""
        for child in element:
            if child.tag == f"{W}p":
                self._add_paragraph(child)
            elif child.tag == f"{W}tbl":
                self._add_table(child)
            elif child.tag in _CONTAINERS:
                self.read(child)

    def _add_paragraph(self, element: Any) -> None:
        properties = element.find(f"{W}pPr")
        style = self._styles.get("" if properties is None else get_value(properties, "pStyle"))
        if style.contents:
            return
        if properties is not None and properties.find(f"{W}pageBreakBefore") is not None:
            self._breaks.end()
        paragraph = read_paragraph(element, self._shown_notes + 1)
        pieces = self._breaks.pieces(paragraph.text)
        text = "".join(piece for _, piece in pieces).strip()
        if text:
            self._append_paragraph(text, pieces, style, properties)
        self._add_notes_and_boxes(paragraph)

    def _append_paragraph(
        self, text: str, pieces: list[tuple[int, str]], style: Style, properties: Any | None
    ) -> None:
        label, level = (
            self._make_label(style, properties),
            self._get_heading_level(style, properties, text),
        )
        self._breaks.fresh = False
        if style.title and not self.title:
            self.title = text
        if level and len(text) <= _LONGEST_HEADING:
            self.out.heading(level, label.removeprefix("- ") + text)
            self._in_list = False
            return
        self.out.block(
            label + pieces[0][1].lstrip(),
            gap="\n" if label and self._in_list else "\n\n",
            then=pieces[1:],
        )
        self._in_list = bool(label)

    def _make_label(self, style: Style, properties: Any | None) -> str:
        num_id, level = get_numbering(properties)
        if not num_id:
            num_id, level = style.num_id, style.num_level
        return self._numbers.label(num_id, level)

    def _get_heading_level(self, style: Style, properties: Any | None, text: str) -> int:
        own = get_outline_level(properties)
        if own is not None:
            return own
        return style.level or (0 if self._has_headings else get_chapter_level(text))

    def _add_notes_and_boxes(self, paragraph: Paragraph) -> None:
        """What a paragraph refers to or holds, below it: notes, text boxes, charts and diagrams."""
        for kind, note_id in paragraph.notes:
            self._shown_notes += 1
            element = self._notes[kind].get(note_id)
            text = "" if element is None else get_plain_text(element)
            if text:
                self.out.block(f"{format_note_mark(self._shown_notes)} {text}", gap="\n")
        for box in paragraph.boxes:
            self.read(box)
        for graphic in paragraph.graphics:
            self.out.rows(self._graphics(graphic))

    def _add_table(self, table: Any) -> None:
        rows = get_rows(table)
        if max((len(get_cells(row)) for row in rows), default=0) < 2:
            for row in rows:
                for cell in get_cells(row):
                    self.read(cell)
            return
        held: list[Paragraph] = []  # what the cells refer to stands below the table
        grid = build_table_grid(rows, lambda cell: self._read_cell(cell, held))
        filled = [
            (row, cells)
            for row, cells in zip(rows, grid, strict=True)
            if any(cell.strip(ACROSS) for cell in cells)
        ]
        depth = count_header_rows([row for row, _ in filled])
        lines = format_table_lines(
            [cells for _, cells in filled], header=depth, usual=is_first_row_bold(rows)
        )
        for n, ((row, _), line) in enumerate(zip(filled, lines, strict=True)):
            if any(PAGE in read_paragraph(p).text for p in row.iter(f"{W}p")):
                self._breaks.end()
                self._breaks.show()
            self.out.block(line, gap="\n" if n else "\n\n")
            self._breaks.fresh = False
        self._in_list = False
        for paragraph in held:
            self._add_notes_and_boxes(paragraph)

    def _read_cell(self, cell: Any, held: list[Paragraph]) -> str:
        """The paragraphs of a cell, one a line, with the numbers of their lists."""
        lines = []
        for element in cell.iter(f"{W}p"):
            paragraph = read_paragraph(
                element, self._shown_notes + sum(len(each.notes) for each in held) + 1
            )
            properties = element.find(f"{W}pPr")
            text = paragraph.text.replace(PAGE, " ").strip()
            style = self._styles.get("" if properties is None else get_value(properties, "pStyle"))
            label = self._make_label(style, properties) if text else ""
            lines.append(label.removeprefix("- ") + text)
            if not any(above.tag == f"{W}txbxContent" for above in element.iterancestors()):
                held.append(paragraph)
        return "\n".join(line for line in lines if line)


def get_plain_text(element: Any) -> str:
    """All paragraphs below `element` on one line."""
    texts = (read_paragraph(p).text for p in element.iter(f"{W}p"))
    return " ".join(" ".join(texts).split())

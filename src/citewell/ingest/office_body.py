"""The walk through a Word document's body: paragraphs, tables, content controls, text boxes.

The one rule: document order. A page begins where Word last ended one, or where the writer ended it.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.lines import chapter_level
from citewell.ingest.office_numbering import Numbering, W
from citewell.ingest.office_paragraph import PAGE, Paragraph, mark, read
from citewell.ingest.office_styles import Style, Styles, numbering, outline_level, value

_CONTAINERS: Final = frozenset(
    {f"{W}{name}" for name in ("sdt", "sdtContent", "ins", "moveTo", "smartTag", "customXml", "body", "txbxContent", "tc")}
)
_LONGEST_HEADING: Final = 200  # characters; longer ones are text that was given a heading's style


class Body:
    """Appends what it reads to `out`. `notes`: elements of foot- and endnotes by kind and id."""

    def __init__(
        self, out: Assembly, styles: Styles, numbers: Numbering, notes: dict[str, dict[str, Any]], *, has_headings: bool
    ) -> None:
        self.out = out
        self.title = ""
        self._styles = styles
        self._numbers = numbers
        self._notes = notes
        self._has_headings = has_headings
        self._shown_notes = 0
        self._page = 1
        self._fresh = True  # nothing stands on this page yet
        self._in_list = False

    def read(self, element: Any) -> None:
        """Every block below `element`."""
        for child in element:
            if child.tag == f"{W}p":
                self._paragraph(child)
            elif child.tag == f"{W}tbl":
                self._table(child)
            elif child.tag in _CONTAINERS:
                self.read(child)

    def _paragraph(self, element: Any) -> None:
        properties = element.find(f"{W}pPr")
        style = self._styles.get("" if properties is None else value(properties, "pStyle"))
        if style.contents:
            return
        if properties is not None and properties.find(f"{W}pageBreakBefore") is not None:
            self._next_page()
        paragraph = read(element, self._shown_notes + 1)
        pieces = self._pages(paragraph.text)
        text = "".join(piece for _, piece in pieces).strip()
        if text:
            self._append(text, pieces, style, properties)
        self._append_notes(paragraph)
        for box in paragraph.boxes:
            self.read(box)

    def _append(self, text: str, pieces: list[tuple[int, str]], style: Style, properties: Any | None) -> None:
        label, level = self._label(style, properties), self._level(style, properties, text)
        self._fresh = False
        if style.title and not self.title:
            self.title = text
        if level and len(text) <= _LONGEST_HEADING:
            self.out.heading(level, label.removeprefix("- ") + text)
            self._in_list = False
            return
        self.out.block(label + pieces[0][1].lstrip(), gap="\n" if label and self._in_list else "\n\n", then=pieces[1:])
        self._in_list = bool(label)

    def _label(self, style: Style, properties: Any | None) -> str:
        num_id, level = numbering(properties)
        if not num_id:
            num_id, level = style.num_id, style.num_level
        return self._numbers.label(num_id, level)

    def _level(self, style: Style, properties: Any | None, text: str) -> int:
        own = outline_level(properties)
        if own is not None:
            return own
        return style.level or (0 if self._has_headings else chapter_level(text))

    def _pages(self, text: str) -> list[tuple[int, str]]:
        """The pieces of a paragraph by page. The page moves on at each break, but not twice before any text."""
        pieces: list[tuple[int, str]] = []
        for n, piece in enumerate(text.split(PAGE)):
            if n:
                self._next_page()
            if piece.strip():
                self._fresh = False
                if not pieces:
                    self._show_page()
                pieces.append((self._page, piece))
        if pieces:
            pieces[-1] = (pieces[-1][0], pieces[-1][1].rstrip())
        return pieces

    def _next_page(self) -> None:
        """A page ends here. Word notes the same end twice where a writer made it; the second finds the page still empty."""
        if not self._fresh:
            self._page += 1
            self._fresh = True

    def _show_page(self) -> None:
        """Begin the current page in the text, unless it has begun."""
        if self._page != (self.out.pages[-1].number if self.out.pages else 1):
            self.out.page(self._page)

    def _append_notes(self, paragraph: Paragraph) -> None:
        for kind, note_id in paragraph.notes:
            self._shown_notes += 1
            element = self._notes[kind].get(note_id)
            text = "" if element is None else plain(element)
            if text:
                self.out.block(f"{mark(self._shown_notes)} {text}", gap="\n")

    def _table(self, table: Any) -> None:
        rows = [
            [cell for cell in row.iter(f"{W}tc") if _row_of(cell) is row] for row in table.iterchildren(f"{W}tr", f"{W}sdt")
        ]
        if max(map(len, rows), default=0) < 2:
            for row in rows:
                for cell in row:
                    self.read(cell)
            return
        above: dict[int, str] = {}
        first = True
        for row in rows:
            line = self._row(row, above)
            if line.replace("|", "").strip():
                self.out.block(line, gap="\n\n" if first else "\n")
                self._fresh = first = False
        self._in_list = False

    def _row(self, row: list[Any], above: dict[int, str]) -> str:
        """The row as `a | b`. `above`: by column what a cell that is merged downwards says."""
        texts: list[str] = []
        column = 0
        for cell in row:
            text = plain(cell)
            properties = cell.find(f"{W}tcPr")
            merge = None if properties is None else properties.find(f"{W}vMerge")
            if merge is not None and merge.get(f"{W}val") != "restart":
                text = text or above.get(column, "")
            above[column] = text
            texts.append(text)
            span = "" if properties is None else value(properties, "gridSpan")
            column += int(span) if span.isdigit() else 1
        if any(PAGE in read(p).text for cell in row for p in cell.iter(f"{W}p")):
            self._next_page()
            self._show_page()
        return " | ".join(texts)


def _row_of(cell: Any) -> Any:
    """The table row that a cell belongs to: not always its parent, and not that of an outer table."""
    above = cell.getparent()
    while above is not None and above.tag != f"{W}tr":
        above = above.getparent()
    return above


def plain(element: Any) -> str:
    """All paragraphs below `element` on one line."""
    texts = (read(p).text for p in element.iter(f"{W}p"))
    return " ".join(" ".join(texts).split())

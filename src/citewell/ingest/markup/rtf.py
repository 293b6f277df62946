"""RTF documents: paragraphs, headings by style or outline level, tables, footnotes, in any code
page. Numbers and bullets of lists are the text that the writing program put there for readers that
know no lists.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from citewell.config import IngestSettings
from citewell.ingest.assemble import Assembly
from citewell.ingest.markup.rtf_parts import Cell, Paragraph
from citewell.ingest.markup.rtf_reader import Reader
from citewell.ingest.office.package import JUNK_TITLES
from citewell.ingest.office.page_breaks import PAGE, PageBreaks
from citewell.ingest.office.word_styles import CONTENTS, HEADING
from citewell.ingest.tables.header import ACROSS
from citewell.ingest.tables.table_text import format_table_lines
from citewell.text.line_breaks import get_chapter_level
from citewell.types import Document

_BULLET = re.compile(r"[•·\uf000-\uf0ff✓➢☐o▪◦–-]\t")
_NUMBER = re.compile(r"(\S{1,12})\t")
_SAME_EDGE = 40  # twentieths of a point by which two cells may end apart and yet be of one column
_LONGEST_HEADING = 200  # characters; longer ones are text that was given a heading's style


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:  # noqa: ARG001 the form of every parser
    """An RTF document."""
    writer = _Writer()
    reader = Reader(writer)
    writer.styles = reader.styles
    reader.read(data)
    writer.end_table()
    stated = "" if reader.title.lower().startswith(JUNK_TITLES) else reader.title
    title = writer.title or stated or writer.out.first_heading
    return writer.out.document(name, "application/rtf", title=title, dated=reader.dated)


class _Writer:
    """Appends paragraphs as they come; the rows of a table are kept until it ends."""

    def __init__(self) -> None:
        self.out = Assembly()
        self.title = ""
        self.styles: dict[int, tuple[str, int | None]] = {}
        self._breaks = PageBreaks(self.out)
        self._row: list[str] = []
        self._rows: list[tuple[list[str], list[Cell], bool]] = []
        self._notes: list[str] = []
        self._in_list = False
        self._by_words = False  # whether lines are headings by what they say

    def paragraph(self, text: str, how: Paragraph, notes: list[str]) -> None:
        self.end_table()
        if how.page_before:
            self._breaks.end()
        style, level = self.styles.get(how.style, ("", None))
        if CONTENTS.match(style):
            return
        pieces = self._breaks.pieces(text.strip(" \t"))
        said = "".join(piece for _, piece in pieces).strip()
        if style.lower() == "title" and not self.title:
            self.title = said
        level = self._get_level(how, style, level, said) if said else 0
        if level:
            self.out.heading(level, said)
            self._in_list = False
        elif said:
            first, listed = _parse_list_item(pieces[0][1].lstrip())
            self.out.block(first, gap="\n" if listed and self._in_list else "\n\n", then=pieces[1:])
            self._in_list = listed
        for note in notes:
            self.out.block(note, gap="\n")

    def _get_level(self, how: Paragraph, style: str, level: int | None, text: str) -> int:
        if len(text) > _LONGEST_HEADING:
            return 0
        if how.outline is not None:
            return how.outline
        named = HEADING.match(style)
        if named or level:
            return int(named.group(1)) if named else level or 0
        return (
            0 if self.out.first_heading and not self._by_words else self._get_level_by_words(text)
        )

    def _get_level_by_words(self, text: str) -> int:
        """The level of a line such as 第一章, in a file whose styles make no headings."""
        level = get_chapter_level(text)
        self._by_words = self._by_words or level > 0
        return level

    def add_cell(self, text: str, notes: list[str]) -> None:
        self._row.append(text.replace(PAGE, " ").strip())
        self._notes += notes

    def row(self, cells: list[Cell], *, header: bool) -> None:
        self._rows.append((self._row, cells, header))
        self._row = []

    def end_table(self) -> None:
        """Append the table that has come, if any."""
        rows, self._rows = self._rows, []
        if self._row:
            rows.append((self._row, [], False))
            self._row = []
        if rows:
            depth = next((n for n, row in enumerate(rows) if not row[2]), 0)
            self.out.rows(format_table_lines(_build_grid(rows), header=depth or None))
            self._breaks.fresh = self._in_list = False
        for note in self._notes:
            self.out.block(note, gap="\n")
        self._notes = []


def _parse_list_item(text: str) -> tuple[str, bool]:
    """The paragraph as an item of a list, if it is one."""
    if _BULLET.match(text):
        return "- " + _BULLET.sub("", text, count=1), True
    number = _NUMBER.match(text)
    if number and number.group(1)[-1] in ".)、．）" and len(text) > number.end():
        return f"{number.group(1)} {text[number.end() :]}", True
    return text, False


def _build_grid(rows: list[tuple[list[str], list[Cell], bool]]) -> list[list[str]]:
    """The cells by column; a cell covers the columns up to its right edge."""
    edges: list[int] = []
    for edge in sorted({cell.right for _, cells, _ in rows for cell in cells}):
        if not edges or edge - edges[-1] > _SAME_EDGE:
            edges.append(edge)
    grid: list[list[str]] = []
    for texts, cells, _ in rows:
        line: list[str] = []
        for n, text in enumerate(texts):
            at = len(line)
            if n < len(cells) and cells[n].from_above and not text and grid and at < len(grid[-1]):
                text = grid[-1][at]  # noqa: PLW2901 what a merged cell says is said again
            end = bisect_left(edges, cells[n].right - _SAME_EDGE) + 1 if n < len(cells) else at + 1
            line += [text, *[ACROSS if text else ""] * max(0, end - at - 1)]
        grid.append(line)
    return grid

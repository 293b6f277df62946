"""The walk through an OpenDocument text: headings, paragraphs, lists, tables, notes, text boxes.
Document order. Left out are tables of contents and what was deleted while changes were tracked.
"""

from __future__ import annotations

import posixpath
from typing import Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.office.formula import format_mathml
from citewell.ingest.office.odf.cells import build_table_grid
from citewell.ingest.office.odf.inline import Words, get_plain_text, read_paragraph
from citewell.ingest.office.odf.styles import DRAW, TABLE, TEXT, Numbers, Styles
from citewell.ingest.office.package import Package, get_local_name
from citewell.ingest.office.page_breaks import PageBreaks
from citewell.ingest.office.word_paragraph import format_note_mark
from citewell.ingest.tables.table_text import format_table_lines
from citewell.text.line_breaks import get_chapter_level

_LEFT_OUT: Final = frozenset(
    f"{TEXT}{name}"
    for name in (
        "table-of-content",
        "tracked-changes",
        "alphabetical-index",
        "sequence-decls",
        "variable-decls",
    )
)
_HREF: Final = "{http://www.w3.org/1999/xlink}href"
_LONGEST_HEADING: Final = 200  # characters; longer ones are text that was given a heading's style
_DEEPEST: Final = 50  # lists, sections and frames within one another


class Body:
    """Appends what it reads to `out`."""

    def __init__(self, out: Assembly, styles: Styles, package: Package) -> None:
        self.out = out
        self.title = ""
        self._styles = styles
        self._package = package
        self.breaks = PageBreaks(out)
        self._headings = Numbers(styles.outline)
        self._notes = 0
        # whether the next list item follows the one before without a blank line
        self._tight = False

    def read(self, element: Any, depth: int = 0) -> None:
        """Every block below `element`."""
        for child in element if depth < _DEEPEST else []:
            tag = child.tag
            if tag in {f"{TEXT}p", f"{TEXT}h"}:
                self._add_paragraph(child, "", depth)
            elif tag == f"{TEXT}list":
                self._tight = False
                self._add_list(
                    child, self._styles.numbers(child.get(f"{TEXT}style-name") or ""), 1, depth
                )
                self._tight = False
            elif tag == f"{TABLE}table":
                self.out.rows(format_table_lines(build_table_grid(child)))
                self.breaks.fresh = False
            elif tag == f"{TEXT}soft-page-break":
                self.breaks.end()
            elif isinstance(tag, str) and tag not in _LEFT_OUT:
                self.frame(child, depth) if tag.startswith(DRAW) else self.read(child, depth + 1)

    def _add_list(self, element: Any, numbers: Numbers, level: int, depth: int) -> None:
        for item in element:
            label = numbers.label(level) if item.tag == f"{TEXT}list-item" else ""
            for child in item if depth < _DEEPEST else []:
                if child.tag == f"{TEXT}list":
                    self._add_list(child, numbers, level + 1, depth + 1)
                elif child.tag in {f"{TEXT}p", f"{TEXT}h"}:
                    self._add_paragraph(child, label, depth)
                    label = ""

    def _add_paragraph(self, element: Any, label: str, depth: int) -> None:
        style = element.get(f"{TEXT}style-name") or ""
        if self._styles.has_page_break(style):
            self.breaks.end()
        said = read_paragraph(element, self._notes + 1)
        pieces = self.breaks.pieces(said.text)
        text = "".join(piece for _, piece in pieces).strip()
        level = self._get_heading_level(element, style, text) if text else 0
        if self._styles.is_title(style) and not self.title:
            self.title = text
        if level:
            number = (
                self._headings.label(level)
                if level in self._styles.outline and element.tag == f"{TEXT}h"
                else ""
            )
            self.out.heading(level, number + label.removeprefix("- ") + text)
        elif text:
            self.out.block(
                label + pieces[0][1].lstrip(), gap="\n" if self._tight else "\n\n", then=pieces[1:]
            )
        self._tight = bool(label) or (self._tight and not text)
        self._add_notes_and_frames(said, depth)

    def _get_heading_level(self, element: Any, style: str, text: str) -> int:
        if len(text) > _LONGEST_HEADING:
            return 0
        said = element.get(f"{TEXT}outline-level") or ""
        if element.tag == f"{TEXT}h":
            return int(said) if said.isdigit() and 0 < int(said) < 11 else 1
        return self._styles.get_outline_level(style) or (
            0 if self.out.first_heading else get_chapter_level(text)
        )

    def _add_notes_and_frames(self, said: Words, depth: int) -> None:
        """What a paragraph refers to or holds, below it: notes, then text boxes and objects."""
        for note in said.notes:
            self._notes += 1
            text = " ".join(get_plain_text(note).split())
            if text:
                self.out.block(f"{format_note_mark(self._notes)} {text}", gap="\n")
        for frame in said.frames:
            self.frame(frame, depth + 1)

    def frame(self, element: Any, depth: int = 0) -> None:
        """A drawing: text boxes, shapes with text, tables, formulas and charts beside the file."""
        if element.tag == f"{DRAW}object":
            root = self._package.parse_optional_part(
                posixpath.normpath(posixpath.join(element.get(_HREF) or "-", "content.xml"))
            )
            if root is not None:
                self._add_object(root)
        else:
            self.read(element, depth + 1)

    def _add_object(self, root: Any) -> None:
        if get_local_name(root) == "math":
            self.out.block(format_mathml(root))
            return
        for table in root.iter(f"{TABLE}table"):
            titles = [
                get_plain_text(node) for node in root.iter() if get_local_name(node) == "title"
            ]
            self.out.rows(
                [
                    *(text.replace("\n", " ") for text in titles if text),
                    *format_table_lines(build_table_grid(table)),
                ]
            )

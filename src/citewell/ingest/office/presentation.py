"""Presentations (.pptx): a slide is a page, its title a heading; then its shapes in reading order,
and the speaker's notes.

The one rule: what is on a slide is read, hidden slides too; what stands at the foot of every slide
is not.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.config import IngestSettings
from citewell.ingest.assemble import Assembly
from citewell.ingest.office.drawing import DIAGRAM, A, C, chart_lines, diagram, paragraphs
from citewell.ingest.office.package import Package, Relation
from citewell.ingest.office.slide_shapes import P, Places, Shape, reading_order, shapes
from citewell.ingest.office.slide_text import body_lines, table_rows
from citewell.ingest.tables.table_text import table_lines
from citewell.text.language import language
from citewell.types import Document

MEDIA_TYPE: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
NOTES: Final = {"zh": "备注：", "en": "Notes: "}
_R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_LONGEST_TITLE: Final = 60  # characters of a first line that names a slide without a title


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """A presentation."""
    package = Package(data, name, settings, "ppt/", "a PowerPoint presentation")
    reader = _Reader(package)
    hidden = [
        str(number)
        for number, part in enumerate(_slides(package), start=1)
        if reader.slide(number, part)
    ]
    warnings = [f"hidden slides are read too: {', '.join(hidden)}"] if hidden else []
    title = package.stated_title() or reader.out.first_heading
    return reader.out.document(
        name,
        MEDIA_TYPE,
        title=title,
        warnings=[*warnings, *package.warnings],
        dated=package.dated(),
    )


def _slides(package: Package) -> list[str]:
    """The parts of the slides in the order in which they are shown."""
    start = next(
        (r.target for r in package.relations("").values() if r.kind == "officeDocument"),
        "ppt/presentation.xml",
    )
    root, related = package.xml(start), package.relations(start)
    keys = [] if root is None else [element.get(f"{_R}id") for element in root.iter(f"{P}sldId")]
    return [related[key].target for key in keys if key in related]


class _Reader:
    def __init__(self, package: Package) -> None:
        self.out = Assembly()
        self._package = package
        self._places = Places(package)

    def slide(self, number: int, part: str) -> bool:
        """Append a slide. Whether it is hidden."""
        root, related = self._package.optional(part), self._package.relations(part)
        if root is None:
            return False
        self.out.page(number)
        inherited = self._places.of_layout(
            next((r.target for r in related.values() if r.kind == "slideLayout"), "")
        )
        found = shapes(root, inherited)
        titles = [shape for shape in found if shape.role == "title" and _line(shape)]
        rest = reading_order([shape for shape in found if shape not in titles])
        self._heading(number, titles, rest)
        for shape in rest:
            self._shape(shape, related)
        for relation in related.values():
            if relation.kind == "notesSlide":
                self._notes(self._package.optional(relation.target))
        return root.get("show") in {"0", "false"}

    def _heading(self, number: int, titles: list[Shape], rest: list[Shape]) -> None:
        """The slide's title; where it has none, its first line if that is short, which is then not
        said again.
        """
        if titles:
            self.out.heading(1, " ".join(map(_line, titles)))
            return
        first = next((shape for shape in rest if _line(shape)), None)
        if first is not None and len(_line(first)) <= _LONGEST_TITLE:
            rest.remove(first)
            self.out.heading(1, _line(first))
        else:
            self.out.begin(1, f"Slide {number}")

    def _shape(self, shape: Shape, related: dict[str, Relation]) -> None:
        element = shape.element
        if element.tag == f"{P}sp":
            self.out.rows(body_lines(element, bulleted=shape.role == "body"))
            return
        for table in element.iter(f"{A}tbl"):
            self.out.rows(table_lines(table_rows(table), usual=_says_header(table)))
        for reference in element.iter(f"{C}chart"):
            target = related.get(reference.get(f"{_R}id") or "")
            self.out.rows(chart_lines(self._package.optional(target.target)) if target else [])
        for reference in element.iter(f"{DIAGRAM}relIds"):
            target = related.get(reference.get(f"{_R}dm") or "")
            self.out.rows(
                [f"- {text}" for text in diagram(self._package.optional(target.target))]
                if target
                else []
            )

    def _notes(self, root: Any | None) -> None:
        if root is None:
            return
        bodies = [shape for shape in shapes(root, {}) if shape.role == "body"]
        text = "\n".join(line for shape in bodies for line in paragraphs(shape.element))
        if text.strip():
            self.out.block(NOTES[language(text)] + text)


def _line(shape: Shape) -> str:
    return (
        " ".join(" ".join(paragraphs(shape.element)).split())
        if shape.element.tag == f"{P}sp"
        else ""
    )


def _says_header(table: Any) -> bool:
    properties = table.find(f"{A}tblPr")
    return properties is not None and properties.get("firstRow") in {"1", "true"}

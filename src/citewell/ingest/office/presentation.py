"""Presentations (.pptx): a slide is a page, its title a heading; then its shapes in reading order,
and the speaker's notes. What is on a slide is read, hidden slides too; what stands at the foot of
every slide is not.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.config import IngestSettings
from citewell.ingest.assemble import Assembly
from citewell.ingest.office.drawing import (
    DIAGRAM,
    FALLBACK,
    A,
    C,
    format_chart_lines,
    get_paragraph_text,
    iterate_diagram_items,
    iterate_paragraphs,
)
from citewell.ingest.office.package import Package, Relation, get_local_name
from citewell.ingest.office.slide_shapes import P, Places, Shape, read_shapes, sort_shapes
from citewell.ingest.tables.header import ACROSS
from citewell.ingest.tables.table_text import format_table_lines
from citewell.messages import Text
from citewell.text.language import detect_language
from citewell.types import Document

_DEEPEST: Final = 6  # indents
_TRUE: Final = frozenset({"1", "true"})


def format_body_lines(shape: Any, *, bulleted: bool) -> list[str]:
    """The paragraphs of a shape, one a line. `bulleted`: they have bullets unless they deny it."""
    found = [
        p
        for p in shape.iter(f"{A}p")
        if not any(above.tag == FALLBACK for above in p.iterancestors())
    ]
    said = [(p, text) for p in found if (text := " ".join(get_paragraph_text(p).split()))]
    counts: dict[int, int] = {}
    lines = []
    for paragraph, text in said:
        properties = paragraph.find(f"{A}pPr")
        level = _get_level(properties)
        marks = {get_local_name(child) for child in properties} if properties is not None else set()
        for deeper in [n for n in counts if n > level or (n == level and "buAutoNum" not in marks)]:
            del counts[deeper]
        mark = ""
        if "buAutoNum" in marks:
            counts[level] = counts.get(level, 0) + 1
            mark = f"{counts[level]}. "
        elif "buNone" not in marks and ("buChar" in marks or (bulleted and len(said) > 1)):
            mark = "- "
        lines.append(("  " * level if mark else "") + mark + text)
    return lines


def _get_level(properties: Any | None) -> int:
    text = "" if properties is None else properties.get("lvl") or ""
    return min(int(text), _DEEPEST) if text.isdigit() else 0


def read_table_rows(table: Any) -> list[list[str]]:
    """The cells of a DrawingML table; what is merged downwards is said in each row."""
    rows: list[list[str]] = []
    for row in table.iterfind(f"{A}tr"):
        cells: list[str] = []
        for n, cell in enumerate(row.iterfind(f"{A}tc")):
            if cell.get("hMerge") in _TRUE:
                cells.append(ACROSS)
            elif cell.get("vMerge") in _TRUE and rows and n < len(rows[-1]):
                cells.append(rows[-1][n])
            else:
                cells.append("\n".join(get_paragraph_text(p) for p in cell.iter(f"{A}p")))
        rows.append(cells)
    return rows


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
        for number, part in enumerate(_list_slides(package), start=1)
        if reader.add_slide(number, part)
    ]
    warnings = (
        [Text("hidden slides are read too: {hidden}", hidden=", ".join(hidden))] if hidden else []
    )
    title = package.get_stated_title() or reader.out.first_heading
    return reader.out.document(
        name,
        MEDIA_TYPE,
        title=title,
        warnings=[*warnings, *package.warnings],
        dated=package.read_date(),
    )


def _list_slides(package: Package) -> list[str]:
    """The parts of the slides in the order in which they are shown."""
    start = next(
        (r.target for r in package.read_relations("").values() if r.kind == "officeDocument"),
        "ppt/presentation.xml",
    )
    root, related = package.parse_part(start), package.read_relations(start)
    keys = [] if root is None else [element.get(f"{_R}id") for element in root.iter(f"{P}sldId")]
    return [related[key].target for key in keys if key in related]


class _Reader:
    def __init__(self, package: Package) -> None:
        self.out = Assembly()
        self._package = package
        self._places = Places(package)

    def add_slide(self, number: int, part: str) -> bool:
        """Append a slide. Whether it is hidden."""
        root, related = self._package.parse_optional_part(part), self._package.read_relations(part)
        if root is None:
            return False
        self.out.page(number)
        inherited = self._places.get_layout_places(
            next((r.target for r in related.values() if r.kind == "slideLayout"), "")
        )
        found = read_shapes(root, inherited)
        titles = [shape for shape in found if shape.role == "title" and _get_one_line(shape)]
        rest = sort_shapes([shape for shape in found if shape not in titles])
        self._add_heading(number, titles, rest)
        for shape in rest:
            self._add_shape(shape, related)
        for relation in related.values():
            if relation.kind == "notesSlide":
                self._add_notes(self._package.parse_optional_part(relation.target))
        return root.get("show") in {"0", "false"}

    def _add_heading(self, number: int, titles: list[Shape], rest: list[Shape]) -> None:
        """The slide's title, else its first line where short, which is then not said again."""
        if titles:
            self.out.heading(1, " ".join(map(_get_one_line, titles)))
            return
        first = next((shape for shape in rest if _get_one_line(shape)), None)
        if first is not None and len(_get_one_line(first)) <= _LONGEST_TITLE:
            rest.remove(first)
            self.out.heading(1, _get_one_line(first))
        else:
            self.out.begin(1, f"Slide {number}")

    def _add_shape(self, shape: Shape, related: dict[str, Relation]) -> None:
        element = shape.element
        if element.tag == f"{P}sp":
            self.out.rows(format_body_lines(element, bulleted=shape.role == "body"))
            return
        for table in element.iter(f"{A}tbl"):
            self.out.rows(format_table_lines(read_table_rows(table), usual=_has_header(table)))
        for reference in element.iter(f"{C}chart"):
            target = related.get(reference.get(f"{_R}id") or "")
            self.out.rows(
                format_chart_lines(self._package.parse_optional_part(target.target))
                if target
                else []
            )
        for reference in element.iter(f"{DIAGRAM}relIds"):
            target = related.get(reference.get(f"{_R}dm") or "")
            self.out.rows(
                [
                    f"- {text}"
                    for text in iterate_diagram_items(
                        self._package.parse_optional_part(target.target)
                    )
                ]
                if target
                else []
            )

    def _add_notes(self, root: Any | None) -> None:
        if root is None:
            return
        bodies = [shape for shape in read_shapes(root, {}) if shape.role == "body"]
        text = "\n".join(line for shape in bodies for line in iterate_paragraphs(shape.element))
        if text.strip():
            self.out.block(NOTES[detect_language(text)] + text)


def _get_one_line(shape: Shape) -> str:
    return (
        " ".join(" ".join(iterate_paragraphs(shape.element)).split())
        if shape.element.tag == f"{P}sp"
        else ""
    )


def _has_header(table: Any) -> bool:
    properties = table.find(f"{A}tblPr")
    return properties is not None and properties.get("firstRow") in {"1", "true"}

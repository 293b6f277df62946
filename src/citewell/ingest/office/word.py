"""Word documents (.docx) from their own XML: headings, lists with their numbers, tables, notes, in
document order. Sizes are checked before anything is unpacked or parsed. Left out are the table of
contents and what stands at the top and foot of pages.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.config import IngestSettings
from citewell.ingest.assemble import Assembly
from citewell.ingest.office.drawing import DIAGRAM, format_chart_lines, iterate_diagram_items
from citewell.ingest.office.package import Package
from citewell.ingest.office.word_body import Body
from citewell.ingest.office.word_numbering import Numbering, W
from citewell.ingest.office.word_styles import Styles, get_outline_level
from citewell.messages import Text
from citewell.types import Document

MEDIA_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_PARTS: Final = frozenset({"styles", "numbering", "footnotes", "endnotes"})
_R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """A Word document."""
    package = Package(data, name, settings, "word/document", "a Word document")
    main = next(
        (r.target for r in package.read_relations("").values() if r.kind == "officeDocument"),
        "word/document.xml",
    )
    root, related = package.parse_part(main), package.read_relations(main)
    by_kind = {
        relation.kind: package.parse_optional_part(relation.target)
        for relation in related.values()
        if relation.kind in _PARTS
    }
    body = None if root is None else root.find(f"{W}body")
    if body is None:
        raise ValueError("it has no text part that Word would read")

    def graphics(reference: Any) -> list[str]:
        relation = related.get(reference.get(f"{_R}dm") or reference.get(f"{_R}id") or "")
        part = package.parse_optional_part(relation.target) if relation else None
        if reference.tag == f"{DIAGRAM}relIds":
            return [f"- {text}" for text in iterate_diagram_items(part)]
        return format_chart_lines(part)

    styles, assembly = Styles(by_kind.get("styles")), Assembly()
    notes = {kind: _index_notes(by_kind.get(kind)) for kind in ("footnotes", "endnotes")}
    numbering = Numbering(by_kind.get("numbering"))
    reader = Body(
        assembly, styles, numbering, notes, graphics, has_headings=_has_headings(body, styles)
    )
    reader.read(body)
    if any(relation.kind == "aFChunk" for relation in related.values()):
        package.warnings.append(Text("a file that is embedded as text is left out"))
    title = reader.title or package.get_stated_title() or assembly.first_heading
    return assembly.document(
        name, MEDIA_TYPE, title=title, warnings=package.warnings, dated=package.read_date()
    )


def _index_notes(root: Any | None) -> dict[str, Any]:
    elements = [] if root is None else root
    return {
        element.get(f"{W}id"): element
        for element in elements
        if element.get(f"{W}type") in {None, "normal"}
    }


def _has_headings(body: Any, styles: Styles) -> bool:
    """Whether any paragraph has a heading's style; else lines such as `第一章` are headings."""
    for properties in body.iter(f"{W}pPr"):
        style = properties.find(f"{W}pStyle")
        if get_outline_level(properties) or (
            style is not None and styles.get(style.get(f"{W}val") or "").level
        ):
            return True
    return False

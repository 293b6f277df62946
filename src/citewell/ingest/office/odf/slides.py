"""The slides of an OpenDocument presentation: a slide is a page, its title a heading, its notes
labelled. Shapes are read in the order of their places, as on any slide.
"""

from __future__ import annotations

import re
from typing import Any, Final

from citewell.ingest.office.odf.body import Body
from citewell.ingest.office.odf.inline import get_plain_text
from citewell.ingest.office.odf.styles import DRAW, SHOW, SVG, Styles
from citewell.ingest.office.presentation import NOTES
from citewell.ingest.office.slide_shapes import Place, Shape, sort_shapes
from citewell.text.language import detect_language

_LENGTH = re.compile(r"(-?\d+(?:\.\d+)?)(cm|mm|in|pt|pc|px)?")
_POINTS: Final = {"cm": 28.35, "mm": 2.835, "in": 72.0, "pt": 1.0, "pc": 12.0, "px": 0.75}
_FURNITURE: Final = frozenset({"header", "footer", "date-time", "page-number", "page"})
_DEEPEST: Final = 20  # groups within groups


def add_slides(presentation: Any, body: Body, styles: Styles) -> list[int]:
    """Append every `draw:page`. The numbers of the hidden ones."""
    hidden = []
    for number, page in enumerate(presentation.iterfind(f"{DRAW}page"), start=1):
        body.breaks.begin(number)
        found = _collect_shapes(page, 0)
        titles = [
            shape for shape in found if shape.role == "title" and get_plain_text(shape.element)
        ]
        if titles:
            body.out.heading(1, " ".join(get_plain_text(shape.element) for shape in titles))
        else:
            body.out.begin(1, f"Slide {number}")
        for shape in sort_shapes([shape for shape in found if shape not in titles]):
            body.frame(shape.element)
        for notes in page.iterfind(f"{SHOW}notes"):
            text = "\n".join(
                get_plain_text(shape.element)
                for shape in _collect_shapes(notes, 0)
                if get_plain_text(shape.element)
            )
            body.out.block(NOTES[detect_language(text)] + text if text else "")
        if styles.is_hidden(page.get(f"{DRAW}style-name") or ""):
            hidden.append(number)
    return hidden


def _collect_shapes(parent: Any, depth: int) -> list[Shape]:
    found: list[Shape] = []
    for element in parent:
        kind = element.get(f"{SHOW}class") or ""
        if element.tag == f"{DRAW}g" and depth < _DEEPEST:
            found += _collect_shapes(element, depth + 1)
        elif (
            isinstance(element.tag, str) and element.tag.startswith(DRAW) and kind not in _FURNITURE
        ):
            found.append(Shape(element, kind, _get_place(element)))
    return found


def _get_place(element: Any) -> Place:
    x, y, width, height = (
        _to_points(element.get(f"{SVG}{key}")) for key in ("x", "y", "width", "height")
    )
    return x, y, x + width, y + height


def _to_points(text: str | None) -> float:
    found = _LENGTH.fullmatch((text or "").strip())
    return float(found[1]) * _POINTS[found[2] or "pt"] if found else 0.0

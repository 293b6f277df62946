"""The straight lines drawn on a page of a PDF: rules of tables, edges of boxes and coloured cells.
A page that holds more paths than a table can is a drawing, and has no rules.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from citewell.ingest.pdf.characters import Frame

_MOST_OBJECTS: Final = 20_000
_MOST_PATHS: Final = 3_000
_MOST_SEGMENTS: Final = 400  # of one path; more is a curve or a drawing
_DEEPEST_FORM: Final = 3
_PAGE_FORM: Final = 0.5  # of the page's area
_THIN: Final = 2.5  # points: the thickest rule
_SHORTEST: Final = 8.0
_TOUCHING: Final = 2.0  # points between two pieces of one rule
_WHITE: Final = 250  # of 255: what is filled so is not seen


@dataclass(frozen=True, slots=True)
class Rule:
    """A line at `at`, from `low` to `high` along the other axis; upright points."""

    at: float
    low: float
    high: float


def find_rules(page: Any, frame: Frame, turn: int) -> tuple[list[Rule], list[Rule]]:
    """The horizontal and the vertical rules of a pdfium page, pieces put together."""
    across: list[Rule] = []
    down: list[Rule] = []
    for ax, ay, bx, by in _iterate_lines(page):
        x0, y0 = frame.to_upright(turn, ax, ay)
        x1, y1 = frame.to_upright(turn, bx, by)
        x0, x1, y0, y1 = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
        if y1 - y0 <= _THIN and x1 - x0 >= _SHORTEST:
            across.append(Rule((y0 + y1) / 2, x0, x1))
        elif x1 - x0 <= _THIN and y1 - y0 >= _SHORTEST:
            down.append(Rule((x0 + x1) / 2, y0, y1))
    return _join_rules(across), _join_rules(down)


def _join_rules(found: Sequence[Rule]) -> list[Rule]:
    """Rules at one height whose pieces touch, as one."""
    levels: list[list[Rule]] = []
    for rule in sorted(found, key=lambda rule: rule.at):
        if levels and rule.at - levels[-1][0].at <= _TOUCHING:
            levels[-1].append(rule)
        else:
            levels.append([rule])
    whole: list[Rule] = []
    for level in levels:
        start = len(whole)
        for rule in sorted(level, key=lambda rule: rule.low):
            if len(whole) > start and rule.low - whole[-1].high <= _TOUCHING:
                whole[-1] = Rule(whole[-1].at, whole[-1].low, max(whole[-1].high, rule.high))
            else:
                whole.append(rule)
    return whole


def _iterate_lines(page: Any) -> Iterator[tuple[float, float, float, float]]:
    """What is drawn thin, and edges of rectangles or straight lines: two points each."""
    import pypdfium2.raw as pdfium

    bounds = [ctypes.c_float() for _ in range(4)]
    for item, matrix in _list_paths(page):
        if not pdfium.FPDFPageObj_GetBounds(item, *bounds) or not _is_visible(item):
            continue
        left, bottom, right, top = (bound.value for bound in bounds)
        if min(right - left, top - bottom) <= _THIN:
            yield (*_transform_point(matrix, left, bottom), *_transform_point(matrix, right, top))
        else:
            yield from _iterate_segments(item, matrix)


_Matrix = tuple[float, float, float, float, float, float]
_SAME: Final[_Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def _list_paths(page: Any) -> list[tuple[Any, _Matrix]]:
    """The page's paths, and those of forms that fill most of it. None if too many."""
    import pypdfium2.raw as pdfium

    left, bottom, right, top = page.get_bbox()
    count = min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS)
    waiting = [(pdfium.FPDFPage_GetObject(page, n), _SAME, 0) for n in range(count)]
    bounds = [ctypes.c_float() for _ in range(4)]
    paths: list[tuple[Any, _Matrix]] = []
    for item, matrix, depth in waiting:  # grows while it is read
        kind = pdfium.FPDFPageObj_GetType(item) if item else None
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            paths.append((item, matrix))
        elif (
            kind == pdfium.FPDF_PAGEOBJ_FORM
            and depth < _DEEPEST_FORM
            and pdfium.FPDFPageObj_GetBounds(item, *bounds)
        ):
            area = (bounds[2].value - bounds[0].value) * (bounds[3].value - bounds[1].value)
            inner = pdfium.FPDFFormObj_CountObjects(item)
            if area >= _PAGE_FORM * (right - left) * (top - bottom) and 0 < inner <= _MOST_OBJECTS:
                own = _multiply_matrices(_get_matrix(item), matrix)
                waiting += [
                    (pdfium.FPDFFormObj_GetObject(item, n), own, depth + 1) for n in range(inner)
                ]
        if len(paths) > _MOST_PATHS:
            return []
    return paths


def _get_matrix(item: Any) -> _Matrix:
    import pypdfium2.raw as pdfium

    found = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(item, found):
        return _SAME
    return found.a, found.b, found.c, found.d, found.e, found.f


def _multiply_matrices(first: _Matrix, then: _Matrix) -> _Matrix:
    (a, b, c, d, e, f), (g, h, i, j, k, m) = first, then
    return (
        a * g + b * i,
        a * h + b * j,
        c * g + d * i,
        c * h + d * j,
        e * g + f * i + k,
        e * h + f * j + m,
    )


def _transform_point(matrix: _Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _is_visible(item: Any) -> bool:
    """Whether a path is stroked, or filled with something other than white."""
    import pypdfium2.raw as pdfium

    fill, stroke = ctypes.c_int(), ctypes.c_int()
    if not pdfium.FPDFPath_GetDrawMode(item, fill, stroke):
        return False
    colour = [ctypes.c_uint(0) for _ in range(4)]
    if stroke.value or not fill.value or not pdfium.FPDFPageObj_GetFillColor(item, *colour):
        return bool(stroke.value or fill.value)
    return any(part.value < _WHITE for part in colour[:3]) and colour[3].value > 0


def _iterate_segments(item: Any, outer: _Matrix) -> Iterator[tuple[float, float, float, float]]:
    """The straight segments of a path, its curves left out."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFPath_CountSegments(item)
    if not 0 < count <= _MOST_SEGMENTS:
        return
    matrix = _multiply_matrices(_get_matrix(item), outer)
    x, y = ctypes.c_float(), ctypes.c_float()
    start = here = (0.0, 0.0)
    for n in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(item, n)
        if not pdfium.FPDFPathSegment_GetPoint(segment, x, y):
            continue
        point = _transform_point(matrix, x.value, y.value)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield (*here, *point)
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield (*point, *start)
        here = point

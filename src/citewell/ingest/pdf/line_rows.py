"""Pieces of lines joined into text, and grouped into rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.ingest.pdf.characters import SLANTED
from citewell.ingest.pdf.lines import Line, normalize_text


def join_pieces(lines: Sequence[Line]) -> list[Line]:
    """Pieces of one row as one line: as pdfium gives them, and around raised and lowered signs."""
    found: list[Line] = []
    for line in lines:
        if (
            found
            and not found[-1].row
            and not line.row
            and (_is_continuation(found[-1], line) or _is_same_row(found[-1], line))
        ):
            found[-1] = _merge_lines(found[-1], line)
        else:
            found.append(line)
    return found


def _is_continuation(before: Line, line: Line) -> bool:
    return (
        line.goes_on
        and abs(before.y0 - line.y0) < 0.7 * before.size
        and line.x0 > before.x1 - before.size
    )


def _is_same_row(before: Line, line: Line) -> bool:
    """Whether pdfium broke one row in two, as it does around raised and lowered characters."""
    overlap = min(before.y1, line.y1) - max(before.y0, line.y0)
    lower = min(before.y1 - before.y0, line.y1 - line.y0)
    gap = line.x0 - before.x1
    same = before.turn == line.turn != SLANTED and not before.hyphen
    return same and overlap > 0.5 * lower > 0 and -0.5 * before.size < gap < 1.5 * before.size


def _merge_lines(before: Line, line: Line) -> Line:
    close = line.x0 - before.x1 < 0.12 * before.size or line.text[0] in ",.;:)]，。；：）"
    larger = before if len(before.text) >= len(line.text) else line
    (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = before.box, line.box
    return replace(
        larger,
        text=normalize_text(before.text + ("" if close else " ") + line.text),
        x0=before.x0,
        x1=max(before.x1, line.x1),
        bold=before.bold and line.bold,
        starts_bold=before.starts_bold,
        fixed=before.fixed and line.fixed,
        hyphen=line.hyphen,
        box=(min(ax0, bx0), min(ay0, by0), max(ax1, bx1), max(ay1, by1)),
        words=(*before.words, *line.words),
        goes_on=before.goes_on,
    )


def group_rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Pieces that stand on one baseline, from the top of the page down, each from left to right."""
    found: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: -line.y0):
        if found and abs(found[-1][0].y0 - line.y0) < 0.45 * min(found[-1][0].size, line.size):
            found[-1].append(line)
        else:
            found.append([line])
    return [sorted(row, key=lambda line: line.x0) for row in found]

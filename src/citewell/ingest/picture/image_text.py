"""Lines read off a picture, joined to rows and paragraphs, each line with its box. Lines join only
where one plainly goes on in the next (same type size, close below, the upper one filled to the
right); a list, an address and a form keep their lines.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import replace

from citewell.ingest.assemble import Assembly, clean_text
from citewell.ingest.picture.ocr import OcrLine, rotate_line_back
from citewell.text.language import get_line_joiner
from citewell.text.line_breaks import LIST_ITEM
from citewell.types import Box

WIDE = 1.2  # line heights between two pieces of a row that are cells, not words
# line heights from a line of a paragraph to the next at most; the engine's boxes are generous
NEAR = 0.7
LIKE = 1.4  # how much taller a line of the same paragraph may be
FILLED = 0.88  # of its column's width that a line fills where the next goes on
WINDOW = 8  # rows before and after that tell how wide the column is
LARGE = 1.25  # times the usual height that a title has
TITLE_LINES, TITLE_PART = 6, 0.45  # it is among the first lines, in the upper part of the page
_BROKEN = re.compile(r"[a-z]-$")

Row = list[OcrLine]


def add_page(out: Assembly, number: int, lines: Sequence[OcrLine], turn: int, shape: float) -> str:
    """Append a page's text. `lines`: upright and in order; `turn`: as `read_upright` gives it;
    `shape`: width by height, upright. Returns the line that looks like the page's title, or
    nothing.
    """
    before: list[Row] = []
    for paragraph in _group_paragraphs(_group_rows(lines, shape), shape):
        text, boxes = _build_text(paragraph, number, turn, shape)
        out.block(
            text,
            gap="\n" if before and _is_close_below(before[-1][0], paragraph[0][0]) else "\n\n",
            boxes=boxes,
        )
        before = paragraph
    return _find_title(lines)


def _group_rows(lines: Sequence[OcrLine], shape: float) -> list[Row]:
    """Lines side by side are one row."""
    rows: list[Row] = []
    for line in lines:
        last = rows[-1][-1] if rows else None
        half = min(_measure_height(line), _measure_height(last)) / 2 if last else 0.0
        level = last is not None and abs((line.y0 + line.y1) - (last.y0 + last.y1)) / 2 < half
        if last and level and (line.x0 - last.x1) * shape > -half:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _group_paragraphs(rows: Sequence[Row], shape: float) -> list[list[Row]]:
    """Rows that go on in the next, together."""
    found: list[list[Row]] = []
    for n, row in enumerate(rows):
        before = found[-1][-1] if found else None
        near = [line for other in rows[max(0, n - WINDOW) : n + WINDOW] for line in other]
        if (
            before
            and len(before) == len(row) == 1
            and _is_continuation(before[0], row[0], near, shape)
        ):
            found[-1].append(row)
        else:
            found.append([row])
    return found


def _is_continuation(line: OcrLine, after: OcrLine, near: Sequence[OcrLine], shape: float) -> bool:
    """Whether `after` is of the same paragraph; `near`: lines that tell the column's width."""
    if (
        not _is_close_below(line, after)
        or LIST_ITEM.match(after.text)
        or (after.x0 - line.x0) * shape > 1.5 * _measure_height(line)
    ):
        return False
    column = [
        other for other in near if abs(other.x0 - line.x0) * shape < 4 * _measure_height(line)
    ]
    left, right = min(other.x0 for other in column), max(other.x1 for other in column)
    return line.x1 - left >= FILLED * (right - left)


def _is_close_below(line: OcrLine, after: OcrLine) -> bool:
    """Whether `after` stands close below, in the same type size."""
    high, low = (
        max(_measure_height(line), _measure_height(after)),
        min(_measure_height(line), _measure_height(after)),
    )
    overlap = after.x0 < line.x1 and line.x0 < after.x1
    return overlap and high <= LIKE * low and -0.5 * low < after.y0 - line.y1 < NEAR * low


def _build_text(
    paragraph: Sequence[Row], page: int, turn: int, shape: float
) -> tuple[str, list[Box]]:
    text = ""
    boxes: list[Box] = []
    last: OcrLine | None = None
    for row in paragraph:
        for line in row:
            piece = clean_text(line.text).replace("\n", " ").strip()
            if last is not None and line is not row[0]:
                text += " | " if (line.x0 - last.x1) * shape > WIDE * _measure_height(line) else " "
            elif last is not None and _BROKEN.search(text) and piece[:1].islower():
                text = text[:-1]
                boxes[-1] = replace(boxes[-1], end=len(text))
            elif last is not None:
                text += get_line_joiner(text, piece)
            seen = rotate_line_back(line, turn)
            boxes.append(
                Box(len(text), len(text) + len(piece), page, seen.x0, seen.y0, seen.x1, seen.y1)
            )
            text += piece
            last = line
    return text, boxes


def _find_title(lines: Sequence[OcrLine]) -> str:
    """The tallest of the first lines, where it stands out."""
    if len(lines) < 3:
        return ""
    usual = statistics.median(_measure_height(line) for line in lines)
    first = [line for line in lines[:TITLE_LINES] if line.y1 < TITLE_PART and len(line.text) > 3]
    tallest = max(first, key=_measure_height, default=None)
    return tallest.text if tallest and _measure_height(tallest) >= LARGE * usual else ""


def _measure_height(line: OcrLine) -> float:
    """In shares of the upright page's height."""
    return line.y1 - line.y0

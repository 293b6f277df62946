"""Text read off pictures (the extra `citewell[ocr]`): PP-OCRv6 through the package `faster-paddle`,
Chinese and English. One engine a process, built on first use from the models inside the package;
nothing is fetched, and a page that stands on its side or its head is read all the same. Boxes are
in shares of the picture as it was given.
"""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from citewell.ingest.pdf.lines import Line
from citewell.ingest.pdf.reading_order import group_columns
from citewell.models.builtin.cores import count_cores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

EXTRA: Final = "pip install 'citewell[ocr]'"
MOST_THREADS: Final = 4
# Of PP-OCRv6 only the smallest model: on 18 pages at 200 dpi 0.5 % of the characters are wrong, as
# with the next larger one, which takes seven times as long.
MODEL: Final = "tiny"
LEAST_SCORE: Final = 0.5  # a line recognised with less is noise
UPRIGHT_SCORE: Final = 0.85  # upright lines score 0.95 to 1.0, lines upside down 0.58 to 0.73
MOST_SIDE: Final = 3_000  # pixels: a larger picture is read at 3,000 by 2,100
_NOTHING = re.compile(r"[\W_]+")  # a line of signs only: rules, dots, dirt


class OcrLine(NamedTuple):
    """A line, its rectangle (shares of the picture, from the top left) and how sure the engine is
    (0 to 1).

    `turn`: quarter turns anticlockwise that set the page upright; the rectangle is that of the
    picture as it is.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    score: float
    turn: int = 0


def is_available() -> bool:
    """Whether the extra is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("faster_paddle", "PIL"))


def read_upright(pixels: Pixels) -> tuple[list[OcrLine], int]:
    """The same in places of the picture turned anticlockwise by so many quarters."""
    everything, turn = _recognize_upright(pixels)
    found = [
        line
        for line in everything
        if line.score >= LEAST_SCORE and not _NOTHING.fullmatch(line.text)
    ]
    height, width = pixels.shape[:2] if turn % 2 == 0 else (pixels.shape[1], pixels.shape[0])
    return sort_lines(found, width, height), turn


@cache
def _load_engine() -> Any:
    import faster_paddle

    return faster_paddle.OcrEngine(model_size=MODEL, threads=min(count_cores(), MOST_THREADS))


def _recognize_lines(pixels: Pixels) -> list[OcrLine]:
    """All that the engine finds, row by row. It wants a file; a bitmap is the one made fastest."""
    from PIL import Image

    height, width = pixels.shape[:2]
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "BMP")
    bounds = _load_engine().ocr(
        file.getvalue(), deskew=True, resize=max(height, width) > MOST_SIDE
    )["bounds"]
    lines = []
    for _, found in sorted(bounds.items()):
        (x0, y0), (x1, y1) = found["topLeftCoord"], found["bottomRightCoord"]
        text, score = " ".join(found["text"].split()), float(found["confidence"])
        left, top, right, bottom = (
            min(1.0, max(0.0, part)) for part in (x0 / width, y0 / height, x1 / width, y1 / height)
        )
        lines.append(OcrLine(text, left, top, right, bottom, score))
    return lines


def _recognize_upright(pixels: Pixels) -> tuple[list[OcrLine], int]:
    """The lines of the picture as it has to be turned to be read, and the quarter turns
    anticlockwise.

    Lines that are higher than wide tell a page on its side (the engine turns each anticlockwise to
    read it), a low score one that is upside down. Of the turns tried the surest counts.
    """
    import numpy as np

    lines = _recognize_lines(pixels)
    sure, tall = (
        compute_confidence(lines),
        _is_mostly_vertical(lines, pixels.shape[1], pixels.shape[0]),
    )
    if not tall and (sure >= UPRIGHT_SCORE or not lines):
        return lines, 0
    tries = ((1, 3) if sure >= UPRIGHT_SCORE else (3, 1)) if tall else (2,)
    best, turn = lines, 0
    for quarter in tries:
        turned = _recognize_lines(np.ascontiguousarray(np.rot90(pixels, quarter)))
        if compute_confidence(turned) > sure or (
            tall and turn == 0 and compute_confidence(turned) >= UPRIGHT_SCORE
        ):
            best, turn, sure = turned, quarter, compute_confidence(turned)
        if sure >= UPRIGHT_SCORE:
            break
    return best, turn


def compute_confidence(lines: Sequence[OcrLine]) -> float:
    """The mean score of the characters; lines of signs only do not count."""
    texts = [(line.score, len(line.text)) for line in lines if not _NOTHING.fullmatch(line.text)]
    return sum(score * length for score, length in texts) / max(
        1, sum(length for _, length in texts)
    )


def _is_mostly_vertical(lines: Sequence[OcrLine], width: int, height: int) -> bool:
    """Whether most characters stand in lines that are higher than wide."""
    tall = sum(
        len(x.text)
        for x in lines
        if len(x.text) > 1 and (x.y1 - x.y0) * height > 1.5 * (x.x1 - x.x0) * width
    )
    return 2 * tall > sum(len(line.text) for line in lines)


def sort_lines(lines: Sequence[OcrLine], width: int, height: int) -> list[OcrLine]:
    """Column after column, as a PDF's lines; `width` and `height` of the picture in pixels."""
    places = [
        Line(
            1,
            line.text,
            line.x0 * width,
            line.x1 * width,
            (1 - line.y1) * height,
            (1 - line.y0) * height,
            size,
        )
        for line in lines
        if (size := max(1.0, (line.y1 - line.y0) * height))
    ]
    numbers = {id(place): n for n, place in enumerate(places)}
    return [
        line
        for column in group_columns(places)
        for line in _sort_rows([lines[numbers[id(place)]] for place in column])
    ]


def _sort_rows(column: list[OcrLine]) -> list[OcrLine]:
    """Rows as the engine gives them, which straightens a crooked page; of two lines one above the
    other, the upper first.
    """
    for _ in column:
        swapped = False
        for n, (line, after) in enumerate(pairwise(column)):
            shared = min(line.x1, after.x1) - max(line.x0, after.x0)
            higher = (line.y0 + line.y1) - (after.y0 + after.y1) > min(
                line.y1 - line.y0, after.y1 - after.y0
            )
            if higher and 2 * shared > min(line.x1 - line.x0, after.x1 - after.x0):
                column[n], column[n + 1] = after, line
                swapped = True
        if not swapped:
            break
    return column


def rotate_line_back(line: OcrLine, turn: int) -> OcrLine:
    """A line of the picture turned by `turn` quarters, with its place in the original."""
    x0, y0, x1, y1 = line.x0, line.y0, line.x1, line.y1
    places = (
        (x0, y0, x1, y1),
        (1 - y1, x0, 1 - y0, x1),
        (1 - x1, 1 - y1, 1 - x0, 1 - y0),
        (y0, 1 - x1, y1, 1 - x0),
    )
    left, top, right, bottom = (round(share, 5) for share in places[turn])
    return OcrLine(line.text, left, top, right, bottom, line.score, turn)

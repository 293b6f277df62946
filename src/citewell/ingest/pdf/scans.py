"""Pages of a PDF without text, read by OCR; none is drawn larger than the limit."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from citewell.ingest.pdf.line_rows import join_pieces
from citewell.ingest.pdf.lines import Line, normalize_text
from citewell.ingest.picture import ocr

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DOTS: Final = 200  # an inch: what OCR engines are made for
MOST_PIXELS: Final = 12_000_000  # an A4 page at 200 dots an inch has 4 million
_LARGER: Final = 1.4  # times the usual height of a line: a title


def read_scan(page: Any, number: int) -> list[Line]:
    """OCR's lines of a pdfium page in reading order. Raises what `ocr` raises without it."""
    pixels = draw_page(page, _DOTS / 72)
    found, turn = ocr.read_upright(pixels)
    points = 72 / _DOTS
    height, width = (
        side * points for side in (pixels.shape[:2] if turn % 2 == 0 else pixels.shape[1::-1])
    )
    usual = median((line.y1 - line.y0) * height for line in found) if found else 0.0
    lines = []
    for line in found:
        size = (line.y1 - line.y0) * height
        seen = ocr.rotate_line_back(line, turn)
        read = Line(
            page=number,
            text=normalize_text(line.text),
            x0=line.x0 * width,
            x1=line.x1 * width,
            y0=(1 - line.y1) * height,
            y1=(1 - line.y0) * height,
            # what is measured varies with the letters of a line
            size=round(usual if size < _LARGER * usual else size, 1),
            box=(seen.x0, seen.y0, seen.x1, seen.y1),
        )
        if read.text:
            lines.append(read)
    return join_pieces(lines)


def draw_page(page: Any, scale: float) -> NDArray[np.uint8]:
    """The page in colour: height, width, three. `scale`: pixels a point, less if too many."""
    width, height = page.get_size()
    scale = min(scale, math.sqrt(MOST_PIXELS / max(1.0, width * height)))
    bitmap = page.render(scale=scale, rev_byteorder=True)
    try:
        pixels: NDArray[np.uint8] = bitmap.to_numpy()[..., :3].copy()
    finally:
        bitmap.close()
    return pixels

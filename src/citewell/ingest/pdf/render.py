"""A page of a PDF as a PNG picture, with what is cited marked as if with a highlighter. The file is
hostile. It is drawn in a worker process, for so long and so large as the limits here allow.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_process

from citewell.errors import NotFound, UnreadableFile
from citewell.ingest.pdf.parse import open_pdf
from citewell.ingest.pdf.scans import MOST_PIXELS, draw_page
from citewell.ingest.worker import Died, run_in_worker
from citewell.messages import Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SECONDS: Final = 20.0  # that one page may take
LARGEST_SIDE: Final = 8_000  # pixels
# what white paper turns to; ink stays ink, for the colours are multiplied
_MARKER: Final = (255, 231, 112)
_AROUND: Final = 0.002  # shares of the page that a mark reaches beyond its line

# x0, y0, x1, y1 in shares of the page from its top left
Rectangle = tuple[float, float, float, float]


async def render_page(
    data: bytes, name: str, page: int, width: int, marks: Sequence[Rectangle]
) -> bytes:
    """Page `page` (1-based), `width` pixels, with `marks`. Raises NotFound, UnreadableFile."""
    async with anyio.to_process.current_default_process_limiter():
        try:
            with anyio.fail_after(SECONDS):
                png = await run_in_worker(
                    "citewell.ingest.pdf.render:render", data, name, page, width, tuple(marks)
                )
        except TimeoutError:
            raise UnreadableFile(
                Text(
                    "page {page} of {name} could not be drawn within {seconds:g} s",
                    page=page,
                    name=name,
                    seconds=SECONDS,
                )
            ) from None
        except Died:
            raise UnreadableFile(
                Text(
                    "page {page} of {name} cannot be drawn: the renderer crashed",
                    page=page,
                    name=name,
                )
            ) from None
    assert isinstance(png, bytes)
    return png


def render(data: bytes, name: str, page: int, width: int, marks: Sequence[Rectangle]) -> bytes:
    """The same in this process."""
    import pypdfium2

    pdf = open_pdf(data, name)
    try:
        if not 1 <= page <= len(pdf):
            raise NotFound(
                Text("{name} has no page {page}", name=name, page=page),
                hint=Text("it has pages 1 to {pdf}", pdf=len(pdf)),
            )
        pdf.init_forms()
        opened = pdf[page - 1]
        wide, high = opened.get_size()
        scale = min(width / max(1.0, wide), LARGEST_SIDE / max(1.0, wide, high))
        pixels = draw_page(opened, scale)
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(
            Text(
                "page {page} of {name} cannot be drawn: {error}", page=page, name=name, error=error
            )
        ) from None
    finally:
        pdf.close()
    _highlight_marks(pixels, marks)
    return encode_png(pixels)


def _highlight_marks(pixels: NDArray[np.uint8], marks: Sequence[Rectangle]) -> None:
    import numpy as np

    height, width = pixels.shape[:2]
    marked = np.zeros((height, width), dtype=np.bool_)
    for x0, y0, x1, y1 in marks:
        rows = slice(max(0, int((y0 - _AROUND) * height)), max(0, int((y1 + _AROUND) * height)) + 1)
        marked[
            rows, max(0, int((x0 - _AROUND) * width)) : max(0, int((x1 + _AROUND) * width)) + 1
        ] = True
    colours = pixels[marked].astype(np.uint16) * np.array(_MARKER, dtype=np.uint16) // 255
    pixels[marked] = colours.astype(np.uint8)


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """PNG of height by width by three (red, green, blue)."""
    import numpy as np

    height, width = pixels.shape[:2]
    assert height * width <= 2 * MOST_PIXELS
    lines = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each begins with its filter: none
    lines[:, 1:] = pixels.reshape(height, 3 * width)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_encode_png_chunk(kind, body) for kind, body in parts)


def _encode_png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

"""A PDF whose fonts name their glyphs wrongly, as some writers of PDFs leave them: drawn rightly by
pdfium, and not by pdf.js.

The one rule: nothing in the file moves, so that it stays a PDF that every reader opens.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

FONT = re.compile(rb"/Subtype /OpenType/Filter /FlateDecode/Length (\d+)>>\nstream\n")
# the charset of a CFF font whose CIDs are its glyphs' places: one range from 1, and how many follow
CHARSET = re.compile(rb"\x02\x00\x01([\x02-\x10].)", re.DOTALL)


def with_wrong_glyphs(pdf: bytes) -> bytes:
    """The CIDs of every font of a PDF moved on by some hundreds, while its text goes on to name
    glyphs by their places.
    """
    made, fonts = bytearray(pdf), 0
    for found in FONT.finditer(pdf):
        size = int(found[1])
        font = zlib.decompress(pdf[found.end() : found.end() + size])
        (charset,) = CHARSET.finditer(font)
        packed = next(each for each in _moved(font, charset) if len(each) <= size)
        made[found.end() : found.end() + size] = packed.ljust(size, b"\n")
        fonts += 1
    assert fonts
    return bytes(made)


def _moved(font: bytes, charset: re.Match[bytes]) -> Iterator[bytes]:
    """Some ways of doing so: one of them is packed into no more bytes than before."""
    for first in range(400, 900):
        yield zlib.compress(
            font[: charset.start()] + b"\x02" + first.to_bytes(2, "big") + font[charset.start(1) :],
            9,
        )

"""Pages of PDFs as pictures, and pages that are pictures."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import numpy as np
import pytest

from citewell.config import IngestSettings
from citewell.errors import NotFound, UnreadableFile
from citewell.ingest.pdf import parse as pdf
from citewell.ingest.pdf.render import render, render_page
from citewell.ingest.picture import ocr
from citewell.ingest.picture.ocr import OcrLine

Maker = Callable[..., bytes]
PAGE = [(60.0, 700.0, 20.0, "Some words")]


def pixels_of(png: bytes) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    """Height by width by three, of a PNG whose lines have no filter."""
    width, height = struct.unpack(">II", png[16:24])
    at, body = 8, b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        body += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += length + 12
    lines = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, 1 + 3 * width)
    return lines[:, 1:].reshape(height, width, 3)


async def test_marks_are_where_they_should_be(make_pdf: Maker) -> None:
    """The picture is as wide as asked; what is marked is yellow there and nowhere else, and ink
    stays dark.
    """
    png = await render_page(make_pdf([PAGE]), "x.pdf", 1, 300, [(0.1, 0.09, 0.3, 0.13)])
    picture = pixels_of(png)
    assert picture.shape == (400, 300, 3)
    assert tuple(picture[37, 32]) == (255, 231, 112)
    assert tuple(picture[200, 200]) == (255, 255, 255)
    assert picture[36:52, 30:90].min() < 100


async def test_pages_that_are_not_there(make_pdf: Maker) -> None:
    """An unknown page and a broken file say so, from the worker process too."""
    with pytest.raises(NotFound, match="has no page 2"):
        await render_page(make_pdf([PAGE]), "x.pdf", 2, 300, [])
    with pytest.raises(UnreadableFile, match="is broken"):
        await render_page(b"%PDF-1.7 nothing", "x.pdf", 1, 300, [])


def test_size_is_limited(make_pdf: Maker) -> None:
    """A page of any shape is drawn within the limits."""
    picture = pixels_of(
        render(make_pdf([PAGE], entries=b"/CropBox [0 0 3 800]"), "x.pdf", 1, 2400, [])
    )
    assert max(picture.shape) <= 8_001


def test_scanned_pages_through_ocr(make_pdf: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where OCR is on, a page without text is read: its lines have boxes, and a warning says how
    they were had.
    """
    lines = [OcrLine("Read from a picture.", 0.1, 0.2, 0.6, 0.23, 0.99)]
    monkeypatch.setattr(ocr, "is_available", lambda: True)
    monkeypatch.setattr(
        ocr, "read_upright", lambda pixels: (lines, 0) if pixels.shape[2] == 3 else ([], 0)
    )
    document = pdf.parse(make_pdf([PAGE, None]), "x.pdf", IngestSettings(ocr="auto"))
    assert document.text == "Some words\n\nRead from a picture."
    [box] = [box for box in document.boxes if box.page == 2]
    assert (box.x0, box.y0, box.x1, box.y1) == (0.1, 0.2, 0.6, 0.23)
    assert document.warnings == ("no text layer on page 2: read by OCR, which can misread",)


def test_ocr_that_is_missing_late_or_finds_nothing(
    make_pdf: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is said, with what to do."""
    data, on = make_pdf([PAGE, None]), IngestSettings(ocr="auto")
    monkeypatch.setattr(ocr, "is_available", lambda: False)
    assert "pip install" in pdf.parse(data, "x.pdf", on).warnings[0]
    monkeypatch.setattr(ocr, "is_available", lambda: True)
    monkeypatch.setattr(ocr, "read_upright", lambda pixels: ([], 0))
    assert "OCR finds no text there" in pdf.parse(data, "x.pdf", on).warnings[0]
    assert (
        "ran out of time"
        in pdf.parse(data, "x.pdf", IngestSettings(ocr="auto", parse_seconds=1e-9)).warnings[0]
    )
    with pytest.raises(UnreadableFile, match="OCR finds no text"):
        pdf.parse(make_pdf([None]), "x.pdf", on)

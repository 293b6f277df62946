"""Text off pictures: the order, the turning, and what the real engine makes of pages that were
printed as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
import pytest
from numpy.typing import NDArray

from citewell.ingest.picture import ocr
from citewell.ingest.picture.ocr import OcrLine, rotate_line_back, sort_lines

Maker = Callable[..., bytes]
Pixels = NDArray[np.uint8]
LIBRARY = Path(__file__).resolve().parents[2] / "samples" / "library"
engine_needed = pytest.mark.skipif(
    not ocr.is_available(), reason="the extra citewell[ocr] is not installed"
)


class FakeEngine:
    """Finds what a test says, once a call; a line is (text, x0, y0, x1, y1, score) in pixels."""

    def __init__(self, *pages: list[tuple[str, int, int, int, int, float]]) -> None:
        self.pages = list(pages)
        self.asked: list[dict[str, Any]] = []

    def ocr(self, file: bytes, **options: Any) -> dict[str, Any]:
        self.asked.append({"file": file, **options})
        lines = enumerate(self.pages.pop(0))
        return {
            "bounds": {
                n: {
                    "text": text,
                    "topLeftCoord": (x0, y0),
                    "bottomRightCoord": (x1, y1),
                    "confidence": score,
                }
                for n, (text, x0, y0, x1, y1, score) in lines
            }
        }


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeEngine]:
    def put(*pages: list[tuple[str, int, int, int, int, float]]) -> FakeEngine:
        fake = FakeEngine(*pages)
        monkeypatch.setattr(ocr, "_load_engine", lambda: fake)
        return fake

    return put


def blank(width: int = 200, height: int = 100) -> Pixels:
    return np.full((height, width), 255, np.uint8)


def read_image(pixels: Pixels) -> list[OcrLine]:
    """The lines as they stand on the picture, in reading order."""
    lines, turn = ocr.read_upright(pixels)
    return [rotate_line_back(line, turn) for line in lines]


def test_places_are_shares_of_the_picture(engine: Callable[..., FakeEngine]) -> None:
    """Pixels become shares, spaces one space; noise and lines of signs only are left out."""
    fake = engine(
        [
            ("Total  due", 20, 10, 120, 20, 0.99),
            ("~ _ |", 0, 0, 9, 9, 0.9),
            ("l", 0, 50, 9, 60, 0.3),
        ]
    )
    assert read_image(blank()) == [OcrLine("Total due", 0.1, 0.1, 0.6, 0.2, 0.99)]
    assert fake.asked[0]["file"].startswith(b"BM")
    assert fake.asked[0]["resize"] is False


def test_picture_without_text_is_read_once(engine: Callable[..., FakeEngine]) -> None:
    """No lines, no turning."""
    fake = engine([])
    assert read_image(blank()) == []
    assert len(fake.asked) == 1


def test_page_on_its_head(engine: Callable[..., FakeEngine]) -> None:
    """A low score makes it try upside down; boxes come back in the picture as it was given."""
    engine([("pauleluoo", 100, 80, 180, 90, 0.6)], [("contained", 20, 10, 100, 20, 0.98)])
    [line] = read_image(blank())
    assert (line.text, line.turn) == ("contained", 2)
    assert (line.x0, line.y0, line.x1, line.y1) == (0.5, 0.8, 0.9, 0.9)


def test_page_on_its_side(engine: Callable[..., FakeEngine]) -> None:
    """Tall lines make it turn the page the way that reads best."""
    tall = [("uoisrevnoc", 10, 10, 20, 90, 0.6), ("egakcap", 30, 40, 40, 90, 0.6)]
    engine(tall, [("conversion", 10, 10, 90, 20, 0.97), ("package", 10, 30, 60, 40, 0.99)])
    first, second = read_image(blank())
    assert (first.text, second.text, first.turn) == ("conversion", "package", 3)
    assert (first.x0, first.y0, first.x1, first.y1) == (0.05, 0.1, 0.1, 0.9)


def test_hopeless_page_stays_as_it_is(engine: Callable[..., FakeEngine]) -> None:
    """Where no turn reads better, what the first try found counts."""
    engine([("scrawl", 20, 10, 120, 20, 0.7)], [("lwarcs", 20, 10, 120, 20, 0.6)])
    assert [(line.text, line.turn) for line in read_image(blank())] == [("scrawl", 0)]


@pytest.mark.parametrize("turn", [0, 1, 2, 3])
def test_turning_back(turn: int) -> None:
    """A mark in a picture that numpy turned is found again where it was."""
    pixels = np.zeros((40, 80), np.uint8)
    pixels[10:20, 16:48] = 1
    turned = np.rot90(pixels, turn)
    rows, across = np.argwhere(turned.any(axis=1)).ravel(), np.argwhere(turned.any(axis=0)).ravel()
    height, width = turned.shape
    line = OcrLine(
        "x",
        across[0] / width,
        rows[0] / height,
        (across[-1] + 1) / width,
        (rows[-1] + 1) / height,
        1.0,
    )
    assert rotate_line_back(line, turn)[1:5] == (0.2, 0.25, 0.6, 0.5)


def test_columns_are_read_one_after_the_other() -> None:
    """Row by row is how an engine gives two columns; they are read down the left and then down the
    right.
    """
    text = "a line of running text, wide as its column"
    rows = [(n / 50, n / 50 + 0.014) for n in range(2, 14)]
    given = [OcrLine(f"{side} {n} {text}", x, y0, x + 0.4, y1, 0.9)
             for n, (y0, y1) in enumerate(rows)
             for side, x in (("left", 0.05), ("right", 0.55))]  # fmt: skip
    sides = [line.text.split()[0] for line in sort_lines(given, 1600, 2200)]
    assert sides == ["left"] * 12 + ["right"] * 12


def test_upper_line_first() -> None:
    """Lines that the engine gives in the wrong order, one above the other, are put right; a row
    keeps its order.
    """
    lower, upper = (
        OcrLine("second", 0.1, 0.20, 0.9, 0.22, 0.9),
        OcrLine("first", 0.1, 0.17, 0.9, 0.19, 0.9),
    )
    row = [
        OcrLine("left", 0.1, 0.302, 0.3, 0.322, 0.9),
        OcrLine("right", 0.5, 0.30, 0.9, 0.32, 0.9),
    ]
    assert [line.text for line in sort_lines([lower, upper, *row], 1000, 1400)] == [
        "first",
        "second",
        "left",
        "right",
    ]


def rendered(data: bytes | Path, number: int = 0, dots: int = 150) -> tuple[Pixels, str]:
    """A page as pixels, and its own text."""
    pdf = pypdfium2.PdfDocument(data)
    page = pdf[number]
    pixels, text = (
        page.render(scale=dots / 72, grayscale=True).to_numpy(),
        page.get_textpage().get_text_bounded(),
    )
    return np.ascontiguousarray(pixels).reshape(pixels.shape[:2]), text


def wrong_share(expected: str, found: str) -> float:
    """Share of the characters that are missing or too many, whatever their order, spaces aside."""
    one, other = (
        Counter(text.translate({ord("（"): "(", ord("）"): ")"}).replace(" ", ""))
        for text in (expected, found)
    )
    for count in (one, other):
        for space in "\r\n":
            del count[space]
    return (((one - other) + (other - one)).total()) / (2 * one.total())


@engine_needed
@pytest.mark.parametrize(
    ("name", "page"), [("drover-2-owners-manual.pdf", 1), ("T300三轮货运车使用手册.pdf", 1)]
)
def test_printed_pages_are_read(name: str, page: int) -> None:
    """An English and a Chinese page come back with at most 2 of 100 characters wrong."""
    pixels, text = rendered(LIBRARY / name, page)
    found = "".join(line.text for line in read_image(pixels))
    assert wrong_share(text, found) < 0.02


@engine_needed
@pytest.mark.parametrize("turn", [0, 1, 2, 3])
def test_turned_pages_are_read(make_pdf: Maker, turn: int) -> None:
    """A page turned any way gives its text, in order, with the boxes where the words stand."""
    words = [
        "The warranty covers the frame",
        "for ten years from delivery",
        "and the battery for two.",
    ]
    pixels, _ = rendered(make_pdf([[(40, 700 - 30 * n, 20, text) for n, text in enumerate(words)]]))
    lines = read_image(np.ascontiguousarray(np.rot90(pixels, turn)))
    assert [line.text for line in lines] == words
    assert {line.turn for line in lines} == {(4 - turn) % 4}
    upright = [rotate_line_back(line._replace(turn=0), (4 - line.turn) % 4) for line in lines]
    assert all(0.04 < line.x0 < 0.1 for line in upright)
    assert [round(line.y0, 1) for line in upright] == [0.1, 0.1, 0.2]

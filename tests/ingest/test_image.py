"""Pictures as documents: refused with a way out while OCR is off, read page by page with boxes
while it is on.
"""

from __future__ import annotations

import io
import struct
import sys
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest import parse_here
from citewell.ingest.assemble import Assembly
from citewell.ingest.picture import image, ocr
from citewell.ingest.picture.image_text import add_page
from citewell.ingest.picture.ocr import OcrLine

ON, OFF = IngestSettings(ocr="auto"), IngestSettings()
Reader = Callable[..., list[tuple[int, ...]]]


def saved(picture: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, form, **options)
    return buffer.getvalue()


def page(width: int = 200, height: int = 280) -> Image.Image:
    return Image.new("L", (width, height), 255)


def row(text: str, y: float, x0: float = 0.1, x1: float = 0.9, height: float = 0.02) -> OcrLine:
    return OcrLine(text, x0, y, x1, y + height, 0.97)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reader:
    """Makes OCR available and gives each page the next list of lines; returns the shapes of the
    pages that were read.
    """

    def put(*pages: list[OcrLine]) -> list[tuple[int, ...]]:
        waiting, shapes = list(pages), []

        def read_upright(pixels: Any) -> tuple[list[OcrLine], int]:
            shapes.append(pixels.shape)
            return waiting.pop(0), 0

        monkeypatch.setattr(ocr, "is_available", lambda: True)
        monkeypatch.setattr(ocr, "read_upright", read_upright)
        return shapes

    return put


def test_a_picture_where_the_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused as any picture is without the extra, whatever the settings say; it is no fault."""
    data = saved(page())
    for name in [each for each in sys.modules if each == "PIL" or each.startswith("PIL.")]:
        monkeypatch.setitem(sys.modules, name, None)
    for settings in (OFF, ON):
        with pytest.raises(UnreadableFile) as caught:
            parse_here(data, "scan.png", settings)
        assert "citewell[ocr]" in caught.value.hint


@pytest.mark.parametrize(("there", "settings", "steps"), [
    (True, OFF, ["ingest.ocr"]),
    (False, OFF, ["citewell[ocr]", "ingest.ocr"]),
    (False, ON, ["citewell[ocr]"]),
])  # fmt: skip
def test_refusal_says_how_to_switch_it_on(
    monkeypatch: pytest.MonkeyPatch, there: bool, settings: IngestSettings, steps: list[str]
) -> None:
    """The hint names what is missing of the setting and the extra, and nothing else."""
    monkeypatch.setattr(ocr, "is_available", lambda: there)
    with pytest.raises(UnreadableFile, match=r"scan\.png is a picture") as caught:
        parse_here(saved(page()), "scan.png", settings)
    for step in ("citewell[ocr]", "ingest.ocr"):
        assert (step in caught.value.hint) == (step in steps)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF", "WEBP", "BMP"])
def test_each_format_is_read(reads: Reader, form: str) -> None:
    """Every format is known by its bytes, whatever its name says, and text and box stand on
    page 1.
    """
    reads([row("Invoice 42", 0.1)])
    document = parse_here(saved(page(), form), "scan", ON)
    assert (document.text, document.media_type) == ("Invoice 42", f"image/{form.lower()}")
    [box] = document.boxes
    assert (document.text[box.start : box.end], box.page, box.x0, box.y1) == (
        "Invoice 42",
        1,
        0.1,
        0.12,
    )
    assert "read off a picture" in document.warnings[0]


def test_pages_of_a_tiff(reads: Reader) -> None:
    """Each picture of a TIFF is a page; one without text is named; more than the limit are
    refused.
    """
    reads([row("first page", 0.1)], [], [row("third page", 0.1)])
    data = saved(page(), "TIFF", save_all=True, append_images=[page(), page()])
    document = parse_here(data, "fax.tif", ON)
    assert [(p.number, document.text[p.start : p.end].strip()) for p in document.pages] == [
        (1, "first page"), (2, ""), (3, "third page")]  # fmt: skip
    assert "no text found on 1 of 3 pages: 2" in document.warnings[1]
    with pytest.raises(UnreadableFile, match="3 pages; 2 are allowed"):
        parse_here(data, "fax.tif", IngestSettings(ocr="auto", max_pages=2))


def test_pages_beyond_the_time(reads: Reader) -> None:
    """What could not be read in time is left out and named; what was read is kept."""
    reads([row("first page", 0.1)])
    data = saved(page(), "TIFF", save_all=True, append_images=[page(), page()])
    document = parse_here(data, "fax.tif", IngestSettings(ocr="auto", parse_seconds=1e-9))
    assert (document.text, len(document.pages)) == ("first page", 3)
    assert "pages 2 to 3 were not read" in document.warnings[1]


def test_picture_without_text(reads: Reader) -> None:
    """It is told, not kept as an empty document."""
    reads([])
    with pytest.raises(UnreadableFile, match="no text was found"):
        parse_here(saved(page()), "photo.jpg", ON)


def test_bombs_and_broken_pictures(reads: Reader) -> None:
    """A small file that unpacks to too many pixels is refused before it does, and a cut one is
    broken.
    """
    reads()

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    for side in (12_000, 60_000):
        header = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
        with pytest.raises(UnreadableFile, match=r"more than 80,000,000 pixels"):
            parse_here(
                b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"")), "bomb.png", ON
            )
    noise = Image.effect_noise((200, 200), 50)
    with pytest.raises(UnreadableFile, match="is broken"):
        parse_here(saved(noise)[:4000], "cut.png", ON)
    with pytest.raises(UnreadableFile, match="is broken"):
        parse_here(b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "zeros.png", ON)


def test_how_pixels_are_handed_on(reads: Reader) -> None:
    """Grey, turned as the camera says, a large one made smaller, a tiny one blank; 16 bits and
    glass do no harm.
    """
    turned = Image.Exif()
    turned[0x0112] = 6  # to be turned a quarter clockwise
    shapes = reads(*[[row("text", 0.1)] for _ in range(5)])
    for picture, form, options in (
        (page(100, 60), "JPEG", {"exif": turned}),
        (page(9000, 3000), "PNG", {}),
        (page(1, 1), "PNG", {}),
        (Image.new("I;16", (50, 40), 65535), "PNG", {}),
        (Image.new("RGBA", (50, 40), (0, 0, 0, 0)), "PNG", {}),
    ):
        assert parse_here(saved(picture, form, **options), "scan", ON).text == "text"
    assert shapes == [(100, 60), (1333, 4000), (12, 12), (40, 50), (40, 50)]


def shown(lines: list[OcrLine]) -> tuple[str, str]:
    out = Assembly()
    title = add_page(out, 1, lines, 0, 0.7)
    document = out.document("x.png", "image/png")
    assert [document.text[b.start : b.end].rstrip("-") for b in document.boxes] == [
        line.text.rstrip("-") for line in lines
    ]
    return document.text, title


def test_lines_join_to_paragraphs() -> None:
    """A full line goes on in the next, a word broken at its end is joined; a short line ends its
    paragraph.
    """
    lines = [
        row("Retrieval that can be measured is the sub-", 0.100),
        row("ject of this report, and nothing else is,", 0.125),
        row("as far as it goes.", 0.150, x1=0.4),
        row("Another paragraph begins here, as wide,", 0.175),
        row("and ends.", 0.200, x1=0.25),
    ]
    assert shown(lines)[0] == (
        "Retrieval that can be measured is the subject of this report, and nothing else is, as "
        "far as it goes.\n"
        "Another paragraph begins here, as wide, and ends."
    )


def test_lists_addresses_and_rows_stay() -> None:
    """Short lines, list items and what stands side by side are not run together."""
    lines = [
        row("Annual report", 0.05, height=0.04),
        row("Mining Surveys Ltd.,", 0.15, x1=0.3),
        row("Holroyd Road,", 0.175, x1=0.28),
        row("1. Pull both brake levers until they stop, and", 0.25),
        row("2. Check that both wheels sit straight and well", 0.275),
        row("Load", 0.35, x1=0.2),
        row("120 kg", 0.351, x0=0.5, x1=0.6),
        row("net", 0.35, x0=0.61, x1=0.65),
    ]
    text, title = shown(lines)
    assert title == "Annual report"
    assert text == (
        "Annual report\n\nMining Surveys Ltd.,\nHolroyd Road,\n\n1. Pull both brake levers until "
        "they stop, and\n"
        "2. Check that both wheels sit straight and well\n\nLoad | 120 kg net"
    )


def test_chinese_lines_join_without_spaces(reads: Reader) -> None:
    """Boxes give back each line's words even where lines joined."""
    reads(
        [
            row("停车后必须拉上驻车手柄，直到听到三声咔嗒，", 0.1),
            row("载货时不得停放在坡道上。", 0.125, x1=0.5),
        ]
    )
    document = parse_here(saved(page()), "手册.png", ON)
    assert document.text == "停车后必须拉上驻车手柄，直到听到三声咔嗒，载货时不得停放在坡道上。"
    assert [document.text[box.start : box.end] for box in document.boxes][
        1
    ] == "载货时不得停放在坡道上。"
    assert image.MEDIA_TYPES["PNG"] == document.media_type
    assert document.title == "手册"

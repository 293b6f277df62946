"""EPUB books to documents."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest import parse_here
from citewell.ingest.web import epub

SETTINGS = IngestSettings()
CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
OPF = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>My Book</dc:title><dc:date>2020-02-03</dc:date></metadata>
<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="b" href="text/b%20two.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/>
<item id="css" href="x.css" media-type="text/css"/></manifest>
<spine><itemref idref="nav"/><itemref idref="a"/><itemref idref="b"/><itemref idref="gone"/></spine>
</package>"""
NAV = (
    '<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><a href="text/b%20two.xhtml">Second '
    "part</a></nav></body></html>"
)
A = (
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><h1 '
    'id="c1">One</h1><p>First text.</p></body></html>'
)
B = '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Second text.</p></body></html>'
PARTS = {
    "META-INF/container.xml": CONTAINER,
    "OEBPS/book.opf": OPF,
    "OEBPS/nav.xhtml": NAV,
    "OEBPS/text/a.xhtml": A,
    "OEBPS/text/b two.xhtml": B,
}


def book(**more: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        for name, text in {**PARTS, **more}.items():
            if text:
                archive.writestr(name, text)
    return buffer.getvalue()


def test_chapters_in_order() -> None:
    """The spine orders the chapters; one without a heading has its name from the table of contents,
    which is not read.
    """
    document = parse_here(book(), "x.epub", SETTINGS)
    assert (document.title, document.media_type, document.dated) == (
        "My Book",
        "application/epub+zip",
        1580688000.0,
    )
    assert document.text == "One\n\nFirst text.\n\nSecond text."
    assert [(s.heading_path, s.anchor) for s in document.sections] == [
        (("One",), "c1"),
        (("Second part",), ""),
    ]


def test_named_otherwise() -> None:
    """A book without its suffix is known by what is in it."""
    assert parse_here(book(), "book", SETTINGS).title == "My Book"


def test_a_missing_chapter_is_a_warning() -> None:
    """What is listed and not there is named; the rest is read."""
    document = epub.parse(book(**{"OEBPS/text/a.xhtml": ""}), "x.epub", SETTINGS)
    assert (document.text, document.warnings) == (
        "Second text.",
        ("OEBPS/text/a.xhtml is missing",),
    )


@pytest.mark.parametrize(
    "part", ["META-INF/rights.xml", "META-INF/license.lcpl", "META-INF/encryption.xml"]
)
def test_drm_is_refused_by_name(part: str) -> None:
    """A protected book is refused with that reason."""
    text = (
        "<encryption><EncryptionMethod "
        'Algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/></encryption>'
    )
    with pytest.raises(UnreadableFile, match="protected by DRM"):
        epub.parse(book(**{part: text}), "x.epub", SETTINGS)


def test_hidden_fonts_are_no_drm() -> None:
    """Fonts that are only obfuscated keep nobody from reading."""
    text = (
        "<encryption><EncryptionMethod "
        'Algorithm="http://www.idpf.org/2008/embedding"/></encryption>'
    )
    assert (
        "First text."
        in epub.parse(book(**{"META-INF/encryption.xml": text}), "x.epub", SETTINGS).text
    )


def test_a_bomb_is_refused() -> None:
    """Chapters are read up to the size that a file may have."""
    settings = IngestSettings(max_bytes=1_000_000)
    with pytest.raises(UnreadableFile, match=r"more text than ingest\.max_bytes"):
        epub.parse(book(**{"OEBPS/text/a.xhtml": A + " " * 3_000_000}), "x.epub", settings)


def test_a_book_of_others(shared_data: Path) -> None:
    """A real book: its poems are sections, in order, and the contents page is not among them."""
    path = shared_data / "ingest" / "docling" / "epub" / "epub_purvis_poetry.epub"
    document = epub.parse(path.read_bytes(), path.name, SETTINGS)
    names = [section.heading_path[-1] for section in document.sections if section.heading_path]
    assert document.title == "Poetry"
    assert names.index("The Grave of the Slave") < names.index("Colophon")
    assert "Table of Contents" not in names

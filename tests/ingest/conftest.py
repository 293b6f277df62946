"""Small files made on the spot. The one rule: no binary fixture is kept where a few lines can make
it.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Sequence

import pytest

PdfLine = tuple[
    float, float, float, str
]  # x, y from the bottom, type size, text; a text that starts with * is bold
PdfMaker = Callable[..., bytes]
ZipMaker = Callable[[dict[str, str | bytes]], bytes]


@pytest.fixture
def make_pdf() -> PdfMaker:
    """Builds a PDF: pages of lines, or `None` for a page that is only a picture; an outline of
    (title, page, y); a title.
    """
    return build_pdf


@pytest.fixture
def make_zip() -> ZipMaker:
    """Builds a zip archive of files by name, as office documents are."""

    def build(files: dict[str, str | bytes]) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return buffer.getvalue()

    return build


def build_pdf(
    pages: Sequence[Sequence[PdfLine] | None],
    outline: Sequence[tuple[str, int, float]] = (),
    title: str = "",
    drawn: bytes = b"",
    entries: bytes = b"",
    date: str = "",
) -> bytes:
    """`drawn`: what each page's content also does, such as draw rules; `entries` of each page's
    dictionary.
    """
    objects: list[bytes] = [b"", b""]  # catalog and page tree are filled in at the end

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    fonts = _fonts(add)
    picture = add(
        _stream(
            b"\x80",
            b"/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray "
            b"/BitsPerComponent 8 ",
        )
    )
    kids = []
    for lines in pages:
        content = (
            b"q 400 0 0 400 50 50 cm /Im Do Q"
            if lines is None
            else b"\n".join([drawn, *map(_show, lines)])
        )
        body = add(_stream(content))
        resources = b"/Font << %s >> /XObject << /Im %d 0 R >>" % (fonts, picture)
        kids.append(
            add(
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R "
                b"/Resources << %s >> %s >>" % (body, resources, entries)
            )
        )
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (
        len(kids),
        b" ".join(b"%d 0 R" % kid for kid in kids),
    )
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R %s >>" % _outline(add, objects, outline, kids)
    named = ("\ufeff" + title).encode("utf-16-be").hex().encode()
    info = add(b"<< /Title <%s> /ModDate (%s) >>" % (named, date.encode())) if title or date else 0
    return _file(objects, info)


def _fonts(add: Callable[[bytes], int]) -> bytes:
    plain = add(
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    )
    bold = add(
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>"
    )
    system = b"/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >>"
    cid = add(
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /DW 1000 %s >>" % system
    )
    chinese = add(
        b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H "
        b"/DescendantFonts [%d 0 R] >>" % cid
    )
    return b"/F %d 0 R /B %d 0 R /C %d 0 R" % (plain, bold, chinese)


def _show(line: PdfLine) -> bytes:
    x, y, size, text = line
    bold, text = text.startswith("*"), text.removeprefix("*")
    if any(ord(char) > 0x2E80 for char in text):
        font, shown = b"C", b"<" + text.encode("utf-16-be").hex().encode() + b">"
    else:
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        font, shown = b"B" if bold else b"F", b"(" + escaped.encode("cp1252") + b")"
    return b"BT /%s %g Tf %g %g Td %s Tj ET" % (font, size, x, y, shown)


def _outline(
    add: Callable[[bytes], int],
    objects: list[bytes],
    outline: Sequence[tuple[str, int, float]],
    kids: list[int],
) -> bytes:
    if not outline:
        return b""
    root = add(b"")
    first = root + 1
    for n, (title, page, y) in enumerate(outline):
        links = b"/Next %d 0 R " % (first + n + 1) if n + 1 < len(outline) else b""
        links += b"/Prev %d 0 R " % (first + n - 1) if n else b""
        words = ("\ufeff" + title).encode("utf-16-be").hex().encode()
        add(
            b"<< /Title <%s> /Parent %d 0 R %s /Dest [%d 0 R /XYZ 0 %g 0] >>"
            % (words, root, links, kids[page - 1], y)
        )
    objects[root - 1] = b"<< /Type /Outlines /First %d 0 R /Last %d 0 R >>" % (
        first,
        first + len(outline) - 1,
    )
    return b"/Outlines %d 0 R" % root


def _stream(content: bytes, entries: bytes = b"") -> bytes:
    packed = zlib.compress(content)
    return b"<< %s/Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (
        entries,
        len(packed),
        packed,
    )


def _file(objects: list[bytes], info: int) -> bytes:
    data = b"%PDF-1.7\n"
    offsets = []
    for n, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (n, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"<< /Size %d /Root 1 0 R %s>>" % (
        len(objects) + 1,
        b"/Info %d 0 R " % info if info else b"",
    )
    return (
        data
        + b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
        + b"trailer\n%s\nstartxref\n%d\n%%%%EOF" % (trailer, len(data))
    )

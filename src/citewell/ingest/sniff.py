"""What a file really is, by its first bytes: names lie.

The one rule: a type that we read is given by its suffix, any other by words for the message.
"""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from typing import Final

_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"RIFF", "a WebP picture, or sound or video"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file (.doc, .xls, .ppt), or a new one protected by a password"),
    (b"{\\rtf", "an RTF document"),
    (b"%!PS", "a PostScript document"),
    (b"AT&TFORM", "a DjVu document"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet table"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"ID3", "an MP3 recording"),
    (b"OggS", "an Ogg recording"),
    (b"GGUF", "a model file"),
)
_ZIP: Final = (  # an entry's name begins so
    ("word/", ".docx"),
    ("ppt/", "a PowerPoint presentation"),
    ("xl/", "an Excel workbook"),
    ("META-INF/container.xml", "an EPUB book"),
    ("content.xml", "an OpenDocument file"),
)
_PDF_WITHIN: Final = 1024  # bytes before the header that readers tolerate
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)*(?:<!doctype\s+html|<html[\s>])", re.IGNORECASE | re.DOTALL
)
_MARKS = re.compile(rb"\A(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)")


@dataclass(frozen=True, slots=True)
class Kind:
    """`suffix` of a type that we read, or empty; `words` name the type in a message."""

    suffix: str
    words: str


PDF: Final = Kind(".pdf", "a PDF")
DOCX: Final = Kind(".docx", "a Word document")
HTML: Final = Kind(".html", "an HTML page")


def sniff(data: bytes) -> Kind | None:
    """The kind of `data`, None where nothing tells: then it may be text."""
    if b"%PDF-" in data[:_PDF_WITHIN]:
        return PDF
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip(data)
    for magic, words in _MAGIC:
        if data.startswith(magic):
            return Kind("", words)
    if data[4:8] == b"ftyp":
        return Kind("", "a video or a HEIC picture")
    head = data[:4096]
    if _MARKS.match(head):
        head = _MARKS.sub(b"", head).replace(b"\0", b"")
    return HTML if _HTML.match(head) else None


def _zip(data: bytes) -> Kind:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return Kind("", "a broken zip archive or Office document")
    for start, kind in _ZIP:
        if any(name.startswith(start) for name in names):
            return DOCX if kind == DOCX.suffix else Kind("", kind)
    return Kind("", "a zip archive")

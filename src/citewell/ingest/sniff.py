"""What a file really is, by its first bytes: names lie. A type that we read is given by its suffix,
any other by words for the message.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from typing import Final

from citewell.errors import UnreadableFile
from citewell.ingest.archive.zip_archive import BROKEN, COUNTABLE, open_zip
from citewell.ingest.office import ole
from citewell.messages import Text

_MAGIC: Final = (
    (b"GIF8", Text("a GIF picture")),
    (b"RIFF", Text("sound or video")),
    (b"%!PS", Text("a PostScript document")),
    (b"AT&TFORM", Text("a DjVu document")),
    (b"SQLite format 3\0", Text("an SQLite database")),
    (b"PAR1", Text("a Parquet table")),
    (b"\x1f\x8b", Text("a gzip archive")),
    (b"BZh", Text("a bzip2 archive")),
    (b"\xfd7zXZ\0", Text("an xz archive")),
    (b"7z\xbc\xaf\x27\x1c", Text("a 7-Zip archive")),
    (b"Rar!\x1a\x07", Text("a RAR archive")),
    (b"\x28\xb5\x2f\xfd", Text("a Zstandard archive")),
    (b"\x7fELF", Text("a program")),
    (b"MZ\x90", Text("a program")),
    (b"\xca\xfe\xba\xbe", Text("a program")),
    (b"ID3", Text("an MP3 recording")),
    (b"OggS", Text("an Ogg recording")),
    (b"GGUF", Text("a model file")),
)
_ZIP: Final = (  # an entry's name begins so
    ("word/", ".docx"),
    ("ppt/", ".pptx"),
    ("xl/workbook.bin", "a binary Excel workbook (.xlsb); save it as .xlsx and add it again"),
    ("xl/", ".xlsx"),
    ("META-INF/container.xml", ".epub"),
    ("content.xml", "an OpenDocument file"),
)
_READ: Final = {
    ".docx": Text("a Word document"),
    ".pptx": Text("a PowerPoint presentation"),
    ".xlsx": Text("an Excel workbook"),
    ".epub": Text("an EPUB book"),
    ".odt": Text("an OpenDocument text"),
    ".ods": Text("an OpenDocument spreadsheet"),
    ".odp": Text("an OpenDocument presentation"),
}
# the last word of an OpenDocument media type
_OPEN: Final = {"text": ".odt", "spreadsheet": ".ods", "presentation": ".odp"}
_PICTURES: Final = (
    (b"\x89PNG\r\n\x1a\n", ".png", Text("a PNG picture")),
    (b"\xff\xd8\xff", ".jpg", Text("a JPEG picture")),
    (b"II*\0", ".tif", Text("a TIFF picture")),
    (b"MM\0*", ".tif", Text("a TIFF picture")),
)
# the size of the second header tells the version
_BITMAP = re.compile(rb"BM.{12}[\x0c\x28\x40\x6c\x7c]\0\0\0", re.DOTALL)
_PDF_WITHIN: Final = 1024  # bytes before the header that readers tolerate
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--(?:(?!-->).){0,2000}-->\s*)*"
    rb"(?:<!doctype\s+html|<html[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_MARKS = re.compile(rb"\A(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)")


@dataclass(frozen=True, slots=True)
class Kind:
    """`suffix` of a type we read, or empty; `words` name the type, `hint` says what to do."""

    suffix: str
    words: str
    hint: str = ""


PDF: Final = Kind(".pdf", Text("a PDF"))
RTF: Final = Kind(".rtf", Text("an RTF document"))
XLS: Final = Kind(".xls", Text("an Excel workbook (.xls)"))
HTML: Final = Kind(".html", Text("an HTML page"))
XML: Final = Kind(".xml", Text("an XML file"))


def sniff(data: bytes) -> Kind | None:
    """The kind of `data`, None where nothing tells: then it may be text."""
    if b"%PDF-" in data[:_PDF_WITHIN]:
        return PDF
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _detect_zip(data)
    if data.startswith(ole.MAGIC):
        return (
            XLS if ole.detect_ole_kind(data) == ".xls" else Kind("", *ole.describe_container(data))
        )
    if data.startswith(b"{\\rtf"):
        return RTF
    picture = _detect_picture(data)
    if picture:
        return picture
    for magic, words in _MAGIC:
        if data.startswith(magic):
            return Kind("", words)
    if data[4:8] == b"ftyp":
        return Kind("", Text("a video or a HEIC picture"))
    head = data[:4096]
    if _MARKS.match(head):
        head = _MARKS.sub(b"", head).replace(b"\0", b"")
    if _HTML.match(head):
        return HTML
    return XML if head.lstrip().startswith(b"<?xml ") else None


def _detect_picture(data: bytes) -> Kind | None:
    for magic, suffix, words in _PICTURES:
        if data.startswith(magic):
            return Kind(suffix, words)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return Kind(".webp", Text("a WebP picture"))
    return Kind(".bmp", Text("a bitmap picture")) if _BITMAP.match(data) else None


def _detect_zip(data: bytes) -> Kind:
    try:
        archive = open_zip(data, "it")
    except UnreadableFile:
        return Kind("", Text("a broken zip archive or Office document"))
    names = archive.namelist()
    # else it holds such a folder by chance
    marked = {"[Content_Types].xml", "mimetype", "META-INF/container.xml"} & set(names)
    for start, kind in _ZIP if marked else ():
        if any(name.startswith(start) for name in names):
            found = _detect_open_document(archive) or kind if start == "content.xml" else kind
            return Kind(found, _READ[found]) if found in _READ else Kind("", found)
    return Kind("", Text("a zip archive"), Text("name it .zip to add what is in it"))


def _detect_open_document(archive: zipfile.ZipFile) -> str:
    """Which OpenDocument type a zip archive says it is, empty where none that we read."""
    if (
        "mimetype" not in archive.namelist()
        or archive.getinfo("mimetype").compress_type not in COUNTABLE
    ):
        return ""
    try:
        with archive.open("mimetype") as entry:
            said = entry.read(100).decode("ascii", errors="replace").strip()
    except BROKEN:
        return ""
    return _OPEN.get(said.removesuffix("-template").rpartition(".")[2], "")

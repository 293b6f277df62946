"""A fetched page as the file that a parser reads: a name whose suffix fits, and text in an encoding
that speaks for itself. What the server says of a page decides, and where it says nothing the
address does.
"""

from __future__ import annotations

import codecs
import re
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

from citewell.fetch.page_reply import Page
from citewell.ingest import PARSERS, PICTURES

_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_OPEN: Final = "application/vnd.oasis.opendocument."
_SUFFIXES: Final = {
    "text/html": ".html",
    "application/xhtml+xml": ".xhtml",
    "application/pdf": ".pdf",
    "application/x-pdf": ".pdf",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "text/x-rst": ".rst",
    "text/vtt": ".vtt",
    "text/calendar": ".ics",
    "text/xml": ".xml",
    "application/xml": ".xml",
    "application/rss+xml": ".xml",
    "application/atom+xml": ".xml",
    "application/json": ".json",
    "application/ld+json": ".json",
    "application/geo+json": ".json",
    "application/x-ndjson": ".jsonl",
    "application/jsonl": ".jsonl",
    "application/rtf": ".rtf",
    "text/rtf": ".rtf",
    "application/epub+zip": ".epub",
    _OFFICE + "wordprocessingml.document": ".docx",
    _OFFICE + "presentationml.presentation": ".pptx",
    _OFFICE + "spreadsheetml.sheet": ".xlsx",
    "application/vnd.ms-excel": ".xls",
    _OPEN + "text": ".odt",
    _OPEN + "spreadsheet": ".ods",
    _OPEN + "presentation": ".odp",
}
# what servers say of files that they know nothing about
_ANY: Final = {
    "",
    "application/octet-stream",
    "binary/octet-stream",
    "application/force-download",
    "application/x-download",
}
# Encodings that a header is believed about. Latin ones are said of anything, and any bytes can be
# read so: that proves nothing.
_BELIEVED = re.compile(
    r"gb18030|gbk|hz|big5\w*|euc_\w+|shift_jis\w*|johab|cp(?!1252)\d+|iso8859-(?!1$)\d+|koi8-\w|"
    r"tis-620"
)
# what browsers read these as
_WIDER: Final = {"gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs"}
_LONGEST: Final = 80  # characters of a name before its suffix
_ODD = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]+")


def is_readable_page(media_type: str, url: str) -> bool:
    """Whether there is a parser for such a page. Fits `Fetcher.page`."""
    return _choose_suffix(media_type, url) is not None


def as_file(page: Page) -> tuple[bytes, str]:
    """The bytes to parse and the name to parse them under."""
    suffix = _choose_suffix(page.media_type, page.final_url)
    parts = urlsplit(page.final_url)
    stem = unquote(PurePosixPath(parts.path).name)
    named = PurePosixPath(stem).suffix.lower()
    if named in PARSERS or (suffix and named == suffix):
        stem = stem[: -len(named)]
    stem = _ODD.sub("_", stem)[:_LONGEST].strip(" ._") or parts.hostname or "page"
    textual = page.media_type.startswith("text/") or suffix in {".html", ".xhtml"}
    return (_convert_to_utf8(page.data, page.charset) if textual else page.data), stem + (
        suffix or ""
    )


def _choose_suffix(media_type: str, url: str) -> str | None:
    """None: nothing reads it. Empty: the bytes themselves have to tell."""
    named = PurePosixPath(urlsplit(url).path).suffix.lower()
    known = named if named in PARSERS and named not in PICTURES else ""
    if media_type in _ANY:
        return known
    if media_type in _SUFFIXES:
        return _SUFFIXES[media_type]
    if media_type.startswith("text/"):
        return known if known and known not in {".html", ".htm", ".pdf"} else ".txt"
    return ".xml" if media_type.endswith("+xml") and media_type != "image/svg+xml" else None


def _convert_to_utf8(data: bytes, charset: str) -> bytes:
    """UTF-8 with its mark, where the header names another that reads: parsers see no header."""
    try:
        name = codecs.lookup(_WIDER.get(charset, charset)).name
        # a server may say the same of every file it has
        if not _BELIEVED.fullmatch(name) or _is_utf8(data):
            return data
        return codecs.BOM_UTF8 + data.decode(name).encode("utf-8")
    except (LookupError, ValueError):
        return data  # the header is wrong or empty; the parser finds out


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True

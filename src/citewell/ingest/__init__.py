"""From a file's bytes to a `Document`, and on to chunks; knows no store. `parse` always ends, with
a document or with UnreadableFile, whatever the bytes. Parsers run in a process of their own, which
may die.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.bounded import run_bounded
from citewell.ingest.chunk.chunkers import CHUNKERS
from citewell.ingest.sniff import Kind, sniff
from citewell.messages import Text
from citewell.text.charset import decode_text
from citewell.types import Document

__all__ = ["CHUNKERS", "PARSERS", "PICTURES", "Parser", "parse", "parse_here"]

Parser = Callable[[bytes, str, IngestSettings], Document]


def _make_parser(module: str) -> Parser:
    """A module's `parse`, imported on first use; what it trips over makes the file unreadable."""

    def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
        function: Parser = importlib.import_module(f"citewell.ingest.{module}").parse
        try:
            return function(data, name, settings)
        except (UnreadableFile, ImportError, MemoryError):
            raise
        except Exception as error:
            raise UnreadableFile(
                Text(
                    "{name} is broken: {type_name}: {error}",
                    name=name,
                    type_name=type(error).__name__,
                    error=error,
                )[:500]
            ) from error

    return parse


# module of this package -> the suffixes of the files that its `parse` reads
_READS: Final = {
    "markup.plain_text": ".txt .text .log",
    "markup.markdown": ".md .markdown",
    "web.html": ".html .htm .xhtml",
    "pdf.parse": ".pdf",
    "web.epub": ".epub",
    "web.eml": ".eml",
    "markup.json_records": ".json .jsonl .ndjson .geojson .ipynb",
    "markup.xml_text": ".xml .nxml .rss .atom",
    "markup.rst": ".rst .rest",
    "markup.light_markup": ".tex .ltx .adoc .asciidoc .org .wiki .mediawiki",
    "markup.subtitles": ".srt .vtt",
    "markup.calendar": ".ics .vcf",
    "markup.code": (
        ".py .pyi .pyw .js .mjs .cjs .jsx .ts .mts .cts .tsx .vue .svelte .java .kt .kts .scala "
        ".groovy .gradle .dart .cs .c .h .cc .cpp .cxx .hh .hpp .hxx .cu .ino .m .mm .go .rs "
        ".swift .php .proto .graphql .gql .thrift .rb .ex .exs .cr .pl .pm .r .jl .sh .bash .zsh "
        ".ksh .fish .ps1 .psm1 .lua .hs .elm .sql .ddl .yaml .yml .toml .ini .cfg .conf "
        ".properties .mk .css .scss .sass .less .bat .cmd .tf .cmake .diff .patch .dockerfile"
    ),
    "office.word": ".docx .docm .dotx",
    "office.presentation": ".pptx .pptm .ppsx .potx",
    "office.spreadsheet": ".xlsx .xlsm .xltx .xls",
    "markup.delimited": ".csv .tsv .tab",
    "office.odf.document": ".odt .ods .odp .ott",
    "markup.rtf": ".rtf",
    "picture.image": ".png .jpg .jpeg .tif .tiff .webp .bmp",
}
# read where `ingest.ocr` is on, and else refused
PICTURES: Final = frozenset(_READS["picture.image"].split())
PARSERS: Final[dict[str, Parser]] = {
    suffix: parser
    for module, suffixes in _READS.items()
    for parser in [_make_parser(module)]
    for suffix in suffixes.split()
}
_BINARY: Final = {  # these never hold plain text
    ".pdf": "PDF",
    **dict.fromkeys((".docx", ".docm", ".dotx"), "Word document"),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx", ".potx"), "PowerPoint presentation"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xls"), "Excel workbook"),
    **dict.fromkeys((".odt", ".ods", ".odp", ".ott"), "OpenDocument file"),
    ".rtf": Text("RTF document"),
    **dict.fromkeys(PICTURES, "picture"),
}


async def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """Read a file in a worker process within `settings.parse_seconds`. Raises UnreadableFile."""
    document = await run_bounded("citewell.ingest:parse_here", data, name, settings)
    assert isinstance(document, Document)
    return document


def parse_here(data: bytes, name: str, settings: IngestSettings) -> Document:
    """The same without a process of its own: for callers that are one already."""
    suffix, warnings = _choose_suffix(data, name)
    if suffix == ".pdf":
        _check_page_count(data, name, settings.max_pages)
    document = PARSERS[suffix](data, name, settings)
    if len(document.pages) > settings.max_pages:
        raise _make_page_limit_error(name, len(document.pages), settings.max_pages)
    return replace(document, warnings=(*warnings, *document.warnings))


def _check_page_count(data: bytes, name: str, max_pages: int) -> None:
    from citewell.ingest.pdf.parse import count_pages

    count = count_pages(data, name)
    if count > max_pages:
        raise _make_page_limit_error(name, count, max_pages)


def _make_page_limit_error(name: str, count: int, max_pages: int) -> UnreadableFile:
    hint = Text("raise ingest.max_pages, or split the file")
    return UnreadableFile(
        Text(
            "{name} has {count:,} pages; {max_pages:,} are allowed",
            name=name,
            count=count,
            max_pages=max_pages,
        ),
        hint=hint,
    )


def _choose_suffix(data: bytes, name: str) -> tuple[str, list[str]]:
    """The suffix whose parser reads this file, and a warning where its name claims another."""
    claimed = PurePath(name).suffix.lower()
    kind = sniff(data)
    if claimed and claimed not in PARSERS and not (kind and kind.suffix):
        known = ", ".join(PARSERS)
        what = (
            Text("it is {words}", words=kind.words)
            if kind
            else Text("{claimed} is not a known type", claimed=claimed)
        )
        raise UnreadableFile(
            Text("{name} cannot be read: {what}", name=name, what=what),
            hint=(kind and kind.hint) or Text("known types: {known}", known=known),
        )
    if kind is None:
        return _choose_text_suffix(data, name, claimed)
    if not kind.suffix:
        raise UnreadableFile(_describe_mismatch(name, claimed, kind), hint=kind.hint)
    if not claimed or PARSERS.get(claimed) is PARSERS[kind.suffix]:
        return kind.suffix, []
    return kind.suffix, [Text("named {claimed} but is {words}", claimed=claimed, words=kind.words)]


def _describe_mismatch(name: str, claimed: str, kind: Kind) -> str:
    if claimed in _BINARY and "protected" in kind.words:
        return Text("{name} is protected by a password", name=name)
    return (
        Text(
            "{name} is named {claimed} but is {words}", name=name, claimed=claimed, words=kind.words
        )
        if claimed
        else Text("{name} is {words}, which cannot be read", name=name, words=kind.words)
    )


def _choose_text_suffix(data: bytes, name: str, claimed: str) -> tuple[str, list[str]]:
    """Bytes of no known kind: text, unless the name says what cannot be text and the bytes look
    like a broken one of it.
    """
    if claimed not in _BINARY:
        return claimed or ".txt", []

    if claimed == ".pdf" and (b"endobj" in data or b"startxref" in data):
        return claimed, []
    try:
        decode_text(data, name)
    except UnreadableFile:
        raise UnreadableFile(
            Text("{name} is broken: it is not a {binary}", name=name, binary=_BINARY[claimed])
        ) from None
    # what many programs call an export is a table of plain text
    sheet = _BINARY[claimed] == "Excel workbook"
    return ".csv" if sheet else ".txt", [Text("named {claimed} but is plain text", claimed=claimed)]

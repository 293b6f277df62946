"""From a file's bytes to a `Document`, and on to chunks; knows no store.

The one rule: `parse` always ends, with a document or with UnreadableFile, whatever the bytes. Parsers run in a process of their
own, which may die.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import Final

import anyio
import anyio.to_process

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.chunk import CHUNKERS, chunk
from citewell.ingest.sniff import Kind, sniff
from citewell.ingest.worker import Died, in_worker
from citewell.types import Document

__all__ = ["CHUNKERS", "PARSERS", "Parser", "chunk", "parse", "parse_here"]

Parser = Callable[[bytes, str], Document]


def _parser(module: str) -> Parser:
    """The `parse` of a module of this package, imported when first used. What it trips over makes the file unreadable."""

    def parse(data: bytes, name: str) -> Document:
        function: Parser = importlib.import_module(f"citewell.ingest.{module}").parse
        try:
            return function(data, name)
        except (UnreadableFile, ImportError):
            raise
        except MemoryError:
            raise UnreadableFile(f"{name} needs more memory to read than there is") from None
        except Exception as error:
            raise UnreadableFile(f"{name} is broken: {type(error).__name__}: {error}"[:500]) from error

    return parse


_TEXT, _MARKDOWN, _HTML, _PDF, _DOCX = (_parser(name) for name in ("text", "markdown", "html", "pdf", "office"))

PARSERS: Final[dict[str, Parser]] = {
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".txt": _TEXT,
    ".text": _TEXT,
    ".log": _TEXT,
    ".html": _HTML,
    ".htm": _HTML,
    ".xhtml": _HTML,
    ".pdf": _PDF,
    ".docx": _DOCX,
}
_BINARY: Final = {".pdf": "PDF", ".docx": "Word document"}  # these never hold plain text


async def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """Read a file in a worker process, for as long as `settings.parse_seconds`. Raises UnreadableFile with the reason."""
    _check_size(data, name, settings)
    limiter = anyio.to_process.current_default_process_limiter()
    async with limiter:  # waiting for a free process does not count against the file's time
        try:
            with anyio.fail_after(settings.parse_seconds):
                return await in_worker((data, name, settings.max_pages))
        except TimeoutError:
            hint = "raise ingest.parse_seconds, or split the file"
            raise UnreadableFile(f"{name} could not be read within {settings.parse_seconds:g} s", hint=hint) from None
        except Died:
            raise UnreadableFile(f"{name} cannot be read: its parser crashed") from None


def parse_here(data: bytes, name: str, max_pages: int) -> Document:
    """The same without a process of its own: for callers that are one already."""
    suffix, warnings = _choose(data, name)
    if suffix == ".pdf":
        _check_pages(data, name, max_pages)
    document = PARSERS[suffix](data, name)
    if len(document.pages) > max_pages:
        raise _too_long(name, len(document.pages), max_pages)
    return replace(document, warnings=(*warnings, *document.warnings))


def _check_size(data: bytes, name: str, settings: IngestSettings) -> None:
    if not data:
        raise UnreadableFile(f"{name} is empty")
    if len(data) > settings.max_bytes:
        hint = "raise ingest.max_bytes, or split the file"
        raise UnreadableFile(f"{name} has {len(data):,} bytes; {settings.max_bytes:,} are allowed", hint=hint)


def _check_pages(data: bytes, name: str, max_pages: int) -> None:
    from citewell.ingest.pdf import page_count

    count = page_count(data, name)
    if count > max_pages:
        raise _too_long(name, count, max_pages)


def _too_long(name: str, count: int, max_pages: int) -> UnreadableFile:
    hint = "raise ingest.max_pages, or split the file"
    return UnreadableFile(f"{name} has {count:,} pages; {max_pages:,} are allowed", hint=hint)


def _choose(data: bytes, name: str) -> tuple[str, list[str]]:
    """The suffix whose parser reads this file, and a warning where its name claims another."""
    claimed = PurePath(name).suffix.lower()
    kind = sniff(data)
    if claimed and claimed not in PARSERS and not (kind and kind.suffix):
        known = ", ".join(PARSERS)
        what = f"it is {kind.words}" if kind else f"{claimed} is not a known type"
        raise UnreadableFile(f"{name} cannot be read: {what}", hint=f"known types: {known}")
    if kind is None:
        return _as_text(data, name, claimed)
    if not kind.suffix:
        raise UnreadableFile(_disguised(name, claimed, kind))
    if not claimed or PARSERS.get(claimed) is PARSERS[kind.suffix]:
        return kind.suffix, []
    return kind.suffix, [f"named {claimed} but is {kind.words}"]


def _disguised(name: str, claimed: str, kind: Kind) -> str:
    if claimed == ".docx" and "protected" in kind.words:
        return f"{name} is protected by a password, or is an old .doc file"
    return f"{name} is named {claimed} but is {kind.words}" if claimed else f"{name} is {kind.words}, which cannot be read"


def _as_text(data: bytes, name: str, claimed: str) -> tuple[str, list[str]]:
    """Bytes of no known kind: text, unless the name says what cannot be text and the bytes look like a broken one of it."""
    if claimed not in _BINARY:
        return claimed or ".txt", []
    from citewell.ingest.charset import decode

    if claimed == ".pdf" and (b"endobj" in data or b"startxref" in data):
        return claimed, []
    try:
        decode(data, name)
    except UnreadableFile:
        raise UnreadableFile(f"{name} is broken: it is not a {_BINARY[claimed]}") from None
    return ".txt", [f"named {claimed} but is plain text"]

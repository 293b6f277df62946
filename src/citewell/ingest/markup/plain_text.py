"""Plain text, kept as it stands. Chapters and underlined lines become sections. Nothing is
reflowed, so a quote is what the file says.
"""

from __future__ import annotations

import re

from citewell.config import IngestSettings
from citewell.ingest import assemble
from citewell.text.charset import decode_text
from citewell.text.line_breaks import LONGEST_HEADING, get_chapter_level
from citewell.types import Document

_LINE = re.compile(r"[^\n]+")
_UNDERLINE = re.compile(r"(={3,}|-{3,})\s*")


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:  # noqa: ARG001 the form of every parser
    """A text file of any usual encoding."""
    raw, warnings = decode_text(data, name)
    text = assemble.clean_text(raw).strip("\n")
    outline = _build_outline(text)
    sections = outline.sections(len(text))
    return assemble.build_document(name, "text/plain", text, sections, warnings=warnings)


def _build_outline(text: str) -> assemble.Outline:
    outline = assemble.Outline()
    before: re.Match[str] | None = None
    for match in _LINE.finditer(text):
        line = match.group().strip()
        underline = _UNDERLINE.fullmatch(line)
        if underline and before and _is_underline(before, match, line):
            outline.heading(1 if line[0] == "=" else 2, before.group().strip(), before.start())
        elif line and (level := get_chapter_level(line)):
            outline.heading(level, line, match.start())
        before = match
    return outline


def _is_underline(title: re.Match[str], rule: re.Match[str], line: str) -> bool:
    """A rule below a line about as long (full-width characters count twice) makes it a heading."""
    words = title.group().strip()
    width = sum(2 if ord(c) > 0x2E80 else 1 for c in words)
    touches = rule.start() == title.end() + 1
    return (
        touches
        and 0 < width <= 2 * LONGEST_HEADING
        and width / 2 <= len(line)
        and not get_chapter_level(words)
    )

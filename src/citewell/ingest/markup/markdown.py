"""Markdown through markdown-it's tokens to readable text. `text` is what a reader sees, not the
source: no `**`, no link targets; headings stand without `#`, tables as `table_text` writes them,
code as it is. A quote therefore reads well anywhere, and spans point into that text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.config import IngestSettings
from citewell.ingest.assemble import Assembly, clean_text
from citewell.ingest.tables.table_text import format_table_lines
from citewell.ingest.web.html import read_html
from citewell.text.charset import decode_text
from citewell.text.language import get_line_joiner
from citewell.text.timestamps import parse_timestamp
from citewell.types import Document

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n((?:[^\n]*\n){0,200}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_KEY = re.compile(r"[\w-]+\s*:", re.ASCII)
_TITLE = re.compile(r"^title\s*:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE)
# what the keys are called in Jekyll, Hugo, Obsidian, Pandoc; the later one counts: a file is of the
# day it was last changed
_DATE_KEYS = "updated|lastmod|last_modified|last_modified_at|modified|date|published|created"
_DATES = re.compile(rf"^(?:{_DATE_KEYS})\s*:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE)
_DEEPEST = 100  # what nests deeper is left out by the parser, which recurses
_BREAK_TAG = re.compile(r"<br\b", re.IGNORECASE)


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:  # noqa: ARG001 the form of every parser
    """A Markdown file: CommonMark, tables and strikethrough, YAML front matter kept as lines."""
    raw, warnings = decode_text(data, name)
    front, body = split_front_matter(clean_text(raw).lstrip("\n"))
    assembly = Assembly()
    assembly.rows([line for line in front.splitlines() if line.strip()])
    read_markdown(body, assembly)
    named = _TITLE.search(front)
    title = named.group(1).strip(" \t\"'") if named else assembly.first_heading
    days = [
        when
        for text in _DATES.findall(front)
        if (when := parse_timestamp(text.strip(" \t\"'"))) is not None
    ]
    return assembly.document(
        name, "text/markdown", title=title, warnings=warnings, dated=max(days, default=None)
    )


def read_markdown(text: str, assembly: Assembly) -> None:
    """Append Markdown text, wherever it stands."""
    from markdown_it import MarkdownIt

    _Reader(assembly).read(
        MarkdownIt("commonmark", {"maxNesting": _DEEPEST})
        .enable(["table", "strikethrough"])
        .parse(text)
    )


def split_front_matter(text: str) -> tuple[str, str]:
    """What stands between the fences at the top, if its first line is a YAML key, and the rest."""
    match = _FRONT_MATTER.match(text)
    if match and _KEY.match(match.group(1)):
        return match.group(1), text[match.end() :]
    return "", text


class _Reader:
    """Goes through the tokens once; `_lists` holds each open list's next number, 0 for bullets."""

    def __init__(self, assembly: Assembly) -> None:
        self.out = assembly
        self._lists: list[int] = []
        self._prefix = ""
        self._level = 0
        self._row: list[str] | None = None  # the cells so far of a table's row
        self._table: list[list[str]] = []
        self._tight = False

    def read(self, tokens: list[Token]) -> None:
        for token in tokens:
            if token.type == "inline":
                self._add_text(extract_inline_text(token.children or []))
            elif token.type in {"fence", "code_block"}:
                self.out.block(token.content)
            elif token.type == "html_block":
                self._add_html(token.content)
            else:
                self._handle_structure(token)

    def _add_text(self, text: str) -> None:
        if self._row is not None:
            self._row.append(" ".join(text.split()))
        elif self._level:
            self.out.heading(self._level, text)
        else:
            self.out.block(self._prefix + text, gap="\n" if self._tight else "\n\n")
            self._prefix, self._tight = "", False

    def _handle_structure(self, token: Token) -> None:
        kind = token.type
        if kind in {"heading_open", "heading_close"}:
            self._level = int(token.tag[1]) if kind == "heading_open" else 0
        elif kind in {"bullet_list_open", "ordered_list_open"}:
            self._lists.append(
                int(token.attrGet("start") or 1) if kind == "ordered_list_open" else 0
            )
            self._tight = len(self._lists) > 1
        elif kind in {"bullet_list_close", "ordered_list_close"}:
            self._lists.pop()
            self._tight = bool(self._lists)
        elif kind == "list_item_open":
            self._prefix = "  " * (len(self._lists) - 1) + (
                f"{self._lists[-1]}. " if token.info else "- "
            )
            self._lists[-1] += 1
        elif kind == "list_item_close":
            self._prefix, self._tight = "", True
        else:
            self._handle_table(kind)

    def _handle_table(self, kind: str) -> None:
        if kind == "tr_open":
            self._row = []
        elif kind == "tr_close" and self._row is not None:
            self._table.append(self._row)
            self._row = None
        elif kind == "table_close":
            # Markdown has no table without a header, but an empty one
            named = any(self._table[:1] and self._table[0])
            self.out.rows(format_table_lines(self._table, header=1 if named else 0))
            self._table = []

    def _add_html(self, source: str) -> None:
        """Raw HTML is read as HTML, its headings included."""
        read_html(source, self.out)


def extract_inline_text(tokens: list[Token]) -> str:
    """The words of a line: emphasis and links without their marks, an image by its description."""
    text = ""
    joint = False  # a soft line break was met: how it is bridged depends on what follows
    for token in tokens:
        piece = token.content if token.type in {"text", "code_inline", "image"} else ""
        if token.type == "softbreak":
            joint = True
        elif token.type == "hardbreak" or (
            token.type == "html_inline" and _BREAK_TAG.match(token.content)
        ):
            text += "\n"
        elif piece:
            text += (get_line_joiner(text[-1:], piece) if joint else "") + piece
            joint = False
    return text.strip()

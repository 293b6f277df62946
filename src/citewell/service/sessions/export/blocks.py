"""Markdown of an answer, taken apart into blocks of words. HTML, pictures and addresses in it are
words like all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from markdown_it.token import Token

DEEPEST = 20  # blocks within blocks
_NUMBER = re.compile(r"(\[\d{1,4}\])")

Kind = Literal["paragraph", "heading", "item", "code", "table"]


@dataclass(frozen=True, slots=True)
class Span:
    """Words of one look; with `note` a footnote's mark, and no words."""

    text: str = ""
    bold: bool = False
    italic: bool = False
    code: bool = False
    note: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """`level`: of a heading, or how deep a list's item stands; `mark`: what stands before an item;
    `rows`: of a table, its cells.
    """

    kind: Kind
    spans: list[Span] = field(default_factory=list)
    level: int = 0
    mark: str = ""
    rows: list[list[list[Span]]] = field(default_factory=list)


def parse_blocks(text: str, notes: Mapping[int, int]) -> list[Block]:
    """`notes`: the footnote of each citation number of the text; others are words."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST}).enable("table")
    return list(_Reader(notes).read(parser.parse(text)))


class _Reader:
    """Goes through the tokens once; `lists` holds each open list's next number, 0 for bullets."""

    def __init__(self, notes: Mapping[int, int]) -> None:
        self.notes = notes
        self.lists: list[int] = []
        self.mark = ""
        self.heading = 0
        self.rows: list[list[list[Span]]] | None = None

    def read(self, tokens: Sequence[Token]) -> Iterator[Block]:
        for token in tokens:
            if token.type in {"fence", "code_block"}:
                yield Block("code", [Span(token.content.rstrip("\n"), code=True)])
            elif token.type == "inline":
                spans = list(self._read_inline(token.children or []))
                if self.rows is not None:
                    self.rows[-1].append(spans)
                elif self.heading:
                    yield Block("heading", spans, level=self.heading)
                elif self.lists:
                    yield Block("item", spans, level=len(self.lists), mark=self.mark)
                    self.mark = ""
                else:
                    yield Block("paragraph", spans)
            elif token.type == "table_close" and self.rows is not None:
                yield Block("table", rows=self.rows)
                self.rows = None
            else:
                self._note_structure(token)

    def _note_structure(self, token: Token) -> None:
        kind = token.type
        if kind in {"heading_open", "heading_close"}:
            self.heading = int(token.tag[1]) if kind == "heading_open" else 0
        elif kind == "bullet_list_open":
            self.lists.append(0)
        elif kind == "ordered_list_open":
            self.lists.append(int(token.attrGet("start") or 1))
        elif kind in {"bullet_list_close", "ordered_list_close"}:
            self.lists.pop()
        elif kind == "list_item_open":
            self.mark = f"{self.lists[-1]}." if token.info else "•"
            self.lists[-1] += 1
        elif kind == "table_open":
            self.rows = []
        elif kind == "tr_open" and self.rows is not None:
            self.rows.append([])

    def _read_inline(self, tokens: Sequence[Token]) -> Iterator[Span]:
        look, address = Span(), ""
        for token in tokens:
            kind = token.type
            if kind in {"strong_open", "strong_close"}:
                look = replace(look, bold=kind == "strong_open")
            elif kind in {"em_open", "em_close"}:
                look = replace(look, italic=kind == "em_open")
            elif kind == "code_inline":
                yield replace(look, text=token.content, code=True)
            elif kind in {"softbreak", "hardbreak"}:
                yield replace(look, text="\n")
            elif kind == "link_open":
                address = str(token.attrGet("href") or "")
            elif kind == "link_close":
                yield replace(look, text=f" <{address}>")
            else:
                yield from self._split_numbers(token.content, look)

    def _split_numbers(self, text: str, look: Span) -> Iterator[Span]:
        for part in _NUMBER.split(text):
            number = int(part[1:-1]) if _NUMBER.fullmatch(part) else -1
            if number in self.notes:
                yield Span(note=self.notes[number])
            elif part:
                yield replace(look, text=part)

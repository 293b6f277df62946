"""From bytes to chunks: what a file is read as, how it is cut, and what a search finds of it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a paginated document: `text[start:end]` stands on page `number` (1-based)."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Box:
    """Where a line of text stands on its page: `text[start:end]` fills the rectangle from (x0, y0)
    to (x1, y1), in shares of the page's width and height as shown, counted from its top left
    corner.
    """

    start: int
    end: int
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its text, up to the next of any level. `anchor`: its id, or empty."""

    heading_path: tuple[str, ...]
    start: int
    end: int
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """What a parser makes of a file's bytes. `sections` cover `text` in order; `pages` is empty
    where there are none, and so is `boxes` where nothing is laid out. `dated`: the day the file
    itself says it is of, in seconds since the epoch.
    """

    title: str
    media_type: str
    lang: str
    text: str
    sections: tuple[Section, ...]
    pages: tuple[Page, ...] = ()
    warnings: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    dated: float | None = None

    def find_page_at(self, offset: int) -> int | None:
        """The page on which the character at `offset` stands."""
        at = bisect_right(self.pages, offset, key=lambda page: page.start)
        return self.pages[at - 1].number if at else None


ChunkKind = Literal["text", "whole", "summary"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a document, cut to a token budget. `text == document.text[start:end]`; `section`
    indexes `sections`.

    `kind`: `text` is a part of its section and `whole` all of it (or of several small ones);
    `summary` is what stands for a section of several chunks when sections are searched: its text
    says what the span holds, and is never quoted.
    """

    text: str
    start: int
    end: int
    section: int
    heading_path: tuple[str, ...]
    page: int | None
    tokens: int
    kind: ChunkKind = "text"


@dataclass(frozen=True, slots=True)
class Hit:
    """A stored chunk that a search found. `signals` keeps each ranker's own figure by name (cosine,
    bm25, coverage, ...).

    `section` and `ordinal` say where in its document it stands; `dated` is the document's day (or
    when it was added), in seconds since the epoch; `priority` is 0 unless somebody set it. `words`
    are the tokens of title, headings and text as the index keeps them, between spaces; empty where
    it keeps none.
    """

    chunk_id: int
    doc_id: str
    collection: str
    title: str
    uri: str
    heading_path: tuple[str, ...]
    page: int | None
    start: int
    end: int
    text: str
    lang: str
    kind: ChunkKind = "text"
    section: int = 0
    ordinal: int = 0
    media_type: str = ""
    dated: float = 0.0
    priority: int = 0
    words: str = field(default="", repr=False)
    score: float = 0.0
    signals: dict[str, float] = field(default_factory=dict)

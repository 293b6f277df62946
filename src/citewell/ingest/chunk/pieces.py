"""What every chunker cuts text into, and makes chunks of: sentences, table rows, lines of code;
spans with their section. What fits the budget is not cut: a sentence, a row and a line of code stay
whole wherever they are no longer than a chunk may be.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from citewell.models.base import Vector
from citewell.text.language import count_tokens, estimate_tokens
from citewell.text.line_breaks import split_blocks
from citewell.text.sentences import split_sentences
from citewell.types import Chunk, Document

Embed = Callable[[Sequence[str]], Vector]
_ROW: Final = " | "
_LINE = re.compile(r"[^\n]*\n+|[^\n]+")
_CELL = re.compile(r".+?(?: \| |$)", re.DOTALL)
_CLAUSE = re.compile(r"[^，、,；;：:]*[，、,；;：:]+\s*|[^，、,；;：:]+")
_WORD = re.compile(r"\S+\s*")
# where what is too long is cut: the first of these that helps
_LEVELS: Final = (_LINE, _CELL, _CLAUSE, _WORD)
_CODE: Final = {"application/javascript", "application/sql", "application/x-sh"}
_PROSE: Final = {
    f"text/x-{name}"
    for name in ("rst", "markdown", "web-markdown", "tex", "asciidoc", "org", "wiki")
}
_JOINER: Final = "\u200d"
_LONGEST_CLUSTER: Final = 12  # characters with what combines with them; longer ones are no script's


@dataclass(frozen=True, slots=True)
class Cutting:
    """How to cut: `tokens` of a chunk at most, `overlap` tokens that a chunk may repeat, both as
    `count_tokens` counts.

    `embed` gives unit vectors of texts, for chunkers that go by meaning.
    """

    tokens: int
    overlap: int
    embed: Embed | None = None


@dataclass(frozen=True, slots=True)
class Atom:
    """What is not cut any further. `whole`: a full sentence, row or line, which a chunk may repeat
    from the one before.

    `paragraph`: a paragraph ends behind it. `heading`: it is the heading of what follows, or says
    with a colon what follows: it is nothing by itself.
    """

    start: int
    end: int
    tokens: float
    whole: bool
    paragraph: bool
    heading: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """Where a chunk is to be, and its section: an index of `sections` and the headings above it."""

    start: int
    end: int
    section: int
    heading_path: tuple[str, ...]


# ---------------------------------------------------------------- atoms


def split_atoms(document: Document, start: int, end: int, budget: int) -> list[Atom]:
    """The atoms of `document.text[start:end]`, none of more than about `budget` tokens."""
    text = document.text
    spans = list(_iterate_units(text, start, end, by_line=is_code(document.media_type)))
    found: list[Atom] = []
    for n, (a, b) in enumerate(spans):
        paragraph = n + 1 == len(spans) or "\n\n" in text[b : spans[n + 1][0]]
        size = estimate_tokens(text[a:b])
        if size <= budget:
            opens = text[b - 1] in ":："
            found.append(Atom(a, b, size, whole=True, paragraph=paragraph, heading=opens))
        else:
            found.extend(_split_atom(text, a, b, budget))
    return found


def is_code(media_type: str) -> bool:
    """Whether lines, not sentences, are what a file of this type is made of."""
    return media_type in _CODE or (media_type.startswith("text/x-") and media_type not in _PROSE)


def _iterate_units(text: str, start: int, end: int, *, by_line: bool) -> Iterator[tuple[int, int]]:
    """Sentences; rows of tables and lines of code as they are."""
    whole = text[start:end]
    if by_line:
        for match in re.finditer(r"\S[^\n]*", whole):
            yield start + match.start(), start + match.start() + len(match.group().rstrip())
        return
    for a, b in split_blocks(whole):
        if _ROW in whole[a:b]:
            yield start + a, start + b
        else:
            yield from ((start + a + c, start + a + d) for c, d in split_sentences(whole[a:b]))


def _split_atom(text: str, start: int, end: int, budget: int) -> Iterator[Atom]:
    """An atom over the budget in parts of a quarter of it, at clauses, else of the whole of it."""
    first, last, tokens = start, start, 0.0
    for a, b in _split_recursively(text, start, end, budget):
        size = estimate_tokens(text[a:b])
        if last > first and tokens + size > budget / 4:
            yield Atom(first, last, tokens, whole=False, paragraph=False)
            first, last, tokens = a, a, 0.0
        last, tokens = b, tokens + size
    if last > first:
        yield Atom(first, last, tokens, whole=False, paragraph=False)


def _split_recursively(
    text: str, start: int, end: int, budget: int, level: int = 0
) -> Iterator[tuple[int, int]]:
    """Cuts at line ends, else between cells, at commas, at spaces, between characters."""
    if level == len(_LEVELS):
        yield from split_characters(text, start, end, budget)
        return
    for a, b in _iterate_spans(_LEVELS[level], text, start, end):
        if estimate_tokens(text[a:b]) <= budget:
            yield a, b
        else:
            yield from _split_recursively(text, a, b, budget, level + 1)


def split_characters(text: str, start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    """Pieces of `most` characters (a character is a token at most), none of them between a letter
    and what combines with it.
    """
    while start < end:
        stop = min(start + most, end)
        for at in range(stop, max(start, stop - _LONGEST_CLUSTER), -1):
            if at == end or not is_same_grapheme(text, at):
                stop = at
                break
        yield start, stop
        start = stop


def is_same_grapheme(text: str, at: int) -> bool:
    """Whether the characters around `at` are one sign: accents, variants, joined emoji."""
    return (
        bool(unicodedata.combining(text[at]))
        or text[at] == _JOINER
        or text[at - 1] == _JOINER
        or "\ufe00" <= text[at] <= "\ufe0f"
    )


def _iterate_spans(
    pattern: re.Pattern[str], text: str, start: int, end: int
) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text, start, end):
        a, b = match.span()
        b -= len(text[a:b]) - len(text[a:b].rstrip())
        if a < b:
            yield a, b


# ---------------------------------------------------------------- chunks


def build_chunks(document: Document, spans: Iterable[Span]) -> list[Chunk]:
    """Chunks of spans, with page, size and kind: the only chunk of a section stands for it."""
    starts = [page.start for page in document.pages]
    found: list[Chunk] = []
    for span in spans:
        text = document.text[span.start : span.end]
        page = (
            document.pages[max(0, bisect_right(starts, span.start) - 1)].number if starts else None
        )
        found.append(
            Chunk(
                text,
                span.start,
                span.end,
                span.section,
                span.heading_path,
                page,
                count_tokens(text),
            )
        )
    of_section = Counter(chunk.section for chunk in found)
    return [
        replace(chunk, kind="whole") if of_section[chunk.section] == 1 else chunk for chunk in found
    ]


class Sections:
    """Says in which section a span that heeds no section stands."""

    def __init__(self, document: Document) -> None:
        self._sections = document.sections
        self._starts = [section.start for section in document.sections]

    def span(self, start: int, end: int) -> Span:
        """The section that holds most of it: its headings for half or more, else those shared."""
        if not self._sections:
            return Span(start, end, 0, ())
        first = max(0, bisect_right(self._starts, start) - 1)
        within = list(
            takewhile(lambda n: self._starts[n] < end, range(first, len(self._starts)))
        ) or [first]
        held = {
            n: min(end, self._sections[n].end) - max(start, self._sections[n].start) for n in within
        }
        most = max(within, key=lambda n: held[n])
        if 2 * held[most] >= end - start:
            return Span(start, end, most, self._sections[most].heading_path)
        return Span(
            start, end, most, find_shared_path(*(self._sections[n].heading_path for n in within))
        )


def find_shared_path(first: tuple[str, ...], *others: tuple[str, ...]) -> tuple[str, ...]:
    """The headings that all of these paths begin with."""
    for other in others:
        pairs = zip(first, other, strict=False)
        first = tuple(part for part, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return first

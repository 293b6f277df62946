"""The chunkers that heed no section: whole sentences to a token budget, and fixed windows of words.

The one rule: sections are read for the headings above a chunk, and decide nothing about where it
ends.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from citewell.ingest.chunk.pack import pack
from citewell.ingest.chunk.pieces import Atom, Cutting, Sections, atoms, characters, joined, made
from citewell.text.language import CJK, weight
from citewell.types import Chunk, Document

_LONGEST_WORD: Final = 100  # characters; what is longer (base64, endless signs) is cut
# a character of a script without spaces, or a run of others up to the next space or such a
# character
_UNIT: Final = re.compile(rf"[{CJK}]|[^\s{CJK}]+")


def by_sentences(document: Document, cutting: Cutting) -> list[Chunk]:
    """Whole sentences, rows and lines, as many as fit; whole ones are repeated within the
    overlap.
    """
    sections = Sections(document)
    packed = pack(all_atoms(document, cutting.tokens), cutting.tokens, cutting.overlap)
    return made(document, (sections.span(start, end) for start, end in packed))


def fixed(document: Document, cutting: Cutting) -> list[Chunk]:
    """Windows of a fixed number of tokens, each repeating the end of the one before: the plain
    baseline. A window ends anywhere but inside a word, or inside a character and what combines with
    it.
    """
    sections = Sections(document)
    return made(
        document, (sections.span(start, end) for start, end in _windows(document.text, cutting))
    )


def all_atoms(document: Document, budget: int) -> list[Atom]:
    """The atoms of the whole text, headings marked as such."""
    headings = set()
    for section in document.sections:
        text = document.text[section.start : section.end]
        start = section.start + len(text) - len(text.lstrip())
        if section.heading_path and document.text.startswith(section.heading_path[-1], start):
            headings.add(start)
    return [
        replace(a, heading=a.start in headings)
        for a in atoms(document, 0, len(document.text), budget)
    ]


def _windows(text: str, cutting: Cutting) -> Iterator[tuple[int, int]]:
    units = list(_words(text))
    sums = [0.0]
    for start, end in units:
        sums.append(sums[-1] + weight(text[start:end]))
    step = max(1.0, cutting.tokens - cutting.overlap)
    first = 0
    while first < len(units):
        last = _reach(sums, first, cutting.tokens)
        yield units[first][0], units[last - 1][1]
        if last == len(units):
            return
        first = max(first + 1, min(last, _reach(sums, first, step)))


def _reach(sums: list[float], first: int, tokens: float) -> int:
    """The unit behind the last one that fits `tokens` from `first` on; one fits in any case."""
    return max(first + 1, bisect_right(sums, sums[first] + tokens) - 1)


def _words(text: str) -> Iterator[tuple[int, int]]:
    held: tuple[int, int] | None = None
    for match in _UNIT.finditer(text):
        for start, end in characters(text, *match.span(), _LONGEST_WORD):
            if held and start == held[1] and joined(text, start):
                held = (held[0], end)
                continue
            if held:
                yield held
            held = (start, end)
    if held:
        yield held

"""The chunkers that heed no section: whole sentences to a token budget, and fixed windows of words.
Sections are read for the headings above a chunk, and decide nothing about where it ends.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from citewell.ingest.chunk.pack import pack_atoms
from citewell.ingest.chunk.pieces import (
    Atom,
    Cutting,
    Sections,
    build_chunks,
    is_same_grapheme,
    split_atoms,
    split_characters,
)
from citewell.text.language import CJK, estimate_tokens
from citewell.types import Chunk, Document

_LONGEST_WORD: Final = 100  # characters; what is longer (base64, endless signs) is cut
# a character of a script without spaces, or a run of others up to the next space or such a
# character
_UNIT: Final = re.compile(rf"[{CJK}]|[^\s{CJK}]+")


def chunk_by_sentences(document: Document, cutting: Cutting) -> list[Chunk]:
    """Whole sentences, rows and lines, as many as fit; whole ones repeat within the overlap."""
    sections = Sections(document)
    packed = pack_atoms(split_all_atoms(document, cutting.tokens), cutting.tokens, cutting.overlap)
    return build_chunks(document, (sections.span(start, end) for start, end in packed))


def chunk_fixed_size(document: Document, cutting: Cutting) -> list[Chunk]:
    """Windows of a fixed number of tokens, each repeating the end of the one before: the plain
    baseline. A window ends anywhere but inside a word, or inside a character and what combines with
    it.
    """
    sections = Sections(document)
    return build_chunks(
        document,
        (sections.span(start, end) for start, end in _iterate_windows(document.text, cutting)),
    )


def split_all_atoms(document: Document, budget: int) -> list[Atom]:
    """The atoms of the whole text, headings marked as such."""
    headings = set()
    for section in document.sections:
        text = document.text[section.start : section.end]
        start = section.start + len(text) - len(text.lstrip())
        if section.heading_path and document.text.startswith(section.heading_path[-1], start):
            headings.add(start)
    return [
        replace(a, heading=a.heading or a.start in headings)
        for a in split_atoms(document, 0, len(document.text), budget)
    ]


def _iterate_windows(text: str, cutting: Cutting) -> Iterator[tuple[int, int]]:
    units = list(_split_words(text))
    sums = [0.0]
    for start, end in units:
        sums.append(sums[-1] + estimate_tokens(text[start:end]))
    step = max(1.0, cutting.tokens - cutting.overlap)
    first = 0
    while first < len(units):
        last = _find_window_end(sums, first, cutting.tokens)
        yield units[first][0], units[last - 1][1]
        if last == len(units):
            return
        first = max(first + 1, min(last, _find_window_end(sums, first, step)))


def _find_window_end(sums: list[float], first: int, tokens: float) -> int:
    """The unit behind the last one that fits `tokens` from `first` on; one fits in any case."""
    return max(first + 1, bisect_right(sums, sums[first] + tokens) - 1)


def _split_words(text: str) -> Iterator[tuple[int, int]]:
    held: tuple[int, int] | None = None
    for match in _UNIT.finditer(text):
        for start, end in split_characters(text, *match.span(), _LONGEST_WORD):
            if held and start == held[1] and is_same_grapheme(text, start):
                held = (held[0], end)
                continue
            if held:
                yield held
            held = (start, end)
    if held:
        yield held

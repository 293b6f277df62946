"""Documents cut into chunks of a token budget: the table of ways to do it, and the default, by
section.

Of every chunker: `chunk.text == document.text[chunk.start:chunk.end]`, and every
character that is not white space is in a chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from citewell.ingest.chunk.flat import chunk_by_sentences, chunk_fixed_size
from citewell.ingest.chunk.pack import pack_atoms
from citewell.ingest.chunk.pieces import (
    Cutting,
    Embed,
    Span,
    build_chunks,
    find_shared_path,
    split_atoms,
)
from citewell.ingest.chunk.semantic import chunk_semantically
from citewell.text.language import estimate_tokens
from citewell.types import Chunk, Document, Section

LONGEST_STRETCH: Final = 500_000  # characters of a section that are cut at once
# share of the budget below which a section may share a chunk with its neighbours
_SMALL: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Group:
    """Sections `first` and those after it up to `end`, which may share chunks."""

    first: int
    heading_path: tuple[str, ...]
    start: int
    end: int
    tokens: float
    small: bool


def chunk_document(
    document: Document,
    *,
    tokens: int,
    overlap: int,
    strategy: str = "structure",
    embed: Embed | None = None,
) -> list[Chunk]:
    """Cut `document`; `tokens` and `overlap` as `count_tokens` counts. `embed`: what
    `semantic` goes by.

    Raises KeyError for an unknown strategy, and InvalidInput where `semantic` has nothing
    to embed with.
    """
    return CHUNKERS[strategy](document, Cutting(tokens, overlap, embed))


def chunk_by_structure(document: Document, cutting: Cutting) -> list[Chunk]:
    """Chunks within a section, or of small neighbours under one heading; overlap stays inside."""
    spans: list[Span] = []
    for group in _group_sections(document, cutting.tokens):
        for first, last in _split_large_section(document.text, group.start, group.end):
            pieces = split_atoms(document, first, last, cutting.tokens)
            packed = pack_atoms(pieces, cutting.tokens, cutting.overlap)
            spans += [Span(start, end, group.first, group.heading_path) for start, end in packed]
    return build_chunks(document, spans)


def _split_large_section(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A section that is a whole archive, cut where a paragraph, a line, a sentence or a word ends:
    its sentences take a dozen times its own memory.
    """
    while end - start > LONGEST_STRETCH:
        stop = start + LONGEST_STRETCH
        ends = (
            text.rfind(mark, start + LONGEST_STRETCH // 2, stop) + len(mark)
            for mark in ("\n\n", "\n", "。", ". ", " ")
        )
        cut = next((at for at in ends if at > start + LONGEST_STRETCH // 2), stop)
        yield start, cut
        start = cut
    yield start, end


CHUNKERS: Final[dict[str, Callable[[Document, Cutting], list[Chunk]]]] = {
    "structure": chunk_by_structure,
    "sentences": chunk_by_sentences,
    "fixed": chunk_fixed_size,
    "semantic": chunk_semantically,
}


# ---------------------------------------------------------------- sections that may share a chunk


def _group_sections(document: Document, budget: int) -> Iterator[_Group]:
    """Small sections joined while they belong together and fit; headings go with what follows."""
    current: _Group | None = None
    for n, section in enumerate(document.sections):
        text = document.text[section.start : section.end]
        if not text.strip():
            continue
        size = estimate_tokens(text)
        if current is None:
            current = _make_group(n, section, size, budget)
            continue
        bare = (
            current.heading_path
            and document.text[current.start : current.end].strip() == current.heading_path[-1]
        )
        if bare and _is_below(current.heading_path, section.heading_path):
            current = _Group(
                n,
                section.heading_path,
                current.start,
                section.end,
                current.tokens + size,
                size < _SMALL * budget,
            )
        elif (
            current.small
            and size < _SMALL * budget
            and current.tokens + size <= budget
            and _is_related(current, section)
        ):
            path = find_shared_path(current.heading_path, section.heading_path)
            current = _Group(
                current.first, path, current.start, section.end, current.tokens + size, small=True
            )
        else:
            yield current
            current = _make_group(n, section, size, budget)
    if current is not None:
        yield current


def _make_group(n: int, section: Section, size: float, budget: int) -> _Group:
    return _Group(n, section.heading_path, section.start, section.end, size, size < _SMALL * budget)


def _is_below(path: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return len(other) > len(path) and other[: len(path)] == path


def _is_related(group: _Group, section: Section) -> bool:
    """A child of the group's heading, or its sibling."""
    path, other = group.heading_path, section.heading_path
    return _is_below(path, other) or (len(path) == len(other) > 0 and path[:-1] == other[:-1])

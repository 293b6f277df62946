"""Documents cut into chunks of a token budget: by section, then by whole sentences.

The one rule: `chunk.text == document.text[chunk.start:chunk.end]`, and every character that is not white space is in a chunk.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from citewell.ingest.script import count_tokens, weight
from citewell.ingest.sentences import sentences
from citewell.types import Chunk, Document, Section

_SMALL: Final = 0.5  # share of the budget below which a section may share a chunk with its neighbours
_FULL: Final = 0.7  # share of the budget from which a chunk may end early at a paragraph's end
_REST: Final = 0.12  # share of the budget that a chunk may run over, rather than leave so little for the next
_CLAUSE = re.compile(r"[^，、,；;：:]*[，、,；;：:]+\s*|[^，、,；;：:]+")
_WORD = re.compile(r"\S+\s*")


@dataclass(frozen=True, slots=True)
class _Atom:
    """What is not cut any further. `whole`: a full sentence, which a chunk may repeat from the one before."""

    start: int
    end: int
    tokens: float
    whole: bool
    paragraph: bool  # a paragraph ends behind it


@dataclass(frozen=True, slots=True)
class _Group:
    """Sections `first` and those after it up to `end`, which may share chunks."""

    first: int
    heading_path: tuple[str, ...]
    start: int
    end: int
    tokens: float
    small: bool


def chunk(document: Document, *, tokens: int, overlap: int, strategy: str = "structure") -> list[Chunk]:
    """Cut `document`; `tokens` and `overlap` as `count_tokens` counts. Raises KeyError for an unknown strategy."""
    return CHUNKERS[strategy](document, tokens, overlap)


def by_structure(document: Document, tokens: int, overlap: int) -> list[Chunk]:
    """Chunks that never cross a section, unless neighbours under one heading are small; overlap stays inside a section."""
    starts = [page.start for page in document.pages]
    found: list[Chunk] = []
    for group in _groups(document, tokens):
        atoms = _atoms(document.text, group.start, group.end, tokens)
        for start, end in _pack(atoms, tokens, overlap):
            text = document.text[start:end]
            page = document.pages[max(0, bisect_right(starts, start) - 1)].number if starts else None
            found.append(Chunk(text, start, end, group.first, group.heading_path, page, count_tokens(text)))
    return found


CHUNKERS: dict[str, Callable[[Document, int, int], list[Chunk]]] = {"structure": by_structure}


# ---------------------------------------------------------------- sections that may share a chunk


def _groups(document: Document, budget: int) -> Iterator[_Group]:
    """Sections joined as long as they are small, belong together, and fit the budget; a bare heading goes with what follows."""
    current: _Group | None = None
    for n, section in enumerate(document.sections):
        text = document.text[section.start : section.end]
        if not text.strip():
            continue
        size = weight(text)
        if current is None:
            current = _group(n, section, size, budget)
            continue
        bare = current.heading_path and document.text[current.start : current.end].strip() == current.heading_path[-1]
        if bare and _below(current.heading_path, section.heading_path):
            current = _Group(n, section.heading_path, current.start, section.end, current.tokens + size, size < _SMALL * budget)
        elif current.small and size < _SMALL * budget and current.tokens + size <= budget and _related(current, section):
            path = _shared(current.heading_path, section.heading_path)
            current = _Group(current.first, path, current.start, section.end, current.tokens + size, small=True)
        else:
            yield current
            current = _group(n, section, size, budget)
    if current is not None:
        yield current


def _group(n: int, section: Section, size: float, budget: int) -> _Group:
    return _Group(n, section.heading_path, section.start, section.end, size, size < _SMALL * budget)


def _below(path: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return len(other) > len(path) and other[: len(path)] == path


def _related(group: _Group, section: Section) -> bool:
    """A child of the group's heading, or its sibling."""
    path, other = group.heading_path, section.heading_path
    return _below(path, other) or (len(path) == len(other) > 0 and path[:-1] == other[:-1])


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for part, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


# ---------------------------------------------------------------- sentences, and what a long one is cut into


def _atoms(text: str, start: int, end: int, budget: int) -> list[_Atom]:
    spans = [(start + a, start + b) for a, b in sentences(text[start:end])]
    atoms: list[_Atom] = []
    for n, (a, b) in enumerate(spans):
        paragraph = n + 1 == len(spans) or "\n\n" in text[b : spans[n + 1][0]]
        size = weight(text[a:b])
        if size <= budget:
            atoms.append(_Atom(a, b, size, whole=True, paragraph=paragraph))
        else:
            atoms.extend(_cut(text, a, b, budget))
    return atoms


def _cut(text: str, start: int, end: int, budget: int) -> Iterator[_Atom]:
    """A sentence over the budget, in parts of a quarter of it at most where its clauses allow, of the whole of it else."""
    first, last, tokens = start, start, 0.0
    for a, b in _fine(text, start, end, budget):
        size = weight(text[a:b])
        if last > first and tokens + size > budget / 4:
            yield _Atom(first, last, tokens, whole=False, paragraph=False)
            first, last, tokens = a, a, 0.0
        last, tokens = b, tokens + size
    if last > first:
        yield _Atom(first, last, tokens, whole=False, paragraph=False)


def _fine(text: str, start: int, end: int, budget: int) -> Iterator[tuple[int, int]]:
    """Cuts at commas; what is still too long, at spaces; what has none, anywhere."""
    for a, b in _pieces(_CLAUSE, text, start, end):
        if weight(text[a:b]) <= budget:
            yield a, b
            continue
        for c, d in _pieces(_WORD, text, a, b):
            for e in range(c, d, budget):  # a character is a token at most
                yield e, min(e + budget, d)


def _pieces(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text, start, end):
        a, b = match.span()
        b -= len(text[a:b]) - len(text[a:b].rstrip())
        if a < b:
            yield a, b


# ---------------------------------------------------------------- packing


def _pack(atoms: list[_Atom], budget: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Spans of chunks. Each takes as many atoms as fit, the last whole sentences of the one before repeated in front."""
    sums = [0.0]
    for atom in atoms:
        sums.append(sums[-1] + atom.tokens)
    first = new = 0  # where the chunk begins, and where what no chunk holds yet begins
    while new < len(atoms):
        last = _last(atoms, sums, first, new, budget)
        yield atoms[first].start, atoms[last - 1].end
        first, new = _repeat(atoms, sums, first, last, budget, overlap), last


def _last(atoms: list[_Atom], sums: list[float], first: int, new: int, budget: int) -> int:
    """Where the chunk that begins at `first` ends: at the budget, or before it where a paragraph ends."""
    end = max(new + 1, bisect_right(sums, sums[first] + budget) - 1)
    if sums[-1] - sums[first] <= (1 + _REST) * budget:
        return len(atoms)
    for at in range(end, new, -1):
        if sums[at] - sums[first] < _FULL * budget:
            break
        if atoms[at - 1].paragraph:
            return at
    return end


def _repeat(atoms: list[_Atom], sums: list[float], first: int, last: int, budget: int, overlap: int) -> int:
    """Where the next chunk begins: whole sentences before `last` within `overlap`, that leave room for the next atom."""
    if last >= len(atoms):
        return last
    room = min(float(overlap), budget - atoms[last].tokens)
    at = last
    while at - 1 > first and atoms[at - 1].whole and sums[last] - sums[at - 1] <= room:
        at -= 1
    return at

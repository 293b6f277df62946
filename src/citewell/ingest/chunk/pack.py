"""Atoms packed into chunks of a token budget. A chunk takes as many atoms as fit and ends at a
paragraph's end where one is near its budget; the last whole atoms of the one before are repeated in
front of it, within the overlap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from citewell.ingest.chunk.pieces import Atom

_FULL: Final = 0.7  # share of the budget from which a chunk may end early at a paragraph's end
# share of the budget that a chunk may run over, rather than leave so little for the next
_REST: Final = 0.12


def pack_atoms(atoms: Sequence[Atom], budget: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Spans of chunks."""
    sums = compute_prefix_sums(atoms)
    first = new = 0  # where the chunk begins, and where what no chunk holds yet begins
    while new < len(atoms):
        last = _find_chunk_end(atoms, sums, first, new, budget)
        yield atoms[first].start, atoms[last - 1].end
        first, new = find_overlap_start(atoms, sums, first, last, budget, overlap), last


def compute_prefix_sums(atoms: Sequence[Atom]) -> list[float]:
    """Tokens before each atom, and at the end of all."""
    sums = [0.0]
    for atom in atoms:
        sums.append(sums[-1] + atom.tokens)
    return sums


def find_chunk_limit(sums: Sequence[float], first: int, new: int, budget: float) -> int:
    """Where a chunk that begins at `first` ends at the latest; it always holds the atom `new`."""
    return max(new + 1, bisect_right(sums, sums[first] + budget) - 1)


def is_last_chunk(sums: Sequence[float], first: int, budget: float) -> bool:
    """Whether what is left is so little more than a chunk that it is one."""
    return sums[-1] - sums[first] <= (1 + _REST) * budget


def trim_trailing_headings(atoms: Sequence[Atom], new: int, end: int) -> int:
    """`end`, or before the headings that would be a chunk's last words there."""
    at = end
    while at > new + 1 and at < len(atoms) and atoms[at - 1].heading:
        at -= 1
    return at


def find_overlap_start(
    atoms: Sequence[Atom], sums: Sequence[float], first: int, last: int, budget: int, overlap: int
) -> int:
    """Where the next chunk begins: whole atoms before `last` in `overlap`, with room for more."""
    if last >= len(atoms):
        return last
    room = min(float(overlap), budget - atoms[last].tokens)
    at = last
    while at - 1 > first and atoms[at - 1].whole and sums[last] - sums[at - 1] <= room:
        at -= 1
    return at


def _find_chunk_end(
    atoms: Sequence[Atom], sums: Sequence[float], first: int, new: int, budget: int
) -> int:
    """Where the chunk that begins at `first` ends: at the budget, or before it with a paragraph."""
    end = find_chunk_limit(sums, first, new, budget)
    if is_last_chunk(sums, first, budget):
        return len(atoms)
    for at in range(end, new, -1):
        if sums[at] - sums[first] < _FULL * budget:
            break
        if atoms[at - 1].paragraph and not atoms[at - 1].heading:
            return at
    return trim_trailing_headings(atoms, new, end)

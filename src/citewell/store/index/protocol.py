"""The protocol by which stored chunks are searched; one adapter a file. An index sees everything
that any process has committed, and its filters are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from citewell.models.base import Vector
from citewell.types import ChunkKind, Hit

PASSAGES: tuple[ChunkKind, ...] = ("text", "whole")


@dataclass(frozen=True, slots=True)
class Filter:
    """Chunks that pass all of these; an empty tuple and None are no condition.

    `since` and `until` are seconds since the epoch, both included, and compared with the day a
    document says it is of, or else with the time it was added. `spans` are of documents given by
    their ids: a chunk passes that lies within one of them. Summaries are searched only where
    `kinds` says so, documents whose place has them no more only where `doc_ids` or `spans` do.
    """

    collections: tuple[str, ...] = ()
    doc_ids: tuple[str, ...] = ()
    langs: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None
    least_priority: int | None = None
    kinds: tuple[ChunkKind, ...] = PASSAGES
    spans: tuple[tuple[str, int, int], ...] = ()


class Index(Protocol):
    """Search over the catalog's chunks. Raises StorageError; InvalidInput for a wrong vector."""

    async def search_vectors(
        self, vector: Vector, k: int, where: Filter = Filter()
    ) -> list[tuple[int, float]]:
        """The `k` nearest as (chunk id, cosine), best first. `vector`: shape (dim,), length 1."""
        ...

    async def search_words(
        self, text: str, k: int, where: Filter = Filter()
    ) -> list[tuple[int, float]]:
        """The `k` best chunks with any word of `text`, as (chunk id, bm25), higher is better."""
        ...

    async def hits(self, ids: Sequence[int]) -> list[Hit]:
        """The chunks of these ids, in the order asked; those that are gone are left out."""
        ...

    async def vectors(self, ids: Sequence[int]) -> Vector:
        """Shape (len(ids), dim), float32, as asked; zeros where a chunk is gone or not embedded."""
        ...

    async def get_neighbours(
        self, ids: Sequence[int], before: int, after: int
    ) -> dict[int, list[Hit]]:
        """For each chunk the passages of its section around it, itself too, in text order."""
        ...

    async def texts(self, spans: Sequence[tuple[str, int, int]]) -> list[str | None]:
        """The words from `start` to `end` of documents by id; None where one is gone."""
        ...

"""How stored chunks are searched: one small protocol, one adapter a file, one table of their names.

The one rule: an index answers from what is committed now, by whichever process, and its filters are
exact.
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
    """Chunks that pass each of these; an empty tuple and None ask nothing.

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
    """Search over the chunks of the catalog. Raises StorageError, and InvalidInput for a vector of
    the wrong shape.
    """

    async def search_vectors(
        self, vector: Vector, k: int, where: Filter = Filter()
    ) -> list[tuple[int, float]]:
        """The `k` nearest chunks as (chunk id, cosine), best first. `vector` has shape (dim,) and
        length 1.
        """
        ...

    async def search_words(
        self, text: str, k: int, where: Filter = Filter()
    ) -> list[tuple[int, float]]:
        """The `k` best chunks that hold any word of `text`, as (chunk id, bm25), higher is better.
        Any text is allowed.
        """
        ...

    async def hits(self, ids: Sequence[int]) -> list[Hit]:
        """The chunks of these ids, in the order asked; those that are gone are left out."""
        ...

    async def vectors(self, ids: Sequence[int]) -> Vector:
        """Shape (len(ids), dim), float32, in the order asked; a row of zeros where a chunk is gone
        or not yet embedded.
        """
        ...

    async def beside(self, ids: Sequence[int], before: int, after: int) -> dict[int, list[Hit]]:
        """For each chunk the passages of its section around it, itself included, in the order of
        the text.
        """
        ...

    async def texts(self, spans: Sequence[tuple[str, int, int]]) -> list[str | None]:
        """The words from `start` to `end` of documents given by their ids; None where a document is
        gone.
        """
        ...

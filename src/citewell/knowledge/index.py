"""How stored chunks are searched: one small protocol, one adapter a file, one table of their names.

The one rule: an index answers from what is committed now, by whichever process, and its filters are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from citewell.knowledge.db import Database
from citewell.models.base import Vector
from citewell.types import Hit


@dataclass(frozen=True, slots=True)
class Filter:
    """Chunks of one of these collections AND documents AND languages; an empty tuple asks nothing."""

    collections: tuple[str, ...] = ()
    doc_ids: tuple[str, ...] = ()
    langs: tuple[str, ...] = ()


class Index(Protocol):
    """Search over the chunks of the catalog. Raises StorageError, and InvalidInput for a vector of the wrong shape."""

    async def by_vector(self, vector: Vector, k: int, where: Filter = Filter()) -> list[tuple[int, float]]:
        """The `k` nearest chunks as (chunk id, cosine), best first. `vector` has shape (dim,) and length 1."""
        ...

    async def by_words(self, text: str, k: int, where: Filter = Filter()) -> list[tuple[int, float]]:
        """The `k` best chunks that hold any word of `text`, as (chunk id, bm25), higher is better. Any text is allowed."""
        ...

    async def hits(self, ids: Sequence[int]) -> list[Hit]:
        """The chunks of these ids, in the order asked; those that are gone are left out."""
        ...

    async def vectors(self, ids: Sequence[int]) -> Vector:
        """Shape (len(ids), dim), float32, in the order asked; a row of zeros where a chunk is gone or not yet embedded."""
        ...


def _sqlite(db: Database, embedder: str) -> Index:
    from citewell.knowledge.index_sqlite import SqliteIndex

    return SqliteIndex(db, embedder)


INDEXES: dict[str, Callable[[Database, str], Index]] = {
    "sqlite": _sqlite,
}

"""Chunks that still wait for a model: for a vector from the embedder, or for a summary from the
chat model. Each method is one transaction. They see all collections and users, because a process
embeds whatever waits, whoever added it.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.models.base import Vector
from citewell.store.db import Database
from citewell.store.index import vectors
from citewell.store.library import chunks
from citewell.text.language import count_tokens


class PendingChunks:
    """`embedder`: the name of the embedder in use. Raises StorageError."""

    def __init__(self, db: Database, embedder: str) -> None:
        self._db = db
        self._embedder = embedder

    async def list_unembedded(
        self, embedder: str, limit: int, docs: Sequence[str] | None = None, *, newest: bool = False
    ) -> list[tuple[int, str]]:
        """(chunk id, text to embed) of chunks without a vector of this embedder, at most `limit`,
        equal texts once. Empty when none waits. `docs`: of these documents only; `newest`: those
        that came last.
        """
        return await self._db.read(vectors.list_unembedded, embedder, limit, docs, newest=newest)

    async def count_unembedded(self, docs: Sequence[str] | None = None) -> int:
        """Chunks, summaries included, without a vector of the embedder in use; of `docs` only."""
        return await self._db.read(vectors.count_unembedded, self._embedder, docs)

    async def list_unwritten_summaries(
        self, author: str, limit: int
    ) -> list[tuple[int, tuple[str, ...], str]]:
        """(chunk id, headings, text of the section) of what `author` has not summarised yet."""
        return await self._db.read(chunks.list_unwritten_summaries, author, limit)

    async def put_summary(self, chunk_id: int, body: str, author: str) -> bool:
        """Replace a summary, its words and its vector (which is then made anew, like any other).
        False where the summary has gone meanwhile: its document was replaced or deleted.
        """
        size = count_tokens(body)
        return await self._db.write_beside(chunks.put_summary, chunk_id, body, author, size)

    async def put_vectors(self, embedder: str, ids: Sequence[int], rows: Vector) -> None:
        """Keep `rows`, shape (len(ids), dim), for these chunks and all others of equal text. Chunks
        deleted meanwhile are passed over. Raises InvalidInput for a wrong shape or a number that is
        not finite.
        """
        blobs = vectors.encode_vectors(embedder, ids, rows)
        await self._db.write_beside(vectors.put_vectors, embedder, blobs)

"""What the indexes over our own tables have in common: hits, exact vectors, and what a question may
be. Whoever nominates, exact float32 vectors decide.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection, bindparam, select

from citewell.errors import InvalidInput
from citewell.messages import Text
from citewell.models.base import Vector
from citewell.store.db import Database
from citewell.store.dialects.expressions import is_among
from citewell.store.index import hits as hit_rows
from citewell.store.index.protocol import Filter
from citewell.store.schema.library import chunks, vectors
from citewell.text.tokens import tokenize_query
from citewell.types import Hit

ANY = Filter()


class DatabaseIndex(ABC):
    """Vectors of other embedders are not compared."""

    def __init__(self, db: Database, embedder: str) -> None:
        self._db = db
        self._embedder = embedder
        self._dim = 0  # of the last query: what `vectors` answers in while nothing is embedded yet

    async def search_vectors(
        self, vector: Vector, k: int, where: Filter = ANY
    ) -> list[tuple[int, float]]:
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if query.ndim != 1 or not np.isfinite(query).all():
            raise InvalidInput(
                Text(
                    "{embedder}: a query is one vector of finite numbers, this one has "
                    "shape {shape}",
                    embedder=self._embedder,
                    shape=query.shape,
                )
            )
        self._dim = len(query)
        return await self._db.search(self._search_nearest, query, k, where) if k > 0 else []

    async def search_words(self, text: str, k: int, where: Filter = ANY) -> list[tuple[int, float]]:
        tokens = tokenize_query(text)
        return (
            await self._db.search(self._search_keywords, tokens, k, where)
            if tokens and k > 0
            else []
        )

    async def hits(self, ids: Sequence[int]) -> list[Hit]:
        found = await self._db.read(hit_rows.load_hits, ids)
        return [found[chunk] for chunk in ids if chunk in found]

    async def get_neighbours(
        self, ids: Sequence[int], before: int, after: int
    ) -> dict[int, list[Hit]]:
        return await self._db.read(hit_rows.load_neighbours, ids, before, after)

    async def texts(self, spans: Sequence[tuple[str, int, int]]) -> list[str | None]:
        return await self._db.read(hit_rows.load_texts, spans)

    async def vectors(self, ids: Sequence[int]) -> Vector:
        found = await self._db.read(load_vectors, ids, self._embedder)
        rows = np.zeros(
            (len(ids), len(next(iter(found.values()))) if found else self._dim), np.float32
        )
        for i, chunk in enumerate(ids):
            if chunk in found:
                rows[i] = found[chunk]
        return rows

    @abstractmethod
    def _search_nearest(
        self, connection: Connection, query: Vector, k: int, where: Filter
    ) -> list[tuple[int, float]]:
        """(chunk id, cosine) of the `k` best that pass; `query` has been checked."""

    @abstractmethod
    def _search_keywords(
        self, connection: Connection, tokens: Sequence[str], k: int, where: Filter
    ) -> list[tuple[int, float]]:
        """(chunk id, bm25) of the `k` best that pass."""

    def _check_dimensions(self, query: Vector, dim: int) -> None:
        if query.shape != (dim,):
            raise InvalidInput(
                Text(
                    "{embedder}: the query has {shape} dimensions, the vectors {dim}",
                    embedder=self._embedder,
                    shape=query.shape[0],
                    dim=dim,
                )
            )


def rank_exactly(candidates: dict[int, Vector], query: Vector) -> list[tuple[int, float]]:
    """(chunk id, cosine), best first."""
    if not candidates:
        return []
    scores = np.stack(list(candidates.values())) @ query / (float(np.linalg.norm(query)) or 1.0)
    return sorted(
        zip(candidates, scores.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0])
    )


def load_vectors(connection: Connection, ids: Sequence[int], embedder: str) -> dict[int, Vector]:
    rows = connection.execute(_EXACT, {"ids": list(ids), "embedder": embedder}).all()
    return {row.id: np.frombuffer(row.vec, "<f4") for row in rows}


_EXACT = (
    select(chunks.c.id, vectors.c.vec)
    .join_from(chunks, vectors, vectors.c.chunk == chunks.c.id)
    .where(chunks.c.embedder == bindparam("embedder"), is_among(chunks.c.id, "ids"))
)

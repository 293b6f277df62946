"""The index of many machines: words and vectors in PostgreSQL, beside the chunks. Nothing is kept
here, so every process answers from what is committed now.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from citewell.models.base import Vector
from citewell.store.index import postgres_vectors, postgres_words, vectors
from citewell.store.index.database_index import DatabaseIndex, rank_exactly
from citewell.store.index.protocol import Filter

NOMINATED = 50  # candidates whose exact vectors are compared, or four times what is asked for


class PostgresIndex(DatabaseIndex):
    """Needs the tables of `search_tables.py`."""

    def _search_nearest(
        self, connection: Connection, query: Vector, k: int, where: Filter
    ) -> list[tuple[int, float]]:
        length = vectors.get_vector_length(connection, self._embedder)
        if length is None:
            return []
        self._check_dimensions(query, length // 4)
        candidates = postgres_vectors.find_nearest(
            connection, self._embedder, query, max(NOMINATED, 4 * k), where
        )
        return rank_exactly(candidates, query)[:k]

    def _search_keywords(
        self, connection: Connection, tokens: Sequence[str], k: int, where: Filter
    ) -> list[tuple[int, float]]:
        return postgres_words.search_keywords(connection, tokens, k, where)

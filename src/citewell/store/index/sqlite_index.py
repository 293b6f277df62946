"""The index of one machine: words in FTS5, vectors scanned in memory and rescored from the file.
Nothing here is truth. The copy in memory follows the table `changes`, which triggers write in the
transaction of the change itself; before each search what is new is taken over, so every process
sees every commit, deletions too.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, bindparam, func, select

from citewell.models.base import Vector
from citewell.store.db import Database
from citewell.store.dialects.expressions import is_among
from citewell.store.index import keyword_index
from citewell.store.index.database_index import DatabaseIndex, load_vectors, rank_exactly
from citewell.store.index.filter_columns import Place
from citewell.store.index.protocol import Filter
from citewell.store.index.vector_scan import SAMPLE, Scan
from citewell.store.library import documents
from citewell.store.library.facts import day, facts
from citewell.store.schema.library import changes, chunks, vectors

# Candidates whose exact vectors are compared, or four times what is asked for. 20 gave recall@10 =
# 1.0 on all but nearly equal texts (cosines of rank 10 and 50 apart by less than 0.001): 0.94
# there, and 1.0 with 50, for 0.2 ms more.
RESCORED = 50
_ROWS = 10_000  # rows taken over at once


class SqliteIndex(DatabaseIndex):
    """The first search by meaning loads the vectors (1 to 2 s per 100,000)."""

    def __init__(self, db: Database, embedder: str) -> None:
        super().__init__(db, embedder)
        self._following = threading.Lock()  # faiss may not be searched while rows are added
        self._scan: Scan | None = None
        self._seq = 0

    def _search_keywords(
        self, connection: Connection, tokens: Sequence[str], k: int, where: Filter
    ) -> list[tuple[int, float]]:
        return keyword_index.search_keywords(connection, tokens, k, where)

    def _search_nearest(
        self, connection: Connection, query: Vector, k: int, where: Filter
    ) -> list[tuple[int, float]]:
        # the snapshot begins with the first read, inside the lock: memory and file agree
        with self._following:
            scan = self._follow_changes(connection)
            if scan is None:
                return []
            self._check_dimensions(query, scan.dim)
            gone = () if where.doc_ids or where.spans else documents.list_gone(connection)
            candidates = scan.find_nearest(query, max(RESCORED, 4 * k), where, gone)
        exact = load_vectors(connection, candidates, self._embedder)
        return rank_exactly(exact, query)[:k]

    def _follow_changes(self, connection: Connection) -> Scan | None:
        oldest, newest = connection.execute(_SEQUENCE).one()
        # pruned past us, or the file is an older copy
        lost = oldest > self._seq + 1 or newest < self._seq
        if self._scan is None or lost:
            return self._load_scan(connection, newest)
        if newest > self._seq:
            changed = [row.chunk for row in connection.execute(_CHANGED, {"seq": self._seq})]
            self._scan.remove(changed)
            for start in range(0, len(changed), _ROWS):
                batch = changed[start : start + _ROWS]
                self._add_rows(
                    self._scan,
                    connection,
                    _ROWS_OF,
                    {"ids": batch, "embedder": self._embedder},
                )
            self._seq = newest
            if self._scan.must_reload:
                return self._load_scan(connection, newest)
        return self._scan

    def _load_scan(self, connection: Connection, newest: int) -> Scan | None:
        # idle threads of OpenMP must not spin beside the chat model
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        count = connection.execute(_COUNT, {"embedder": self._embedder}).scalar_one()
        self._scan, self._seq = None, newest
        if count:
            every = {"embedder": self._embedder, "step": max(1, count // SAMPLE)}
            sample = b"".join(row.vec for row in connection.execute(_SAMPLE, every))
            dim = connection.execute(_LENGTH, every).scalar_one() // 4
            scan = Scan(np.frombuffer(sample, "<f4").reshape(-1, dim))
            self._add_rows(scan, connection, _ROWS_ALL, every)
            scan.mark_loaded()
            self._scan = scan
        return self._scan

    @staticmethod
    def _add_rows(
        scan: Scan, connection: Connection, query: Select[Any], values: dict[str, object]
    ) -> None:
        known: dict[str, list[Any]] = {}
        for rows in connection.execute(query, values).partitions(_ROWS):
            exact = np.frombuffer(b"".join(row.vec for row in rows), "<f4").reshape(
                len(rows), scan.dim
            )
            unknown = list({row.doc for row in rows} - known.keys())
            for doc, *found in connection.execute(_FACTS, {"docs": unknown}):
                known[doc] = found
            places = [_to_place(row, *known[row.doc]) for row in rows]
            scan.add([row.id for row in rows], exact, places)


def _to_place(row: Any, media_type: str, day: float, priority: int) -> Place:
    return Place(
        row.collection, row.doc, row.lang, row.kind, media_type, row.first, row.last, day, priority
    )


_of_embedder = chunks.c.embedder == bindparam("embedder")
# each by itself is one look at the index
_SEQUENCE = select(
    func.coalesce(select(func.min(changes.c.seq)).scalar_subquery(), 0),
    func.coalesce(select(func.max(changes.c.seq)).scalar_subquery(), 0),
)
_CHANGED = select(changes.c.chunk).where(changes.c.seq > bindparam("seq")).distinct()
_COUNT = select(func.count()).select_from(chunks).where(_of_embedder)
_STORED = chunks.join(vectors, vectors.c.chunk == chunks.c.id)
_first = chunks.alias("first")
_FIRST = select(func.min(_first.c.id)).where(_first.c.embedder == bindparam("embedder"))
_SAMPLE = (
    select(vectors.c.vec)
    .select_from(_STORED)
    # counted from the first, so that a sample is never empty
    .where(_of_embedder, (chunks.c.id - _FIRST.scalar_subquery()) % bindparam("step") == 0)
    .order_by(chunks.c.id)
)
_LENGTH = select(func.length(vectors.c.vec)).select_from(_STORED).where(_of_embedder).limit(1)
_ROWS_ALL = (
    select(
        chunks.c.id,
        chunks.c.collection,
        chunks.c.doc,
        chunks.c.lang,
        chunks.c.kind,
        chunks.c.first,
        chunks.c.last,
        vectors.c.vec,
    )
    .select_from(_STORED)
    .where(_of_embedder)
    .order_by(chunks.c.id)
)
_ROWS_OF = _ROWS_ALL.where(is_among(chunks.c.id, "ids"))
_FACTS = select(facts.c.doc_id, facts.c.media_type, day, facts.c.priority).where(
    is_among(facts.c.doc_id, "docs")
)

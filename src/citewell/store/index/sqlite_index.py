"""The index of one machine: words in FTS5, vectors scanned in memory and rescored from the file.

The one rule: nothing here is truth. The copy in memory follows the table `changes`, which triggers
write in the transaction of the change itself; before each search what is new is taken over, so
every process sees every commit, deletions too.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, TextClause, text

from citewell.errors import InvalidInput
from citewell.models.base import Vector
from citewell.store.db import Database
from citewell.store.index import hits as hits_sqlite
from citewell.store.index import keyword_index
from citewell.store.index.base import Filter
from citewell.store.index.filter_columns import Place
from citewell.store.index.vector_scan import SAMPLE, Scan
from citewell.text import tokens as words
from citewell.types import Hit

# Candidates whose exact vectors are compared, or four times what is asked for. 20 gave recall@10 =
# 1.0 on all but nearly equal texts (cosines of rank 10 and 50 apart by less than 0.001): 0.94
# there, and 1.0 with 50, for 0.2 ms more.
RESCORED = 50
_ROWS = 10_000  # rows taken over at once
_ANY = Filter()


class SqliteIndex:
    """Vectors of other embedders are not compared. The first search by meaning loads them (1 to 2 s
    per 100,000).
    """

    def __init__(self, db: Database, embedder: str) -> None:
        self._db = db
        self._embedder = embedder
        self._following = threading.Lock()  # faiss may not be searched while rows are added
        self._scan: Scan | None = None
        self._seq = 0
        self._dim = 0  # of the last query: what `vectors` answers in while nothing is embedded yet

    async def search_vectors(
        self, vector: Vector, k: int, where: Filter = _ANY
    ) -> list[tuple[int, float]]:
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if query.ndim != 1 or not np.isfinite(query).all():
            raise InvalidInput(
                f"{self._embedder}: a query is one vector of finite numbers, this one has "
                f"shape {query.shape}"
            )
        self._dim = len(query)
        return (
            await self._db.read(
                lambda connection: self._search_nearest(connection, query, k, where)
            )
            if k > 0
            else []
        )

    async def search_words(
        self, text: str, k: int, where: Filter = _ANY
    ) -> list[tuple[int, float]]:
        tokens = words.tokenize_query(text)
        return (
            await self._db.read(
                lambda connection: keyword_index.search_keywords(connection, tokens, k, where)
            )
            if tokens and k > 0
            else []
        )

    async def hits(self, ids: Sequence[int]) -> list[Hit]:
        found = await self._db.read(lambda connection: hits_sqlite.load_hits(connection, ids))
        return [found[chunk] for chunk in ids if chunk in found]

    async def beside(self, ids: Sequence[int], before: int, after: int) -> dict[int, list[Hit]]:
        return await self._db.read(
            lambda connection: hits_sqlite.load_neighbours(connection, ids, before, after)
        )

    async def texts(self, spans: Sequence[tuple[str, int, int]]) -> list[str | None]:
        return await self._db.read(lambda connection: hits_sqlite.load_texts(connection, spans))

    async def vectors(self, ids: Sequence[int]) -> Vector:
        found = await self._db.read(
            lambda connection: _load_vectors(connection, ids, self._embedder)
        )
        rows = np.zeros(
            (len(ids), len(next(iter(found.values()))) if found else self._dim), np.float32
        )
        for i, chunk in enumerate(ids):
            if chunk in found:
                rows[i] = found[chunk]
        return rows

    def _search_nearest(
        self, connection: Connection, query: Vector, k: int, where: Filter
    ) -> list[tuple[int, float]]:
        # the snapshot begins with the first read, inside the lock: memory and file agree
        with self._following:
            scan = self._follow_changes(connection)
            if scan is None:
                return []
            if query.shape != (scan.dim,):
                raise InvalidInput(
                    f"{self._embedder}: the query has {query.shape[0]} dimensions, the "
                    f"vectors {scan.dim}"
                )
            candidates = scan.find_nearest(query, max(RESCORED, 4 * k), where)
        rows = connection.execute(
            _EXACT, {"ids": json.dumps(candidates), "embedder": self._embedder}
        ).all()
        exact = np.frombuffer(b"".join(row.vec for row in rows), "<f4").reshape(-1, scan.dim)
        scores = exact @ query / (float(np.linalg.norm(query)) or 1.0)
        best = sorted(
            zip((row.id for row in rows), scores.tolist(), strict=True),
            key=lambda pair: (-pair[1], pair[0]),
        )
        return best[:k]

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
                    {"ids": json.dumps(batch), "embedder": self._embedder},
                )
            self._seq = newest
            if self._scan.worn:
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
            scan.settle()
            self._scan = scan
        return self._scan

    @staticmethod
    def _add_rows(
        scan: Scan, connection: Connection, query: TextClause, values: dict[str, object]
    ) -> None:
        facts: dict[str, tuple[str, float, int]] = {}
        for rows in connection.execute(query, values).partitions(_ROWS):
            vectors = np.frombuffer(b"".join(row.vec for row in rows), "<f4").reshape(
                len(rows), scan.dim
            )
            unknown = json.dumps(list({row.doc for row in rows} - facts.keys()))
            facts |= {
                doc: (kind, day, n)
                for doc, kind, day, n in connection.execute(_FACTS, {"docs": unknown})
            }
            scan.add(
                [row.id for row in rows], vectors, [_to_place(row, *facts[row.doc]) for row in rows]
            )


def _to_place(row: Any, media_type: str, day: float, priority: int) -> Place:
    return Place(
        row.collection, row.doc, row.lang, row.kind, media_type, row.first, row.last, day, priority
    )


def _load_vectors(connection: Connection, ids: Sequence[int], embedder: str) -> dict[int, Vector]:
    rows = connection.execute(_EXACT, {"ids": json.dumps(list(ids)), "embedder": embedder}).all()
    return {row.id: np.frombuffer(row.vec, "<f4") for row in rows}


_IDS = "(SELECT value FROM json_each(:ids))"
_SEQUENCE = text(
    "SELECT coalesce((SELECT min(seq) FROM changes), 0) AS oldest, coalesce((SELECT max(seq) "
    "FROM changes), 0) AS newest"
)
_CHANGED = text("SELECT DISTINCT chunk FROM changes WHERE seq > :seq")
_COUNT = text("SELECT count(*) FROM chunks WHERE embedder = :embedder")
_JOIN = "FROM chunks c JOIN vectors v ON v.chunk = c.id WHERE c.embedder = :embedder"
_FIRST = (
    "(SELECT min(id) FROM chunks WHERE embedder = :embedder)"  # so that a sample is never empty
)
_SAMPLE = text(f"SELECT v.vec {_JOIN} AND (c.id - {_FIRST}) % :step = 0 ORDER BY c.id")
_LENGTH = text(f"SELECT length(v.vec) {_JOIN} LIMIT 1")
_PLACE = "c.id, c.collection, c.doc, c.lang, c.kind, c.first, c.last"
_ROWS_ALL = text(f"SELECT {_PLACE}, v.vec {_JOIN} ORDER BY c.id")
_ROWS_OF = text(f"SELECT {_PLACE}, v.vec {_JOIN} AND c.id IN {_IDS} ORDER BY c.id")
_FACTS = text(
    """SELECT f.doc_id, f.media_type, coalesce(f.dated, f.added_at), f.priority
    FROM documents f INDEXED BY documents_facts
    WHERE f.doc_id IN (SELECT value FROM json_each(:docs))"""
)
_EXACT = text(f"SELECT c.id, v.vec {_JOIN} AND c.id IN {_IDS}")

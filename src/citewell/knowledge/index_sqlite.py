"""The index of one machine: words in FTS5, vectors scanned in memory and rescored from the file.

The one rule: nothing here is truth. The copy in memory follows the table `changes`, which triggers write in the transaction
of the change itself; before each search what is new is taken over, so every process sees every commit, deletions too.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection, TextClause, text

from citewell.errors import InvalidInput
from citewell.knowledge import words
from citewell.knowledge.db import Database
from citewell.knowledge.index import Filter
from citewell.knowledge.scan import SAMPLE, Scan
from citewell.models.base import Vector
from citewell.types import Hit

# Candidates whose exact vectors are compared, or four times what is asked for. 20 gave recall@10 = 1.0 on all but nearly equal
# texts (cosines of rank 10 and 50 apart by less than 0.001): 0.94 there, and 1.0 with 50, for 0.2 ms more.
RESCORED = 50
_FEW = 5_000  # chunks
_ROWS = 10_000  # rows taken over at once
_ANY = Filter()


class SqliteIndex:
    """Vectors of other embedders are not compared. The first search by meaning loads them (1 to 2 s per 100,000)."""

    def __init__(self, db: Database, embedder: str) -> None:
        self._db = db
        self._embedder = embedder
        self._following = threading.Lock()  # faiss may not be searched while rows are added
        self._scan: Scan | None = None
        self._seq = 0
        self._dim = 0  # of the last query: what `vectors` answers in while nothing is embedded yet

    async def by_vector(self, vector: Vector, k: int, where: Filter = _ANY) -> list[tuple[int, float]]:
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if query.ndim != 1 or not np.isfinite(query).all():
            raise InvalidInput(f"{self._embedder}: a query is one vector of finite numbers, this one has shape {query.shape}")
        self._dim = len(query)
        return await self._db.read(lambda connection: self._nearest(connection, query, k, where)) if k > 0 else []

    async def by_words(self, text: str, k: int, where: Filter = _ANY) -> list[tuple[int, float]]:
        tokens = words.query_tokens(text)
        return await self._db.read(lambda connection: _best(connection, tokens, k, where)) if tokens and k > 0 else []

    async def hits(self, ids: Sequence[int]) -> list[Hit]:
        found = await self._db.read(lambda connection: _hits(connection, ids))
        return [found[chunk] for chunk in ids if chunk in found]

    async def vectors(self, ids: Sequence[int]) -> Vector:
        found = await self._db.read(lambda connection: _vectors(connection, ids, self._embedder))
        rows = np.zeros((len(ids), len(next(iter(found.values()))) if found else self._dim), np.float32)
        for i, chunk in enumerate(ids):
            if chunk in found:
                rows[i] = found[chunk]
        return rows

    def _nearest(self, connection: Connection, query: Vector, k: int, where: Filter) -> list[tuple[int, float]]:
        with self._following:  # the snapshot begins with the first read, inside the lock: memory and file agree
            scan = self._follow(connection)
            if scan is None:
                return []
            if query.shape != (scan.dim,):
                raise InvalidInput(f"{self._embedder}: the query has {query.shape[0]} dimensions, the vectors {scan.dim}")
            candidates = scan.nominate(query, max(RESCORED, 4 * k), where)
        rows = connection.execute(_EXACT, {"ids": json.dumps(candidates), "embedder": self._embedder}).all()
        exact = np.frombuffer(b"".join(row.vec for row in rows), "<f4").reshape(-1, scan.dim)
        scores = exact @ query / (float(np.linalg.norm(query)) or 1.0)
        best = sorted(zip((row.id for row in rows), scores.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
        return best[:k]

    def _follow(self, connection: Connection) -> Scan | None:
        oldest, newest = connection.execute(_SEQUENCE).one()
        lost = oldest > self._seq + 1 or newest < self._seq  # pruned past us, or the file is an older copy
        if self._scan is None or lost:
            return self._load(connection, newest)
        if newest > self._seq:
            changed = [row.chunk for row in connection.execute(_CHANGED, {"seq": self._seq})]
            self._scan.remove(changed)
            for start in range(0, len(changed), _ROWS):
                batch = changed[start : start + _ROWS]
                self._take(self._scan, connection, _ROWS_OF, {"ids": json.dumps(batch), "embedder": self._embedder})
            self._seq = newest
            if self._scan.worn:
                return self._load(connection, newest)
        return self._scan

    def _load(self, connection: Connection, newest: int) -> Scan | None:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # idle threads of OpenMP must not spin beside the chat model
        count = connection.execute(_COUNT, {"embedder": self._embedder}).scalar_one()
        self._scan, self._seq = None, newest
        if count:
            every = {"embedder": self._embedder, "step": max(1, count // SAMPLE)}
            sample = b"".join(row.vec for row in connection.execute(_SAMPLE, every))
            dim = connection.execute(_LENGTH, every).scalar_one() // 4
            scan = Scan(np.frombuffer(sample, "<f4").reshape(-1, dim))
            self._take(scan, connection, _ROWS_ALL, every)
            scan.settle()
            self._scan = scan
        return self._scan

    @staticmethod
    def _take(scan: Scan, connection: Connection, query: TextClause, values: dict[str, object]) -> None:
        for rows in connection.execute(query, values).partitions(_ROWS):
            vectors = np.frombuffer(b"".join(row.vec for row in rows), "<f4").reshape(len(rows), scan.dim)
            scan.add([row.id for row in rows], vectors, [(row.collection, row.doc, row.lang) for row in rows])


def match_expression(tokens: Sequence[str], where: Filter) -> str:
    """A question in FTS5's query language, every word quoted: nothing a person types is an operator."""
    quoted = [_quote(token) + ("*" if words.is_prefix(token) else "") for token in tokens]
    clauses = [f"tokens : ({' OR '.join(quoted)})"]
    asked = (
        [words.place(collection=name) for name in where.collections],
        [words.place(doc_id=doc_id) for doc_id in where.doc_ids],
        [words.place(lang=lang) for lang in where.langs],
    )
    for values in asked:
        places = [_quote("".join(value)) for value in values]
        clauses += [f"place : ({' OR '.join(places)})"] if places else []
    return " AND ".join(clauses)


def _quote(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'


def _best(connection: Connection, tokens: Sequence[str], k: int, where: Filter) -> list[tuple[int, float]]:
    """FTS5 filters by `place` where few chunks pass; where many do, looking at each chunk found costs half of that."""
    columns = {"collection": where.collections, "doc": where.doc_ids, "lang": where.langs}
    values: dict[str, object] = {name: json.dumps(asked) for name, asked in columns.items() if asked}
    passes = " AND ".join(f"c.{name} IN (SELECT value FROM json_each(:{name}))" for name in values)  # noqa: S608 names of ours
    if not passes or connection.execute(text(_PASSING + passes + " LIMIT :few)"), values | {"few": _FEW}).scalar_one() < _FEW:
        query, match = _BY_WORDS, match_expression(tokens, where)
    else:
        query, match = _BY_WORDS_CHECKED + passes + _BEST, match_expression(tokens, _ANY)
    rows = connection.execute(text(query), values | {"match": match, "k": k})
    return [(row.id, -row.rank) for row in rows]  # FTS5 counts its bm25 downwards from zero


def _hits(connection: Connection, ids: Sequence[int]) -> dict[int, Hit]:
    return {
        row.id: Hit(
            chunk_id=row.id,
            doc_id=row.doc,
            collection=row.collection,
            title=row.title,
            uri=row.uri,
            heading_path=tuple(json.loads(row.heading_path)),
            page=row.page,
            start=row.first,
            end=row.last,
            text=row.text,
            lang=row.lang,
        )
        for row in connection.execute(_HITS, {"ids": json.dumps(list(ids))})
    }


def _vectors(connection: Connection, ids: Sequence[int], embedder: str) -> dict[int, Vector]:
    rows = connection.execute(_EXACT, {"ids": json.dumps(list(ids)), "embedder": embedder}).all()
    return {row.id: np.frombuffer(row.vec, "<f4") for row in rows}


_IDS = "(SELECT value FROM json_each(:ids))"
_SEQUENCE = text(
    "SELECT coalesce((SELECT min(seq) FROM changes), 0) AS oldest, coalesce((SELECT max(seq) FROM changes), 0) AS newest"
)
_CHANGED = text("SELECT DISTINCT chunk FROM changes WHERE seq > :seq")
_COUNT = text("SELECT count(*) FROM chunks WHERE embedder = :embedder")
_JOIN = "FROM chunks c JOIN vectors v ON v.chunk = c.id WHERE c.embedder = :embedder"
_FIRST = "(SELECT min(id) FROM chunks WHERE embedder = :embedder)"  # so that a sample is never empty
_SAMPLE = text(f"SELECT v.vec {_JOIN} AND (c.id - {_FIRST}) % :step = 0 ORDER BY c.id")
_LENGTH = text(f"SELECT length(v.vec) {_JOIN} LIMIT 1")
_ROWS_ALL = text(f"SELECT c.id, c.collection, c.doc, c.lang, v.vec {_JOIN} ORDER BY c.id")
_ROWS_OF = text(f"SELECT c.id, c.collection, c.doc, c.lang, v.vec {_JOIN} AND c.id IN {_IDS} ORDER BY c.id")
_EXACT = text(f"SELECT c.id, v.vec {_JOIN} AND c.id IN {_IDS}")
_PASSING = "SELECT count(*) FROM (SELECT 1 FROM chunks c WHERE "
_BEST = " ORDER BY rank LIMIT :k"
_BY_WORDS = "SELECT rowid AS id, rank FROM words WHERE words MATCH :match ORDER BY rank LIMIT :k"
_BY_WORDS_CHECKED = "SELECT c.id, rank FROM words CROSS JOIN chunks c ON c.id = words.rowid WHERE words MATCH :match AND "
_HITS = text(
    """SELECT c.*, d.title, d.uri FROM chunks c JOIN documents d ON d.doc_id = c.doc
    WHERE c.id IN (SELECT value FROM json_each(:ids))"""
)

"""Hits of both rankings of the index, with the figures that reranking compares.

The one rule: every hit has its cosine and its BM25, whichever ranking found it, so that all stand on the same scale.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from citewell.knowledge.index import Filter, Index
from citewell.models.base import Vector
from citewell.retrieve.query import Query
from citewell.retrieve.rank import fuse
from citewell.types import Hit

POOL = 30  # candidates taken of each ranking before reranking, or as many as are asked for

Ranking = list[tuple[int, float]]


async def both(index: Index, query: Query, where: Filter | None = None) -> tuple[Ranking, Ranking]:
    """The nearest by meaning (none without a vector), and the best by words."""
    where, pool = where or query.where, max(POOL, query.k)
    return await asyncio.gather(by_meaning(index, query, pool, where), index.by_words(query.text, pool, where))


async def by_meaning(index: Index, query: Query, k: int, where: Filter) -> Ranking:
    return [] if query.vector is None else await index.by_vector(query.vector, k, where)


async def hits_of(index: Index, query: Query, vectors: Ranking, words: Ranking) -> list[Hit]:
    """The hits of both rankings, fused, each with its cosine and BM25."""
    cosines, bm25 = dict(vectors), dict(words)
    hits = [
        replace(hit, signals={"cosine": cosines.get(hit.chunk_id, 0.0), "bm25": bm25.get(hit.chunk_id, 0.0)})
        for hit in await index.hits(fuse([i for i, _ in vectors], [i for i, _ in words]))
    ]
    return hits if query.vector is None else await _with_cosines(index, query.vector, hits)


async def _with_cosines(index: Index, vector: Vector, hits: list[Hit]) -> list[Hit]:
    """Hits that only words found have their likeness of meaning computed too."""
    missing = [h.chunk_id for h in hits if not h.signals["cosine"]]
    if not missing:
        return hits
    likeness = (await index.vectors(missing)) @ vector
    known = dict(zip(missing, (float(x) for x in likeness), strict=True))
    return [replace(h, signals=h.signals | {"cosine": h.signals["cosine"] or known.get(h.chunk_id, 0.0)}) for h in hits]

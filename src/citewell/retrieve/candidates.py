"""Hits of the index's rankings, with the figures that reranking compares. Every hit has its cosine
and its BM25, whichever ranking found it, so that all stand on the same scale.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from citewell.models.base import Vector
from citewell.retrieve.query import Query
from citewell.retrieve.rank import fuse_rankings
from citewell.store.index.protocol import Filter, Index
from citewell.types import Hit

# Candidates taken of each ranking before reranking, however few are asked for: how far a hit stands
# out of them is part of the confidence, which was fitted on pools of this size. More only where
# more are asked for.
POOL = 50

Ranking = list[tuple[int, float]]
_NOTHING: Mapping[str, dict[int, float]] = {}


async def search_both(
    index: Index, query: Query, where: Filter | None = None
) -> tuple[Ranking, Ranking]:
    """The nearest to the question by meaning (none without a vector), and the best by its words."""
    return await _search_pool(
        index, query.text, query.vector, max(POOL, query.k), where or query.where
    )


async def search_by_meaning(index: Index, vector: Vector | None, k: int, where: Filter) -> Ranking:
    return [] if vector is None else await index.search_vectors(vector, k, where)


async def find_candidates(index: Index, query: Query, where: Filter | None = None) -> list[Hit]:
    """What any ranking of the question, and of its context, puts among its first."""
    where, pool, context = where or query.where, max(POOL, query.k), query.context
    vectors, words = await search_both(index, query, where)
    rankings = [vectors, words]
    bm25 = {"bm25": dict(words)}
    if context is not None:
        more = await _search_pool(index, context.text, context.vector, pool, where)
        rankings += more
        bm25["context_bm25"] = dict(more[1])
    hits = await index.hits(
        fuse_rankings(*([chunk for chunk, _ in ranking] for ranking in rankings))
    )
    asked = {"cosine": query.vector, "context_cosine": context.vector if context else None}
    return await _add_cosines(index, hits, asked, bm25)


async def find_foreign_candidates(
    index: Index, query: Query, where: Filter, found: Sequence[Hit]
) -> list[Hit]:
    """Passages in another language than the question's: the nearest by meaning, and those that were
    `found` by the words that do match across languages, such as names and numbers.
    """
    vector = query.vector if query.foreign is None else query.foreign
    nearest = await search_by_meaning(index, vector, max(POOL, query.k), where)
    hits = await index.hits(
        list(dict.fromkeys([chunk for chunk, _ in nearest] + [hit.chunk_id for hit in found]))
    )
    return await _add_cosines(index, hits, {"cosine": query.vector, "foreign_cosine": vector})


async def _search_pool(
    index: Index, text: str, vector: Vector | None, pool: int, where: Filter
) -> tuple[Ranking, Ranking]:
    return await asyncio.gather(
        search_by_meaning(index, vector, pool, where), index.search_words(text, pool, where)
    )


async def _add_cosines(
    index: Index,
    hits: Sequence[Hit],
    asked: dict[str, Vector | None],
    found: Mapping[str, dict[int, float]] = _NOTHING,
) -> list[Hit]:
    """Hits with their cosine to each vector given, 0 for one that is not embedded yet, and the
    figures `found` by chunk.
    """
    known = {name: vector for name, vector in asked.items() if vector is not None}
    ids = [hit.chunk_id for hit in hits]
    signals = [{name: values.get(chunk, 0.0) for name, values in found.items()} for chunk in ids]
    if not hits or not known:
        return [
            replace(hit, signals={"cosine": 0.0} | each)
            for hit, each in zip(hits, signals, strict=True)
        ]
    rows = await index.vectors(ids)
    cosines = {name: (rows @ vector).tolist() for name, vector in known.items()}
    return [
        replace(hit, signals=signals[n] | {name: values[n] for name, values in cosines.items()})
        for n, hit in enumerate(hits)
    ]

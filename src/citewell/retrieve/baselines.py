"""What every search is compared with: words alone, vectors alone, and plain reciprocal rank fusion
of the two. Nothing of ours is in them but the index, so that a table shows what the rest is worth.
Their confidence is computed as everywhere, from whatever figures they have.
"""

from __future__ import annotations

from dataclasses import replace

from citewell.retrieve.candidates import Ranking, search_both, search_by_meaning
from citewell.retrieve.confidence import compute_confidence
from citewell.retrieve.query import Found, Query, Strategy
from citewell.retrieve.rank import RRF_K, fuse_rankings
from citewell.store.index.protocol import Index


async def search_words_only(index: Index, query: Query) -> Found:
    """BM25 over the words of the index."""
    return await _build_result(
        index, query, "bm25", await index.search_words(query.text, query.k, query.where)
    )


async def search_vectors_only(index: Index, query: Query) -> Found:
    """The nearest vectors; nothing where the question has none."""
    return await _build_result(
        index, query, "cosine", await search_by_meaning(index, query.vector, query.k, query.where)
    )


async def search_rrf(index: Index, query: Query) -> Found:
    """Both rankings, fused by rank."""
    vectors, words = await search_both(index, query)
    order = fuse_rankings([i for i, _ in vectors], [i for i, _ in words])[: query.k]
    return await _build_result(
        index,
        query,
        "rrf",
        [(chunk, 1 / (RRF_K + rank)) for rank, chunk in enumerate(order, start=1)],
    )


async def _build_result(index: Index, query: Query, signal: str, ranking: Ranking) -> Found:
    scores = dict(ranking)
    hits = [
        replace(hit, score=scores[hit.chunk_id], signals={signal: scores[hit.chunk_id]})
        for hit in await index.hits([chunk for chunk, _ in ranking])
    ]
    return Found(hits, compute_confidence(query.text, hits, query.calibration))


BASELINES: dict[str, Strategy] = {
    "words_only": search_words_only,
    "vectors_only": search_vectors_only,
    "rrf": search_rrf,
}

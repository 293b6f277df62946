"""Ways to search what is kept, as one table. Each is hybrid: vectors and words, fused, reranked, deduplicated.

The one rule: a strategy returns hits best first and knows neither the agent that asks nor the index adapter that answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from citewell.ingest.sentences import language
from citewell.knowledge.index import Filter, Index
from citewell.models.base import Vector
from citewell.retrieve.rank import confidence, deduplicate, fuse, interleave, rerank
from citewell.types import Hit

POOL = 30  # candidates taken of each ranking before reranking
# The embedder prefers its own language (an unrelated Chinese sentence can outscore a relevant English one) and words do not
# match across languages: passages of the two are ranked apart, and taken in turn where the question's own language is unsure.
SURE = 0.6
OTHER = {"zh": "en", "en": "zh"}


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched. `text` finds words, `vector` meaning; `entities` must be case-folded names, best matched verbatim."""

    text: str
    vector: Vector | None
    entities: Sequence[str] = ()
    where: Filter = field(default_factory=Filter)
    k: int = 6


@dataclass(frozen=True, slots=True)
class Found:
    """Hits best first, and how likely they hold what is asked for (0 to 1)."""

    hits: list[Hit]
    confidence: float


Strategy = Callable[[Index, Query], Awaitable[Found]]


async def direct_chunk_search(index: Index, query: Query) -> Found:
    """Search all chunks at once by vectors and by words; where that finds little, in the other language by meaning too."""
    lists = await asyncio.gather(_by_meaning(index, query), index.by_words(query.text, POOL, query.where))
    hits = await _hits(index, query, *lists)
    lang = language(query.text)
    own = deduplicate(rerank(query.text, [h for h in hits if h.lang == lang], query.entities))[: query.k]
    sure = confidence(query.text, own)
    if sure >= SURE or query.vector is None or query.where.langs:
        rest = deduplicate(rerank(query.text, hits, query.entities))[: query.k]
        return Found(rest, max(sure, confidence(query.text, rest)))
    foreign = await index.by_vector(query.vector, query.k, replace(query.where, langs=(OTHER[lang],)))
    others = deduplicate(await _hits(index, query, foreign, []))
    return Found(interleave(own, others)[: query.k], max(sure, confidence(query.text, others)))


async def _by_meaning(index: Index, query: Query) -> list[tuple[int, float]]:
    return [] if query.vector is None else await index.by_vector(query.vector, POOL, query.where)


async def _hits(index: Index, query: Query, vectors: list[tuple[int, float]], words: list[tuple[int, float]]) -> list[Hit]:
    """The hits of both rankings, fused, each with its cosine and BM25."""
    cosines, bm25 = dict(vectors), dict(words)
    hits = [
        replace(hit, signals={"cosine": cosines.get(hit.chunk_id, 0.0), "bm25": bm25.get(hit.chunk_id, 0.0)})
        for hit in await index.hits(fuse([i for i, _ in vectors], [i for i, _ in words]))
    ]
    return hits if query.vector is None else await _with_cosines(index, query.vector, hits)


async def _with_cosines(index: Index, vector: Vector, hits: list[Hit]) -> list[Hit]:
    """Hits that only words found have their likeness of meaning computed too, so that all are compared on the same scale."""
    missing = [h.chunk_id for h in hits if not h.signals["cosine"]]
    if not missing:
        return hits
    likeness = (await index.vectors(missing)) @ vector
    known = dict(zip(missing, (float(x) for x in likeness), strict=True))
    return [replace(h, signals=h.signals | {"cosine": h.signals["cosine"] or known.get(h.chunk_id, 0.0)}) for h in hits]


STRATEGIES: dict[str, Strategy] = {"direct_chunk_search": direct_chunk_search}

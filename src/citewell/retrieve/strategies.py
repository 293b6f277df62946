"""Ways to search what is kept, as one table. Each is hybrid: vectors and words, fused, reranked, deduplicated.

The one rule: a strategy returns hits best first and knows neither the agent that asks nor the index adapter that answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.ingest.sentences import language
from citewell.knowledge.index import Index
from citewell.retrieve.baselines import BASELINES
from citewell.retrieve.candidates import POOL, both, by_meaning, hits_of
from citewell.retrieve.confidence import confidence
from citewell.retrieve.diversify import diversified
from citewell.retrieve.query import Found, Query, Strategy
from citewell.retrieve.rank import deduplicate, interleave, rerank
from citewell.retrieve.rerank import reranked
from citewell.retrieve.weigh import weighed
from citewell.types import Hit

__all__ = ["POOL", "STRATEGIES", "Found", "Query", "Strategy", "direct_chunk_search", "hierarchical_search"]

# The embedder prefers its own language (an unrelated Chinese sentence can outscore a relevant English one) and words do not
# match across languages: passages of the two are ranked apart, and taken in turn where the question's own language is unsure.
SURE = 0.6
OTHER = {"zh": "en", "en": "zh"}

SECTIONS = 8  # looked into
FOREIGN_SECTIONS = 2  # of those in the other language, by meaning, where the question's own may not have it
SPREAD = 3  # candidates for each hit asked for, where hits are to be unlike each other


async def direct_chunk_search(index: Index, query: Query) -> Found:
    """Search all chunks at once by vectors and by words; where that finds little, in the other language by meaning too."""
    return await _finished(index, query, await _ranked(index, query))


async def hierarchical_search(index: Index, query: Query) -> Found:
    """Find the best sections by their summaries and headings, then the chunks inside them. Direct where what is searched has
    no summaries, and where the chunks of the best sections are not what was asked for.
    """
    sections = await _sections(index, query)
    if not any(hit.kind == "summary" for hit in sections):
        return await direct_chunk_search(index, query)
    spans = tuple((hit.doc_id, hit.start, hit.end) for hit in sections)
    found = await _ranked(index, replace(query, where=replace(query.where, spans=spans)))
    if found.confidence < SURE:
        direct = await _ranked(index, query)
        found = direct if direct.confidence > found.confidence else found
    return await _finished(index, query, found)


async def _sections(index: Index, query: Query) -> list[Hit]:
    """The best sections: summaries, and chunks that are a section each."""
    where = replace(query.where, kinds=("summary", "whole"))
    hits = rerank(query.text, await hits_of(index, query, *await both(index, query, where)), query.entities)
    lang = language(query.text)
    if query.where.langs:
        return hits[:SECTIONS]
    own = [hit for hit in hits if hit.lang == lang]
    foreign = await by_meaning(index, query, FOREIGN_SECTIONS, replace(where, langs=(OTHER[lang],)))
    return [*own[:SECTIONS], *await index.hits([chunk for chunk, _ in foreign])]


async def _ranked(index: Index, query: Query) -> Found:
    """The chunks that pass the query's filter, as many as are needed to choose from."""
    reach = _reach(query)
    hits = await hits_of(index, query, *await both(index, query))
    lang = language(query.text)
    own = _order(query, [hit for hit in hits if hit.lang == lang])[:reach]
    sure = confidence(query.text, own, query.calibration)
    if sure >= SURE or query.vector is None or query.where.langs:
        rest = _order(query, hits)[:reach]
        return Found(rest, max(sure, confidence(query.text, rest, query.calibration)))
    foreign = await index.by_vector(query.vector, reach, replace(query.where, langs=(OTHER[lang],)))
    others = deduplicate(await hits_of(index, query, foreign, []))
    return Found(interleave(own, others)[:reach], max(sure, confidence(query.text, others, query.calibration)))


def _order(query: Query, hits: Sequence[Hit]) -> list[Hit]:
    ranked = rerank(query.text, hits, query.entities)
    return deduplicate(weighed(ranked, recency=query.recency, half_life_days=query.half_life_days, now=query.now))


def _reach(query: Query) -> int:
    """How many hits the last steps choose from."""
    wanted = query.k * (SPREAD if query.diversity else 1)
    return max(wanted, query.rerank_top) if query.reranker else wanted


async def _finished(index: Index, query: Query, found: Found) -> Found:
    """The first hits looked at again, then as many as are asked for, unlike each other where that is wanted."""
    hits, warnings = await reranked(query.reranker, query.text, found.hits, query.rerank_top)
    if query.diversity:
        hits = diversified(hits, await index.vectors([hit.chunk_id for hit in hits]), query.k, query.diversity)
    return Found(hits[: query.k], found.confidence, (*found.warnings, *warnings))


STRATEGIES: dict[str, Strategy] = {
    "direct_chunk_search": direct_chunk_search,
    "hierarchical_search": hierarchical_search,
    **BASELINES,
}

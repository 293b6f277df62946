"""Search by words in PostgreSQL: BM25 over our own tokens. Functions of a connection. Weights kept
with each chunk only nominate; the counts in its tokens, the length of all chunks and how many have
each word decide, as in FTS5, to the last digit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Connection,
    Double,
    bindparam,
    cast,
    func,
    select,
)

from citewell.store.index.filter_conditions import (
    Condition,
    build_conditions,
    build_there_condition,
    narrow_filter,
)
from citewell.store.index.postgres_blocks import Ids, Postings, Weights, read_postings
from citewell.store.index.postgres_rows import hash_query_token, weigh_term
from citewell.store.index.protocol import Filter
from citewell.store.index.search_tables import word_totals, words
from citewell.store.schema.library import documents
from citewell.text.tokens import is_prefix

NOMINATED = 200  # chunks, or eight times what is asked for
FEW = 20_000  # chunks that pass a filter, from where on each is not listed
_SPARE = 20  # looked at beside them, for some may not pass
_LEAST_RARITY = 1e-6  # FTS5's, of a word that more than half of all chunks have
_MOST_SPREAD = 4_000_000  # from the first chunk to the last, or sixteen for each: added up in place


def search_keywords(
    connection: Connection, tokens: Sequence[str], k: int, where: Filter
) -> list[tuple[int, float]]:
    """(chunk id, bm25) of the `k` best that pass."""
    narrow = narrow_filter(connection, where)
    if narrow is None:
        return []
    gone, chunks, length, *_ = connection.execute(_PREPARE).one()
    if not chunks:
        return []
    conditions = build_conditions(words.c, narrow)
    selective = bool(conditions or (narrow.kinds and "text" not in narrow.kinds))
    if narrow.kinds:
        conditions.append(words.c.kind.in_(narrow.kinds))
    if gone and not where.doc_ids and not where.spans:
        conditions.append(build_there_condition(words.c))
    terms = {token: hash_query_token(token) for token in tokens}
    postings = read_postings(connection, list(set(terms.values())))
    rarities = _measure_rarities(postings, chunks)
    passing = _list_few(connection, conditions) if selective else None
    ids, weights = _add_up(postings, rarities, passing)
    by_token = {token: rarities.get(term, 0.0) for token, term in terms.items()}
    average = length / chunks
    scored = [
        (chunk, _score(tokens_of, size, by_token, average))
        for chunk, tokens_of, size in _find_candidates(
            connection, ids, weights, conditions, max(NOMINATED, 8 * k)
        )
    ]
    # two tokens may share a number: a chunk that has none of them is no answer
    return sorted((pair for pair in scored if pair[1] > 0), key=lambda pair: (-pair[1], pair[0]))[
        :k
    ]


def _measure_rarities(postings: Postings, chunks: int) -> dict[int, float]:
    """By term."""
    terms, counts = np.unique(postings.terms, return_counts=True)
    return {
        term: max(_LEAST_RARITY, math.log((chunks - having + 0.5) / (having + 0.5)))
        for term, having in zip(terms.tolist(), counts.tolist(), strict=True)
    }


def _list_few(connection: Connection, conditions: Sequence[Condition]) -> Ids | None:
    """The chunks that pass, where they are few."""
    found = connection.execute(select(words.c.rowid).where(*conditions).limit(FEW)).scalars().all()
    return np.array(found, np.int64) if len(found) < FEW else None


def _add_up(
    postings: Postings, rarities: dict[int, float], passing: Ids | None
) -> tuple[Ids, Weights]:
    """Each chunk once, by its number, with the sum of its terms."""
    known = np.array(sorted(rarities), np.int32)
    by_place = np.array([rarities[term] for term in known.tolist()])
    ids, weights = postings.ids, postings.weights * by_place[np.searchsorted(known, postings.terms)]
    if passing is not None:
        kept = np.isin(ids, passing)
        ids, weights = ids[kept], weights[kept]
    if not len(ids):
        return ids, weights
    first, spread = ids.min(), np.ptp(ids)
    if spread > max(_MOST_SPREAD, 16 * len(ids)):
        each, places = np.unique(ids, return_inverse=True)
        return each, np.bincount(places, weights).astype(np.float64)
    sums = np.bincount(ids - first, weights).astype(np.float64)
    found = np.flatnonzero(sums)
    return found + first, sums[found]


def _find_candidates(
    connection: Connection, ids: Ids, weights: Weights, conditions: list[Condition], count: int
) -> Iterator[tuple[int, str, int]]:
    """The `count` heaviest that pass, in any order: (chunk, tokens, size)."""
    query, seen, found = _ROWS.where(*conditions), 0, 0
    while seen < len(ids) and found < count:
        # as many as are missing, by the share that passed until now
        wanted = seen + (count - found) * max(1, seen) // max(1, found if seen else 1)
        best = _take_best(ids, weights, wanted + _SPARE)
        rows = connection.execute(query, {"ids": best[seen:].tolist()}).all()
        yield from ((row.rowid, row.tokens, row.size) for row in rows)
        seen, found = len(best), found + len(rows)


def _take_best(ids: Ids, weights: Weights, count: int) -> Ids:
    """In their order; of equal ones the earlier chunk first."""
    kept = np.arange(len(ids))
    if count < len(ids):
        least = np.partition(weights, len(ids) - count)[len(ids) - count]
        kept = np.flatnonzero(weights >= least)
    return ids[kept[np.argsort(-weights[kept], kind="stable")]][:count]


def _score(tokens: str, size: int, rarities: dict[str, float], average: float) -> float:
    starts = {token for token in rarities if is_prefix(token)}
    counts = Counter(tokens.split(" "))
    score = 0.0
    for token, rarity in rarities.items():
        if token in starts:
            number = sum(n for each, n in counts.items() if each[:1] == token)
        else:
            number = counts[token]
        score += rarity * weigh_term(float(number), float(size), average)
    return score


_PREPARE = select(
    select(documents.c.doc_id).where(documents.c.gone_since.is_not(None)).exists(),
    cast(func.coalesce(func.sum(word_totals.c.chunks), 0), BigInteger),
    cast(func.coalesce(func.sum(word_totals.c.tokens), 0), Double),
    func.set_config("jit", "off", True),
    func.set_config("max_parallel_workers_per_gather", "0", True),
).select_from(word_totals)
_ROWS = select(words.c.rowid, words.c.tokens, words.c.size).where(
    words.c.rowid == func.any(bindparam("ids", type_=ARRAY(BigInteger)))
)

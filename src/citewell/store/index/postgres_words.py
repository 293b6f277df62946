"""Search by words in PostgreSQL: BM25 over our own tokens. Functions of a connection. Weights kept
with each chunk only nominate; the counts in its tokens, the length of all chunks and how many have
each word decide, as in FTS5, to the last digit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Connection,
    Double,
    Integer,
    Text,
    bindparam,
    cast,
    func,
    select,
)
from sqlalchemy.dialects.postgresql import array

from citewell.store.index.filter_conditions import (
    build_conditions,
    build_there_condition,
    narrow_filter,
)
from citewell.store.index.postgres_rows import hash_query_token, weigh_term, write_sparse
from citewell.store.index.protocol import Filter
from citewell.store.index.search_tables import SparseVec, word_totals, words
from citewell.store.schema.library import documents
from citewell.text.tokens import is_prefix

NOMINATED = 200  # chunks, or eight times what is asked for
_LEAST_RARITY = 1e-6  # FTS5's, of a word that more than half of all chunks have
_MANY = 20_000  # chunks of which one in a hundred more or less changes no rank that counts
_DRIFT = 0.01
_MOST_KEPT = 200_000  # terms


class Totals(NamedTuple):
    """Of all chunks: `changes` and `last` tell one state from another."""

    changes: int
    last: int
    chunks: int
    length: float


class WordCounts:
    """How many chunks have each term: counted when it is asked for, and kept while the chunks are
    the same, or many and nearly as many.
    """

    def __init__(self) -> None:
        self._kept: tuple[Totals, dict[int, int]] = (Totals(0, 0, 0, 0), {})

    def count(self, connection: Connection, terms: Sequence[int], totals: Totals) -> dict[int, int]:
        """By term."""
        before, counts = self._kept
        near = before.chunks >= _MANY and (
            abs(totals.chunks - before.chunks) <= _DRIFT * before.chunks
        )
        if (totals != before and not near) or len(counts) > _MOST_KEPT:
            counts = {}
            self._kept = totals, counts
        unknown = [term for term in terms if term not in counts]
        if unknown:
            rows = connection.execute(_COUNTS, {"terms": unknown})
            counts |= {row.term: row.number for row in rows}
        return {term: counts[term] for term in terms}


def search_keywords(
    connection: Connection, counts: WordCounts, tokens: Sequence[str], k: int, where: Filter
) -> list[tuple[int, float]]:
    """(chunk id, bm25) of the `k` best that pass."""
    narrow = narrow_filter(connection, where)
    if narrow is None:
        return []
    prepared = connection.execute(_PREPARE).one()
    totals = Totals(*prepared[: len(Totals._fields)])
    if not totals.chunks:
        return []
    terms = {token: hash_query_token(token) for token in tokens}
    known = counts.count(connection, list(dict.fromkeys(terms.values())), totals)
    rarities = {term: _measure_rarity(totals.chunks, number) for term, number in known.items()}
    conditions = build_conditions(words.c, narrow)
    if narrow.kinds:
        conditions.append(words.c.kind.in_(narrow.kinds))
    if prepared.gone and not where.doc_ids and not where.spans:
        conditions.append(build_there_condition(words.c))
    values = {
        "terms": list(rarities),
        "query": write_sparse(rarities),
        "count": max(NOMINATED, 8 * k),
    }
    rows = connection.execute(_NOMINATED.where(*conditions), values).all()
    by_token = {token: rarities[term] for token, term in terms.items()}
    average = totals.length / totals.chunks
    scored = [(int(row.rowid), _score(row.tokens, row.size, by_token, average)) for row in rows]
    # two tokens may share a number: a chunk that has none of them is no answer
    return sorted((pair for pair in scored if pair[1] > 0), key=lambda pair: (-pair[1], pair[0]))[
        :k
    ]


def _measure_rarity(chunks: int, having: int) -> float:
    rarity = math.log((chunks - having + 0.5) / (having + 0.5)) if having <= chunks else 0.0
    return rarity if rarity > 0 else _LEAST_RARITY


def _score(tokens: str, size: int, rarities: dict[str, float], average: float) -> float:
    starts = {token for token in rarities if is_prefix(token)}
    counts = Counter(
        token for token in tokens.split(" ") if token in rarities or token[:1] in starts
    )
    score = 0.0
    for token, rarity in rarities.items():
        if token in starts:
            number = sum(n for each, n in counts.items() if each[0] == token)
        else:
            number = counts[token]
        score += rarity * weigh_term(float(number), float(size), average)
    return score


_PREPARE = select(
    func.count(),
    func.coalesce(func.max(word_totals.c.seq), 0),
    cast(func.coalesce(func.sum(word_totals.c.chunks), 0), BigInteger),
    cast(func.coalesce(func.sum(word_totals.c.tokens), 0), Double),
    select(documents.c.doc_id).where(documents.c.gone_since.is_not(None)).exists().label("gone"),
    func.set_config("jit", "off", True),
    func.set_config("work_mem", "64MB", True),
).select_from(word_totals)
_asked = (
    func.unnest(bindparam("terms", type_=ARRAY(Integer)))
    .table_valued("term")
    .render_derived(name="asked")
)
_COUNTS = select(
    _asked.c.term,
    select(func.count())
    .select_from(words)
    .where(words.c.terms.op("@>")(array([_asked.c.term])))
    .scalar_subquery()
    .label("number"),
)
_NOMINATED = (
    select(words.c.rowid, words.c.tokens, words.c.size)
    .where(words.c.terms.op("&&")(bindparam("terms", type_=ARRAY(Integer))))
    .order_by(
        words.c.weights.op("<#>", return_type=Double())(
            cast(bindparam("query", type_=Text), SparseVec())
        )
    )
    .limit(bindparam("count"))
)

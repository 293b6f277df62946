"""Search in PostgreSQL: the words of a chunk as weighted terms, its vector as a halfvec. A term is
a number made of a token, and its weight is what BM25 gives it in a chunk of this length where
chunks have `USUAL_LENGTH` on average. That is near enough to nominate; the true average decides
when chunks are ranked (`postgres_words.py`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from sqlalchemy import Connection, text

from citewell.store.index import postgres_blocks
from citewell.store.index.chunk_words import Words
from citewell.store.index.search_tables import TERMS, ensure_vector_indexes
from citewell.text.tokens import is_prefix

K1, B = 1.2, 0.75  # of BM25, as FTS5 has them
USUAL_LENGTH = 300.0  # tokens
_MOST_TERMS = 16_000  # that a sparsevec holds
_AT_ONCE = 500  # rows of a statement


def reserve_chunk_ids(connection: Connection, count: int) -> Sequence[int]:
    return list(connection.execute(_NEXT_IDS, {"count": count}).scalars())


def insert_words(connection: Connection, rows: Sequence[Words]) -> None:
    for start in range(0, len(rows), _AT_ONCE):
        built = [_build_word_row(row) for row in rows[start : start + _AT_ONCE]]
        columns = {name: [row[name] for row in built] for name in built[0]}
        connection.execute(_INSERT_WORDS, columns)
    size = postgres_blocks.SEGMENT
    # only whose chunks come to a round number packs what waits
    if rows and rows[-1].chunk // size > (rows[0].chunk - 1) // size:
        postgres_blocks.pack_words(connection)


def insert_vectors(connection: Connection, given: dict[int, tuple[str, bytes]]) -> None:
    sizes = {embedder: len(blob) // 4 for embedder, blob in given.values()}
    for embedder, dim in sizes.items():
        ensure_vector_indexes(connection, embedder, dim)
    rows = list(given.items())
    for start in range(0, len(rows), _AT_ONCE):
        batch = rows[start : start + _AT_ONCE]
        values = {
            "ids": [chunk for chunk, _ in batch],
            "embedders": [embedder for _, (embedder, _) in batch],
            "vecs": [write_vector(np.frombuffer(blob, "<f4")) for _, (_, blob) in batch],
        }
        connection.execute(_INSERT_VECTORS, values)


def note_changed_document(connection: Connection, doc_id: str) -> None:
    """Filters look at the document itself."""


def prune_changes(connection: Connection, kept: int) -> None:
    """There is no log: every search asks the database."""


def forget_words(connection: Connection) -> None:
    """VACUUM, which the server runs by itself, overwrites them; a segment has numbers of their
    terms until it has lost enough to be made anew, or `pack_words` is told to forget.
    """
    postgres_blocks.pack_words(connection)


def pack_words(connection: Connection, *, forget: bool = False) -> int:
    return postgres_blocks.pack_words(connection, forget=forget)


def write_vector(row: Iterable[float]) -> str:
    """As pgvector reads it; five digits are more than 16 bits hold."""
    return "[" + ",".join([f"{number:.5g}" for number in np.asarray(row).tolist()]) + "]"


def write_sparse(weights: dict[int, float]) -> str:
    """Weights by term, as pgvector reads them."""
    parts = [f"{term}:{weight:.6g}" for term, weight in sorted(weights.items())]
    return "{" + ",".join(parts) + f"}}/{TERMS}"


@lru_cache(maxsize=100_000)
def hash_term(token: str) -> int:
    """1 to TERMS. Two tokens of a million share a number by a chance of a thousandth each."""
    digest = hashlib.blake2b(token.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % TERMS + 1


def hash_query_token(token: str) -> int:
    """A single Chinese character asks for all tokens that begin so: for these there is a term of
    its own, for no token holds a `*`.
    """
    return hash_term(token + "*" if is_prefix(token) else token)


def weigh_term(count: float, size: float, average: float) -> float:
    """What BM25 gives a term that stands `count` times among `size` tokens, but for its rarity."""
    return (count * (K1 + 1.0)) / (count + K1 * (1 - B + B * size / average))


def _build_word_row(row: Words) -> dict[str, object]:
    tokens = row.tokens.split(" ") if row.tokens else []
    counts = Counter(map(hash_term, tokens))
    counts.update(hash_term(token[0] + "*") for token in tokens if is_prefix(token[0]))
    size = len(tokens) + len(row.marks)
    weights = {term: weigh_term(n, size, USUAL_LENGTH) for term, n in counts.items()}
    heaviest = sorted(weights.items(), key=lambda pair: -pair[1])[:_MOST_TERMS]
    return {
        "ids": row.chunk,
        "sizes": size,
        "tokens": row.tokens,
        "terms": "{" + ",".join(map(str, counts)) + "}",
        "weights": write_sparse(dict(heaviest)),
    }


_NEXT_IDS = text("SELECT nextval('chunks_id_seq') FROM generate_series(1, :count)")
_INSERT_WORDS = text(
    """INSERT INTO words (rowid, collection, doc, lang, kind, first, last, size, tokens, terms,
        weights)
    SELECT c.id, c.collection, c.doc, c.lang, c.kind, c.first, c.last, u.size, u.tokens,
        CAST(u.terms AS integer[]), CAST(u.weights AS sparsevec)
    FROM unnest(CAST(:ids AS bigint[]), CAST(:sizes AS bigint[]), CAST(:tokens AS text[]),
        CAST(:terms AS text[]), CAST(:weights AS text[])) AS u (id, size, tokens, terms, weights)
    JOIN chunks c ON c.id = u.id"""
)
_INSERT_VECTORS = text(
    """INSERT INTO vector_index (chunk, embedder, collection, doc, lang, kind, first, last, vec)
    SELECT c.id, u.embedder, c.collection, c.doc, c.lang, c.kind, c.first, c.last,
        CAST(u.vec AS halfvec)
    FROM unnest(CAST(:ids AS bigint[]), CAST(:embedders AS text[]), CAST(:vecs AS text[]))
        AS u (id, embedder, vec)
    JOIN chunks c ON c.id = u.id
    ON CONFLICT (chunk) DO UPDATE SET embedder = excluded.embedder, vec = excluded.vec"""
)

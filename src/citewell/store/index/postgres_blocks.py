"""The words of many chunks, packed: for each term the chunks that have it, with its weights, so
that a search reads a few blocks of bytes and no row of a chunk. A segment holds the blocks of
`SEGMENT` chunks, or of as many such segments as make a large one. What is new waits in `word_news`,
what a segment holds and is deleted stands in `word_gone`; triggers write both, so that each commit
is found. Functions of a connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Connection,
    Integer,
    LargeBinary,
    bindparam,
    func,
    select,
    text,
)

from citewell.store.index.search_tables import word_blocks, word_news, word_segments, words

SEGMENT = 512  # chunks: of what waits for it each row is read
LARGE = 16  # segments
_WORN = 20  # of a segment that has lost one chunk in so many is made anew
_AT_ONCE = 32  # segments of a transaction
_SCALE = 65_535 / 2.2  # no weight of BM25 is more than 2.2

Ids = NDArray[np.int64]
Weights = NDArray[np.float64]


class Postings(NamedTuple):
    """Chunk `ids[i]` has `terms[i]`, with `weights[i]`."""

    terms: NDArray[np.int32]
    ids: Ids
    weights: Weights

    def take(self, rows: NDArray[np.bool_]) -> Postings:
        return Postings(self.terms[rows], self.ids[rows], self.weights[rows])


def pack_words(connection: Connection, *, forget: bool = False) -> int:
    """Make segments of what waits, where it is enough for one, a large one of many, and those anew
    that have lost much, or anything (`forget`: then it waits for another process that is at it).
    How many were made.
    """
    if connection.execute(_HOLD if forget else _TRY).scalar_one() is False:
        return 0
    worn = connection.execute(_FIND_WORN, {"share": 0 if forget else 1 / _WORN}).scalars().all()
    made = _join_segments(connection, worn)
    for _ in range(_AT_ONCE):
        if connection.execute(_WAITING, {"most": SEGMENT}).scalar_one() < SEGMENT:
            break
        taken = connection.execute(_TAKE, {"most": SEGMENT}).scalars().all()
        made += _write_segment(connection, taken)
        small = connection.execute(_SMALL, {"size": SEGMENT * LARGE // 2}).scalars().all()
        if len(small) >= LARGE:
            made += _join_segments(connection, small)
    return made


def read_postings(connection: Connection, terms: Sequence[int]) -> Postings:
    """Of these terms in all chunks."""
    asked = {"terms": list(terms)}
    packed = connection.execute(_BLOCKS, asked).all()
    is_packed, gone = connection.execute(_STATE).one()
    new = _NEW.where(_WAITS) if is_packed else _NEW
    rest = unpack_rows(connection.execute(new, asked))
    found = [rest.take(np.isin(rest.terms, terms))]
    for term, first, block in packed:
        offsets, weights = _find_term(block, term)
        found.append(Postings(np.full(len(offsets), term, np.int32), offsets + first, weights))
    every = Postings(
        np.concatenate([each.terms for each in found]),
        np.concatenate([each.ids for each in found]),
        np.concatenate([each.weights for each in found]),
    )
    return every.take(~np.isin(every.ids, gone)) if gone else every


def _join_segments(connection: Connection, segments: Sequence[int]) -> int:
    """One of all their chunks that are there; of few, they wait again."""
    if not segments:
        return 0
    dropped = connection.execute(_DROP, {"segments": list(segments)}).scalars()
    ids = [chunk for each in dropped for chunk in each]
    gone = set(connection.execute(_FORGET_GONE, {"ids": ids}).scalars())
    left = [chunk for chunk in ids if chunk not in gone]
    made = 0
    for start in range(0, len(left), SEGMENT * LARGE):
        made += _write_segment(connection, left[start : start + SEGMENT * LARGE])
    return made


def _write_segment(connection: Connection, ids: Sequence[int]) -> int:
    postings = unpack_rows(connection.execute(_ROWS, {"ids": list(ids)}))
    if not len(postings.ids):
        return 0
    kept = np.unique(postings.ids).tolist()
    segment = {"first": kept[0], "last": kept[-1], "ids": kept, "buckets": len(kept)}
    number = connection.execute(_ADD_SEGMENT, segment).scalar_one()
    blocks = list(_build_blocks(postings, kept[0], len(kept)))
    sizes = [len(block) for _, block in blocks]
    values = {
        "segment": number,
        "buckets": [bucket for bucket, _ in blocks],
        "starts": (np.cumsum(sizes) - sizes + 1).tolist(),
        "sizes": sizes,
        "blocks": b"".join(block for _, block in blocks),
    }
    connection.execute(_ADD_BLOCKS, values)
    return 1


def unpack_rows(rows: Iterable[Sequence[Any]]) -> Postings:
    """Of (chunk, sparsevec as pgvector sends it: three numbers, the places, the values)."""
    ids, sizes = [], []
    terms, weights = [np.empty(0, ">i4")], [np.empty(0, ">f4")]
    for chunk, sent in rows:
        count = (len(sent) - 12) // 8
        ids.append(chunk)
        sizes.append(count)
        terms.append(np.frombuffer(sent, ">i4", count, 12))
        weights.append(np.frombuffer(sent, ">f4", count, 12 + 4 * count))
    return Postings(
        np.concatenate(terms).astype(np.int32) + 1,  # places are counted from 0 there
        np.repeat(np.array(ids, np.int64), sizes),
        np.concatenate(weights).astype(np.float64),
    )


def _build_blocks(postings: Postings, first: int, count: int) -> Iterator[tuple[int, bytes]]:
    """By bucket: how many terms, the terms, how many chunks each has; for all of these in order the
    chunk, from `first` on, then the weight.
    """
    buckets = postings.terms % count
    order = np.argsort(buckets.astype(np.int64) << 32 | postings.terms, kind="stable")
    terms, buckets = postings.terms[order], buckets[order]
    begins = np.flatnonzero(np.diff(terms, prepend=-1))  # of a term
    counts = np.diff(begins, append=len(terms)).astype("<u4")
    own = terms[begins].astype("<i4")
    offsets = (postings.ids[order] - first).astype("<u4")
    weights = np.rint(postings.weights[order] * _SCALE).astype("<u2")
    heads = np.flatnonzero(np.diff(buckets[begins], prepend=-1)).tolist()  # of a bucket, in `own`
    for head, end in zip(heads, [*heads[1:], len(own)], strict=True):
        rows = slice(begins[head], begins[end] if end < len(own) else len(terms))
        parts = (own[head:end], counts[head:end], offsets[rows], weights[rows])
        size = (end - head).to_bytes(4, "little")
        yield int(buckets[begins[head]]), size + b"".join(part.tobytes() for part in parts)


def _find_term(block: bytes, term: int) -> tuple[Ids, Weights]:
    """Where it stands, from the first chunk of the segment on, and its weights."""
    [terms] = np.frombuffer(block, "<u4", 1)
    known = np.frombuffer(block, "<i4", terms, 4)
    place = int(np.searchsorted(known, term))
    if place == terms or known[place] != term:
        return np.empty(0, np.int64), np.empty(0)
    counts = np.frombuffer(block, "<u4", terms, 4 + 4 * terms)
    head, start, count = int(4 + 8 * terms), int(counts[:place].sum()), counts[place]
    rows = (len(block) - head) // 6
    offsets = np.frombuffer(block, "<u4", count, head + 4 * start)
    weights = np.frombuffer(block, "<u2", count, head + 4 * rows + 2 * start)
    return offsets.astype(np.int64), weights / _SCALE


_ids = bindparam("ids", type_=ARRAY(BigInteger))
_SENT = select(words.c.rowid, func.sparsevec_send(words.c.weights, type_=LargeBinary))
_ROWS = _SENT.where(words.c.rowid == func.any(_ids))
_NEW = _SENT.where(words.c.terms.op("&&")(bindparam("terms", type_=ARRAY(Integer))))
# an array, so that each is looked up
_WAITS = words.c.rowid == func.any(func.array(select(word_news.c.chunk).scalar_subquery()))
_asked = (
    func.unnest(bindparam("terms", type_=ARRAY(Integer)))
    .table_valued("term")
    .render_derived(name="asked")
)
_BLOCKS = (
    select(_asked.c.term, word_segments.c.first, word_blocks.c.postings)
    .select_from(_asked)
    .join(word_segments, text("true"))
    .join(
        word_blocks,
        (word_blocks.c.segment == word_segments.c.segment)
        & (word_blocks.c.bucket == _asked.c.term % word_segments.c.buckets),
    )
)
_STATE = text("SELECT EXISTS (SELECT FROM word_segments), ARRAY(SELECT chunk FROM word_gone)")
_TRY = text("SELECT pg_try_advisory_xact_lock(hashtextextended('word_segments', 0))")
_HOLD = text("SELECT pg_advisory_xact_lock(hashtextextended('word_segments', 0))")
_WAITING = text("SELECT count(*) FROM (SELECT FROM word_news LIMIT :most) AS found")
# what another process deletes just now stays for the next time
_TAKE = text(
    """DELETE FROM word_news WHERE chunk IN (SELECT chunk FROM word_news ORDER BY chunk
        LIMIT :most FOR UPDATE SKIP LOCKED) RETURNING chunk"""
)
_FIND_WORN = text(
    """SELECT segment FROM word_segments s WHERE CASE WHEN :share * buckets < (SELECT count(*)
        FROM word_gone WHERE chunk BETWEEN s.first AND s.last) THEN :share * buckets < (SELECT
        count(*) FROM word_gone JOIN unnest(s.ids) AS own (chunk) USING (chunk)) ELSE false END"""
)
_SMALL = text("SELECT segment FROM word_segments WHERE buckets < :size")
_DROP = text(
    """WITH blocks AS (DELETE FROM word_blocks WHERE segment = ANY(:segments))
    DELETE FROM word_segments WHERE segment = ANY(:segments) RETURNING ids"""
)
_FORGET_GONE = text(
    "DELETE FROM word_gone WHERE chunk = ANY(CAST(:ids AS bigint[])) RETURNING chunk"
)
_ADD_SEGMENT = text(
    """INSERT INTO word_segments (first, last, ids, buckets)
    VALUES (:first, :last, CAST(:ids AS bigint[]), :buckets) RETURNING segment"""
)
_ADD_BLOCKS = text(
    """INSERT INTO word_blocks (segment, bucket, postings)
    SELECT :segment, u.bucket, substring(CAST(:blocks AS bytea) FROM u.start FOR u.size)
    FROM unnest(CAST(:buckets AS integer[]), CAST(:starts AS integer[]), CAST(:sizes AS integer[]))
        AS u (bucket, start, size)"""
)

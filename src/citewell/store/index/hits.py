"""Stored chunks as hits, what stands beside them, and the words of spans. Functions of a
connection. Nothing here ranks; who asks for ids gets what is kept under them now.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby

from sqlalchemy import Connection, Row, bindparam, select

from citewell.store.dialects.expressions import is_among
from citewell.store.library.facts import day, facts
from citewell.store.schema.library import chunks, documents
from citewell.store.schema.word_table import words
from citewell.types import Hit


def load_hits(connection: Connection, ids: Sequence[int]) -> dict[int, Hit]:
    return {row.id: _parse_hit(row) for row in connection.execute(_HITS, {"ids": list(ids)})}


def load_neighbours(
    connection: Connection, ids: Sequence[int], before: int, after: int
) -> dict[int, list[Hit]]:
    """Chunks around each id in its section, itself too, no summaries, in text order."""
    asked = {"ids": list(ids), "before": before, "after": after}
    pairs = [(row.of, row.id) for row in connection.execute(_BESIDE, asked)]
    known = load_hits(connection, [chunk for _, chunk in pairs])
    return {
        of: [known[chunk] for _, chunk in group]
        for of, group in groupby(pairs, lambda pair: pair[0])
    }


def load_texts(connection: Connection, spans: Sequence[tuple[str, int, int]]) -> list[str | None]:
    """Each document's text is read once, and cut here: SQLite would end it at its first NUL."""
    bodies: dict[str, str | None] = {}
    for doc in {doc for doc, _, _ in spans}:
        bodies[doc] = connection.execute(_TEXT, {"doc": doc}).scalar_one_or_none()
    return [None if (body := bodies[doc]) is None else body[start:end] for doc, start, end in spans]


def _parse_hit(row: Row[tuple[object, ...]]) -> Hit:
    return Hit(
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
        kind=row.kind,
        section=row.section,
        ordinal=row.ordinal,
        media_type=row.media_type,
        dated=row.day,
        priority=row.priority,
        words=row.words or "",
    )


_words_of = select(words.c.tokens).where(words.c.rowid == chunks.c.id).scalar_subquery()
_HITS = (
    select(
        chunks,
        documents.c.title,
        documents.c.uri,
        facts.c.media_type,
        day.label("day"),
        facts.c.priority,
        _words_of.label("words"),
    )
    .join_from(chunks, documents, documents.c.doc_id == chunks.c.doc)
    .join(facts, facts.c.doc_id == chunks.c.doc)
    .where(is_among(chunks.c.id, "ids"))
)
_near = chunks.alias("n")
_BESIDE = (
    select(chunks.c.id.label("of"), _near.c.id.label("id"))
    .join_from(
        chunks,
        _near,
        (_near.c.doc == chunks.c.doc)
        & (_near.c.section == chunks.c.section)
        & _near.c.ordinal.between(
            chunks.c.ordinal - bindparam("before"), chunks.c.ordinal + bindparam("after")
        )
        & (_near.c.kind != "summary"),
    )
    .where(is_among(chunks.c.id, "ids"), chunks.c.kind != "summary")
    .order_by(chunks.c.id, _near.c.ordinal)
)
_TEXT = select(documents.c.text).where(documents.c.doc_id == bindparam("doc"))

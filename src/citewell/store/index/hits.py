"""Stored chunks as hits, what stands beside them, and the words of spans. Functions of a
connection.

The one rule: nothing here ranks; who asks for ids gets what is kept under them now.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby

from sqlalchemy import Connection, Row, text

from citewell.types import Hit


def load_hits(connection: Connection, ids: Sequence[int]) -> dict[int, Hit]:
    return {
        row.id: _parse_hit(row) for row in connection.execute(_HITS, {"ids": json.dumps(list(ids))})
    }


def load_neighbours(
    connection: Connection, ids: Sequence[int], before: int, after: int
) -> dict[int, list[Hit]]:
    """Chunks around each id in its section, itself included, summaries left out, in the order of
    the text.
    """
    asked = {"ids": json.dumps(list(ids)), "before": before, "after": after}
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


# `f` reads what stands behind the text of a document's row from an index, so that no text is read
_HITS = text(
    """SELECT c.*, d.title, d.uri, f.media_type, coalesce(f.dated, f.added_at) AS day, f.priority,
        (SELECT tokens FROM words WHERE rowid = c.id) AS words
    FROM chunks c JOIN documents d ON d.doc_id = c.doc
    JOIN documents f INDEXED BY documents_facts ON f.doc_id = c.doc
    WHERE c.id IN (SELECT value FROM json_each(:ids))"""
)
_BESIDE = text(
    """SELECT c.id AS of, n.id AS id FROM chunks c JOIN chunks n
        ON n.doc = c.doc AND n.section = c.section
        AND n.ordinal BETWEEN c.ordinal - :before AND c.ordinal + :after AND n.kind <> 'summary'
    WHERE c.id IN (SELECT value FROM json_each(:ids)) AND c.kind <> 'summary'
    ORDER BY c.id, n.ordinal"""
)
_TEXT = text("SELECT text FROM documents WHERE doc_id = :doc")

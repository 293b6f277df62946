"""The vectors of chunks, as float32 rows of length 1. Functions of a connection.

The one rule: `chunks.embedder` names the model of a chunk's row in `vectors`, and is empty where
there is none. Vectors of one embedder have one length, and equal text has one vector: what is
embedded once is not embedded again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from sqlalchemy import Connection, TextClause, bindparam, text

from citewell.errors import InvalidInput
from citewell.models.base import Vector

T = TypeVar("T")
Known = dict[str, tuple[str, bytes]]  # (embedder, stored vector) by the hash of a text

_BATCH = 5_000  # values of one IN (...); SQLite takes 32,766
CHANGES_KEPT = 100_000  # a process that fell behind by more loads all vectors again


def build_embedding_text(heading_path: Sequence[str], body: str) -> str:
    """The headings above a chunk, then its text: a passage of a table or a list says little without
    them.
    """
    return "\n".join([" > ".join(heading_path), body]) if heading_path else body


def list_unembedded(
    connection: Connection,
    embedder: str,
    limit: int,
    docs: Sequence[str] | None = None,
    *,
    newest: bool = False,
) -> list[tuple[int, str]]:
    """Never embedded ones in order of id (or against it), then those that another embedder did;
    each part is read from the index alone.
    """
    of, values = _build_docs_filter(docs)
    rows = connection.execute(
        text(_MISSING.format(of, "DESC" if newest else "")),
        values | {"embedder": embedder, "limit": limit},
    ).all()
    first = {row.sha256: row for row in reversed(rows)}
    ordered = sorted(first.values(), key=lambda row: int(row.id))
    return [
        (row.id, build_embedding_text(json.loads(row.heading_path), row.text)) for row in ordered
    ]


def count_unembedded(
    connection: Connection, embedder: str, docs: Sequence[str] | None = None
) -> int:
    """How many chunks have no vector of this embedder, summaries included."""
    of, values = _build_docs_filter(docs)
    return int(
        connection.execute(text(_WAITING.format(of)), values | {"embedder": embedder}).scalar_one()
    )


def _build_docs_filter(docs: Sequence[str] | None) -> tuple[str, dict[str, object]]:
    """As SQL; None for all documents."""
    return (
        ("", {})
        if docs is None
        else (" AND doc IN (SELECT value FROM json_each(:docs))", {"docs": json.dumps(list(docs))})
    )


def encode_vectors(embedder: str, ids: Sequence[int], rows: Vector) -> dict[int, bytes]:
    """Rows as they are stored, by chunk id, scaled to length 1."""
    rows = np.asarray(rows, dtype=np.float32)
    if rows.ndim != 2 or rows.shape[0] != len(ids) or rows.shape[1] == 0:
        raise InvalidInput(f"{embedder}: {len(ids)} chunks, but vectors of shape {rows.shape}")
    if not np.isfinite(rows).all():
        raise InvalidInput(f"{embedder}: a vector holds a number that is not finite")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled = rows / np.where(lengths > 0, lengths, 1)
    return {chunk: scaled[i].astype("<f4").tobytes() for i, chunk in enumerate(ids)}


def put_vectors(connection: Connection, embedder: str, given: dict[int, bytes]) -> None:
    """Keep vectors for the chunks given and for all others of equal text."""
    if not given:
        return
    _check_dimensions(connection, embedder, len(next(iter(given.values()))))
    by_text: dict[str, bytes] = {}
    for batch in _split_batches(list(given)):
        for row in connection.execute(_TEXT_OF, {"ids": batch}):
            by_text[row.sha256] = given[row.id]
    for texts in _split_batches(list(by_text)):
        rows = connection.execute(_CHUNKS_OF, {"texts": texts, "embedder": embedder}).all()
        insert_vectors(connection, {row.id: by_text[row.sha256] for row in rows})
        if rows:
            connection.execute(
                _SET_EMBEDDER, [{"embedder": embedder, "id": row.id} for row in rows]
            )
    connection.execute(_PRUNE, {"kept": CHANGES_KEPT})


def insert_vectors(connection: Connection, given: dict[int, bytes]) -> None:
    if given:
        connection.execute(
            _UPSERT, [{"chunk": chunk, "vec": blob} for chunk, blob in given.items()]
        )


def find_text_vectors(connection: Connection, texts: Sequence[str]) -> Known:
    """The vectors of texts, given by their hash, that some stored chunk has already."""
    known: Known = {}
    for batch in _split_batches(sorted(set(texts))):
        for row in connection.execute(_KNOWN, {"texts": batch}):
            known[row.sha256] = (row.embedder, row.vec)
    return known


def _check_dimensions(connection: Connection, embedder: str, size: int) -> None:
    old = connection.execute(_LENGTH, {"embedder": embedder}).scalar_one_or_none()
    if old is not None and old != size:
        raise InvalidInput(
            f"{embedder}: vectors of {size // 4} dimensions, but those kept have {old // 4}",
            hint="another model answers under this name: give it another name, and its vectors "
            "are made anew",
        )


def _split_batches(values: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(values), _BATCH):
        yield values[start : start + _BATCH]


def _bind_list(sql: str, name: str) -> TextClause:
    return text(sql).bindparams(bindparam(name, expanding=True))


_MISSING = """SELECT id, sha256, heading_path, text FROM chunks WHERE id IN (
        SELECT * FROM (SELECT id FROM chunks WHERE embedder = ''{0} ORDER BY id {1} LIMIT :limit)
        UNION ALL SELECT * FROM (SELECT id FROM chunks WHERE embedder > ''
            AND embedder < :embedder{0} LIMIT :limit)
        UNION ALL SELECT * FROM (SELECT id FROM chunks WHERE embedder > :embedder{0} LIMIT :limit)
        LIMIT :limit)"""
_WAITING = """SELECT (SELECT count(*) FROM chunks WHERE embedder < :embedder{0})
    + (SELECT count(*) FROM chunks WHERE embedder > :embedder{0})"""
_TEXT_OF = _bind_list("SELECT id, sha256 FROM chunks WHERE id IN :ids", "ids")
_CHUNKS_OF = _bind_list(
    "SELECT id, sha256 FROM chunks WHERE sha256 IN :texts AND embedder <> :embedder", "texts"
)
_KNOWN = _bind_list(
    """SELECT c.sha256, c.embedder, v.vec FROM chunks c JOIN vectors v ON v.chunk = c.id
    WHERE c.sha256 IN :texts ORDER BY c.id""",
    "texts",
)
_LENGTH = text(
    "SELECT length(v.vec) FROM chunks c JOIN vectors v ON v.chunk = c.id WHERE c.embedder = "
    ":embedder LIMIT 1"
)
_UPSERT = text(
    "INSERT INTO vectors VALUES (:chunk, :vec) ON CONFLICT (chunk) DO UPDATE SET vec = excluded.vec"
)
_SET_EMBEDDER = text("UPDATE chunks SET embedder = :embedder WHERE id = :id")
_PRUNE = text("DELETE FROM changes WHERE seq <= (SELECT max(seq) FROM changes) - :kept")

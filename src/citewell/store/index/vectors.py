"""The vectors of chunks, as float32 rows of length 1. Functions of a connection. `chunks.embedder`
names the model of a chunk's row in `vectors`, and is empty where there is none. Vectors of one
embedder have one length, and equal text has one vector: what is embedded once is not embedded
again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Connection, Select, bindparam, func, select, union_all, update

from citewell.errors import InvalidInput
from citewell.messages import Text
from citewell.models.base import Vector
from citewell.store.dialects.expressions import is_among
from citewell.store.dialects.locks import hold
from citewell.store.dialects.upserts import upsert
from citewell.store.index.search_rows import get_search_rows
from citewell.store.schema.library import chunks, vectors

T = TypeVar("T")
Known = dict[str, tuple[str, bytes]]  # (embedder, stored vector) by the hash of a text

_BATCH = 5_000  # values of one IN (...); SQLite takes 32,766
CHANGES_KEPT = 100_000  # a process that fell behind by more loads all vectors again


def build_embedding_text(heading_path: Sequence[str], body: str) -> str:
    """The headings above a chunk, then its text: rows and lists say little without them."""
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
    query = _MISSING[newest, docs is not None]
    values = {"embedder": embedder, "limit": limit, "docs": docs}
    rows = connection.execute(query, values).all()
    first = {row.sha256: row for row in reversed(rows)}
    ordered = sorted(first.values(), key=lambda row: int(row.id))
    return [
        (row.id, build_embedding_text(json.loads(row.heading_path), row.text)) for row in ordered
    ]


def count_unembedded(
    connection: Connection, embedder: str, docs: Sequence[str] | None = None
) -> int:
    """How many chunks have no vector of this embedder, summaries included."""
    values = {"embedder": embedder, "docs": docs}
    return int(connection.execute(_WAITING[docs is not None], values).scalar_one())


def encode_vectors(embedder: str, ids: Sequence[int], rows: Vector) -> dict[int, bytes]:
    """Rows as they are stored, by chunk id, scaled to length 1."""
    rows = np.asarray(rows, dtype=np.float32)
    if rows.ndim != 2 or rows.shape[0] != len(ids) or rows.shape[1] == 0:
        raise InvalidInput(
            Text(
                "{embedder}: {ids} chunks, but vectors of shape {shape}",
                embedder=embedder,
                ids=len(ids),
                shape=rows.shape,
            )
        )
    if not np.isfinite(rows).all():
        raise InvalidInput(
            Text("{embedder}: a vector holds a number that is not finite", embedder=embedder)
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled = rows / np.where(lengths > 0, lengths, 1)
    return {chunk: scaled[i].astype("<f4").tobytes() for i, chunk in enumerate(ids)}


def put_vectors(connection: Connection, embedder: str, given: dict[int, bytes]) -> None:
    """Keep vectors for the chunks given and for all others of equal text. Their rows are locked:
    one whose document goes meanwhile is passed over, and one that another writer gives its vector.
    """
    if not given:
        return
    if get_vector_length(connection, embedder) is None:
        hold(connection, "embedder", embedder)  # its first vectors say how long all others are
    _check_dimensions(connection, embedder, len(next(iter(given.values()))))
    by_text: dict[str, bytes] = {}
    for batch in _split_batches(list(given)):
        for row in connection.execute(_TEXT_OF, {"ids": batch}):
            by_text[row.sha256] = given[row.id]
    for texts in _split_batches(list(by_text)):
        rows = connection.execute(_CHUNKS_OF, {"texts": texts, "embedder": embedder}).all()
        insert_vectors(connection, {row.id: (embedder, by_text[row.sha256]) for row in rows})
        if rows:
            connection.execute(_SET_EMBEDDER, {"name": embedder, "ids": [row.id for row in rows]})
    get_search_rows(connection).prune_changes(connection, CHANGES_KEPT)


def insert_vectors(connection: Connection, given: dict[int, tuple[str, bytes]]) -> None:
    """(embedder, stored vector) by chunk id."""
    if given:
        rows = [{"chunk": chunk, "vec": blob} for chunk, (_, blob) in given.items()]
        connection.execute(_UPSERT, rows)
        get_search_rows(connection).insert_vectors(connection, given)


def find_text_vectors(connection: Connection, texts: Sequence[str]) -> Known:
    """The vectors of texts, given by their hash, that some stored chunk has already."""
    known: Known = {}
    for batch in _split_batches(sorted(set(texts))):
        for row in connection.execute(_KNOWN, {"texts": batch}):
            known[row.sha256] = (row.embedder, row.vec)
    return known


def get_vector_length(connection: Connection, embedder: str) -> int | None:
    """Bytes of a stored vector of this embedder; None where there is none."""
    length = connection.execute(_LENGTH, {"embedder": embedder}).scalar_one_or_none()
    return None if length is None else int(length)


def _check_dimensions(connection: Connection, embedder: str, size: int) -> None:
    old = get_vector_length(connection, embedder)
    if old is not None and old != size:
        raise InvalidInput(
            Text(
                "{embedder}: vectors of {size} dimensions, but those kept have {old}",
                embedder=embedder,
                size=size // 4,
                old=old // 4,
            ),
            hint=Text(
                "another model answers under this name: give it another name, and its "
                "vectors are made anew"
            ),
        )


def _split_batches(values: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(values), _BATCH):
        yield values[start : start + _BATCH]


def _build_missing(*, newest: bool, of_docs: bool) -> Select[Any]:
    """Each part is limited by itself: none is read further than it is needed."""
    among = [is_among(chunks.c.doc, "docs")] if of_docs else []
    never = (
        select(chunks.c.id)
        .where(chunks.c.embedder == "", *among)
        .order_by(chunks.c.id.desc() if newest else chunks.c.id)
    )
    others = [
        select(chunks.c.id).where(*condition, *among)
        for condition in (
            (chunks.c.embedder > "", chunks.c.embedder < bindparam("embedder")),
            (chunks.c.embedder > bindparam("embedder"),),
        )
    ]
    parts = [select(part.limit(bindparam("limit")).subquery()) for part in (never, *others)]
    waiting = union_all(*parts).limit(bindparam("limit")).subquery()
    columns = (chunks.c.id, chunks.c.sha256, chunks.c.heading_path, chunks.c.text)
    return select(*columns).where(chunks.c.id.in_(select(waiting.c.id)))


def _build_waiting(*, of_docs: bool) -> Select[Any]:
    among = [is_among(chunks.c.doc, "docs")] if of_docs else []
    below, above = (
        select(func.count()).select_from(chunks).where(condition, *among).scalar_subquery()
        for condition in (
            chunks.c.embedder < bindparam("embedder"),
            chunks.c.embedder > bindparam("embedder"),
        )
    )
    return select(below + above)


_MISSING = {
    (newest, of_docs): _build_missing(newest=newest, of_docs=of_docs)
    for newest in (False, True)
    for of_docs in (False, True)
}
_WAITING = {of_docs: _build_waiting(of_docs=of_docs) for of_docs in (False, True)}
_TEXT_OF = select(chunks.c.id, chunks.c.sha256).where(is_among(chunks.c.id, "ids"))
_CHUNKS_OF = (
    select(chunks.c.id, chunks.c.sha256)
    .where(is_among(chunks.c.sha256, "texts"), chunks.c.embedder != bindparam("embedder"))
    .order_by(chunks.c.id)
    .with_for_update()
)
_stored = chunks.join(vectors, vectors.c.chunk == chunks.c.id)
_KNOWN = (
    select(chunks.c.sha256, chunks.c.embedder, vectors.c.vec)
    .select_from(_stored)
    .where(is_among(chunks.c.sha256, "texts"))
    .order_by(chunks.c.id)
)
_LENGTH = (
    select(func.length(vectors.c.vec))
    .select_from(_stored)
    .where(chunks.c.embedder == bindparam("embedder"))
    .limit(1)
)
_UPSERT = upsert(vectors, vectors.c.chunk)
_SET_EMBEDDER = (
    update(chunks).where(is_among(chunks.c.id, "ids")).values(embedder=bindparam("name"))
)

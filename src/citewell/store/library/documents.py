"""The rows of documents, their bytes and lines. Functions of a connection; `catalog.py`
gives the verbs.

The one rule: a new version of a document deletes all that was made of the old one and keeps its id
and its priority. `embedder` is the name of the one in use: vectors of another do not count, because
no search compares with them.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, text

from citewell.store.index import vectors
from citewell.store.library import chunks
from citewell.store.library.chunks import Row, Rows, replace_surrogates
from citewell.store.library.collection_rows import ensure_collection
from citewell.types import Box, Chunk, Document, Page, Section, Shown


class DocumentInfo(Shown):
    """`pages` is 0 where there are none; `bytes` and `sha256` are of the original file; summaries
    are not counted among the `chunks`. `dated`: the day the file itself says it is of, in seconds
    since the epoch. `priority`: 0 unless somebody set it.
    """

    doc_id: str
    collection: str
    uri: str
    title: str
    media_type: str
    lang: str
    sha256: str
    version: int
    pages: int
    chunks: int
    embedded: int
    bytes: int
    added_at: float
    warnings: list[str]
    dated: float | None = None
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document as rows: all that costs time is done before the write lock is taken."""

    uri: str
    data: bytes
    sha256: str
    row: dict[str, Any]
    chunks: Rows
    lines: list[Row]


def prepare_document(uri: str, data: bytes, document: Document, cut: Sequence[Chunk]) -> Prepared:
    row = {
        "title": replace_surrogates(document.title),
        "media_type": document.media_type,
        "lang": document.lang,
        "page_count": len(document.pages),
        "warnings": json.dumps(document.warnings),
        "sections": json.dumps([asdict(section) for section in document.sections]),
        "pages": json.dumps([asdict(page) for page in document.pages]),
        "text": replace_surrogates(document.text),
        "dated": document.dated,
    }
    lines = [_build_line(number, box) for number, box in enumerate(document.boxes)]
    rows = chunks.build_rows(str(row["title"]), cut)
    return Prepared(
        replace_surrogates(uri), data, hashlib.sha256(data).hexdigest(), row, rows, lines
    )


def put_document(
    connection: Connection,
    embedder: str,
    collection: str,
    new: Prepared,
    now: float,
    priority: int | None = None,
) -> DocumentInfo:
    """`priority` None: that of the version before."""
    ensure_collection(connection, collection, now)
    known = vectors.find_text_vectors(connection, [chunk["sha256"] for chunk in new.chunks])
    old = find_document(connection, embedder, collection, new.uri)
    doc_id = old.doc_id if old else "doc_" + secrets.token_hex(8)
    if old:
        _delete_rows(connection, old)
    connection.execute(
        text("INSERT OR IGNORE INTO files VALUES (:s, :data)"), {"s": new.sha256, "data": new.data}
    )
    before = old.priority if old else 0
    own = {
        "doc_id": doc_id,
        "collection": collection,
        "uri": new.uri,
        "sha256": new.sha256,
        "bytes": len(new.data),
        "version": old.version + 1 if old else 1,
        "added_at": now,
        "priority": before if priority is None else priority,
    }
    connection.execute(_INSERT_DOCUMENT, own | new.row)
    chunks.insert_chunks(connection, doc_id, collection, new.chunks, known)
    if new.lines:
        connection.execute(_INSERT_LINE, [line | {"doc": doc_id} for line in new.lines])
    info = get_document(connection, embedder, doc_id)
    assert info is not None
    return info


def set_priority(connection: Connection, doc_id: str, priority: int) -> None:
    """Indexes in memory are told by the log of changes that the document's chunks are to be read
    again.
    """
    connection.execute(
        text("UPDATE documents SET priority = :p WHERE doc_id = :doc"),
        {"p": priority, "doc": doc_id},
    )
    connection.execute(
        text("INSERT INTO changes (chunk) SELECT id FROM chunks WHERE doc = :doc"), {"doc": doc_id}
    )


def find_document(
    connection: Connection, embedder: str, collection: str, uri: str
) -> DocumentInfo | None:
    where = {"embedder": embedder, "collection": collection, "uri": replace_surrogates(uri)}
    row = (
        connection.execute(
            text(_INFO + " WHERE d.collection = :collection AND d.uri = :uri"), where
        )
        .mappings()
        .one_or_none()
    )
    return None if row is None else _parse_info(row)


def get_document(connection: Connection, embedder: str, doc_id: str) -> DocumentInfo | None:
    where = {"embedder": embedder, "doc_id": doc_id}
    row = (
        connection.execute(text(_INFO + " WHERE d.doc_id = :doc_id"), where)
        .mappings()
        .one_or_none()
    )
    return None if row is None else _parse_info(row)


def list_documents(connection: Connection, embedder: str, collection: str) -> list[DocumentInfo]:
    where = {"embedder": embedder, "name": collection}
    rows = connection.execute(text(_INFO + " WHERE d.collection = :name ORDER BY d.uri"), where)
    return [_parse_info(row) for row in rows.mappings()]


def list_documents_below(
    connection: Connection, embedder: str, collection: str, prefix: str
) -> list[DocumentInfo]:
    """Those whose address begins so, in the order of their addresses. `prefix` ends with a
    character that is not the last.
    """
    until = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    where = {
        "embedder": embedder,
        "collection": collection,
        "first": replace_surrogates(prefix),
        "until": replace_surrogates(until),
    }
    rows = connection.execute(
        text(
            _INFO
            + " WHERE d.collection = :collection AND d.uri >= :first AND d.uri < :until ORDER "
            "BY d.uri"
        ),
        where,
    )
    return [_parse_info(row) for row in rows.mappings()]


def load_content(connection: Connection, doc_id: str) -> Document:
    row = connection.execute(
        text("SELECT * FROM documents WHERE doc_id = :doc_id"), {"doc_id": doc_id}
    ).one()
    return Document(
        title=row.title,
        media_type=row.media_type,
        lang=row.lang,
        text=row.text,
        sections=tuple(_parse_section(section) for section in json.loads(row.sections)),
        pages=tuple(Page(**page) for page in json.loads(row.pages)),
        warnings=tuple(json.loads(row.warnings)),
        dated=row.dated,
    )


def get_text_lengths(connection: Connection, doc_ids: Sequence[str]) -> dict[str, int]:
    """Characters of each document's text, by doc_id."""
    statement = text("SELECT doc_id, length(text) AS size FROM documents WHERE doc_id IN :ids")
    rows = connection.execute(
        statement.bindparams(bindparam("ids", expanding=True)), {"ids": list(doc_ids)}
    )
    return {row.doc_id: row.size for row in rows}


def load_boxes(connection: Connection, doc_id: str, spans: Sequence[tuple[int, int]]) -> list[Box]:
    """The lines that touch any of the spans, in order, each once. Lines do not overlap: none before
    the last one that begins at or before a span reaches into it.
    """
    found: dict[int, Box] = {}
    for start, end in spans:
        for row in connection.execute(_LINES, {"doc": doc_id, "start": start, "end": end}):
            found[row.number] = Box(row.first, row.last, row.page, row.x0, row.y0, row.x1, row.y1)
    return [found[number] for number in sorted(found)]


def delete_documents(connection: Connection, infos: Sequence[DocumentInfo]) -> None:
    for info in infos:
        _delete_rows(connection, info)
    chunks.forget_words(connection)


def _parse_section(stored: dict[str, Any]) -> Section:
    return Section(
        tuple(stored["heading_path"]), stored["start"], stored["end"], stored.get("anchor", "")
    )


def _build_line(number: int, box: Box) -> Row:
    row = asdict(box)
    return {"first": row.pop("start"), "last": row.pop("end"), "number": number} | row


def _delete_rows(connection: Connection, info: DocumentInfo) -> None:
    """Chunks and vectors go by their foreign keys, words by their trigger."""
    connection.execute(
        text("DELETE FROM documents WHERE doc_id = :doc_id"), {"doc_id": info.doc_id}
    )
    unused = text(
        "DELETE FROM files WHERE sha256 = :s AND NOT EXISTS (SELECT 1 FROM documents WHERE "
        "sha256 = :s)"
    )
    connection.execute(unused, {"s": info.sha256})


def _parse_info(row: RowMapping) -> DocumentInfo:
    return DocumentInfo(**{**row, "warnings": json.loads(row["warnings"])})


# `f` reads what stands behind the text of a row from an index, so that no text is read
_INFO = """SELECT d.doc_id, d.collection, d.uri, d.title, d.media_type, d.lang, d.sha256, d.version,
        d.page_count AS pages,
        (SELECT count(*) FROM chunks WHERE doc = d.doc_id AND kind <> 'summary') AS chunks,
        (SELECT count(*) FROM chunks WHERE doc = d.doc_id AND embedder = :embedder
            AND kind <> 'summary') AS embedded,
        d.bytes, d.added_at, d.warnings, f.dated, f.priority
    FROM documents d JOIN documents f INDEXED BY documents_facts ON f.doc_id = d.doc_id"""
_INSERT_DOCUMENT = text(
    """INSERT INTO documents (doc_id, collection, uri, title, media_type, lang, sha256, bytes,
        version, added_at, page_count, warnings, sections, pages, text, dated, priority)
    VALUES (:doc_id, :collection, :uri, :title, :media_type, :lang, :sha256, :bytes, :version,
        :added_at, :page_count, :warnings, :sections, :pages, :text, :dated, :priority)"""
)
_INSERT_LINE = text(
    "INSERT INTO lines VALUES (:doc, :first, :number, :last, :page, :x0, :y0, :x1, :y1)"
)
_LINES = text(
    """SELECT * FROM lines WHERE doc = :doc AND first < :end AND last > :start
    AND first >= coalesce((SELECT max(first) FROM lines WHERE doc = :doc AND first <= :start), 0)"""
)

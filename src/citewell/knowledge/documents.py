"""The rows of collections, documents, their bytes, chunks and words. Functions of a connection; `catalog.py` gives the verbs.

The one rule: chunks are never changed. A new version of a document deletes its chunks and inserts others under new ids.
`embedder` is the name of the one in use: vectors of another do not count, because no search compares with them.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, text

from citewell.ingest.sentences import language
from citewell.knowledge import vectors, words
from citewell.types import Chunk, Document, Page, Section, Shown

_SURROGATES = re.compile("[\ud800-\udfff]")


class CollectionInfo(Shown):
    """`embedded` of its `chunks` can be found by meaning (have a vector of the embedder in use); all of them by their words."""

    name: str
    documents: int
    chunks: int
    embedded: int
    created_at: float


class DocumentInfo(Shown):
    """`pages` is 0 where there are none; `bytes` and `sha256` are of the original file."""

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


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document as rows: all that costs time is done before the write lock is taken."""

    uri: str
    data: bytes
    sha256: str
    row: dict[str, Any]
    chunks: list[dict[str, Any]]
    tokens: list[str]


def prepare(uri: str, data: bytes, document: Document, chunks: Sequence[Chunk]) -> Prepared:
    row = {
        "title": printable(document.title),
        "media_type": document.media_type,
        "lang": document.lang,
        "page_count": len(document.pages),
        "warnings": json.dumps(document.warnings),
        "sections": json.dumps([asdict(section) for section in document.sections]),
        "pages": json.dumps([asdict(page) for page in document.pages]),
        "text": printable(document.text),
    }
    rows = [_chunk_row(ordinal, chunk) for ordinal, chunk in enumerate(chunks)]
    tokens = [" ".join(words.index_tokens(_heading(document, chunk) + "\n" + chunk.text)) for chunk in chunks]
    return Prepared(printable(uri), data, hashlib.sha256(data).hexdigest(), row, rows, tokens)


def put(connection: Connection, embedder: str, collection: str, new: Prepared, now: float) -> DocumentInfo:
    ensure_collection(connection, collection, now)
    known = vectors.of_texts(connection, [chunk["sha256"] for chunk in new.chunks])
    old = find(connection, embedder, collection, new.uri)
    doc_id = old.doc_id if old else "doc_" + secrets.token_hex(8)
    if old:
        _delete_rows(connection, old)
    connection.execute(text("INSERT OR IGNORE INTO files VALUES (:s, :data)"), {"s": new.sha256, "data": new.data})
    own = {
        "doc_id": doc_id,
        "collection": collection,
        "uri": new.uri,
        "sha256": new.sha256,
        "bytes": len(new.data),
        "version": old.version + 1 if old else 1,
        "added_at": now,
    }
    connection.execute(_INSERT_DOCUMENT, own | new.row)
    _insert_chunks(connection, doc_id, collection, new, known)
    info = get(connection, embedder, doc_id)
    assert info is not None
    return info


def ensure_collection(connection: Connection, name: str, now: float) -> None:
    connection.execute(text("INSERT OR IGNORE INTO collections VALUES (:name, :now)"), {"name": name, "now": now})


def collections(connection: Connection, embedder: str) -> list[CollectionInfo]:
    return [CollectionInfo(**row) for row in connection.execute(_COLLECTIONS, {"embedder": embedder}).mappings()]


def find(connection: Connection, embedder: str, collection: str, uri: str) -> DocumentInfo | None:
    where = {"embedder": embedder, "collection": collection, "uri": printable(uri)}
    row = connection.execute(text(_INFO + " WHERE d.collection = :collection AND d.uri = :uri"), where).mappings().one_or_none()
    return None if row is None else _info(row)


def get(connection: Connection, embedder: str, doc_id: str) -> DocumentInfo | None:
    where = {"embedder": embedder, "doc_id": doc_id}
    row = connection.execute(text(_INFO + " WHERE d.doc_id = :doc_id"), where).mappings().one_or_none()
    return None if row is None else _info(row)


def listed(connection: Connection, embedder: str, collection: str) -> list[DocumentInfo]:
    where = {"embedder": embedder, "name": collection}
    rows = connection.execute(text(_INFO + " WHERE d.collection = :name ORDER BY d.uri"), where)
    return [_info(row) for row in rows.mappings()]


def content(connection: Connection, doc_id: str) -> Document:
    row = connection.execute(text("SELECT * FROM documents WHERE doc_id = :doc_id"), {"doc_id": doc_id}).one()
    return Document(
        title=row.title,
        media_type=row.media_type,
        lang=row.lang,
        text=row.text,
        sections=tuple(Section(tuple(s["heading_path"]), s["start"], s["end"]) for s in json.loads(row.sections)),
        pages=tuple(Page(**page) for page in json.loads(row.pages)),
        warnings=tuple(json.loads(row.warnings)),
    )


def delete(connection: Connection, info: DocumentInfo) -> None:
    _delete_rows(connection, info)
    _forget_words(connection)


def delete_collection(connection: Connection, name: str) -> None:
    connection.execute(text("DELETE FROM collections WHERE name = :name"), {"name": name})
    connection.execute(text("DELETE FROM files WHERE sha256 NOT IN (SELECT sha256 FROM documents)"))
    _forget_words(connection)


def printable(value: str) -> str:
    """Half a surrogate pair (broken PDFs, file names that are not UTF-8) cannot be stored: one character for one."""
    return _SURROGATES.sub("\ufffd", value)


def _chunk_row(ordinal: int, chunk: Chunk) -> dict[str, Any]:
    body, path = printable(chunk.text), [printable(heading) for heading in chunk.heading_path]
    return {
        "lang": language(body),
        "ordinal": ordinal,
        "section": chunk.section,
        "first": chunk.start,
        "last": chunk.end,
        "page": chunk.page,
        "tokens": chunk.tokens,
        "sha256": hashlib.sha256(vectors.text_to_embed(path, body).encode()).hexdigest(),
        "heading_path": json.dumps(path),
        "text": body,
    }


def _heading(document: Document, chunk: Chunk) -> str:
    """Every chunk is found by the title of its document and the headings above it."""
    path = list(chunk.heading_path)
    return "\n".join(path if document.title in path else [document.title, *path])


def _insert_chunks(
    connection: Connection, doc_id: str, collection: str, new: Prepared, known: dict[str, tuple[str, bytes]]
) -> None:
    if not new.chunks:
        return
    first = connection.execute(_LAST_CHUNK).scalar_one() + 1  # nobody else inserts: this transaction has the write lock
    chunks, tokens, blobs = [], [], {}
    for number, chunk in enumerate(new.chunks):
        embedder, blob = known.get(chunk["sha256"], ("", b""))
        chunks.append(chunk | {"id": first + number, "doc": doc_id, "collection": collection, "embedder": embedder})
        place = " ".join(words.place(collection=collection, doc_id=doc_id, lang=chunk["lang"]))
        tokens.append({"id": first + number, "tokens": new.tokens[number], "place": place})
        if embedder:
            blobs[first + number] = blob
    connection.execute(_INSERT_CHUNK, chunks)
    connection.execute(_INSERT_WORDS, tokens)
    vectors.insert(connection, blobs)


def _delete_rows(connection: Connection, info: DocumentInfo) -> None:
    """Chunks and vectors go by their foreign keys, words by their trigger."""
    connection.execute(text("DELETE FROM documents WHERE doc_id = :doc_id"), {"doc_id": info.doc_id})
    unused = text("DELETE FROM files WHERE sha256 = :s AND NOT EXISTS (SELECT 1 FROM documents WHERE sha256 = :s)")
    connection.execute(unused, {"s": info.sha256})


def _forget_words(connection: Connection) -> None:
    """FTS5 only marks what is deleted; merging its segments into one drops the words themselves."""
    connection.execute(text("INSERT INTO words (words) VALUES ('optimize')"))


def _info(row: RowMapping) -> DocumentInfo:
    return DocumentInfo(**{**row, "warnings": json.loads(row["warnings"])})


_COLLECTIONS = text(
    """SELECT name, created_at,
        (SELECT count(*) FROM documents WHERE collection = name) AS documents,
        (SELECT count(*) FROM chunks WHERE collection = name) AS chunks,
        (SELECT count(*) FROM chunks WHERE collection = name AND embedder = :embedder) AS embedded
    FROM collections ORDER BY name"""
)
_INFO = """SELECT d.doc_id, d.collection, d.uri, d.title, d.media_type, d.lang, d.sha256, d.version, d.page_count AS pages,
        (SELECT count(*) FROM chunks WHERE doc = d.doc_id) AS chunks,
        (SELECT count(*) FROM chunks WHERE doc = d.doc_id AND embedder = :embedder) AS embedded,
        d.bytes, d.added_at, d.warnings
    FROM documents d"""
_INSERT_DOCUMENT = text(
    """INSERT INTO documents (doc_id, collection, uri, title, media_type, lang, sha256, bytes, version, added_at,
        page_count, warnings, sections, pages, text)
    VALUES (:doc_id, :collection, :uri, :title, :media_type, :lang, :sha256, :bytes, :version, :added_at,
        :page_count, :warnings, :sections, :pages, :text)"""
)
_INSERT_CHUNK = text(
    """INSERT INTO chunks (id, doc, collection, lang, ordinal, section, first, last, page, tokens, sha256, embedder,
        heading_path, text)
    VALUES (:id, :doc, :collection, :lang, :ordinal, :section, :first, :last, :page, :tokens, :sha256, :embedder,
        :heading_path, :text)"""
)
_LAST_CHUNK = text("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), 0)")
_INSERT_WORDS = text("INSERT INTO words (rowid, tokens, place) VALUES (:id, :tokens, :place)")

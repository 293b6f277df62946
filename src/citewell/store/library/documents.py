"""The rows of documents. Functions of a connection; `catalog.py` has the methods. A new version of
a document replaces its chunks and keeps its id and priority. `embedder` is the name of the embedder
in use: vectors of others are not counted, because no search uses them.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    ScalarSelect,
    bindparam,
    case,
    delete,
    func,
    insert,
    select,
    update,
)

from citewell.messages import AnyText, dump_json, load_json
from citewell.store.dialects.expressions import is_among
from citewell.store.index import vectors
from citewell.store.index.search_rows import get_search_rows
from citewell.store.library import chunks as chunk_rows
from citewell.store.library.chunks import Row, Rows, replace_surrogates
from citewell.store.library.collection_rows import ensure_collection
from citewell.store.library.facts import facts
from citewell.store.library.file_rows import delete_unused_files, insert_file
from citewell.store.library.library_locks import hold_addresses
from citewell.store.schema.library import chunks, documents, lines
from citewell.types import Box, Chunk, Document, Shown


class DocumentInfo(Shown):
    """`pages` is 0 where there are none; `bytes` and `sha256` are of the original file; summaries
    are not counted among the `chunks`. `dated`: the date that the file itself states, in seconds
    since the epoch. `priority`: 0 unless a user set it. `gone_since`: since when its place, with
    which it is synchronised, has it no more; it is then searched only by name.
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
    warnings: list[AnyText]
    dated: float | None = None
    priority: int = 0
    gone_since: float | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document as rows, prepared before the write lock is taken. `data`: its bytes; empty if they
    are in the object store, under the key `place`. `vectors`: of its texts, if they are made
    already.
    """

    uri: str
    data: bytes
    size: int
    sha256: str
    row: dict[str, Any]
    chunks: Rows
    lines: list[Row]
    place: str = ""
    vectors: vectors.Known = field(default_factory=dict)


def prepare_document(uri: str, data: bytes, document: Document, cut: Sequence[Chunk]) -> Prepared:
    row = {
        "title": replace_surrogates(document.title),
        "media_type": document.media_type,
        "lang": document.lang,
        "page_count": len(document.pages),
        "warnings": dump_json(document.warnings),
        "sections": json.dumps([asdict(section) for section in document.sections]),
        "pages": json.dumps([asdict(page) for page in document.pages]),
        "text": replace_surrogates(document.text),
        "dated": document.dated,
    }
    lines = [_build_line(number, box) for number, box in enumerate(document.boxes)]
    rows = chunk_rows.build_rows(str(row["title"]), cut)
    sha256 = hashlib.sha256(data).hexdigest()
    return Prepared(replace_surrogates(uri), data, len(data), sha256, row, rows, lines)


def put_document(
    connection: Connection,
    embedder: str,
    collection: str,
    new: Prepared,
    now: float,
    priority: int | None = None,
) -> DocumentInfo:
    """`priority` None: that of the previous version. The address is locked, so that two versions
    never get the same number.
    """
    hold_addresses(connection, collection, [new.uri])
    ensure_collection(connection, collection, now)
    texts = {chunk["sha256"] for chunk in new.chunks} - new.vectors.keys()
    known = vectors.find_text_vectors(connection, list(texts)) | new.vectors
    old = find_document(connection, embedder, collection, new.uri)
    doc_id = old.doc_id if old else "doc_" + secrets.token_hex(8)
    if old:
        _delete_rows(connection, old)
    insert_file(connection, new.sha256, new.data, new.place)
    before = old.priority if old else 0
    own = {
        "doc_id": doc_id,
        "collection": collection,
        "uri": new.uri,
        "sha256": new.sha256,
        "bytes": new.size,
        "version": old.version + 1 if old else 1,
        "added_at": now,
        "priority": before if priority is None else priority,
    }
    connection.execute(_INSERT_DOCUMENT, own | new.row)
    chunk_rows.insert_chunks(connection, doc_id, collection, new.chunks, known)
    if new.lines:
        connection.execute(_INSERT_LINE, [line | {"doc": doc_id} for line in new.lines])
    info = get_document(connection, embedder, doc_id)
    assert info is not None
    return info


def set_priority(connection: Connection, doc_id: str, priority: int) -> None:
    """Tells indexes in memory, by the log of changes, to read the document's chunks again."""
    connection.execute(_SET_PRIORITY, {"of": doc_id, "priority": priority})
    get_search_rows(connection).note_changed_document(connection, doc_id)


def set_gone(connection: Connection, doc_ids: Sequence[str], since: float | None) -> None:
    """None: they are there again."""
    connection.execute(_SET_GONE, {"ids": list(doc_ids), "gone_since": since})


def list_gone(connection: Connection) -> list[str]:
    """The ids of all documents whose place has them no more; mostly none."""
    return list(connection.execute(_GONE).scalars())


def find_document(
    connection: Connection, embedder: str, collection: str, uri: str
) -> DocumentInfo | None:
    where = {"embedder": embedder, "collection": collection, "uri": replace_surrogates(uri)}
    row = connection.execute(_INFO_OF_ADDRESS, where).mappings().one_or_none()
    return None if row is None else parse_document_info(row)


def find_documents(
    connection: Connection, embedder: str, collection: str, uris: Sequence[str]
) -> list[DocumentInfo]:
    """Those of these addresses that are there."""
    uris = [replace_surrogates(uri) for uri in uris]
    where = {"embedder": embedder, "collection": collection, "uris": uris}
    rows = connection.execute(_INFO_OF_ADDRESSES, where).mappings()
    return [parse_document_info(row) for row in rows]


def find_same_bytes(
    connection: Connection, embedder: str, collection: str, uri: str, sha256: str
) -> DocumentInfo | None:
    """The first document of the collection with these bytes under another address."""
    where = {"embedder": embedder, "collection": collection, "sha256": sha256}
    where["uri"] = replace_surrogates(uri)
    row = connection.execute(_INFO_OF_BYTES, where).mappings().first()
    return None if row is None else parse_document_info(row)


def get_document(connection: Connection, embedder: str, doc_id: str) -> DocumentInfo | None:
    where = {"embedder": embedder, "doc_id": doc_id}
    row = connection.execute(_INFO_OF_ID, where).mappings().one_or_none()
    return None if row is None else parse_document_info(row)


def list_documents(connection: Connection, embedder: str, collection: str) -> list[DocumentInfo]:
    where = {"embedder": embedder, "collection": collection}
    rows = connection.execute(_INFO_OF_COLLECTION, where)
    return [parse_document_info(row) for row in rows.mappings()]


def list_documents_below(
    connection: Connection, embedder: str, collection: str, prefix: str
) -> list[DocumentInfo]:
    """Those whose address begins so, in the order of their addresses. `prefix` ends with a
    character that is not the last.
    """
    until = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    where = {"embedder": embedder, "collection": collection}
    where |= {"first": replace_surrogates(prefix), "until": replace_surrogates(until)}
    rows = connection.execute(_INFO_BELOW, where)
    return [parse_document_info(row) for row in rows.mappings()]


def delete_documents(connection: Connection, infos: Sequence[DocumentInfo]) -> None:
    for info in infos:
        _delete_rows(connection, info)
    get_search_rows(connection).forget_words(connection)


def _build_line(number: int, box: Box) -> Row:
    row = asdict(box)
    return {"first": row.pop("start"), "last": row.pop("end"), "number": number} | row


def _delete_rows(connection: Connection, info: DocumentInfo) -> None:
    """Chunks, vectors and words go by their foreign keys; SQLite's words by their trigger."""
    connection.execute(_DELETE, {"doc_id": info.doc_id})
    delete_unused_files(connection, [info.sha256])


def parse_document_info(row: RowMapping) -> DocumentInfo:
    return DocumentInfo(**{**row, "warnings": load_json(row["warnings"])})


def _count_passages(counted: ColumnElement[Any]) -> ScalarSelect[int]:
    """Of one document. What is counted is no condition: by an index of it SQLite would look at the
    whole library for each document.
    """
    return (
        select(counted)
        .select_from(chunks)
        .where(chunks.c.doc == documents.c.doc_id, chunks.c.kind != "summary")
        .scalar_subquery()
    )


_is_embedded = case((chunks.c.embedder == bindparam("embedder"), 1), else_=0)
INFO = select(
    *documents.c["doc_id", "collection", "uri", "title", "media_type", "lang", "sha256", "version"],
    documents.c.page_count.label("pages"),
    _count_passages(func.count()).label("chunks"),
    _count_passages(func.coalesce(func.sum(_is_embedded), 0)).label("embedded"),
    *documents.c["bytes", "added_at", "warnings"],
    *facts.c["dated", "priority", "gone_since"],
).join_from(documents, facts, facts.c.doc_id == documents.c.doc_id)
_is_asked = documents.c.doc_id == bindparam("doc_id")
IS_IN_COLLECTION = documents.c.collection == bindparam("collection")
_INFO_OF_ID = INFO.where(_is_asked)
_INFO_OF_ADDRESS = INFO.where(IS_IN_COLLECTION, documents.c.uri == bindparam("uri"))
_INFO_OF_ADDRESSES = INFO.where(IS_IN_COLLECTION, is_among(documents.c.uri, "uris"))
_INFO_OF_BYTES = (
    INFO.where(
        documents.c.sha256 == bindparam("sha256"),
        IS_IN_COLLECTION,
        documents.c.uri != bindparam("uri"),
    )
    .order_by(documents.c.added_at)
    .limit(1)
)
_INFO_OF_COLLECTION = INFO.where(IS_IN_COLLECTION).order_by(documents.c.uri)
_INFO_BELOW = _INFO_OF_COLLECTION.where(
    documents.c.uri >= bindparam("first"), documents.c.uri < bindparam("until")
)
_INSERT_DOCUMENT = insert(documents)
_INSERT_LINE = insert(lines)
_SET_PRIORITY = (
    update(documents)
    .where(documents.c.doc_id == bindparam("of"))
    .values(priority=bindparam("priority"))
)
_SET_GONE = (
    update(documents)
    .where(is_among(documents.c.doc_id, "ids"))
    .values(gone_since=bindparam("gone_since"))
)
_GONE = select(documents.c.doc_id).where(documents.c.gone_since.is_not(None))
_DELETE = delete(documents).where(_is_asked)

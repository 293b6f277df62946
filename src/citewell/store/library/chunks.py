"""The rows of chunks and of their words: made, inserted, read, cut anew; summaries among them.
Functions of a connection. A chunk is never changed. Another text is another row under another id,
so nobody who kept an id is shown other words under it.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, delete, insert, select

from citewell.errors import Conflict
from citewell.messages import Text
from citewell.store.index import vectors
from citewell.store.index.chunk_words import Words
from citewell.store.index.search_rows import get_search_rows
from citewell.store.library.library_locks import hold_documents
from citewell.store.schema.library import chunks, documents
from citewell.text import tokens as words
from citewell.text.sentences import detect_language
from citewell.types import Chunk

_SURROGATES = re.compile("[\ud800-\udfff]")

Row = dict[str, Any]
# rows of a statement: all of a long document as its parameters take ten times its memory
_AT_ONCE = 500


def replace_surrogates(value: str) -> str:
    """Lone surrogates (broken PDFs, odd file names) cannot be stored: one character each."""
    return _SURROGATES.sub("\ufffd", value)


class Rows(Iterable[Row]):
    """Chunks as rows, each with its words. All that costs time is done here, before the write lock
    is taken. Those of a long document are kept packed, a stretch at a time: they take five times
    the memory of its text.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        stretches = _split_batches(rows)
        self._first = next(stretches, [])
        self._packed = [zlib.compress(pickle.dumps(stretch), 1) for stretch in stretches]

    def __iter__(self) -> Iterator[Row]:
        yield from self._first
        for packed in self._packed:
            yield from pickle.loads(zlib.decompress(packed))  # noqa: S301 we packed it ourselves


def build_rows(title: str, chunks: Iterable[Chunk]) -> Rows:
    return Rows(_build_row(title, ordinal, chunk) for ordinal, chunk in enumerate(chunks))


def _split_batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    rest = iter(rows)
    while stretch := list(islice(rest, _AT_ONCE)):
        yield stretch


def insert_chunks(
    connection: Connection, doc_id: str, collection: str, rows: Iterable[Row], known: vectors.Known
) -> None:
    """Chunks, their words, and the vectors `known` of their texts."""
    for stretch in _split_batches(rows):
        _insert_batch(connection, doc_id, collection, stretch, known)


def _insert_batch(
    connection: Connection, doc_id: str, collection: str, rows: Sequence[Row], known: vectors.Known
) -> None:
    search_rows = get_search_rows(connection)
    numbers = search_rows.reserve_chunk_ids(connection, len(rows))
    own = {"doc": doc_id, "collection": collection}
    numbered = [row | own | {"id": number} for row, number in zip(rows, numbers, strict=True)]
    kept = {row["id"]: known[row["sha256"]] for row in numbered if row["sha256"] in known}
    connection.execute(
        _INSERT,
        [
            {name: row[name] for name in _GIVEN}
            | {"embedder": kept[row["id"]][0] if row["id"] in kept else ""}
            for row in numbered
        ],
    )
    search_rows.insert_words(connection, [_build_words(row) for row in numbered])
    vectors.insert_vectors(connection, kept)


def _build_words(row: Row) -> Words:
    marks = words.build_filter_tokens(
        collection=row["collection"], doc_id=row["doc"], lang=row["lang"], kind=row["kind"]
    )
    return Words(row["id"], row["tokens_of"], marks)


def list_chunks(connection: Connection, doc_id: str) -> list[Chunk]:
    return [
        _parse_chunk(row) for row in connection.execute(_OF_DOCUMENT, {"doc": doc_id}).mappings()
    ]


def replace_chunks(connection: Connection, doc_id: str, collection: str, rows: Rows) -> None:
    """Other chunks for the same text. Raises Conflict where they were cut from another."""
    body = str(connection.execute(_TEXT, {"doc": doc_id}).scalar_one())
    if any(
        row["kind"] != "summary" and body[row["first"] : row["last"]] != row["text"] for row in rows
    ):
        raise Conflict(
            Text("{doc_id} was changed while it was being cut", doc_id=doc_id),
            hint=Text("cut it again"),
        )
    known = vectors.find_text_vectors(connection, [row["sha256"] for row in rows])
    connection.execute(_DELETE_OF_DOCUMENT, {"of": doc_id})
    insert_chunks(connection, doc_id, collection, rows, known)


def list_unwritten_summaries(
    connection: Connection, author: str, limit: int
) -> list[tuple[int, tuple[str, ...], str]]:
    """(chunk id, headings, section's text) of summaries not by `author`, oldest first."""
    rows = connection.execute(_SUMMARIES, {"author": author, "limit": limit}).all()
    return [
        (row.id, tuple(json.loads(row.heading_path)), row.body[row.first : row.last])
        for row in rows
    ]


def put_summary(connection: Connection, chunk_id: int, body: str, author: str, size: int) -> bool:
    """Another text of a summary under a new id, to be embedded. False where it has gone."""
    doc_id = connection.execute(_DOCUMENT_OF, {"id": chunk_id}).scalar_one_or_none()
    hold_documents(connection, [doc_id] if doc_id else [])  # its chunks come and go as a whole
    old = connection.execute(_SUMMARY, {"id": chunk_id}).mappings().one_or_none()
    if old is None:
        return False
    row = _build_row(
        old["title"], old["ordinal"], _parse_chunk(old), summary=replace_surrogates(body)
    )
    row |= {"author": author, "tokens": size or old["tokens"]}
    known = vectors.find_text_vectors(connection, [row["sha256"]])
    connection.execute(_DELETE, {"of": chunk_id})
    insert_chunks(connection, old["doc"], old["collection"], [row], known)
    return True


def _build_row(title: str, ordinal: int, chunk: Chunk, summary: str = "") -> Row:
    body, path = (
        summary or replace_surrogates(chunk.text),
        [replace_surrogates(heading) for heading in chunk.heading_path],
    )
    # every chunk is found by its document's title and its headings
    known_by = path if title in path else [title, *path]
    return {
        "lang": detect_language(body),
        "ordinal": ordinal,
        "section": chunk.section,
        "first": chunk.start,
        "last": chunk.end,
        "page": chunk.page,
        "tokens": chunk.tokens,
        "sha256": hashlib.sha256(vectors.build_embedding_text(path, body).encode()).hexdigest(),
        "heading_path": json.dumps(path),
        "text": body,
        "kind": chunk.kind,
        "author": "",
        "tokens_of": " ".join(words.tokenize_for_index("\n".join([*known_by, body]))),
    }


def _parse_chunk(row: RowMapping) -> Chunk:
    path = tuple(json.loads(row["heading_path"]))
    return Chunk(
        row["text"],
        row["first"],
        row["last"],
        row["section"],
        path,
        row["page"],
        row["tokens"],
        kind=row["kind"],
    )


_GIVEN = tuple(column.name for column in chunks.c if column.name != "embedder")
_INSERT = insert(chunks)
_DELETE = delete(chunks).where(chunks.c.id == bindparam("of"))
_DELETE_OF_DOCUMENT = delete(chunks).where(chunks.c.doc == bindparam("of"))
_OF_DOCUMENT = (
    select(chunks).where(chunks.c.doc == bindparam("doc")).order_by(chunks.c.ordinal, chunks.c.id)
)
_TEXT = select(documents.c.text).where(documents.c.doc_id == bindparam("doc"))
_of_its_document = documents.c.doc_id == chunks.c.doc
_DOCUMENT_OF = select(chunks.c.doc).where(chunks.c.id == bindparam("id"))
_SUMMARIES = (
    select(
        chunks.c.id,
        chunks.c.heading_path,
        chunks.c.first,
        chunks.c.last,
        documents.c.text.label("body"),
    )
    .join_from(chunks, documents, _of_its_document)
    .where(chunks.c.kind == "summary", chunks.c.author != bindparam("author"))
    .order_by(chunks.c.id)
    .limit(bindparam("limit"))
)
_SUMMARY = (
    select(chunks, documents.c.title)
    .join_from(chunks, documents, _of_its_document)
    .where(chunks.c.id == bindparam("id"), chunks.c.kind == "summary")
)

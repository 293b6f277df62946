"""Made chunks straight into the tables, as the catalog would leave them: a million in minutes. The
one rule: in PostgreSQL no trigger runs, so what triggers keep is written here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
from sqlalchemy import Connection, insert

from citewell.store.db import Database
from citewell.store.index import postgres_rows
from citewell.store.index.chunk_words import Words
from citewell.store.index.search_rows import get_search_rows, pack_words
from citewell.store.index.search_tables import TERMS
from citewell.store.schema.library import chunks, collections, documents, files, vectors
from citewell.text.tokens import build_filter_tokens, is_prefix, tokenize_for_index
from scale_made import A_DOCUMENT, EMBEDDER, SHARE, WORDS, Made

MARKS = 3  # of collection, document and language
_AT_ONCE = 5_000  # rows of a transaction

Row = dict[str, Any]


async def copy_rows(db: Database, url: str, made: Made) -> None:
    """Into an empty database; the two indexes of vectors are left to be made."""
    await db.write(_insert_documents, len(made.texts))
    if db.dialect == "sqlite":
        for first in range(0, len(made.texts), _AT_ONCE):
            await db.write(_insert_rows, made, first)
        return
    with psycopg.connect(url) as connection:
        _copy_all(connection, made)
    await pack_words(db)


def _insert_documents(connection: Connection, count: int) -> None:
    numbers = range(0, count, A_DOCUMENT)
    rows = [
        {
            "doc_id": _name_document(n),
            "collection": _name_collection(n),
            "sha256": f"{n:064x}",
            "media_type": "text/plain",
            "lang": "en",
            **dict.fromkeys(("uri", "title"), f"d{n}"),
            **dict.fromkeys(("bytes", "version", "added_at", "page_count"), 1),
            **dict.fromkeys(("warnings", "sections", "pages"), "[]"),
            "text": "",
        }
        for n in numbers
    ]
    connection.execute(
        insert(collections), [{"name": name, "created_at": 1.0} for name in ("few", "many")]
    )
    connection.execute(insert(files), [{"sha256": row["sha256"], "data": b"x"} for row in rows])
    connection.execute(insert(documents), rows)


def _build_rows(made: Made, first: int, count: int) -> Iterator[Row]:
    """Rows of `chunks`; their ids are counted from 1."""
    at = 0
    for n in range(first, min(first + count, len(made.texts))):
        at = 0 if n % A_DOCUMENT == 0 else at
        text = made.texts[n]
        yield {
            "id": n + 1,
            "doc": _name_document(n),
            "collection": _name_collection(n),
            "lang": "en" if n % 2 else "zh",
            "kind": "text",
            "first": at,
            "last": at + len(text),
            "ordinal": n % A_DOCUMENT,
            "section": 0,
            "tokens": WORDS,
            "sha256": f"{n:064x}",
            "embedder": EMBEDDER,
            "heading_path": "[]",
            "text": text,
        }
        at += len(text) + 1


def _name_document(chunk: int) -> str:
    return f"{chunk // A_DOCUMENT:032x}"


def _name_collection(chunk: int) -> str:
    return "few" if chunk // A_DOCUMENT % SHARE == 0 else "many"


def _insert_rows(connection: Connection, made: Made, first: int) -> None:
    rows = list(_build_rows(made, first, _AT_ONCE))
    connection.execute(insert(chunks), rows)
    words = [
        Words(
            row["id"],
            " ".join(tokenize_for_index(row["text"])),
            build_filter_tokens(
                collection=row["collection"], doc_id=row["doc"], lang=row["lang"], kind="text"
            ),
        )
        for row in rows
    ]
    get_search_rows(connection).insert_words(connection, words)
    vecs = [made.vectors[row["id"] - 1].astype("<f4").tobytes() for row in rows]
    connection.execute(
        insert(vectors),
        [{"chunk": row["id"], "vec": vec} for row, vec in zip(rows, vecs, strict=True)],
    )


def _copy_all(connection: psycopg.Connection[Any], made: Made) -> None:
    connection.execute("SET session_replication_role = replica; SET statement_timeout = 0")
    connection.execute("SET maintenance_work_mem = '1GB'")
    indexes = connection.execute(_INDEXES).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    rows = list(_build_rows(made, 0, len(made.texts)))
    _copy(connection, "chunks", _CHUNKS, (list(row.values()) for row in rows))
    places = [[row[name] for name in list(_PLACES)] for row in rows]
    sent = (
        [place[0], vec.astype("<f4").tobytes()]
        for place, vec in zip(places, made.vectors, strict=True)
    )
    _copy(connection, "vectors", {"chunk": "int8", "vec": "bytea"}, sent)
    sent = (
        [*place, EMBEDDER, _send_half(vec)] for place, vec in zip(places, made.vectors, strict=True)
    )
    near = {"chunk" if name == "id" else name: kind for name, kind in _PLACES.items()}
    _copy(connection, "vector_index", near | {"embedder": "text", "vec": "bytea"}, sent)
    own = {"rowid" if name == "id" else name: kind for name, kind in _PLACES.items()}
    built = ([*p, *_build_words(text)] for p, text in zip(places, made.texts, strict=True))
    _copy(connection, "words", own | _WORDS, built)
    connection.execute(_TOTALS)
    for _, definition in indexes:
        connection.execute(definition)


def _copy(
    connection: psycopg.Connection[Any], table: str, columns: dict[str, str], rows: Any
) -> None:
    """`columns`: with their types, as they are sent."""
    order = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT binary)"
    with connection.cursor().copy(order) as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            copy.write_row(row)


def _build_words(text: str) -> tuple[int, str, list[int], bytes]:
    """Size, tokens, terms, weights."""
    tokens = tokenize_for_index(text)
    counts = Counter(map(postgres_rows.hash_term, tokens))
    counts.update(
        postgres_rows.hash_term(token[0] + "*") for token in tokens if is_prefix(token[0])
    )
    size, terms = len(tokens) + MARKS, sorted(counts)
    usual = postgres_rows.USUAL_LENGTH
    weights = [postgres_rows.weigh_term(counts[term], size, usual) for term in terms]
    head = np.array([TERMS, len(terms), 0], ">i4").tobytes()
    places = (np.array(terms) - 1).astype(">i4").tobytes()
    return size, " ".join(tokens), terms, head + places + np.array(weights, ">f4").tobytes()


def _send_half(vec: Any) -> bytes:
    return np.array([len(vec), 0], ">i2").tobytes() + bytes(vec.astype(">f2").tobytes())


_CHUNKS = {
    "id": "int8",
    **dict.fromkeys(("doc", "collection", "lang", "kind"), "text"),
    **dict.fromkeys(("first", "last", "ordinal", "section", "tokens"), "int8"),
    **dict.fromkeys(("sha256", "embedder", "heading_path", "text"), "text"),
}
_PLACES = dict(list(_CHUNKS.items())[:7])
_WORDS = {"size": "int8", "tokens": "text", "terms": "int4[]", "weights": "bytea"}
_INDEXES = """SELECT indexname, indexdef FROM pg_indexes WHERE indexname NOT LIKE '%pkey'
    AND tablename IN ('chunks', 'words', 'vector_index')"""
_TOTALS = """INSERT INTO word_totals (chunks, tokens) SELECT count(*), sum(size) FROM words;
    INSERT INTO word_news SELECT rowid FROM words;
    SELECT setval('chunks_id_seq', max(id)) FROM chunks"""

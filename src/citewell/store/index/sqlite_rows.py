"""Search in SQLite: words in FTS5, a log of changes that the vectors in memory follow. Triggers log
every change of `vectors`, and take the words of a chunk with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import (
    BigInteger,
    Connection,
    Text,
    bindparam,
    column,
    delete,
    func,
    insert,
    select,
    table,
    text,
)

from citewell.store.index.chunk_words import Words
from citewell.store.schema.library import changes, chunks
from citewell.store.schema.word_table import words


def reserve_chunk_ids(connection: Connection, count: int) -> Sequence[int]:
    """Nobody else inserts: this transaction has the write lock."""
    last = connection.execute(_LAST_CHUNK).scalar_one_or_none() or 0
    return range(last + 1, last + 1 + count)


def insert_words(connection: Connection, rows: Sequence[Words]) -> None:
    connection.execute(
        _INSERT_WORDS,
        [{"rowid": row.chunk, "tokens": row.tokens, "place": " ".join(row.marks)} for row in rows],
    )


def insert_vectors(connection: Connection, given: dict[int, tuple[str, bytes]]) -> None:
    """The log has them already."""


def note_changed_document(connection: Connection, doc_id: str) -> None:
    connection.execute(_NOTE, {"doc": doc_id})


def prune_changes(connection: Connection, kept: int) -> None:
    connection.execute(_PRUNE, {"kept": kept})


def forget_words(connection: Connection) -> None:
    """FTS5 only marks what is deleted; merging its segments into one drops the words themselves."""
    connection.execute(_OPTIMIZE)


def pack_words(connection: Connection, *, forget: bool = False) -> int:  # noqa: ARG001 of FTS5
    """Nothing waits."""
    return 0


_sequence = table("sqlite_sequence", column("name", Text), column("seq", BigInteger))
_LAST_CHUNK = select(_sequence.c.seq).where(_sequence.c.name == chunks.name)
_INSERT_WORDS = insert(words)
_NOTE = insert(changes).from_select(
    ["chunk"], select(chunks.c.id).where(chunks.c.doc == bindparam("doc"))
)
_all = changes.alias("every")
_PRUNE = delete(changes).where(
    changes.c.seq <= select(func.max(_all.c.seq)).scalar_subquery() - bindparam("kept")
)
_OPTIMIZE = text("INSERT INTO words (words) VALUES ('optimize')")

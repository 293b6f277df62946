"""What stands beside chunks and their vectors so that they can be searched: written here, in the
transaction of the chunks themselves, in the one way or the other. The database chooses, by its
dialect; nothing else in the store asks which it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlalchemy import Connection

from citewell.store.db import Database
from citewell.store.index import postgres_rows, sqlite_rows
from citewell.store.index.chunk_words import Words


class SearchRows(Protocol):
    """One module a dialect. All of a chunk goes with the chunk, by itself."""

    def reserve_chunk_ids(self, connection: Connection, count: int) -> Sequence[int]:
        """Ids that no chunk has or had, rising."""
        ...

    def insert_words(self, connection: Connection, rows: Sequence[Words]) -> None:
        """Of chunks that are there."""
        ...

    def insert_vectors(self, connection: Connection, given: dict[int, tuple[str, bytes]]) -> None:
        """(embedder, float32 row) by chunk id, for chunks there; replaces what they had."""
        ...

    def note_changed_document(self, connection: Connection, doc_id: str) -> None:
        """What filters look at of this document is not what it was."""
        ...

    def prune_changes(self, connection: Connection, kept: int) -> None:
        """The log of changes keeps its last `kept` rows, where there is one."""
        ...

    def forget_words(self, connection: Connection) -> None:
        """The words of what was deleted are to be read nowhere any more."""
        ...

    def pack_words(self, connection: Connection, *, forget: bool = False) -> int:
        """Some of what waits to be packed for quick searches; 0 where there is nothing. `forget`:
        and anew what holds something deleted.
        """
        ...


_ROWS: dict[str, SearchRows] = {"sqlite": sqlite_rows, "postgresql": postgres_rows}


def get_search_rows(connection: Connection) -> SearchRows:
    return _ROWS[connection.dialect.name]


async def pack_words(db: Database, *, forget: bool = False) -> None:
    """All that waits, some at a time, for others write meanwhile."""
    while await db.write_beside(lambda c: get_search_rows(c).pack_words(c, forget=forget)):
        pass

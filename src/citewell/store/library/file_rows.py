"""The bytes of original files as rows, each once however many documents have them. Functions of a
connection. A row goes when no document has its bytes any more. Whoever gives a document its bytes
keeps a share of their row to the end of the transaction, and whoever takes bytes away waits for all
shares before it looks for documents.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, delete, exists, select

from citewell.store.dialects.expressions import is_among
from citewell.store.dialects.upserts import insert_or_ignore
from citewell.store.schema.library import documents, files

_TRIES = 5


def insert_file(connection: Connection, sha256: str, data: bytes, place: str) -> None:
    """Unless these bytes are there; if they are just going, once they have gone. Were they to go
    each time, their document's foreign key would have the whole transaction run again.
    """
    for _ in range(_TRIES):
        connection.execute(_INSERT, {"sha256": sha256, "data": data, "place": place})
        if connection.execute(_SHARE, {"sha256": sha256}).first() is not None:
            return


def list_files(connection: Connection, collection: str) -> list[str]:
    """The hashes of all bytes that a collection's documents have."""
    return list(connection.execute(_OF_COLLECTION, {"of": collection}).scalars())


def delete_unused_files(connection: Connection, hashes: Iterable[str]) -> None:
    """Of these the ones that no document has."""
    values = {"hashes": sorted(set(hashes))}
    connection.execute(_LOCK, values).all()
    connection.execute(_DELETE, values)


_INSERT = insert_or_ignore(files)
_SHARE = (
    select(files.c.sha256)
    .where(files.c.sha256 == bindparam("sha256"))
    .with_for_update(read=True, key_share=True)
)
_OF_COLLECTION = (
    select(documents.c.sha256).where(documents.c.collection == bindparam("of")).distinct()
)
_THESE = is_among(files.c.sha256, "hashes")
_LOCK = select(files.c.sha256).where(_THESE).order_by(files.c.sha256).with_for_update()
_DELETE = delete(files).where(_THESE, ~exists().where(documents.c.sha256 == files.c.sha256))

"""What is held of the library while it is changed (`dialects/locks.py` says how). A document is its
collection and its address, whether it is there or not. Whoever puts, replaces, cuts anew or deletes
one holds it; whoever adds anything else to a collection holds that part of it, so that the
collection does not go meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from sqlalchemy import Connection, select

from citewell.store.dialects.expressions import is_among
from citewell.store.dialects.locks import hold
from citewell.store.schema.library import documents

Part = Literal["name", "site", "pages", "syncs"]
_MANY: Final = (
    50  # documents; beyond them their collections are held: a server has room for few locks
)


def hold_collection(connection: Connection, collection: str) -> None:
    """With all that is in it."""
    hold(connection, "library", collection)


def hold_part(connection: Connection, collection: str, part: Part) -> None:
    """What a collection has beside its documents."""
    hold(connection, "library", collection, part)


def hold_addresses(connection: Connection, collection: str, uris: Iterable[str]) -> None:
    """The documents of these addresses, or that there are none: in one order for all who hold
    several.
    """
    asked = sorted(set(uris))
    if len(asked) > _MANY:
        hold_collection(connection, collection)
    else:
        for uri in asked:
            hold(connection, "library", collection, "documents", uri)


def hold_documents(connection: Connection, doc_ids: Iterable[str]) -> None:
    """Those that are there, which the caller looks up again: until it held them they were others'
    to change.
    """
    rows = connection.execute(_ADDRESSES, {"ids": sorted(set(doc_ids))}).all()
    for collection in sorted({row.collection for row in rows}):
        uris = [row.uri for row in rows if row.collection == collection]
        hold_addresses(connection, collection, uris)


_ADDRESSES = select(documents.c.collection, documents.c.uri).where(
    is_among(documents.c.doc_id, "ids")
)

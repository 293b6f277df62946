"""Files that hold others (ZIPs, mails) and what came out of them. Functions of a connection;
`catalog.py` has the methods. A member is a document like any other, under the address
`<uri>!/<member>`; here is only its container's hash.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, and_, bindparam, delete, exists, func, literal, or_, select

from citewell.store.dialects.expressions import list_json
from citewell.store.dialects.upserts import upsert
from citewell.store.library import documents as document_rows
from citewell.store.library.chunks import replace_surrogates
from citewell.store.library.documents import DocumentInfo
from citewell.store.library.library_locks import hold_addresses
from citewell.store.schema.library import collections, containers, documents

INSIDE = "!/"  # between the address of a file and the name of what it holds


def list_enclosing_addresses(uri: str) -> list[str]:
    """An address, and those of the files around it."""
    parts = uri.split(INSIDE)
    return [INSIDE.join(parts[:count]) for count in range(len(parts), 0, -1)]


def list_members(
    connection: Connection, embedder: str, collection: str, uri: str
) -> list[DocumentInfo]:
    return document_rows.list_documents_below(connection, embedder, collection, uri + INSIDE)


def find_unpacked(connection: Connection, collection: str, uri: str) -> str:
    """The hash of the bytes that were taken whole, where nothing of it was removed since; else
    empty.
    """
    where = {"collection": collection, "uri": replace_surrogates(uri)}
    row = connection.execute(_WHOLE, where).one_or_none()
    return row.sha256 if row is not None and row.gone == 0 else ""


def record_unpacked(
    connection: Connection, collection: str, uri: str, sha256: str, addresses: Sequence[str]
) -> None:
    hold_addresses(connection, collection, [replace_surrogates(uri)])
    if connection.execute(_IS_THERE, {"name": collection}).first() is None:
        return
    members = json.dumps([replace_surrogates(address) for address in addresses])
    row = {"collection": collection, "uri": replace_surrogates(uri), "sha256": sha256}
    connection.execute(_KEEP, row | {"members": members})


def delete_empty_containers(connection: Connection) -> None:
    """After a deletion: a container of which nothing is left leaves no trace. One whose members
    another transaction is just putting may go too: then its file is unpacked once more.
    """
    connection.execute(_FORGET)


_AFTER_INSIDE = "!0"  # the first text after all that begin with `INSIDE`
_members = list_json(containers.c.members)
_gone_members = (
    select(func.count())
    .select_from(_members)
    .where(
        ~exists().where(
            documents.c.collection == containers.c.collection,
            documents.c.uri == _members.c.value,
        )
    )
)
_WHOLE = select(containers.c.sha256, _gone_members.scalar_subquery().label("gone")).where(
    containers.c.collection == bindparam("collection"),
    containers.c.uri == bindparam("uri"),
)
_IS_THERE = select(literal(1)).where(collections.c.name == bindparam("name"))
_KEEP = upsert(containers, containers.c.collection, containers.c.uri)
_FORGET = delete(containers).where(
    ~exists().where(
        documents.c.collection == containers.c.collection,
        or_(
            documents.c.uri == containers.c.uri,
            and_(
                documents.c.uri >= (containers.c.uri + INSIDE),
                documents.c.uri < (containers.c.uri + _AFTER_INSIDE),
            ),
        ),
    )
)

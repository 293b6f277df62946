"""Files that hold others (ZIPs, mails) and what came out of them. Functions of a connection;
`catalog.py` gives the verbs.

The one rule: a member is a document like any other, under the address `<uri>!/<member>`; here is
only its container's hash.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, text

from citewell.store.library import documents
from citewell.store.library.chunks import replace_surrogates
from citewell.store.library.documents import DocumentInfo

INSIDE = "!/"  # between the address of a file and the name of what it holds


def list_enclosing_addresses(uri: str) -> list[str]:
    """An address, and those of the files around it."""
    parts = uri.split(INSIDE)
    return [INSIDE.join(parts[:count]) for count in range(len(parts), 0, -1)]


def list_members(
    connection: Connection, embedder: str, collection: str, uri: str
) -> list[DocumentInfo]:
    return documents.list_documents_below(connection, embedder, collection, uri + INSIDE)


def is_unpacked(connection: Connection, collection: str, uri: str, sha256: str) -> bool:
    """Whether these very bytes were taken whole, and nothing of it was removed since."""
    where = {"collection": collection, "uri": replace_surrogates(uri), "sha256": sha256}
    return connection.execute(_WHOLE, where).scalar_one_or_none() == 0


def record_unpacked(
    connection: Connection, collection: str, uri: str, sha256: str, addresses: Sequence[str]
) -> None:
    row = {"collection": collection, "uri": replace_surrogates(uri), "sha256": sha256}
    connection.execute(
        _KEEP, row | {"members": json.dumps([replace_surrogates(address) for address in addresses])}
    )


def delete_empty_containers(connection: Connection) -> None:
    """After a deletion: a container of which nothing is left leaves no trace."""
    connection.execute(_FORGET)


_WHOLE = text(
    """SELECT (SELECT count(*) FROM json_each(c.members) m WHERE NOT EXISTS
        (SELECT 1 FROM documents d WHERE d.collection = c.collection AND d.uri = m.value))
    FROM containers c WHERE c.collection = :collection AND c.uri = :uri AND c.sha256 = :sha256"""
)
_KEEP = text(
    """INSERT INTO containers (collection, uri, sha256, members)
    SELECT :collection, :uri, :sha256, :members
    WHERE EXISTS (SELECT 1 FROM collections WHERE name = :collection)
    ON CONFLICT (collection, uri) DO UPDATE SET sha256 = excluded.sha256,
        members = excluded.members"""
)
_FORGET = text(
    """DELETE FROM containers WHERE NOT EXISTS (SELECT 1 FROM documents d
        WHERE d.collection = containers.collection AND (d.uri = containers.uri
            OR (d.uri >= containers.uri || '!/' AND d.uri < containers.uri || '!0')))"""
)

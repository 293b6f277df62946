"""The rows of collections: their names, owners, and how their documents are cut. Functions of a
connection; `catalog.py` gives the verbs.

The one rule: only a user who may see a collection, its owner or everybody, learns of it.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from pydantic import Field
from sqlalchemy import Connection, text

from citewell.errors import InvalidInput
from citewell.store.library import chunks
from citewell.store.users.audit import record_event
from citewell.types import Shown

LONGEST_NAME = 100  # characters of a collection's name
CONFIRMED = (
    "confirmed_qa"  # the collection of confirmed answers: their documents come and go with them
)
_CONFIRMED = re.compile(rf"{CONFIRMED}(-[0-9a-f]{{16}})?")


class CollectionInfo(Shown):
    """`embedded` of its `chunks` can be found by meaning (have a vector of the embedder in use);
    all of them by their words. Summaries are not counted. `chunking`: how its documents are cut
    where that differs from the settings. `owner`: the one user who may see it; empty: everybody.
    """

    name: str
    documents: int
    chunks: int
    embedded: int
    created_at: float
    chunking: dict[str, Any] = Field(default={})
    owner: str = ""


def get_confirmed_collection(owner: str) -> str:
    """The collection of confirmed answers that rest on what is this user's alone; of nobody's:
    everybody's.
    """
    return (
        f"{CONFIRMED}-{hashlib.sha256(owner.encode('utf-8', 'replace')).hexdigest()[:16]}"
        if owner
        else CONFIRMED
    )


def is_confirmed_collection(collection: str) -> bool:
    """Whether it is one of those."""
    return _CONFIRMED.fullmatch(collection) is not None


def ensure_collection(connection: Connection, name: str, now: float, owner: str = "") -> None:
    """One that is there keeps its owner."""
    values = {"name": name, "now": now, "owner": owner}
    insert = text(
        "INSERT OR IGNORE INTO collections (name, created_at, owner) VALUES (:name, :now, :owner)"
    )
    if connection.execute(insert, values).rowcount:
        record_event(
            connection, "collection.add", "collection", name, person=owner, shared=not owner
        )


def can_see_collection(connection: Connection, viewer: str | None, collection: str) -> bool:
    """Whether this user may see what is in a collection; None: all of them."""
    if viewer is None:
        return True
    query = text("SELECT owner FROM collections WHERE name = :name")
    owner = connection.execute(query, {"name": collection}).scalar_one_or_none()
    return owner in {"", viewer}


def list_collections(
    connection: Connection, embedder: str, viewer: str | None = None
) -> list[CollectionInfo]:
    """Those that this user may see; None: all."""
    rows = connection.execute(_COLLECTIONS, {"embedder": embedder, "viewer": viewer}).mappings()
    return [CollectionInfo(**{**row, "chunking": json.loads(row["chunking"])}) for row in rows]


def get_chunking(connection: Connection, name: str) -> dict[str, Any]:
    """Asked for each document that is added, so it counts nothing."""
    row = connection.execute(
        text("SELECT chunking FROM collections WHERE name = :n"), {"n": name}
    ).scalar_one_or_none()
    return dict(json.loads(row)) if row else {}


def set_chunking(connection: Connection, name: str, chunking: dict[str, Any]) -> None:
    connection.execute(
        text("UPDATE collections SET chunking = :c WHERE name = :n"),
        {"c": json.dumps(chunking), "n": name},
    )


def delete_collection(connection: Connection, name: str) -> None:
    connection.execute(text("DELETE FROM collections WHERE name = :name"), {"name": name})
    record_event(connection, "collection.remove", "collection", name)
    connection.execute(text("DELETE FROM files WHERE sha256 NOT IN (SELECT sha256 FROM documents)"))
    chunks.forget_words(connection)


def check_name(name: str) -> str:
    """Names stand in addresses and on command lines: printable, no slash, no space at the ends. For
    what people add, so CONFIRMED is none. Raises InvalidInput.
    """
    if is_confirmed_collection(name):
        hint = (
            "`citewell feedback TRACE_ID --correct` puts an answer there; choose another name "
            "for your documents"
        )
        raise InvalidInput(f"collection {name}: kept for confirmed answers", hint=hint)
    if (
        not name
        or len(name) > LONGEST_NAME
        or name != name.strip()
        or not name.isprintable()
        or "/" in name
    ):
        raise InvalidInput(
            f"collection name {name!r}: not allowed",
            hint=f"1 to {LONGEST_NAME} printable characters, no slash, no space at the ends",
        )
    return name


_COLLECTIONS = text(
    """SELECT name, created_at, chunking, owner,
        (SELECT count(*) FROM documents WHERE collection = name) AS documents,
        (SELECT count(*) FROM chunks WHERE collection = name AND kind <> 'summary') AS chunks,
        (SELECT count(*) FROM chunks WHERE collection = name AND embedder = :embedder
            AND kind <> 'summary') AS embedded
    FROM collections WHERE :viewer IS NULL OR owner IN ('', :viewer) ORDER BY name"""
)

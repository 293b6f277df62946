"""The rows of collections: their names, owners, and how their documents are cut. Functions of a
connection; `collection_store.py` gives the methods. A private collection is visible to its owner
only.
"""

from __future__ import annotations

import hashlib
import json
import re
from shlex import quote
from typing import Any

from pydantic import Field
from sqlalchemy import (
    ColumnElement,
    Connection,
    ScalarSelect,
    bindparam,
    delete,
    func,
    select,
    update,
)

from citewell.errors import InvalidInput, NotFound
from citewell.messages import Text
from citewell.store.dialects.upserts import insert_or_ignore
from citewell.store.index.search_rows import get_search_rows
from citewell.store.library.file_rows import delete_unused_files, list_files
from citewell.store.schema.library import chunks, collections, documents
from citewell.store.users.audit import record_event
from citewell.types import Shown

LONGEST_NAME = 100  # characters of a collection's name
# the collection of confirmed answers: their documents come and go with them
CONFIRMED = "confirmed_qa"
_CONFIRMED = re.compile(rf"{CONFIRMED}(-[0-9a-f]{{16}})?")


class CollectionInfo(Shown):
    """`embedded` of its `chunks` have a vector of the embedder in use, so they can be found by
    meaning; all of them are found by words. Summaries are not counted. `chunking`: how its
    documents are cut where that differs from the settings. `owner`: the one user who may see it;
    empty: everybody.
    """

    name: str
    documents: int
    chunks: int
    embedded: int
    created_at: float
    chunking: dict[str, Any] = Field(default={})
    owner: str = ""


def get_confirmed_collection(owner: str) -> str:
    """The name of the collection of confirmed answers that rest on this user's private data; of the
    shared one for an empty name.
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
    """Creates it if it is missing; an existing one keeps its owner. The caller holds a lock of it
    (`library_locks.py`), so that nobody deletes it meanwhile.
    """
    row = {"name": name, "created_at": now, "owner": owner}
    if connection.execute(_INSERT, row).rowcount:
        record_event(
            connection, "collection.add", "collection", name, person=owner, shared=not owner
        )


def can_see_collection(connection: Connection, viewer: str | None, collection: str) -> bool:
    """Whether this user may see a collection; `viewer` None: any."""
    if viewer is None:
        return True
    owner = connection.execute(_OWNER, {"of": collection}).scalar_one_or_none()
    return owner in {"", viewer}


def get_collection(
    connection: Connection, name: str, embedder: str, viewer: str | None
) -> CollectionInfo:
    """Raises NotFound, which names the existing ones and how to create this one."""
    known = list_collections(connection, embedder, viewer)
    for info in known:
        if info.name == name:
            return info
    names = ", ".join(info.name for info in known)
    there = Text("there are: {names}", names=names) if names else Text("there are none yet")
    hint = Text("{there}; `citewell add PATH -c {name}` makes it", there=there, name=quote(name))
    raise NotFound(Text("no collection named {name}", name=name), hint=hint)


def list_collections(
    connection: Connection, embedder: str, viewer: str | None = None
) -> list[CollectionInfo]:
    """Those that this user may see; None: all."""
    query = _COLLECTIONS if viewer is None else _VISIBLE
    rows = connection.execute(query, {"embedder": embedder, "viewer": viewer}).mappings()
    return [CollectionInfo(**{**row, "chunking": json.loads(row["chunking"])}) for row in rows]


def get_chunking(connection: Connection, name: str) -> dict[str, Any]:
    """Called for each document that is added, so it is one cheap query."""
    row = connection.execute(_CHUNKING, {"of": name}).scalar_one_or_none()
    return dict(json.loads(row)) if row else {}


def set_chunking(connection: Connection, name: str, chunking: dict[str, Any]) -> None:
    connection.execute(_SET_CHUNKING, {"of": name, "chunking": json.dumps(chunking)})


def delete_collection(connection: Connection, name: str) -> None:
    hashes = list_files(connection, name)
    connection.execute(_DELETE, {"of": name})
    record_event(connection, "collection.remove", "collection", name)
    delete_unused_files(connection, hashes)
    get_search_rows(connection).forget_words(connection)


def check_name(name: str) -> str:
    """Names stand in addresses and on command lines: printable, no slash, no space at the ends. For
    what people add, so CONFIRMED is none. Raises InvalidInput.
    """
    if is_confirmed_collection(name):
        hint = Text(
            "`citewell feedback TRACE_ID --correct` puts an answer there; choose "
            "another name for your documents"
        )
        raise InvalidInput(
            Text("collection {name}: kept for confirmed answers", name=name), hint=hint
        )
    if (
        not name
        or len(name) > LONGEST_NAME
        or name != name.strip()
        or not name.isprintable()
        or "/" in name
    ):
        raise InvalidInput(
            Text("collection name {name!r}: not allowed", name=name),
            hint=Text(
                "1 to {longest_name} printable characters, no slash, no space at the ends",
                longest_name=LONGEST_NAME,
            ),
        )
    return name


def _count_passages(*conditions: ColumnElement[bool]) -> ScalarSelect[int]:
    return (
        select(func.count())
        .select_from(chunks)
        .where(chunks.c.collection == collections.c.name, chunks.c.kind != "summary", *conditions)
        .scalar_subquery()
    )


_is_named = collections.c.name == bindparam("of")
_INSERT = insert_or_ignore(collections)
_OWNER = select(collections.c.owner).where(_is_named)
_CHUNKING = select(collections.c.chunking).where(_is_named)
_SET_CHUNKING = update(collections).where(_is_named).values(chunking=bindparam("chunking"))
_DELETE = delete(collections).where(_is_named)
_COLLECTIONS = select(
    collections.c.name,
    collections.c.created_at,
    collections.c.chunking,
    collections.c.owner,
    select(func.count())
    .select_from(documents)
    .where(documents.c.collection == collections.c.name)
    .scalar_subquery()
    .label("documents"),
    _count_passages().label("chunks"),
    _count_passages(chunks.c.embedder == bindparam("embedder")).label("embedded"),
).order_by(collections.c.name)
_VISIBLE = _COLLECTIONS.where(collections.c.owner.in_(["", bindparam("viewer")]))

"""Memories as rows: read, write, find the nearest. Functions of a connection. Every statement names
the user whose memories it means.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field
from sqlalchemy import (
    Connection,
    RowMapping,
    bindparam,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy import (
    Text as Words,
)

from citewell.errors import NotFound
from citewell.messages import Text
from citewell.models.base import Vector
from citewell.store.dialects.expressions import is_among
from citewell.store.dialects.upserts import insert_or_ignore
from citewell.store.index.vectors import encode_vectors
from citewell.store.memory_links import load_links
from citewell.store.schema.memory_tables import memories, memory_uses
from citewell.types import Shown

Kind = Literal["fact", "question"]
Near = list[tuple["Memory", float]]


class Memory(Shown):
    """What is remembered of a user.

    `fact`: what they said of themselves (`text`), and what it is about (`subject`: plan, name,
    套餐). `question`: what they asked (`subject`), the answer that was proved (`text`), the trace
    that proved it, the documents it cites. `seen`: how often it was said or settled. `replaced_by`:
    the newer memory that says otherwise. `derived_from`: the memories it rests on.
    """

    memory_id: str
    user_id: str
    kind: Kind
    subject: str
    text: str
    collection: str = ""
    route: str = ""
    trace_id: str = ""
    doc_ids: list[str] = Field(default=[])
    derived_from: list[str] = Field(default=[])
    replaced_by: str | None = None
    seen: int = 1
    created_at: float
    updated_at: float
    expires_at: float


class Stored(NamedTuple):
    """A vector as it is kept: whose it is, and its bytes."""

    embedder: str
    vec: bytes


def insert_memory(connection: Connection, memory: Memory, stored: Stored) -> None:
    connection.execute(_INSERT, _build_row(memory) | stored._asdict())


def update_memory(connection: Connection, memory: Memory, stored: Stored) -> None:
    """All but its id, its owner and when it was made."""
    values = _build_row(memory) | stored._asdict()
    ids = {"user": values.pop("user_id"), "id": values.pop("memory_id")}
    del values["kind"], values["created_at"]
    connection.execute(_CHANGE, values | ids)


def copy_memory(connection: Connection, user_id: str, memory_id: str, new_id: str) -> None:
    """Keep a memory under `new_id` as history of the old id, with what was made of it."""
    ids = {"user": user_id, "id": memory_id}
    connection.execute(_COPY, ids | {"new": new_id})
    connection.execute(_MOVE_USES, {**ids, "memory_id": new_id})
    for link in load_links(connection, user_id):
        if memory_id in link.derived_from:
            moved = [new_id if each == memory_id else each for each in link.derived_from]
            values = {"user": user_id, "id": link.memory_id, "derived_from": json.dumps(moved)}
            connection.execute(_CHANGE, values)


def get_memory(connection: Connection, user_id: str, memory_id: str, now: float) -> Memory:
    """Raises NotFound where this user has none of this id, whoever else may."""
    row = (
        connection.execute(_GET, {"user": user_id, "id": memory_id, "now": now})
        .mappings()
        .one_or_none()
    )
    if row is None:
        raise NotFound(
            Text("no memory {memory_id!r}", memory_id=memory_id),
            hint=Text("it was forgotten or has expired; `citewell memory list` shows all"),
        )
    return _parse_memory(row)


def list_memories(connection: Connection, user_id: str, now: float) -> list[Memory]:
    """All that have not expired, the newest first, older versions included."""
    return [
        _parse_memory(row)
        for row in connection.execute(_ALL, {"user": user_id, "now": now}).mappings()
    ]


def find_known_ids(
    connection: Connection, user_id: str, ids: Iterable[str], now: float
) -> set[str]:
    """Those of the ids that are this user's."""
    values = {"user": user_id, "ids": sorted(set(ids)), "now": now}
    return set(connection.execute(_KNOWN, values).scalars())


def mark_replaced(connection: Connection, user_id: str, ids: Iterable[str], by: str) -> None:
    """Make them the history of `by`."""
    connection.execute(_REPLACE, {"user": user_id, "ids": sorted(ids), "replaced_by": by})


def find_nearest(
    connection: Connection,
    user_id: str,
    now: float,
    stored: Stored,
    k: int,
    *,
    kind: Kind | None = None,
    subject: str = "",
) -> Near:
    """The live ones nearest to a vector of the same embedder, with their cosines; exact.

    With `subject`, those of just this subject come along however near they are, and whoever
    embedded them.
    """
    rows = connection.execute(_COMPARED, {"user": user_id, "now": now}).all()
    rows = [row for row in rows if kind is None or row.kind == kind]
    mine = [
        row for row in rows if row.embedder == stored.embedder and len(row.vec) == len(stored.vec)
    ]
    cosines: dict[str, float] = {}
    if mine:
        matrix = np.frombuffer(b"".join(row.vec for row in mine), dtype="<f4").reshape(
            len(mine), -1
        )
        products = matrix @ np.frombuffer(stored.vec, dtype="<f4")
        cosines = {row.memory_id: float(c) for row, c in zip(mine, products, strict=True)}
    chosen = sorted(cosines, key=lambda each: -cosines[each])[:k]
    chosen += [
        row.memory_id
        for row in rows
        if subject and row.subject == subject and row.memory_id not in chosen
    ]
    values = {"user": user_id, "ids": chosen, "now": now}
    found = {
        row["memory_id"]: _parse_memory(row)
        for row in connection.execute(_GET_THESE, values).mappings()
    }
    return [(found[each], cosines.get(each, 0.0)) for each in chosen]


def list_stale(
    connection: Connection, user_id: str, stored_by: str, size: int, limit: int, now: float
) -> list[Memory]:
    """Live ones without a vector of this embedder and length in bytes, the newest first."""
    values = {"user": user_id, "mine": stored_by, "size": size, "limit": limit, "now": now}
    return [_parse_memory(row) for row in connection.execute(_STALE, values).mappings()]


def set_vector(
    connection: Connection, user_id: str, memory_id: str, subject: str, stored: Stored
) -> None:
    """Unless its subject has changed since it was embedded."""
    values = {"user": user_id, "id": memory_id, "about": subject} | stored._asdict()
    connection.execute(_SET_VECTOR, values)


def note_uses(connection: Connection, user_id: str, trace_id: str, ids: Iterable[str]) -> None:
    connection.execute(_USE, {"user": user_id, "trace": trace_id, "ids": sorted(set(ids))})


def encode_vector(embedder: str, vector: Vector) -> Stored:
    """Raises InvalidInput by `encode_vectors` (`store/index/vectors.py`) for no vector."""
    return Stored(
        embedder, encode_vectors(embedder, [0], np.asarray(vector, dtype=np.float32)[None, :])[0]
    )


def _build_row(memory: Memory) -> dict[str, Any]:
    values = memory.model_dump(exclude={"doc_ids", "derived_from", "expires_at"})
    lists = {"docs": json.dumps(memory.doc_ids), "derived_from": json.dumps(memory.derived_from)}
    return values | lists | {"expires": memory.expires_at}


def _parse_memory(row: RowMapping) -> Memory:
    values = dict(row)
    values["doc_ids"] = json.loads(values.pop("docs"))
    values["derived_from"] = json.loads(values["derived_from"])
    values["expires_at"] = values.pop("expires")
    return Memory(**values)


_OF_USER = memories.c.user_id == bindparam("user")
_ONE = _OF_USER & (memories.c.memory_id == bindparam("id"))
_THESE = _OF_USER & is_among(memories.c.memory_id, "ids")
_ALIVE = memories.c.expires > bindparam("now")
_LIVE = _OF_USER & _ALIVE & memories.c.replaced_by.is_(None)
_NEWEST = (memories.c.updated_at.desc(), memories.c.rowid.desc())
_SHOWN = select(*(each for each in memories.c if each.name not in {"rowid", "embedder", "vec"}))
_INSERT = insert(memories)
_CHANGE = update(memories).where(_ONE)
_COPIED = {each.name: each for each in memories.c if each.name != "rowid"} | {
    "memory_id": bindparam("new", type_=Words),
    "replaced_by": memories.c.memory_id,
}
_COPY = insert(memories).from_select([*_COPIED], select(*_COPIED.values()).where(_ONE))
_MOVE_USES = update(memory_uses).where(
    memory_uses.c.memory_id.in_(select(memories.c.memory_id).where(_ONE))
)
_GET = _SHOWN.where(_ONE, _ALIVE)
_GET_THESE = _SHOWN.where(_THESE, _ALIVE)
_ALL = _SHOWN.where(_OF_USER, _ALIVE).order_by(*_NEWEST)
_KNOWN = select(memories.c.memory_id).where(_THESE, _ALIVE)
_REPLACE = update(memories).where(_THESE)
_COMPARED = select(
    memories.c.memory_id,
    memories.c.kind,
    memories.c.subject,
    memories.c.embedder,
    memories.c.vec,
).where(_LIVE)
_STALE = (
    _SHOWN.where(_LIVE)
    .where(
        or_(
            memories.c.embedder != bindparam("mine"),
            func.length(memories.c.vec) != bindparam("size"),
        )
    )
    .order_by(*_NEWEST)
    .limit(bindparam("limit"))
)
_SET_VECTOR = _CHANGE.where(memories.c.subject == bindparam("about"))
_USE = insert_or_ignore(memory_uses).from_select(
    ["memory_id", "trace_id"],
    select(memories.c.memory_id, bindparam("trace", type_=Words)).where(_THESE),
)

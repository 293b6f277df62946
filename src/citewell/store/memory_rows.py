"""Memories as rows: read, write, find the nearest, follow what came of them. Functions of a
connection.

The one rule: every statement names the user whose memories it means; only `delete_expired`, which
reads none, is for all users.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field
from sqlalchemy import Connection, RowMapping, text

from citewell.errors import NotFound
from citewell.models.base import Vector
from citewell.store.index.vectors import encode_vectors
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
    connection.execute(_INSERT, _to_row(memory) | stored._asdict())


def update_memory(connection: Connection, memory: Memory, stored: Stored) -> None:
    """All but its id, its owner and when it was made."""
    connection.execute(_UPDATE, _to_row(memory) | stored._asdict())


def copy_memory(connection: Connection, user_id: str, memory_id: str, new_id: str) -> None:
    """Keep a memory as it is now under `new_id`, as history of the old id; what was made of it was
    made of the copy.
    """
    ids = {"user": user_id, "id": memory_id, "new": new_id}
    connection.execute(_COPY, ids)
    connection.execute(_MOVE_USES, ids)
    for link in load_links(connection, user_id):
        if memory_id in link.derived_from:
            moved = [new_id if each == memory_id else each for each in link.derived_from]
            values = {"user": user_id, "id": link.memory_id, "derived": json.dumps(moved)}
            connection.execute(_SET_DERIVED, values)


def get_memory(connection: Connection, user_id: str, memory_id: str, now: float) -> Memory:
    """Raises NotFound where this user has none of this id, whoever else may."""
    row = (
        connection.execute(_GET, {"user": user_id, "id": memory_id, "now": now})
        .mappings()
        .one_or_none()
    )
    if row is None:
        raise NotFound(
            f"no memory {memory_id!r}",
            hint="it was forgotten or has expired; `citewell memory list` shows all",
        )
    return _parse_memory(row)


def list_memories(connection: Connection, user_id: str, now: float) -> list[Memory]:
    """All that have not expired, the newest first, older versions included."""
    return [
        _parse_memory(row)
        for row in connection.execute(_OF_USER, {"user": user_id, "now": now}).mappings()
    ]


def find_known_ids(
    connection: Connection, user_id: str, ids: Iterable[str], now: float
) -> set[str]:
    """Those of the ids that are this user's."""
    values = {"user": user_id, "ids": json.dumps(sorted(set(ids))), "now": now}
    return set(connection.execute(_KNOWN, values).scalars())


def mark_replaced(connection: Connection, user_id: str, ids: Iterable[str], by: str) -> None:
    """Make them the history of `by`."""
    connection.execute(_REPLACE, {"user": user_id, "ids": json.dumps(sorted(ids)), "by": by})


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
    rows = connection.execute(_LIVE, {"user": user_id, "now": now}).all()
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
    values = {"user": user_id, "ids": json.dumps(chosen), "now": now}
    found = {
        row["memory_id"]: _parse_memory(row)
        for row in connection.execute(_THESE, values).mappings()
    }
    return [(found[each], cosines.get(each, 0.0)) for each in chosen]


def list_stale(
    connection: Connection, user_id: str, stored_by: str, size: int, limit: int, now: float
) -> list[Memory]:
    """Live ones without a vector of this embedder and length in bytes, the newest first."""
    values = {"user": user_id, "embedder": stored_by, "size": size, "limit": limit, "now": now}
    return [_parse_memory(row) for row in connection.execute(_STALE, values).mappings()]


def set_vector(
    connection: Connection, user_id: str, memory_id: str, subject: str, stored: Stored
) -> None:
    """Unless its subject has changed since it was embedded."""
    values = {"user": user_id, "id": memory_id, "subject": subject} | stored._asdict()
    connection.execute(_SET_VECTOR, values)


def note_uses(connection: Connection, user_id: str, trace_id: str, ids: Iterable[str]) -> None:
    connection.execute(
        _USE, {"user": user_id, "trace": trace_id, "ids": json.dumps(sorted(set(ids)))}
    )


def delete_expired(connection: Connection, now: float) -> None:
    """Delete what is past its day, with its older versions, whoever's it is: some users never come
    back.
    """
    connection.execute(_EXPIRE, {"now": now})


def expire_oldest(connection: Connection, user_id: str, most: int, now: float) -> None:
    """Beyond `most` the oldest expire, history counted: what is not asked for is bounded too."""
    over = list(connection.execute(_OVER, {"user": user_id, "most": most, "now": now}).scalars())
    if over:
        ended = find_older_versions(load_links(connection, user_id), over)
        connection.execute(_END, {"user": user_id, "ids": json.dumps(sorted(ended)), "now": now})


def delete_memories(connection: Connection, user_id: str, ids: Iterable[str]) -> None:
    connection.execute(_DELETE, {"user": user_id, "ids": json.dumps(sorted(ids))})


def delete_traces(connection: Connection, user_id: str, ids: Iterable[str]) -> int:
    """The traces in which one of these memories was used, with the copies that votes keep, and
    unfinished runs that hold one; says how many traces.
    """
    connection.execute(_FORGET_COPIES, {"user": user_id, "ids": json.dumps(sorted(ids))})
    connection.execute(_DELETE_RUNS, {"user": user_id, "ids": json.dumps(sorted(ids))})
    return connection.execute(
        _DELETE_TRACES, {"user": user_id, "ids": json.dumps(sorted(ids))}
    ).rowcount


class Link(NamedTuple):
    memory_id: str
    replaced_by: str | None
    derived_from: list[str]


def load_links(connection: Connection, user_id: str) -> list[Link]:
    """What came of what, expired ones included: forgetting reaches them too. Those that came of
    nothing are left out.
    """
    rows = connection.execute(_LINKS, {"user": user_id})
    return [Link(row.memory_id, row.replaced_by, json.loads(row.derived_from)) for row in rows]


def list_ids(connection: Connection, user_id: str) -> set[str]:
    """Expired ones included."""
    return set(connection.execute(_IDS, {"user": user_id}).scalars())


def find_older_versions(known_links: Sequence[Link], ids: Iterable[str]) -> set[str]:
    """These and the versions before them."""
    return _find_reachable(ids, _build_graph(known_links, history=True, derived=False))


def find_deletion_set(known_links: Sequence[Link], ids: Iterable[str]) -> set[str]:
    """These, the versions before them, and all that rests on any of them."""
    return _find_reachable(ids, _build_graph(known_links, history=True, derived=True))


def find_unsound(known_links: Sequence[Link]) -> set[str]:
    """What was replaced, and what rests on it: the user has said otherwise since."""
    replaced = [link.memory_id for link in known_links if link.replaced_by is not None]
    return _find_reachable(replaced, _build_graph(known_links, history=False, derived=True))


def _build_graph(
    known_links: Sequence[Link], *, history: bool, derived: bool
) -> Mapping[str, list[str]]:
    steps: dict[str, list[str]] = defaultdict(list)
    for link in known_links:
        if history and link.replaced_by is not None:
            steps[link.replaced_by].append(link.memory_id)
        for source in link.derived_from if derived else ():
            steps[source].append(link.memory_id)
    return steps


def _find_reachable(start: Iterable[str], steps: Mapping[str, list[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += steps.get(each, [])
    return found


def encode_vector(embedder: str, vector: Vector) -> Stored:
    """Raises InvalidInput through `encode_vectors` of `store/index/vectors.py`, where the vector is
    none.
    """
    return Stored(
        embedder, encode_vectors(embedder, [0], np.asarray(vector, dtype=np.float32)[None, :])[0]
    )


def _to_row(memory: Memory) -> dict[str, Any]:
    values = memory.model_dump(exclude={"doc_ids", "derived_from", "expires_at"})
    lists = {"docs": json.dumps(memory.doc_ids), "derived_from": json.dumps(memory.derived_from)}
    return values | lists | {"expires": memory.expires_at}


def _parse_memory(row: RowMapping) -> Memory:
    values = dict(row)
    values["doc_ids"] = json.loads(values.pop("docs"))
    values["derived_from"] = json.loads(values["derived_from"])
    values["expires_at"] = values.pop("expires")
    return Memory(**values)


_COLUMNS = """memory_id, user_id, kind, subject, text, collection, route, trace_id, docs,
    derived_from, replaced_by, seen, created_at, updated_at, expires"""
_MINE = "user_id = :user AND expires > :now"
_INSERT = text(
    f"""INSERT INTO memories ({_COLUMNS}, embedder, vec)
    VALUES (:memory_id, :user_id, :kind, :subject, :text, :collection, :route, :trace_id, :docs,
        :derived_from, :replaced_by, :seen, :created_at, :updated_at, :expires, :embedder,
        :vec)"""  # noqa: S608 - names of ours only, here and below
)
_UPDATE = text(
    """UPDATE memories SET subject = :subject, text = :text, collection = :collection,
        route = :route, trace_id = :trace_id, docs = :docs, derived_from = :derived_from,
        replaced_by = :replaced_by, seen = :seen, updated_at = :updated_at, expires = :expires,
        embedder = :embedder, vec = :vec
    WHERE user_id = :user_id AND memory_id = :memory_id"""
)
_COPY = text(
    """INSERT INTO memories
    SELECT :new, user_id, kind, subject, text, collection, route, trace_id, docs, derived_from, :id,
        seen, created_at, updated_at, expires, embedder, vec
    FROM memories WHERE user_id = :user AND memory_id = :id"""
)
_MOVE_USES = text(
    """UPDATE memory_uses SET memory_id = :new
    WHERE memory_id IN (SELECT memory_id FROM memories WHERE user_id = :user AND memory_id = :id)"""
)
_SET_DERIVED = text(
    "UPDATE memories SET derived_from = :derived WHERE user_id = :user AND memory_id = :id"
)
_GET = text(f"SELECT {_COLUMNS} FROM memories WHERE {_MINE} AND memory_id = :id")  # noqa: S608
_THESE = text(
    f"SELECT {_COLUMNS} FROM memories WHERE {_MINE} AND memory_id IN (SELECT value FROM "  # noqa: S608
    "json_each(:ids))"
)
_OF_USER = text(
    f"SELECT {_COLUMNS} FROM memories WHERE {_MINE} ORDER BY updated_at DESC, rowid DESC"  # noqa: S608
)
_KNOWN = text(
    f"SELECT memory_id FROM memories WHERE {_MINE} AND memory_id IN (SELECT value FROM "  # noqa: S608
    "json_each(:ids))"
)
_REPLACE = text(
    "UPDATE memories SET replaced_by = :by WHERE user_id = :user AND memory_id IN (SELECT value "
    "FROM json_each(:ids))"
)
_LIVE = text(
    f"""SELECT memory_id, kind, subject, embedder, vec FROM memories
    WHERE {_MINE} AND replaced_by IS NULL"""  # noqa: S608
)
_STALE = text(
    f"""SELECT {_COLUMNS} FROM memories
    WHERE {_MINE} AND replaced_by IS NULL AND (embedder <> :embedder OR length(vec) <> :size)
    ORDER BY updated_at DESC, rowid DESC LIMIT :limit"""  # noqa: S608
)
_SET_VECTOR = text(
    """UPDATE memories SET embedder = :embedder, vec = :vec
    WHERE user_id = :user AND memory_id = :id AND subject = :subject"""
)
_USE = text(
    """INSERT OR IGNORE INTO memory_uses (memory_id, trace_id)
    SELECT memory_id, :trace FROM memories
    WHERE user_id = :user AND memory_id IN (SELECT value FROM json_each(:ids))"""
)
_EXPIRE = text(
    """WITH RECURSIVE gone (id) AS (
        SELECT memory_id FROM memories WHERE expires <= :now
        UNION SELECT older.memory_id FROM gone JOIN memories older ON older.replaced_by = gone.id)
    DELETE FROM memories WHERE memory_id IN (SELECT id FROM gone)"""
)
_DELETE = text(
    "DELETE FROM memories WHERE user_id = :user AND memory_id IN (SELECT value FROM "
    "json_each(:ids))"
)
_DELETE_TRACES = text(
    """DELETE FROM traces WHERE trace_id IN (
        SELECT used.trace_id FROM memory_uses used JOIN memories USING (memory_id)
        WHERE user_id = :user AND memory_id IN (SELECT value FROM json_each(:ids)))"""
)
_FORGET_COPIES = text(
    """UPDATE feedback SET trace = '' WHERE trace_id IN (
        SELECT used.trace_id FROM memory_uses used JOIN memories USING (memory_id)
        WHERE user_id = :user AND memory_id IN (SELECT value FROM json_each(:ids)))"""
)
_DELETE_RUNS = text(
    "DELETE FROM runs WHERE user_id = :user AND EXISTS (SELECT 1 FROM json_each(:ids) WHERE "
    "instr(runs.state, json_each.value))"
)
_LINKS = text(
    """SELECT memory_id, replaced_by, derived_from FROM memories
    WHERE user_id = :user AND (replaced_by IS NOT NULL OR derived_from <> '[]')"""
)
_IDS = text("SELECT memory_id FROM memories WHERE user_id = :user")
_OVER = text(
    """SELECT memory_id FROM memories WHERE user_id = :user AND expires > :now
    ORDER BY updated_at DESC, replaced_by IS NOT NULL, rowid DESC LIMIT -1 OFFSET :most"""
)
_END = text(
    """UPDATE memories SET expires = :now
    WHERE user_id = :user AND expires > :now AND memory_id IN (SELECT value FROM json_each(:ids))"""
)

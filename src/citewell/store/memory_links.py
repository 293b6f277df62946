"""Which memories came of which, and what goes with one that goes. Functions of a connection. Every
statement names the user whose memories it means; only `delete_expired`, which reads none, is for
all users.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, or_, select, update

from citewell.store.dialects.expressions import find_text, is_among, list_values
from citewell.store.dialects.fence import lift_fence
from citewell.store.schema.conversations import runs, traces
from citewell.store.schema.knowledge import feedback
from citewell.store.schema.memory_tables import memories, memory_uses


def delete_expired(connection: Connection, now: float) -> None:
    """Delete what is past its day, with older versions, of all users: some never return."""
    with lift_fence(connection):
        connection.execute(_EXPIRE, {"now": now})


def expire_oldest(connection: Connection, user_id: str, most: int, now: float) -> None:
    """Beyond `most` the oldest expire, history counted: what is not asked for is bounded too."""
    over = list(connection.execute(_OVER, {"user": user_id, "most": most, "now": now}).scalars())
    if over:
        ended = find_older_versions(load_links(connection, user_id), over)
        values = {"user": user_id, "ids": sorted(ended), "now": now, "expires": now}
        connection.execute(_END, values)


def delete_memories(connection: Connection, user_id: str, ids: Iterable[str]) -> None:
    connection.execute(_DELETE, {"user": user_id, "ids": sorted(ids)})


def delete_traces(connection: Connection, user_id: str, ids: Iterable[str]) -> int:
    """The traces in which one of these memories was used, with the copies that votes keep, and
    unfinished runs that hold one; says how many traces.
    """
    values = {"user": user_id, "ids": sorted(ids)}
    gone = connection.execute(_DELETE_TRACES, values).rowcount
    connection.execute(_FORGET_COPIES, values)  # after the traces: whoever copied one is done
    connection.execute(_DELETE_RUNS, values)
    return gone


class Link(NamedTuple):
    memory_id: str
    replaced_by: str | None
    derived_from: list[str]


def load_links(connection: Connection, user_id: str) -> list[Link]:
    """What came of what, expired ones included: forgetting reaches them too."""
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


_OF_USER = memories.c.user_id == bindparam("user")
_ALIVE = memories.c.expires > bindparam("now")
_THESE = _OF_USER & is_among(memories.c.memory_id, "ids")
_GONE = (
    select(memories.c.memory_id.label("id"))
    .where(memories.c.expires <= bindparam("now"))
    .cte("gone", recursive=True)
)
_EXPIRED = _GONE.union(
    select(memories.c.memory_id).join(_GONE, memories.c.replaced_by == _GONE.c.id)
)
_EXPIRE = delete(memories).where(memories.c.memory_id.in_(select(_EXPIRED.c.id)))
_DELETE = delete(memories).where(_THESE)
_USED_BY = (
    select(memory_uses.c.trace_id)
    .join(memories, memories.c.memory_id == memory_uses.c.memory_id)
    .where(_THESE)
)
_DELETE_TRACES = delete(traces).where(traces.c.trace_id.in_(_USED_BY))
_FORGET_COPIES = update(feedback).where(feedback.c.trace_id.in_(_USED_BY)).values(trace="")
_ID = list_values("ids").c.value
_DELETE_RUNS = delete(runs).where(
    runs.c.user_id == bindparam("user"),
    select(_ID).where(find_text(runs.c.state, _ID) > 0).exists(),
)
_LINKS = select(memories.c.memory_id, memories.c.replaced_by, memories.c.derived_from).where(
    _OF_USER, or_(memories.c.replaced_by.is_not(None), memories.c.derived_from != "[]")
)
_IDS = select(memories.c.memory_id).where(_OF_USER)
_OVER = (
    select(memories.c.memory_id)
    .where(_OF_USER, _ALIVE)
    .order_by(
        memories.c.updated_at.desc(), memories.c.replaced_by.is_not(None), memories.c.rowid.desc()
    )
    .offset(bindparam("most"))
)
_END = update(memories).where(_THESE, _ALIVE)

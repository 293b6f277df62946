"""What is to be remembered, held against what is known: a judge says whether it is the same, says
otherwise or is new, and the rows follow. Functions of a connection; `memory.py` gives the verbs.
Nothing rests on itself, and what is told again by the same run is counted once.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection

from citewell.store import memory_rows as rows
from citewell.store.memory_rows import Kind, Memory


@dataclass(frozen=True, slots=True)
class Told:
    """What to remember, as in `Memory`; found by the vector of `subject` (`embedder.query`)."""

    kind: Kind
    subject: str
    text: str
    collection: str = ""
    route: str = ""
    trace_id: str = ""
    doc_ids: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """Ids of known memories: one that says the same, those that disagree; neither: new."""

    same_as: str | None = None
    replaces: tuple[str, ...] = ()


Judge = Callable[[Told, Sequence[tuple[Memory, float]]], Judgement]


@dataclass(frozen=True, slots=True)
class Kept:
    """`merged`: it was known and is confirmed. `replaced`: it says otherwise than `replaced`, which
    are its history now. `dropped`: nothing was kept, because of `reason`.
    """

    outcome: Literal["new", "merged", "replaced", "dropped"]
    memory: Memory | None = None
    replaced: tuple[Memory, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JudgedMemories:
    """A judgement, as memories."""

    same: Memory | None
    others: tuple[Memory, ...]

    @property
    def absorbed(self) -> dict[str, Memory]:
        return {each.memory_id: each for each in (self.same, *self.others) if each is not None}


def apply_judgement(judge: Judge, told: Told, near: rows.Near) -> JudgedMemories:
    """What the judge says, of those that it was shown."""
    shown = {memory.memory_id: memory for memory, _ in near}
    judgement = judge(told, near)
    others = {
        each: shown[each]
        for each in judgement.replaces
        if each in shown and each != judgement.same_as
    }
    return JudgedMemories(shown.get(judgement.same_as or ""), tuple(others.values()))


def merge_memory(
    connection: Connection,
    user_id: str,
    told: Told,
    stored: rows.Stored,
    found: JudgedMemories,
    now: float,
    expires_at: float,
) -> Kept:
    """Merge into the same one or add a new one, and make history of those that say otherwise. A
    run that is gone on with tells the same again: that is counted once.
    """
    values = {
        "subject": told.subject,
        "text": told.text,
        "collection": told.collection,
        "route": told.route,
        "doc_ids": list(told.doc_ids),
        "derived_from": _derive_lineage(told, found),
        "updated_at": now,
        "expires_at": expires_at,
    }
    if found.same is None:
        new = {
            "memory_id": generate_id(),
            "user_id": user_id,
            "kind": told.kind,
            "trace_id": told.trace_id,
            "created_at": now,
        }
        memory = Memory(**new, **values)
        rows.insert_memory(connection, memory, stored)
    else:
        again = bool(told.trace_id) and told.trace_id == found.same.trace_id
        counted = {
            "trace_id": told.trace_id or found.same.trace_id,
            "seen": found.same.seen + (not again),
        }
        memory = found.same.model_copy(update={**values, **counted})
        rows.update_memory(connection, memory, stored)
    rows.mark_replaced(
        connection, user_id, [each.memory_id for each in found.others], memory.memory_id
    )
    outcome: Literal["new", "merged", "replaced"] = (
        "replaced" if found.others else "merged" if found.same else "new"
    )
    return Kept(
        outcome,
        memory,
        tuple(other.model_copy(update={"replaced_by": memory.memory_id}) for other in found.others),
    )


def _derive_lineage(told: Told, found: JudgedMemories) -> list[str]:
    """What it rests on; through what it replaces, too: nothing rests on itself."""
    sources: dict[str, None] = {}
    for each in told.derived_from:
        absorbed = found.absorbed.get(each)
        sources |= dict.fromkeys([each] if absorbed is None else absorbed.derived_from)
    return [each for each in sources if each not in found.absorbed]


def generate_id() -> str:
    return "mem_" + secrets.token_hex(8)

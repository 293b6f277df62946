"""What is remembered of a user from question to question: facts they told, questions that were
settled for them. Nobody's memory is reached but through its owner's `user_id`, and each verb is one
transaction: it is done whole or not at all, whoever else writes at the same time. What is decided
on is all that is remembered of the user, so each verb that decides holds that (`_hold`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from citewell.errors import InvalidInput
from citewell.messages import Text
from citewell.models.base import Vector
from citewell.store import memory_links as links
from citewell.store import memory_rows as rows
from citewell.store.db import Database
from citewell.store.dialects.locks import hold
from citewell.store.memory_judgement import (
    Judge,
    Kept,
    Told,
    apply_judgement,
    generate_id,
    merge_memory,
)
from citewell.store.memory_rows import Memory
from citewell.store.retention_clock import get_deletion_time
from citewell.text.sanitize import replace_unsafe_chars
from citewell.types import Shown

DAY = 86_400.0
# on the disk, unseen, of what has expired or had to make room; what is forgotten is deleted at once
LINGERS = DAY
COMPARED = 20  # nearest memories that a judge is shown; those of the same subject come on top


class Forgotten(Shown):
    """The memories gone, older and derived ones too, and how many traces went with them."""

    memory_ids: list[str]
    traces: int


class Memories:
    """Raises NotFound for an id not this user's, StorageError. Vectors: of `subject`."""

    def __init__(
        self,
        db: Database,
        embedder: str,
        days: float,
        most: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._db = db
        self._embedder = embedder
        self._seconds = days * DAY
        self._most = most
        self._clock = clock

    def read_clock(self) -> float:
        """By the clock that memories are dated with."""
        return self._clock()

    async def keep(self, user_id: str, told: Told, vector: Vector, judge: Judge) -> Kept:
        """Remember. `judge` is shown the live memories of this kind that are nearest or of the same
        subject, with cosines (0.0 where another embedder made the vector), inside the transaction:
        what it decides on is what is there.
        """
        told = replace(
            told, subject=replace_unsafe_chars(told.subject), text=replace_unsafe_chars(told.text)
        )
        stored = rows.encode_vector(self._embedder, vector)

        def keep(connection: Connection) -> Kept:
            _hold(connection, user_id)
            now = self._clock()
            links.delete_expired(connection, get_deletion_time(connection, now) - LINGERS)
            if set(told.derived_from) - rows.find_known_ids(
                connection, user_id, told.derived_from, now
            ):
                return Kept("dropped", reason=Text("what it was derived from has been forgotten"))
            near = rows.find_nearest(
                connection, user_id, now, stored, COMPARED, kind=told.kind, subject=told.subject
            )
            found = apply_judgement(judge, told, near)
            kept = merge_memory(connection, user_id, told, stored, found, now, now + self._seconds)
            links.expire_oldest(connection, user_id, self._most, now)
            return kept

        return await self._db.write_beside(keep)

    async def find_near(self, user_id: str, vector: Vector, k: int) -> list[tuple[Memory, float]]:
        """The `k` live memories nearest in meaning, the nearest first. Left out: what another
        embedder embedded (`list_stale`), and what was derived from a memory that has been replaced
        since.
        """
        stored = rows.encode_vector(self._embedder, vector)

        def find_near(connection: Connection) -> rows.Near:
            doubtful = links.find_unsound(links.load_links(connection, user_id))
            found = rows.find_nearest(connection, user_id, self._clock(), stored, k + len(doubtful))
            return [
                (memory, cosine) for memory, cosine in found if memory.memory_id not in doubtful
            ][:k]

        return await self._db.read(find_near)

    async def list_stale(self, user_id: str, dim: int, limit: int) -> list[Memory]:
        """Live memories without a vector of this embedder, newest first, for `put_vector`."""

        def list_stale(connection: Connection) -> list[Memory]:
            return rows.list_stale(
                connection, user_id, self._embedder, 4 * dim, limit, self._clock()
            )

        return await self._db.read(list_stale)

    async def put_vector(self, user_id: str, memory: Memory, vector: Vector) -> None:
        """Embedded again. Nothing happens where the memory has gone or has another subject."""
        stored = rows.encode_vector(self._embedder, vector)
        await self._db.write_beside(
            rows.set_vector, user_id, memory.memory_id, memory.subject, stored
        )

    async def get(self, user_id: str, memory_id: str) -> Memory:
        return await self._db.read(
            lambda connection: rows.get_memory(connection, user_id, memory_id, self._clock())
        )

    async def history(self, user_id: str, memory_id: str) -> list[Memory]:
        """The versions before this one, the newest first."""

        def history(connection: Connection) -> list[Memory]:
            rows.get_memory(connection, user_id, memory_id, self._clock())
            known = links.load_links(connection, user_id)
            before = links.find_older_versions(known, [memory_id]) - {memory_id}
            return [
                each
                for each in rows.list_memories(connection, user_id, self._clock())
                if each.memory_id in before
            ]

        return await self._db.read(history)

    async def edit(
        self,
        user_id: str,
        memory_id: str,
        new: str,
        vector: Vector,
        judge: Judge,
        *,
        subject: str | None = None,
    ) -> Memory:
        """Reword a fact: the id stays, the old words become its history. Facts that `judge` finds
        to be the same or otherwise become history too. Raises InvalidInput for an answer, and for
        an older version.
        """
        new = replace_unsafe_chars(new)
        stored = rows.encode_vector(self._embedder, vector)

        def edit(connection: Connection) -> Memory:
            _hold(connection, user_id)
            now = self._clock()
            links.delete_expired(connection, get_deletion_time(connection, now) - LINGERS)
            old = _check_editable(rows.get_memory(connection, user_id, memory_id, now))
            told = Told(
                old.kind,
                old.subject if subject is None else replace_unsafe_chars(subject),
                new,
                old.collection,
            )
            if (told.subject, told.text) == (old.subject, old.text):
                return old
            rows.copy_memory(connection, user_id, memory_id, generate_id())
            changed = {
                "subject": told.subject,
                "text": new,
                "route": "",
                "trace_id": "",
                "doc_ids": [],
                "derived_from": [],
                "seen": 1,
                "updated_at": now,
                "expires_at": now + self._seconds,
            }
            edited = old.model_copy(update=changed)
            rows.update_memory(connection, edited, stored)
            near = rows.find_nearest(
                connection, user_id, now, stored, COMPARED, kind=old.kind, subject=told.subject
            )
            found = apply_judgement(
                judge, told, [each for each in near if each[0].memory_id != memory_id]
            )
            rows.mark_replaced(connection, user_id, found.absorbed, memory_id)
            links.expire_oldest(connection, user_id, self._most, now)
            return edited

        return await self._db.write_beside(edit)

    async def note_uses(self, user_id: str, trace_id: str, ids: Sequence[str]) -> list[str]:
        """Note that an answer used these; the trace is deleted when one of them is forgotten. Gives
        back those that the user has not forgotten: where one is missing, the trace should not be
        kept.

        What has expired or had to make room counts as not forgotten: it stays on the disk, unseen,
        for `LINGERS` more, while what is forgotten is deleted at once, by whatever process. After
        that (a run that was gone on with so late) it is missing too: in doubt it was forgotten.
        """

        def note_uses(connection: Connection) -> list[str]:
            _hold(connection, user_id)
            there = rows.find_known_ids(connection, user_id, ids, 0.0)  # expired or not
            rows.note_uses(connection, user_id, trace_id, there)
            return [each for each in ids if each in there]

        return await self._db.write_beside(note_uses)

    async def forget(self, user_id: str, *ids: str) -> Forgotten:
        """Remove memories, their older versions, all that was derived from either, and the traces
        in which one of them was used. Raises NotFound, and then nothing is removed.
        """

        def forget(connection: Connection) -> Forgotten:
            _hold(connection, user_id)
            for each in ids:
                rows.get_memory(connection, user_id, each, self._clock())
            return _remove_memories(
                connection,
                user_id,
                links.find_deletion_set(links.load_links(connection, user_id), ids),
            )

        return await self._run_deletion(forget)

    async def forget_all(self, user_id: str) -> Forgotten:
        """As `forget`, of all that is remembered of this user."""

        def forget(connection: Connection) -> Forgotten:
            _hold(connection, user_id)
            return _remove_memories(connection, user_id, links.list_ids(connection, user_id))

        return await self._run_deletion(forget)

    async def list(self, user_id: str, *, history: bool = False) -> list[Memory]:
        """The newest first; older versions only with `history`."""
        found = await self._db.read(
            lambda connection: rows.list_memories(connection, user_id, self._clock())
        )
        shown = {each.memory_id for each in found} if history else set()
        return [each for each in found if each.replaced_by is None or each.replaced_by in shown]

    async def _run_deletion(self, forget: Callable[[Connection], Forgotten]) -> Forgotten:
        gone = await self._db.write_beside(forget)
        await self._db.forget()
        return gone


def _hold(connection: Connection, user_id: str) -> None:
    """Of one user nobody else remembers, rewords or forgets. `delete_expired`, which is for all,
    reaches only what no verb shows any more.
    """
    hold(connection, "memory", user_id)


def _check_editable(memory: Memory) -> Memory:
    if memory.kind != "fact":
        hint = Text("forget it and ask the question again")
        raise InvalidInput(
            Text(
                "{memory_id} is an answer that documents prove, and is not reworded",
                memory_id=memory.memory_id,
            ),
            hint=hint,
        )
    if memory.replaced_by is not None:
        raise InvalidInput(
            Text("{memory_id} is an older version", memory_id=memory.memory_id),
            hint=Text("edit {replaced_by} instead", replaced_by=memory.replaced_by),
        )
    return memory


def _remove_memories(connection: Connection, user_id: str, ids: set[str]) -> Forgotten:
    """Their traces first: which ones those are is known by the memories only."""
    traces = links.delete_traces(connection, user_id, ids)
    links.delete_memories(connection, user_id, ids)
    return Forgotten(memory_ids=sorted(ids), traces=traces)

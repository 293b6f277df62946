"""Runs of agents that are not over: how far each came, so that one that was killed can be gone on
with.

The one rule: a run is its holder's while that one gives signs of life (`renew`), and nobody else's.
Once it is silent, or its process is gone, another takes the run over; whoever had it before is told
so at the next step, and stops.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from citewell.errors import Conflict, NotFound, StorageError
from citewell.store.db import Database
from citewell.store.leases import Leases
from citewell.store.processes import name_this_process
from citewell.store.retention_clock import get_deletion_time

DAY = 86_400.0
LEASE_SECONDS = (
    30.0  # a silent run is free after this, where it cannot be seen that its process is gone
)
MOST_ATTEMPTS = 2  # a run that ended its process this often is not begun again
ALIVE, GAVE_UP = "under_way", "gave_up"  # codes of errors


@dataclass(frozen=True, slots=True)
class Saved:
    """A run after its last finished node. `next`: the node to go on from; `request` and `state` are
    what their owner gave.
    """

    trace_id: str
    user_id: str
    agent: str
    request: dict[str, Any]
    next: str
    state: dict[str, Any]
    started_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What a list shows of a run: who asked what, and where it goes on. `updated_at`: when its last
    node was finished. `alive`: somebody is at work on it.
    """

    trace_id: str
    agent: str
    question: str
    next: str
    updated_at: float
    session_id: str = ""
    alive: bool = False


class Runs:
    """Raises StorageError. Runs nobody goes on with are forgotten after `days`."""

    def __init__(
        self,
        db: Database,
        days: float,
        clock: Callable[[], float] = time.time,
        *,
        steady: Callable[[], float] = time.monotonic,
        lease: float = LEASE_SECONDS,
    ) -> None:
        self._db = db
        self._seconds = days * DAY
        self._clock = clock
        self._leases = Leases(lease, steady, clock)

    async def begin(self, trace_id: str, user_id: str, agent: str, request: dict[str, Any]) -> str:
        """The holder's token of a new run, of which nothing is finished yet. It is alive from the
        first `renew` on, and can be taken from the first `keep` on.
        """
        holder = secrets.token_hex(8)
        now = self._clock()
        row = {
            "id": trace_id,
            "user": user_id,
            "agent": agent,
            "request": json.dumps(request),
            "holder": holder,
            "now": now,
        }

        def begin(connection: Connection) -> None:
            old = {"old": get_deletion_time(connection, now) - self._seconds}
            connection.execute(text("DELETE FROM runs WHERE updated_at <= :old"), old)
            connection.execute(_BEGIN, row)

        await self._db.write(begin)
        return holder

    async def keep(self, trace_id: str, holder: str, next_node: str, state: dict[str, Any]) -> None:
        """A node is finished. Raises Conflict where another has taken the run over, or it was
        ended.
        """
        row = {
            "id": trace_id,
            "holder": holder,
            "next": next_node,
            "state": json.dumps(state),
            "now": self._clock(),
        }
        await self._db.write(
            lambda connection: _check_holder(connection.execute(_KEEP, row).rowcount, trace_id)
        )

    async def renew(self, trace_id: str, holder: str) -> None:
        """A sign of life. Raises Conflict as `keep` does."""
        row = {"id": trace_id, "holder": holder} | self._build_heartbeat()
        await self._db.write(
            lambda connection: _check_holder(connection.execute(_RENEW, row).rowcount, trace_id)
        )

    async def release(self, trace_id: str, holder: str) -> None:
        """Free for anybody at once, the attempt not counted: it was stopped, and stopped nobody.
        Nothing where it has ended.
        """
        row = {"id": trace_id, "holder": holder}
        await self._db.write(lambda connection: connection.execute(_RELEASE, row))

    async def take(self, trace_id: str, user_id: str) -> tuple[Saved, str]:
        """Go on with a run of this user: how far it came, and the new holder's token. Raises
        NotFound, and Conflict where somebody is at work on it (`under_way`), or where it has ended
        its process too often (`gave_up`): it is over then.
        """
        holder = secrets.token_hex(8)

        def take(connection: Connection) -> Saved | None:
            now = self._clock()
            row = connection.execute(
                _GET, {"id": trace_id, "user": user_id, "old": now - self._seconds}
            ).one_or_none()
            if row is None:
                hint = (
                    f"where it is finished, `citewell trace {trace_id}` shows its answer; "
                    "another user's needs --user"
                )
                raise NotFound(f"no unfinished run {trace_id!r} of user {user_id!r}", hint=hint)
            if self._is_alive(row):
                hint = f"wait for it; `citewell trace {trace_id}` shows its answer then"
                raise Conflict(
                    f"run {trace_id} is being answered by another process", hint=hint, code=ALIVE
                )
            if row.attempts >= MOST_ATTEMPTS:
                asked.append(json.loads(row.request).get("question", ""))
                connection.execute(text("DELETE FROM runs WHERE trace_id = :id"), {"id": trace_id})
                return None
            connection.execute(_TAKE, {"id": trace_id, "holder": holder} | self._build_heartbeat())
            return _parse_saved(row)

        asked: list[str] = []
        try:
            saved = await self._db.write(take)
        except asyncio.CancelledError:  # it may be taken by now, and nobody would hold it
            with suppress(StorageError):
                await asyncio.shield(asyncio.ensure_future(self.release(trace_id, holder)))
            raise
        if saved is None:
            raise Conflict(
                f"stopped Citewell twice and is given up: {asked[0] or 'the guide'}",
                hint=_GIVEN_UP,
                code=GAVE_UP,
            )
        return saved, holder

    async def end(self, trace_id: str, holder: str) -> None:
        """It is over. Raises Conflict as `keep` does."""
        await self._db.write(lambda connection: self.end_in(connection, trace_id, holder))

    def end_in(self, connection: Connection, trace_id: str, holder: str) -> None:
        """The same, as part of a transaction."""
        _check_holder(
            connection.execute(_END, {"id": trace_id, "holder": holder}).rowcount, trace_id
        )

    def end_session_in(self, connection: Connection, session_id: str) -> None:
        """None of a session that is deleted goes on: whoever has one under way is told at its next
        step.
        """
        connection.execute(_END_SESSION, {"session": session_id})

    async def list(self, user_id: str) -> list[Unfinished]:
        """Those of a user that have not ended, the newest first. Their states, which may be large,
        are left where they are.
        """
        values = {"user": user_id, "old": self._clock() - self._seconds}

        def rows(connection: Connection) -> Sequence[Unfinished]:
            return [
                _parse_unfinished(row, self._is_alive(row))
                for row in connection.execute(_LIST, values)
            ]

        return [*await self._db.read(rows)]

    def _build_heartbeat(self) -> dict[str, Any]:
        return {
            "lease": self._leases.until(),
            "process": name_this_process(),
            "seen": self._clock(),
        }

    def _is_alive(self, row: Any) -> bool:
        return self._leases.is_held(row.process, row.lease, row.seen_at)


def _check_holder(rows: int, trace_id: str) -> None:
    if not rows:
        why = f"run {trace_id} was gone on with elsewhere, or a memory that it used was forgotten"
        raise Conflict(
            why,
            hint=f"`citewell trace {trace_id}` has its answer where there is one; else ask again",
        )


def _parse_saved(row: Any) -> Saved:
    return Saved(
        row.trace_id,
        row.user_id,
        row.agent,
        json.loads(row.request),
        row.next,
        json.loads(row.state),
        row.started_at,
        row.updated_at,
    )


def _parse_unfinished(row: Any, alive: bool) -> Unfinished:
    said = json.loads(row.request)  # not by SQLite, which makes no text of half a character
    session_id = said.get("session_id") or ""
    question = said.get("question", "")
    return Unfinished(
        row.trace_id, row.agent, question, row.next, row.updated_at, session_id, alive
    )


_GIVEN_UP = (
    "ask it again, in other words; CITEWELL_LOG_LEVEL=debug and the log may show what happens"
)
_BEGIN = text(
    """INSERT INTO runs (trace_id, user_id, agent, request, next, state, holder, started_at,
        updated_at)
    VALUES (:id, :user, :agent, :request, '', '{}', :holder, :now, :now)"""
)
# a run that gets further is no danger to its process: what it was stopped by before does not count
_KEEP = text(
    """UPDATE runs SET next = :next, state = :state, updated_at = :now, attempts = 1
    WHERE trace_id = :id AND holder = :holder"""
)
_GET = text(
    "SELECT * FROM runs WHERE trace_id = :id AND user_id = :user AND updated_at > :old AND next "
    "<> ''"
)
_RENEW = text(
    "UPDATE runs SET lease = :lease, process = :process, seen_at = :seen WHERE trace_id = :id "
    "AND holder = :holder"
)
_RELEASE = text(
    "UPDATE runs SET lease = 0, attempts = max(attempts - 1, 0) WHERE trace_id = :id AND holder "
    "= :holder"
)
_TAKE = text(
    """UPDATE runs SET holder = :holder, lease = :lease, process = :process, seen_at = :seen,
        attempts = attempts + 1
    WHERE trace_id = :id"""
)
_END = text("DELETE FROM runs WHERE trace_id = :id AND holder = :holder")
_END_SESSION = text("DELETE FROM runs WHERE json_extract(request, '$.session_id') = :session")
_LIST = text(
    """SELECT trace_id, agent, request, next, updated_at, lease, process, seen_at FROM runs
    WHERE user_id = :user AND updated_at > :old AND next <> '' ORDER BY updated_at DESC"""
)

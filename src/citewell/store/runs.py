"""Runs of agents that are not over: how far each came, so that one that was killed can be gone on
with. A run is its holder's while that one gives signs of life (`renew`), and nobody else's. Once it
is silent, or its process is gone, another takes the run over; whoever had it before is told so at
the next step, and stops.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, bindparam, case, delete, insert, select, update

from citewell.errors import Conflict, NotFound, StorageError
from citewell.messages import Text, dump_json
from citewell.store.db import Database
from citewell.store.dialects.expressions import json_field
from citewell.store.dialects.fence import lift_fence
from citewell.store.leases import Leases
from citewell.store.processes import name_this_process
from citewell.store.retention_clock import get_deletion_time
from citewell.store.run_rows import Saved, Unfinished, parse_saved, parse_unfinished
from citewell.store.schema.conversations import runs

DAY = 86_400.0
# a silent run is free after this, where it cannot be seen that its process is gone
LEASE_SECONDS = 30.0
MOST_ATTEMPTS = 2  # a run that ended its process this often is not begun again
STOP = "stop"  # what is wished of a run
ALIVE, GAVE_UP = "under_way", "gave_up"  # codes of errors


class Runs:
    """Raises StorageError. Runs nobody goes on with are forgotten after `days`."""

    def __init__(
        self,
        db: Database,
        days: float,
        clock: Callable[[], float] = time.time,
        *,
        steady: Callable[[], float] | None = None,
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
            "trace_id": trace_id,
            "user_id": user_id,
            "agent": agent,
            "request": json.dumps(request),
            "next": "",
            "state": "{}",
            "holder": holder,
            "started_at": now,
            "updated_at": now,
        }

        def begin(connection: Connection) -> None:
            old = {"old": get_deletion_time(connection, now) - self._seconds}
            with lift_fence(connection):
                connection.execute(_EXPIRE, old)
            connection.execute(_BEGIN, row)

        await self._db.write_beside(begin)
        return holder

    async def keep(self, trace_id: str, holder: str, next_node: str, state: dict[str, Any]) -> None:
        """A node is finished. Raises Conflict where another has the run, or it was ended."""
        row = {
            "id": trace_id,
            "token": holder,
            "next": next_node,
            "state": dump_json(state),
            "updated_at": self._clock(),
            # a run that gets further is no danger to its process: what it was stopped by before
            # does not count
            "attempts": 1,
        }
        await self._db.write_beside(_change_held, row)

    async def renew(self, trace_id: str, holder: str) -> bool:
        """A sign of life; whether its user wants an answer now. Raises Conflict as `keep` does."""
        row = {"id": trace_id, "token": holder}

        def renew(connection: Connection) -> bool:
            _change_held(connection, row | self._build_heartbeat(connection))
            return bool(connection.execute(_WISH, {"id": trace_id}).scalar_one() == STOP)

        return await self._db.write_beside(renew)

    async def request_stop(self, trace_id: str, user_id: str) -> bool:
        """Tell whichever process works on this run at its next sign of life; False without one."""

        def request(connection: Connection) -> bool:
            row = connection.execute(_BEAT, {"id": trace_id, "user": user_id}).one_or_none()
            if row is None or not self._leases.read_moment(connection).is_held(*row):
                return False
            connection.execute(_CHANGE, {"id": trace_id, "wish": STOP})
            return True

        return await self._db.write_beside(request)

    async def release(self, trace_id: str, holder: str) -> None:
        """Free for anybody at once, the attempt not counted: it was stopped, and stopped nobody.
        Nothing where it has ended.
        """
        row = {"id": trace_id, "token": holder, "lease": 0}
        await self._db.write_beside(lambda connection: connection.execute(_RELEASE, row))

    async def take(self, trace_id: str, user_id: str) -> tuple[Saved, str]:
        """Go on with a run of this user: how far it came, and the new holder's token. Raises
        NotFound, and Conflict where somebody is at work on it (`under_way`), or where it has ended
        its process too often (`gave_up`): it is over then.
        """
        holder = secrets.token_hex(8)
        try:
            taken = await self._db.write_beside(self._take_in, trace_id, user_id, holder)
        except asyncio.CancelledError:  # it may be taken by now, and nobody would hold it
            with suppress(StorageError):
                await asyncio.shield(asyncio.ensure_future(self.release(trace_id, holder)))
            raise
        if isinstance(taken, str):
            asked = taken or Text("the guide")
            raise Conflict(
                Text("stopped Citewell twice and is given up: {asked}", asked=asked),
                hint=_GIVEN_UP,
                code=GAVE_UP,
            )
        return taken, holder

    def _take_in(
        self, connection: Connection, trace_id: str, user_id: str, holder: str
    ) -> Saved | str:
        """The run; of one that is given up, which is deleted, its question."""
        values = {"id": trace_id, "user": user_id, "old": self._clock() - self._seconds}
        row = connection.execute(_GET, values).one_or_none()
        if row is None:
            raise _make_missing_error(trace_id, user_id)
        if self._leases.read_moment(connection).is_held(row.process, row.lease, row.seen_at):
            raise _make_held_error(trace_id)
        if row.attempts >= MOST_ATTEMPTS:
            connection.execute(_DELETE, {"id": trace_id})
            return str(json.loads(row.request).get("question", ""))
        beat = self._build_heartbeat(connection)
        connection.execute(_TAKE, {"id": trace_id, "holder": holder} | beat)
        return parse_saved(row)

    async def end(self, trace_id: str, holder: str) -> None:
        """It is over. Raises Conflict as `keep` does."""
        await self._db.write_beside(self.end_in, trace_id, holder)

    def end_in(self, connection: Connection, trace_id: str, holder: str) -> None:
        """The same, as part of a transaction."""
        _check_holder(
            connection.execute(_END, {"id": trace_id, "token": holder}).rowcount, trace_id
        )

    def end_session_in(self, connection: Connection, session_id: str) -> None:
        """None of a deleted session goes on: whoever has one is told at its next step."""
        connection.execute(_END_SESSION, {"session": session_id})

    async def list(self, user_id: str) -> list[Unfinished]:
        """A user's unended ones, newest first, without their perhaps large states."""
        values = {"user": user_id, "old": self._clock() - self._seconds}

        def rows(connection: Connection) -> Sequence[Unfinished]:
            moment = self._leases.read_moment(connection)
            return [
                parse_unfinished(row, moment.is_held(row.process, row.lease, row.seen_at))
                for row in connection.execute(_LIST, values)
            ]

        return [*await self._db.read(rows)]

    def _build_heartbeat(self, connection: Connection) -> dict[str, Any]:
        return {
            "lease": self._leases.read_moment(connection).compute_expiry(),
            "process": name_this_process(),
            "seen_at": self._clock(),
        }


def _make_missing_error(trace_id: str, user_id: str) -> NotFound:
    hint = Text(
        "where it is finished, `citewell trace {trace_id}` shows its answer; another user's needs "
        "--user",
        trace_id=trace_id,
    )
    return NotFound(
        Text(
            "no unfinished run {trace_id!r} of user {user_id!r}", trace_id=trace_id, user_id=user_id
        ),
        hint=hint,
    )


def _make_held_error(trace_id: str) -> Conflict:
    return Conflict(
        Text("run {trace_id} is being answered by another process", trace_id=trace_id),
        hint=Text(
            "wait for it; `citewell trace {trace_id}` shows its answer then", trace_id=trace_id
        ),
        code=ALIVE,
    )


def _change_held(connection: Connection, row: Mapping[str, Any]) -> None:
    _check_holder(connection.execute(_CHANGE_HELD, row).rowcount, row["id"])


def _check_holder(rows: int, trace_id: str) -> None:
    if not rows:
        why = Text(
            "run {trace_id} was gone on with elsewhere, or a memory that it used was forgotten",
            trace_id=trace_id,
        )
        raise Conflict(
            why,
            hint=Text(
                "`citewell trace {trace_id}` has its answer where there is one; else ask again",
                trace_id=trace_id,
            ),
        )


_GIVEN_UP = Text(
    "ask it again, in other words; CITEWELL_LOG_LEVEL=debug and the log may show what happens"
)
_ONE = runs.c.trace_id == bindparam("id")
_HELD = _ONE & (runs.c.holder == bindparam("token"))
_OF_USER = (
    (runs.c.user_id == bindparam("user"))
    & (runs.c.updated_at > bindparam("old"))
    & (runs.c.next != "")
)
_BEGIN = insert(runs)
_CHANGE_HELD = update(runs).where(_HELD)
_CHANGE = update(runs).where(_ONE)
_WISH = select(runs.c.wish).where(_ONE)
_BEAT = (
    select(runs.c.process, runs.c.lease, runs.c.seen_at)
    .where(_ONE, runs.c.user_id == bindparam("user"))
    .with_for_update()
)
_RELEASE = _CHANGE_HELD.values(attempts=case((runs.c.attempts > 1, runs.c.attempts - 1), else_=0))
_GET = select(runs).where(_ONE, _OF_USER).with_for_update()  # of two that take it, one
_TAKE = _CHANGE.values(attempts=runs.c.attempts + 1, wish="")
_EXPIRE = delete(runs).where(runs.c.updated_at <= bindparam("old"))
_DELETE = delete(runs).where(_ONE)
_END = delete(runs).where(_HELD)
_END_SESSION = delete(runs).where(json_field(runs.c.request, "session_id") == bindparam("session"))
_LIST = (
    select(
        runs.c.trace_id,
        runs.c.agent,
        runs.c.request,
        runs.c.next,
        runs.c.updated_at,
        runs.c.lease,
        runs.c.process,
        runs.c.seen_at,
    )
    .where(_OF_USER)
    .order_by(runs.c.updated_at.desc())
)

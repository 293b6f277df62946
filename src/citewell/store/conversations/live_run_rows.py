"""Questions that are answered now, for the other servers on the same PostgreSQL: whose each is,
what it has said so far, and what its user wants of it. A row is its server's while that one gives
signs of life; a minute after the last one, or after its end, it goes. The clock is the database's:
one for all servers. What a run tells comes from one process, so nothing is held.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Row, bindparam, delete, insert, or_, select, update

from citewell.messages import dump_json, load_json
from citewell.store.db import Database
from citewell.store.dialects.fence import lift_fence
from citewell.store.dialects.server_clock import read_server_clock
from citewell.store.schema.server_tables import live_events, live_runs

CANCEL: Final = "cancel"
SILENT: Final = 15.0  # seconds without a sign of life after which its server is taken for dead
KEPT: Final = 60.0  # seconds that what has ended can be heard to its end


class Heard(NamedTuple):
    """`events`: those that were asked for, in order. `alive`: there will be more."""

    events: list[Any]
    told: int
    alive: bool


class LiveRunRows:
    """Raises StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def begin(self, trace_id: str, user_id: str, row: dict[str, Any]) -> None:
        """`row`: its `question`, `agent`, `session_id` and `started_at`."""

        def begin(connection: Connection) -> None:
            now = read_server_clock(connection)
            with lift_fence(connection):
                connection.execute(_SWEEP, {"old": (now or 0.0) - KEPT})
            own = {"trace_id": trace_id, "user_id": user_id, "seen_at": now}
            connection.execute(insert(live_runs).values(wish="", ended_at=0), row | own)

        await self._db.write_beside(begin)

    async def write_events(
        self, trace_id: str, n: int, events: Sequence[Any], *, ends: bool = False
    ) -> str:
        """A sign of life, and the `n`-th events where there are some. What its user wants of it."""

        def tell(connection: Connection) -> str:
            now = read_server_clock(connection)
            seen = {"id": trace_id, "seen_at": now} | ({"ended_at": now} if ends else {})
            connection.execute(_CHANGE, seen)
            if events:
                row = {"trace_id": trace_id, "n": n, "events": dump_json(list(events))}
                connection.execute(insert(live_events), row)
            return connection.execute(_WISH, {"id": trace_id}).scalar() or ""

        return await self._db.write_beside(tell)

    async def send_request(self, trace_id: str, user_id: str, wish: str) -> bool:
        """False where no such run of this user is answered anywhere."""

        def change(connection: Connection) -> bool:
            found = _find(connection, trace_id, user_id)
            if found:
                connection.execute(_CHANGE, {"id": trace_id, "wish": wish})
            return found

        return await self._db.write_beside(change)

    async def is_alive(self, trace_id: str, user_id: str) -> bool:
        return await self._db.read(_find, trace_id, user_id)

    async def read_events(self, trace_id: str, told: int) -> Heard:
        """From the `told`-th events on."""

        def read(connection: Connection) -> Heard:
            alive = connection.execute(_ALIVE, _now(connection) | {"id": trace_id}).first()
            rows = connection.execute(_EVENTS, {"id": trace_id, "told": told}).scalars().all()
            events = [event for row in rows for event in load_json(row)]
            return Heard(events, told + len(rows), alive is not None)

        return await self._db.read(read)

    async def list(self, user_id: str) -> Sequence[Row[Any]]:
        """Those of a user that are answered now, the newest first."""
        return await self._db.read(
            lambda connection: connection.execute(
                _OF_USER, _now(connection) | {"user": user_id}
            ).all()
        )


def _now(connection: Connection) -> dict[str, float]:
    return {"silent": (read_server_clock(connection) or 0.0) - SILENT}


def _find(connection: Connection, trace_id: str, user_id: str) -> bool:
    values = _now(connection) | {"id": trace_id, "user": user_id}
    return connection.execute(_OWN, values).first() is not None


_ONE = live_runs.c.trace_id == bindparam("id")
_LIVES = (live_runs.c.ended_at == 0) & (live_runs.c.seen_at > bindparam("silent"))
_MINE = live_runs.c.user_id == bindparam("user")
_CHANGE = update(live_runs).where(_ONE)
_WISH = select(live_runs.c.wish).where(_ONE)
_ALIVE = select(live_runs.c.trace_id).where(_ONE, _LIVES)
_OWN = _ALIVE.where(_MINE)
_EVENTS = (
    select(live_events.c.events)
    .where(live_events.c.trace_id == bindparam("id"), live_events.c.n >= bindparam("told"))
    .order_by(live_events.c.n)
)
_OF_USER = select(live_runs).where(_LIVES, _MINE).order_by(live_runs.c.started_at.desc())
_SWEEP = delete(live_runs).where(
    live_runs.c.seen_at < bindparam("old"),
    or_(live_runs.c.ended_at == 0, live_runs.c.ended_at < bindparam("old")),
)

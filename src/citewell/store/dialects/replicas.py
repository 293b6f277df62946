"""Copies of a PostgreSQL that follow it (streaming replicas), for searches.

The one rule: a replica is asked only while it is known to have all that the database had committed
`lag` seconds ago. It is known by positions in the log, never by clocks: the replica has come past a
position at which the database stood at a moment that is so near. Where none is so near, or the
database cannot be asked, the database itself answers.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import Connection, text

from citewell.errors import StorageError, TransientError
from citewell.messages import Text
from citewell.models.balance import Pool
from citewell.store.dialects.postgres_server import PostgresServer

P = ParamSpec("P")
T = TypeVar("T")

LOOK: Final = 0.5  # seconds between two looks at how far one is
MARKS: Final = 200  # positions of the database that are remembered
_WRITTEN: Final = text("SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')")
_REPLAYED: Final = text(
    "SELECT CASE WHEN pg_is_in_recovery() "
    "THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') ELSE 0 END"
)


class Replica:
    """`fresh_at`: a moment, by our steady clock, of which it has everything."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self.fresh_at = self.looked_at = float("-inf")


class Replicas:
    """Of one primary. `lag`: seconds that one may be behind."""

    def __init__(
        self,
        primary: PostgresServer,
        servers: Sequence[PostgresServer],
        lag: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._primary = primary
        self._pool = Pool([Replica(each) for each in servers], clock)
        self._lag = lag
        self._clock = clock
        self._marks: deque[tuple[float, int]] = deque(maxlen=MARKS)  # moments and positions

    @property
    def names(self) -> list[str]:
        return [each.server.name for each in self._pool.values]

    def open(self) -> None:
        """None is asked yet: one that is down keeps nobody waiting."""
        for each in self._pool.values:
            each.server.connect()

    def close(self) -> None:
        for each in self._pool.values:
            each.server.close()

    async def read(
        self,
        run_in_thread: Callable[[Callable[[], T]], Awaitable[T]],
        fn: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `fn` on a snapshot of one. Raises TransientError where none can be asked just now;
        one that failed is left out for a while.
        """
        if not self._pool.has_ready:
            raise TransientError(Text("no replica of the database is near enough"))
        return await self._pool.call(
            lambda replica: run_in_thread(lambda: self._ask(replica, fn, *args, **kwargs))
        )

    def _ask(
        self,
        replica: Replica,
        fn: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        try:
            if self._clock() - replica.looked_at > LOOK:
                self._look(replica)
            if self._clock() - replica.fresh_at > self._lag:
                raise TransientError(
                    Text("{name}: the replica is too far behind", name=replica.server.name)
                )
            return replica.server.ask_once(fn, *args, **kwargs)
        except StorageError as error:
            raise TransientError(error.message, hint=error.hint) from error

    def _look(self, replica: Replica) -> None:
        """Where the database stands now, and which of its moments the replica has come to."""
        now = self._clock()
        self._marks.append((now, self._primary.ask_once(_read_position, _WRITTEN)))
        replayed = replica.server.ask_once(_read_position, _REPLAYED)
        reached = [at for at, position in self._marks if position <= replayed]
        replica.fresh_at = max([replica.fresh_at, *reached])
        replica.looked_at = now


def _read_position(connection: Connection, statement: object) -> int:
    return int(connection.execute(statement).scalar_one())  # type: ignore[call-overload]

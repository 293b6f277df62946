"""How long somebody holds a job or a run: by whether their process lives, and by a clock that all
who may take it have in common. A clock that is set back or forward makes nobody hold anything for
longer than their lease, and takes nothing from a process of this machine that gives signs of life.
Of a process on another machine the lease alone is asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection

from citewell.store.dialects.server_clock import read_server_clock
from citewell.store.processes import get_clock_mark, has_ended

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Moment:
    """Leases as they are now. `steady`: by the clock that leases are counted with; `wall`: by that
    which people read. `mark`: what the names of all processes hold that count with the same clock.
    """

    seconds: float
    steady: float
    wall: float
    mark: str

    def compute_expiry(self) -> float:
        """What is kept with a sign of life given now."""
        return self.steady + self.seconds

    def is_held(self, process: str, until: float, seen_at: float) -> bool:
        """`process` holds it still, which gave its last sign of life at `seen_at` by the wall
        clock, and kept `until` then. An empty one is nobody.
        """
        if not process or has_ended(process):
            return False
        if self.mark in process:
            return is_before_deadline(self.steady, until, self.seconds)
        return abs(self.wall - seen_at) < self.seconds


@dataclass(frozen=True, slots=True)
class Leases:
    """`seconds` after the last sign of life, who holds a thing does so no more. `steady`: the clock
    that says so; None: that of the database's server, one for all machines, or where it has none
    that of this machine, which counts from its start, one for all processes of it. `wall` is what
    is asked for those of another machine then.
    """

    seconds: float
    steady: Clock | None = None
    wall: Clock = time.time

    def read_moment(self, connection: Connection) -> Moment:
        common = None if self.steady else read_server_clock(connection)
        if common is not None:
            return Moment(self.seconds, common, self.wall(), "")
        steady = self.steady or time.monotonic
        return Moment(self.seconds, steady(), self.wall(), get_clock_mark())


def is_before_deadline(now: float, until: float, most: float) -> bool:
    """Whether a moment is to come, by a clock that may have restarted: at most `most` away."""
    return now < until <= now + most

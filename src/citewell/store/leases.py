"""How long somebody holds a job or a run: by whether their process lives, and by a clock that
nobody sets.

The one rule: a clock that is set back or forward makes nobody hold anything for longer than their
lease, and takes nothing from a process of this machine that gives signs of life.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from citewell.store.processes import has_ended, has_same_clock

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Leases:
    """`seconds` after the last sign of life, who holds a thing does so no more. `steady` counts
    from the machine's start, one for all processes of it; `wall` is what is asked for those of
    another machine or container host.
    """

    seconds: float
    steady: Clock = time.monotonic
    wall: Clock = time.time

    def until(self) -> float:
        """What is kept with a sign of life given now."""
        return self.steady() + self.seconds

    def is_held(self, process: str, until: float, seen_at: float) -> bool:
        """`process` holds it still, which gave its last sign of life at `seen_at` by the wall
        clock, and kept `until` then. An empty one is nobody.
        """
        if not process or has_ended(process):
            return False
        if has_same_clock(process):
            return is_before_deadline(self.steady(), until, self.seconds)
        return abs(self.wall() - seen_at) < self.seconds


def is_before_deadline(now: float, until: float, most: float) -> bool:
    """Whether a moment is still to come, by a clock that may have begun anew since: it was never
    more than `most` away.
    """
    return now < until <= now + most

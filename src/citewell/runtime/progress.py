"""Progress of a long job, reported while it runs. The callback is awaited, so it may write to the
database.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

WINDOW = 30.0  # seconds that a rate looks back


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` files (phase `read`) or passages (phase `embed`), both of which run at the
    same time; of documents cut anew (phase `cut`), summaries (phase `write`), questions of a data
    set (phase `ask`), sentences of a text (phase `check`), or rows (phase `move`). `name` is the
    file or the table in hand. `rate`: passages a second just now, 0 while unknown. `left`: seconds
    to go, what unread files will bring included; None while unknown.
    """

    phase: Literal["read", "embed", "cut", "write", "ask", "check", "move"]
    done: int
    total: int
    name: str = ""
    rate: float = 0.0
    left: float | None = None


OnProgress = Callable[[Progress], Awaitable[None]]


async def ignore_progress(progress: Progress) -> None:
    """For callers that do not watch."""


class Rate:
    """Things a second over the last WINDOW, or since it began where that is less."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._steps: deque[tuple[float, int]] = deque([(clock(), 0)])

    def update_rate(self, done: int) -> float:
        """Note how many are done, and say how fast it goes."""
        moment = self._clock()
        self._steps.append((moment, done))
        while len(self._steps) > 2 and moment - self._steps[1][0] > WINDOW:
            self._steps.popleft()
        start, before = self._steps[0]
        return (done - before) / (moment - start) if moment > start else 0.0

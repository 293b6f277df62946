"""Several addresses of one model, used as one: a call goes to the address with the fewest under
way, and one that fails is left out until it answers again.

An address that failed is tried again after a wait that doubles (1 to 30 seconds), by one call at a
time. Where all have failed, the one whose wait ends first is asked, so that a caller gets its error
and not one of ours.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from citewell.errors import TransientError

T = TypeVar("T")
R = TypeVar("R")
FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0  # seconds


@dataclass(eq=False)
class Member(Generic[T]):
    """One address. `failed`: calls in a row that failed; `until`: when it may be asked again."""

    value: T
    running: int = 0
    failed: int = 0
    until: float = 0.0
    used: int = 0  # the number of the call that it was last chosen for


class Pool(Generic[T]):
    """`clock`: seconds, never backwards."""

    def __init__(self, values: Sequence[T], clock: Callable[[], float] = time.monotonic) -> None:
        self.values = tuple(values)
        self.members = [Member(value) for value in values]
        self._clock = clock
        self._calls = 0

    @property
    def has_ready(self) -> bool:
        """Whether one may be asked that has not just failed."""
        return bool(self._list_ready())

    async def call(self, use: Callable[[T], Awaitable[R]]) -> R:
        """`use` with the member chosen; after its TransientError the next call takes another."""
        member = self._choose()
        member.running += 1
        try:
            result = await use(member.value)
        except TransientError:
            member.failed += 1
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (member.failed - 1))
            member.until = self._clock() + wait
            raise
        finally:
            member.running -= 1
        member.failed = 0
        return result

    def _list_ready(self) -> list[Member[T]]:
        now = self._clock()
        return [
            each
            for each in self.members
            if not each.failed or (each.until <= now and not each.running)
        ]

    def _choose(self) -> Member[T]:
        ready = self._list_ready()
        self._calls += 1
        chosen = (
            min(ready, key=lambda each: (each.running, each.used))
            if ready
            else min(self.members, key=lambda each: each.until)
        )
        chosen.used = self._calls
        return chosen

"""Which sessions of the older protocol each user has open. Nobody's sessions cost another one
theirs, and an own one that does nothing makes room for a new one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

MOST_OF_A_USER = 20


class Sessions:
    """Of each user: the sessions, longest unused first, with their requests in hand."""

    def __init__(self) -> None:
        self._held: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._opening: defaultdict[str, int] = defaultdict(int)

    def is_full(self, user_id: str) -> bool:
        """Whether all that a user may have are in use just now."""
        return (
            sum(map(bool, self._held.get(user_id, {}).values())) + self._opening.get(user_id, 0)
            >= MOST_OF_A_USER
        )

    @contextmanager
    def count_opening(self, user_id: str) -> Iterator[None]:
        """A request is about to open one."""
        self._opening[user_id] += 1
        try:
            yield
        finally:
            self._opening[user_id] -= 1
            if not self._opening[user_id]:
                del self._opening[user_id]

    @contextmanager
    def mark_in_use(self, user_id: str, session_id: str) -> Iterator[None]:
        """A request is of this session, where it is one of theirs."""
        held = self._held.get(user_id, {})
        if session_id not in held:
            yield
            return
        held[session_id] = held.pop(session_id) + 1  # the last one used
        try:
            yield
        finally:
            if session_id in held:
                held[session_id] -= 1

    def add_session(self, user_id: str, session_id: str) -> str:
        """There is one more. Which other one is to end for it; empty where there is room."""
        held = self._held[user_id]
        idle = next((each for each, count in held.items() if not count), "")
        held[session_id] = 0
        if len(held) <= MOST_OF_A_USER or not idle:
            return ""
        del held[idle]
        return idle

    def forget(self, user_id: str, session_id: str) -> None:
        """It is there no more, however that came."""
        held = self._held.get(user_id, {})
        held.pop(session_id, None)
        if not held:
            self._held.pop(user_id, None)

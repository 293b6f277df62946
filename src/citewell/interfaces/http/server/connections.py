"""Who is connected: how many in all, how many of one address, and who has to go where there is no
room. A connection that waits for its client makes room for a new one, the longest waiting first;
one whose request is being answered never does. So clients that say nothing cannot keep others out,
however many they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol

from citewell.interfaces.http.security.rates import get_client_network

MOST = 10_000  # connections, however many descriptors there are
# descriptors kept for files, the database, models and what fetches pages, half of them where there
# are few
RESERVE = 256
# why connections are closed: too many of one address, in all; too slow
REASONS = ("address", "full", "head", "body", "reply")


class Connection(Protocol):
    """One of them. `address`: whose it is."""

    address: str

    def give_way(self) -> None:
        """Close at once."""
        ...


def compute_max_connections(descriptors: int) -> int:
    """How many fit beside everything else."""
    return max(1, min(MOST, descriptors - min(RESERVE, descriptors // 2)))


class Connections:
    """Those that are open. `most` in all, `most_of_one` of one address (with IPv6 of a /64);
    `proxies` stand for many.
    """

    def __init__(self, most: int, most_of_one: int, proxies: Iterable[str] = ()) -> None:
        self.most = most
        self.most_of_one = most_of_one
        self.told: Callable[[str], None] = lambda _: None  # hears why one was closed
        self._proxies = frozenset(map(get_client_network, proxies))
        self._open: Counter[str] = Counter()
        self._waiting: dict[Connection, None] = {}  # the longest waiting first

    @property
    def count(self) -> int:
        return self._open.total()

    def enter(self, one: Connection) -> str:
        """Count a new one, in the place of one that waits where there is no room. Says why not:
        "address", "full"; else "".
        """
        whose = get_client_network(one.address)
        if (
            whose not in self._proxies
            and self._open[whose] >= self.most_of_one
            and not self._close_longest_waiting("address", whose)
        ):
            return "address"
        if self.count >= self.most and not self._close_longest_waiting("full"):
            return "full"
        self._open[whose] += 1
        self._waiting[one] = None
        return ""

    def leave(self, one: Connection) -> None:
        self._waiting.pop(one, None)
        whose = get_client_network(one.address)
        self._open[whose] -= 1
        if self._open[whose] <= 0:
            del self._open[whose]

    def mark_waiting(self, one: Connection) -> None:
        """Its client is to say something: a first request, or the next one."""
        self._waiting.setdefault(one, None)

    def mark_working(self, one: Connection) -> None:
        """Its request is there, at least the head of it."""
        self._waiting.pop(one, None)

    def make_room(self) -> bool:
        """Close the one that waits longest; false where none waits."""
        return self._close_longest_waiting("full")

    def _close_longest_waiting(self, why: str, whose: str = "") -> bool:
        oldest = next(
            (
                each
                for each in self._waiting
                if not whose or get_client_network(each.address) == whose
            ),
            None,
        )
        if oldest is None:
            return False
        self.told(why)
        self.leave(oldest)
        oldest.give_way()
        return True

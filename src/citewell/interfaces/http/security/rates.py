"""How often somebody may ask. A refusal says when to come back."""

from __future__ import annotations

import ipaddress
import math
import time
from contextlib import suppress

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from citewell.config import AccessSettings
from citewell.interfaces.http.errors import Refused
from citewell.interfaces.http.security.rate_storage import DatabaseStorage
from citewell.messages import Text
from citewell.store.db import Database


class Rates:
    """Counted in memory for a home in SQLite, which has one server: after a restart everybody
    begins anew. Over all servers where they share a PostgreSQL.
    """

    def __init__(self, settings: AccessSettings, db: Database) -> None:
        storage = DatabaseStorage(db) if db.dialect == "postgresql" else MemoryStorage()
        self._counter = SlidingWindowCounterRateLimiter(storage)
        self._requests = RateLimitItemPerMinute(settings.requests_a_minute, namespace="requests")
        self._tries = RateLimitItemPerMinute(settings.tries_a_minute, namespace="tries")
        self._visits = RateLimitItemPerMinute(settings.visits_a_minute, namespace="visits")
        self._days = RateLimitItemPerDay(settings.visits_a_day, namespace="days")

    async def request(self, user_id: str) -> None:
        """Raises Refused (429)."""
        await self._count_hit(
            self._requests, user_id, "access.requests_a_minute", Text("ask less often")
        )

    async def count_attempt(self, address: str) -> None:
        """A try to sign in, or a token that is nobody's. Raises Refused (429)."""
        await self._count_hit(
            self._tries,
            get_client_network(address),
            "access.tries_a_minute",
            Text("see that the token is right"),
        )

    async def visit(self, address: str, which: str) -> None:
        """A question or vote from another site's page; `which`: its token. Raises Refused (429)."""
        await self._count_hit(
            self._visits,
            get_client_network(address),
            "access.visits_a_minute",
            Text("ask less often"),
        )
        await self._count_hit(
            self._days, which, "access.visits_a_day", Text("others have asked too")
        )

    async def _count_hit(self, item: RateLimitItem, who: str, setting: str, what: str) -> None:
        if await self._counter.hit(item, who):
            return
        stats = await self._counter.get_window_stats(item, who)
        wait = max(1, math.ceil(stats.reset_time - time.time()))
        hint = Text(
            "{what}, and go on in {wait} s; {setting} says how many are allowed",
            what=what,
            wait=wait,
            setting=setting,
        )
        message = Text(
            "more than {amount:,} in a {name}", amount=item.amount, name=item.GRANULARITY.name
        )
        refused = Refused(
            429, "too_many_requests", message, hint, headers={"Retry-After": str(wait)}
        )
        refused.limit = item.namespace
        raise refused


def get_client_network(address: str) -> str:
    """Whom an address stands for: with IPv6 everybody has 2^64 of them."""
    with suppress(ValueError):
        if (found := ipaddress.ip_address(address)).version == 6:
            return str(ipaddress.ip_network((found, 64), strict=False))
    return address

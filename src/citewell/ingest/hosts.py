"""What is known of each host while pages are fetched: its robots.txt, and when it may be asked again.

The one rule: a host is never asked more than twice at once, nor sooner than its robots.txt wants.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from citewell.errors import PermanentError, TransientError
from citewell.ingest.robots import Robots, parse
from citewell.ingest.urls import origin

AT_ONCE = 2  # requests to one host
_KEPT = 24 * 3600.0  # seconds a robots.txt counts, as the RFC allows at most
_AGAIN = 60.0  # seconds after which one that could not be read is tried again
_MOST = 1_000  # hosts remembered

Read = Callable[[str], Awaitable[bytes]]


@dataclass(slots=True)
class _Host:
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    pace: asyncio.Lock = field(default_factory=asyncio.Lock)
    next_at: float = 0.0
    users: int = 0


@dataclass(slots=True)
class _Rules:
    """`robots` None: it could not be read, and `why`."""

    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    robots: Robots | None = None
    why: str = ""
    until: float = 0.0


class Hosts:
    """`read` brings a robots.txt: no bytes where there is none, TransientError where nobody can say. `delay`: least seconds
    between two requests to a host.
    """

    def __init__(self, read: Read, agent: str, delay: float = 0.0) -> None:
        self._read = read
        self._agent = agent
        self._delay = delay
        self._hosts: dict[str, _Host] = {}
        self._rules: dict[str, _Rules] = {}

    async def check(self, url: str) -> float:
        """The seconds to keep between two requests to this host. Raises PermanentError, or TransientError where its robots.txt
        cannot be read; the code of both is `robots_refused`.
        """
        robots = await self._robots(origin(url))
        parts = urlsplit(url)
        if not robots.allows(parts.path + (f"?{parts.query}" if parts.query else "")):
            hint = f"its owner does not want programs to read it; open it in a browser (we are {self._agent!r} to robots.txt)"
            raise PermanentError(f"{url}: refused by the robots.txt of its site", hint=hint, code="robots_refused")
        return max(self._delay, robots.delay)

    @asynccontextmanager
    async def turn(self, url: str, delay: float) -> AsyncIterator[None]:
        """As long as the block lasts, one of the requests that this host gets at once."""
        name = urlsplit(url).hostname or ""
        host = self._hosts.setdefault(name, _Host())
        host.users += 1
        try:
            async with host.slots:
                async with host.pace:
                    await asyncio.sleep(max(0.0, host.next_at - time.monotonic()))
                    host.next_at = time.monotonic() + delay
                yield
        finally:
            host.users -= 1
            self._forget()

    async def _robots(self, site: str) -> Robots:
        rules = self._rules.setdefault(site, _Rules())
        async with rules.reading:
            if time.monotonic() >= rules.until:
                await self._ask(site, rules)
        if rules.robots is None:
            hint = "until it can be read again, nothing of this site is fetched; try again later"
            raise TransientError(f"{site}/robots.txt cannot be read: {rules.why}", hint=hint, code="robots_refused")
        return rules.robots

    async def _ask(self, site: str, rules: _Rules) -> None:
        try:
            data = await self._read(f"{site}/robots.txt")
        except TransientError as error:
            rules.robots, rules.why, rules.until = None, error.message, time.monotonic() + _AGAIN
        else:
            rules.robots, rules.until = parse(data, self._agent), time.monotonic() + _KEPT

    def _forget(self) -> None:
        """A server runs for months: hosts that nobody waits for go, the oldest first."""
        now = time.monotonic()
        if len(self._hosts) > _MOST:
            self._hosts = {name: host for name, host in self._hosts.items() if host.users or host.next_at > now}
        if len(self._rules) > _MOST:
            idle = [site for site, rules in self._rules.items() if not rules.reading.locked()]
            for site in idle[: len(self._rules) - _MOST // 2]:
                del self._rules[site]

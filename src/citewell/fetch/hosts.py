"""What is known of each host while pages are fetched: its robots.txt, and when it may be asked
again. A host is never asked more than twice at once, nor sooner than its robots.txt and its
`Retry-After` want.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import anyio

from citewell.errors import InvalidInput, PermanentError, TransientError
from citewell.fetch.robots import Robots, parse
from citewell.fetch.urls import get_origin, join_url
from citewell.messages import Text

AT_ONCE = 2  # requests to one host
LONGEST_PAUSE = 3600.0  # seconds; no `Retry-After` closes a host for longer
MOST_SITEMAPS = 20  # of one robots.txt
# in a row, after which nothing is tried again at a host until something of it comes
_MOST_FAILURES = 5
_KEPT = 24 * 3600.0  # seconds a robots.txt counts, as the RFC allows at most
_AGAIN = 60.0  # seconds after which one that could not be read is tried again
_MOST = 1_000  # hosts remembered

Read = Callable[[str, int], Awaitable[bytes]]


@dataclass(slots=True)
class _Host:
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    pace: asyncio.Lock = field(default_factory=asyncio.Lock)
    next_at: float = 0.0
    not_before: float = 0.0  # what `Retry-After` says
    failures: int = 0
    users: int = 0

    async def wait_ready(self, name: str) -> None:
        """Waits until the host may be asked. TransientError (`paused`) where time would run out."""
        while True:
            pause = self.not_before - time.monotonic()
            if pause > max(0.0, get_time_left()):
                raise TransientError(
                    Text("{name}: it asked to be left alone for now", name=name),
                    hint=format_retry_hint(pause),
                    code="paused",
                )
            wait = max(pause, self.next_at - time.monotonic())
            if wait <= 0:
                return
            await asyncio.sleep(wait)


@dataclass(slots=True)
class _Rules:
    """`robots` None: it could not be read, and `why`."""

    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    robots: Robots | None = None
    why: str = ""
    until: float = 0.0


class Hosts:
    """`read(url, attempts)` brings a robots.txt: no bytes where there is none, TransientError where
    nobody can say. `delay`: least seconds between two requests to a host.
    """

    def __init__(self, read: Read, agent: str, delay: float = 0.0) -> None:
        self._read = read
        self._agent = agent
        self._delay = delay
        self._hosts: dict[str, _Host] = {}
        self._rules: dict[str, _Rules] = {}

    async def check(self, url: str, attempts: int) -> float:
        """The seconds to keep between two requests to this host. Raises PermanentError, or
        TransientError where its robots.txt cannot be read; the code of both is `robots_refused`.
        """
        robots = await self._load_robots(get_origin(url), attempts)
        parts = urlsplit(url)
        if not robots.is_allowed(parts.path + (f"?{parts.query}" if parts.query else "")):
            hint = Text(
                "its owner does not want programs to read it; open it in a browser (we "
                "are {agent!r} to robots.txt)",
                agent=self._agent,
            )
            raise PermanentError(
                Text("{url}: refused by the robots.txt of its site", url=url),
                hint=hint,
                code="robots_refused",
            )
        return max(self._delay, robots.delay)

    async def sitemaps(self, url: str, attempts: int) -> list[str]:
        """Canonical URLs that this robots.txt names, else the usual one. Raises as `check`."""
        site = get_origin(url)
        found: dict[str, None] = {}  # in their order, each once
        for each in (await self._load_robots(site, attempts)).sitemaps:
            try:
                found[join_url(f"{site}/robots.txt", each)] = None
            except InvalidInput:
                continue  # a slip of the site's owner
            if len(found) == MOST_SITEMAPS:
                break
        return list(found) or [f"{site}/sitemap.xml"]

    @asynccontextmanager
    async def wait_turn(self, url: str, delay: float) -> AsyncIterator[None]:
        """As long as the block lasts, one of the requests that this host gets at once."""
        name, host = self._get_host(url)
        host.users += 1
        try:
            if host.not_before > time.monotonic() + get_time_left():
                await host.wait_ready(name)  # raises: no waiting for others who have more time
            async with host.slots:
                async with host.pace:
                    await host.wait_ready(name)
                    host.next_at = time.monotonic() + delay
                yield
        finally:
            host.users -= 1
            self._evict_hosts()

    def note_pause(self, url: str, seconds: float) -> None:
        """The host wants to be left alone for so long."""
        _, host = self._get_host(url)
        host.not_before = max(host.not_before, time.monotonic() + min(seconds, LONGEST_PAUSE))

    def get_pause(self, url: str) -> float:
        """The seconds for which the host still wants to be left alone."""
        host = self._hosts.get(urlsplit(url).hostname or "")
        return max(0.0, host.not_before - time.monotonic()) if host else 0.0

    def record_outcome(self, url: str, *, well: bool) -> None:
        """How a request ended."""
        _, host = self._get_host(url)
        host.failures = 0 if well else host.failures + 1

    def is_failing(self, url: str) -> bool:
        """Whether so many requests failed in a row that the host is better left alone."""
        return self._get_host(url)[1].failures >= _MOST_FAILURES

    def _get_host(self, url: str) -> tuple[str, _Host]:
        name = urlsplit(url).hostname or ""
        return name, self._hosts.setdefault(name, _Host())

    async def _load_robots(self, site: str, attempts: int) -> Robots:
        rules = self._rules.setdefault(site, _Rules())
        if time.monotonic() >= rules.until:
            name, host = self._get_host(site)
            # here, for a robots.txt has a time of its own that may be shorter than the pause
            await host.wait_ready(name)
        async with rules.reading:
            if time.monotonic() >= rules.until:
                await self._refresh_robots(site, rules, attempts)
        if rules.robots is None:
            hint = Text(
                "is the address right, http or https? until it can be read, nothing of "
                "this site is fetched; try again later"
            )
            pause = self.get_pause(site)
            raise TransientError(
                Text("{site}/robots.txt cannot be read: {why}", site=site, why=rules.why),
                hint=format_retry_hint(pause) if pause else hint,
                code="robots_refused",
            )
        return rules.robots

    async def _refresh_robots(self, site: str, rules: _Rules, attempts: int) -> None:
        try:
            data = await self._read(f"{site}/robots.txt", attempts)
        except TransientError as error:
            rules.robots, rules.why = None, error.message.removeprefix(f"{site}/robots.txt: ")
            rules.until = time.monotonic() + (self.get_pause(site) or _AGAIN)
        else:
            rules.robots, rules.until = parse(data, self._agent), time.monotonic() + _KEPT

    def _evict_hosts(self) -> None:
        """A server runs for months: hosts that nobody waits for go, the oldest first."""
        now = time.monotonic()
        if len(self._hosts) > _MOST:
            self._hosts = {
                name: host
                for name, host in self._hosts.items()
                if host.users or max(host.next_at, host.not_before) > now
            }
        if len(self._rules) > _MOST:
            idle = [site for site, rules in self._rules.items() if not rules.reading.locked()]
            for site in idle[: len(self._rules) - _MOST // 2]:
                del self._rules[site]


def parse_retry_after(value: str, date: str = "") -> float | None:
    """The seconds that a `Retry-After` asks for, in seconds or as a time, which counts from the
    `Date` of the same reply: the site's clock may be wrong. None where it says nothing that can be
    understood.
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:12])
    try:
        until = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    try:
        now = parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        now = time.time()
    return max(0.0, until - now)


def format_retry_hint(seconds: float) -> str:
    """When a site wants to be asked again, as a hint."""
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return Text(
                "the site wants to be asked again in {seconds:,.0f} {unit}",
                seconds=-(-seconds // size),
                unit=unit,
            )
    return Text(
        "the site wants to be asked again in {seconds:.0f} seconds", seconds=-(-seconds // 1)
    )


def get_time_left() -> float:
    """Seconds until the caller's own limit; infinite where there is none."""
    return anyio.current_effective_deadline() - anyio.current_time()

"""Fetches pages of the web, politely and guarded: addresses, robots.txt, redirects, sizes and times
are all limited here. Every request, that for a robots.txt and each step of a redirect included,
goes through the guarded transport.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import anyio
import stamina

from citewell.config import Settings
from citewell.errors import CitewellError, PermanentError, TransientError
from citewell.fetch.addresses import Guard
from citewell.fetch.hosts import Hosts, get_time_left, parse_retry_after
from citewell.fetch.page_reply import (
    AGAIN,
    Page,
    Readable,
    Reply,
    Wanted,
    build_page,
    discard_body,
    make_connection_error,
    make_status_error,
    read_body,
)
from citewell.fetch.robots import LONGEST
from citewell.fetch.urls import canonicalize_url, join_url
from citewell.messages import Text

if TYPE_CHECKING:
    import httpx2

ATTEMPTS = 3  # for each request of a crawl, which has the time
MOST_REDIRECTS = 5
ROBOTS_SECONDS = 10.0  # for a robots.txt with its redirects
_REDIRECTS = {301, 302, 303, 307, 308}
_BUSY = {429, 502, 503, 504}  # what is tried again at once; the others need more than a moment
_WAIT = 0.5  # seconds before the second attempt, doubled before each later one
_JITTER = 0.5  # seconds, at most, that are added so that not all come back together


class Fetcher:
    """Keeps what it learns of each host, so one is meant to live long. `delay`: seconds between two
    requests to a host, where its robots.txt does not want more. Raises ConfigError where
    `allow_private_hosts` is not understood.
    """

    def __init__(self, settings: Settings, *, max_bytes: int, delay: float = 0.0) -> None:
        self._guard = Guard(settings.allow_private_hosts)
        self._agent = settings.user_agent
        self._most = max_bytes
        self._hosts = Hosts(self._fetch_robots, self._agent, delay)
        self._client: httpx2.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def page(
        self,
        url: str,
        *,
        etag: str = "",
        last_modified: str = "",
        seconds: float,
        readable: Readable | None = None,
        attempts: int = 1,
        within: Callable[[str], bool] | None = None,
    ) -> Page:
        """Fetch a page within `seconds`, waiting for its host's turn included.
        `readable(media_type, url)` False refuses it before its bytes come. `attempts`: how often a
        request is made where the site is busy or the connection fails, a wait before each. One
        unless the caller asks for more (`ATTEMPTS`): a person waits for a web search, and its other
        pages may do as well. `within` False of where a redirect leads: it is not followed.

        Raises InvalidInput (`bad_url`, `address_refused`), UnreadableFile (too large, not
        readable), TransientError (may work later; `paused` where the site said itself when, which
        the hint tells, and `seconds` do not reach until then) and PermanentError (`robots_refused`,
        `page_missing`, `page_refused`, `redirect_loop`, `leads_away`, `bad_certificate`,
        `unknown_host` or just `permanent`).
        """
        url = canonicalize_url(url)
        conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        headers = {name: value for name, value in conditions.items() if value}
        try:
            with anyio.fail_after(seconds):
                reply = await self._follow_redirects(
                    url, headers, Wanted(self._most, attempts, readable, within=within)
                )
        except TimeoutError:
            hint = Text("the site is slow; try again later")
            raise TransientError(
                Text("{url}: not there within {seconds:.3g} seconds", url=url, seconds=seconds),
                hint=hint,
                code="timeout",
            ) from None
        return build_page(url, reply, conditional=bool(headers))

    async def sitemaps(self, url: str) -> list[str]:
        """Canonical URLs of the sitemaps that the robots.txt of this URL's site names, on its own
        host or not, at most 20; `/sitemap.xml` where it names none; nothing where it cannot be
        read. Nothing has been fetched of them. Raises InvalidInput (`bad_url`).
        """
        url = canonicalize_url(url)
        try:
            return await self._hosts.sitemaps(url, ATTEMPTS)
        except CitewellError:
            return []  # whoever then asks for a page of this site is told why

    async def _fetch_robots(self, url: str, attempts: int) -> bytes:
        """The bytes of a robots.txt, none where there is none. Raises TransientError if unknown."""
        try:
            with anyio.fail_after(ROBOTS_SECONDS):
                reply = await self._follow_redirects(
                    url, {}, Wanted(LONGEST, attempts, cut=True), asked=True
                )
        except TimeoutError:
            raise TransientError(
                Text("not there within {robots_seconds:g} seconds", robots_seconds=ROBOTS_SECONDS)
            ) from None
        if reply.status in AGAIN or reply.status >= 500:
            raise TransientError(Text("status {status}", status=reply.status))
        return reply.data if reply.status == 200 else b""

    async def _follow_redirects(
        self, url: str, headers: dict[str, str], wanted: Wanted, *, asked: bool = False
    ) -> Reply:
        """The reply at the end of the redirects. `asked`: robots.txt itself, not to be asked."""
        notes: tuple[str, ...] = ()
        passed: tuple[str, ...] = ()
        for _ in range(MOST_REDIRECTS + 1):
            delay = 0.0 if asked else await self._hosts.check(url, wanted.attempts)
            reply = await self._request_with_retry(url, headers, wanted, delay)
            there = reply.headers.get("location", "").strip() if reply.status in _REDIRECTS else ""
            if not there:
                return replace(reply, notes=notes, redirects=passed)
            passed += (url,)
            before, url = url, join_url(url, there.replace(" ", "%20"))
            if wanted.within is not None and not wanted.within(url):
                hint = Text("allow that host where it belongs to the site")
                raise PermanentError(
                    Text("{before} leads to {url}, which is elsewhere", before=before, url=url),
                    hint=hint,
                    code="leads_away",
                )
            if before.startswith("https:") and url.startswith("http:"):
                notes += (
                    Text("{before} leads to {url}, which is not encrypted", before=before, url=url),
                )
        if asked:
            return Reply(url, 404, reply.headers)  # RFC 9309: as if there were none
        hint = Text("the site sends its readers in a circle, or wants cookies")
        raise PermanentError(
            Text(
                "{passed}: more than {most_redirects} redirects",
                passed=passed[0],
                most_redirects=MOST_REDIRECTS,
            ),
            hint=hint,
            code="redirect_loop",
        )

    async def _request_with_retry(
        self, url: str, headers: dict[str, str], wanted: Wanted, delay: float
    ) -> Reply:
        """The reply to one request, made again where its host is busy and there is time."""
        tried = 0

        def compute_wait(error: Exception) -> bool | float:
            """The seconds to wait first. What the host asked for is more than a guess; nothing is
            waited for in vain.
            """
            nonlocal tried
            tried += 1
            wait = max(self._hosts.get_pause(url), _WAIT * 2 ** (tried - 1)) + random.uniform(  # noqa: S311  # no secret
                0, _JITTER
            )
            useful = (
                isinstance(error, TransientError)
                and wait < get_time_left()
                and not self._hosts.is_failing(url)
            )
            return useful and wait

        async for attempt in stamina.retry_context(
            on=compute_wait, attempts=wanted.attempts, timeout=None
        ):
            with attempt:
                async with self._hosts.wait_turn(url, delay):
                    return await self._request_once(url, headers, wanted)
        raise AssertionError("the last attempt returns or raises")

    async def _request_once(self, url: str, headers: dict[str, str], wanted: Wanted) -> Reply:
        """The reply, noted with its host. Raises TransientError where a host is busy for now."""
        try:
            reply = await self._send_get(url, headers, wanted)
        except TransientError:
            self._hosts.record_outcome(url, well=False)
            raise
        if reply.status in AGAIN or reply.status >= 500:
            pause = parse_retry_after(
                reply.headers.get("retry-after", ""), reply.headers.get("date", "")
            )
            if pause is not None:
                self._hosts.note_pause(url, pause)
        self._hosts.record_outcome(url, well=reply.status not in _BUSY)
        if reply.status in _BUSY:
            raise make_status_error(url, reply)
        return reply

    async def _send_get(self, url: str, headers: dict[str, str], wanted: Wanted) -> Reply:
        import httpx2

        if self._client is None:
            from citewell.fetch.ssrf_transport import create_client

            self._client = create_client(self._guard, self._agent)
        try:
            async with self._client.stream("GET", url, headers=headers) as response:
                if response.status_code == 200:
                    data = await read_body(response, url, wanted)
                else:
                    data = b""
                    await discard_body(response)
                return Reply(url, response.status_code, response.headers, data)
        except httpx2.InvalidURL as error:
            raise PermanentError(
                Text("{url}: {error}", url=url, error=error),
                hint=Text("see that the address is right"),
                code="bad_url",
            ) from None
        except httpx2.HTTPError as error:
            raise make_connection_error(url, error) from None

"""Fetches pages of the web, politely and guarded: addresses, robots.txt, redirects, sizes and times
are all limited here.

The one rule: every request, that for a robots.txt and each step of a redirect included, goes
through the guarded transport.
"""

from __future__ import annotations

import contextlib
import random
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio
import stamina

from citewell.config import Settings
from citewell.errors import CitewellError, PermanentError, TransientError, UnreadableFile
from citewell.fetch.addresses import Guard
from citewell.fetch.hosts import Hosts, format_retry_hint, get_time_left, parse_retry_after
from citewell.fetch.robots import LONGEST
from citewell.fetch.urls import canonicalize_url, get_url_identity, join_url

if TYPE_CHECKING:
    import httpx2

__all__ = [
    "ATTEMPTS",
    "Fetcher",
    "Page",
    "Readable",
    "canonicalize_url",
    "get_url_identity",
    "join_url",
]

ATTEMPTS = 3  # for each request of a crawl, which has the time
MOST_REDIRECTS = 5
ROBOTS_SECONDS = 10.0  # for a robots.txt with its redirects
_REDIRECTS = {301, 302, 303, 307, 308}
_AGAIN = {408, 425, 429}  # and every 5xx
_BUSY = {429, 502, 503, 504}  # what is tried again at once; the others need more than a moment
_WAIT = 0.5  # seconds before the second attempt, doubled before each later one
_JITTER = 0.5  # seconds, at most, that are added so that not all come back together
_UNPACKED = {"", "identity", "gzip", "x-gzip", "deflate", "br"}
# of a reply that is no page: read, so that its connection can be used again, unless it is longer or
# slower than this
_REST = 64_000
_REST_SECONDS = 0.5

Readable = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Page:
    """What came of `url`, from `final_url` (both canonical). `charset` is what the header says, or
    empty. With `not_modified` there is no `data`: it is as it was when `etag` or `last_modified`
    was given. `fetched_at`: seconds since the epoch. `redirects`: the addresses that led on, `url`
    first; none where nothing did. `robots_tag`: what the header `X-Robots-Tag` wants of programs,
    in small letters, such as `noindex, nofollow`.
    """

    url: str
    final_url: str
    status: int
    media_type: str
    charset: str
    data: bytes
    etag: str
    last_modified: str
    fetched_at: float
    not_modified: bool = False
    notes: tuple[str, ...] = ()
    redirects: tuple[str, ...] = ()
    robots_tag: str = ""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """`readable` None: any media type. `cut`: what is over `most` bytes is left out, else it is an
    error. `attempts`: how often each request is made, at most. `within`: where a redirect may lead;
    None: anywhere.
    """

    most: int
    attempts: int
    readable: Readable | None = None
    cut: bool = False
    within: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class _Reply:
    url: str
    status: int
    headers: httpx2.Headers
    data: bytes = b""
    notes: tuple[str, ...] = ()
    redirects: tuple[str, ...] = ()


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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
                    url, headers, _Wanted(self._most, attempts, readable, within=within)
                )
        except TimeoutError:
            hint = "the site is slow; try again later"
            raise TransientError(
                f"{url}: not there within {seconds:.3g} seconds", hint=hint, code="timeout"
            ) from None
        return _build_page(url, reply, conditional=bool(headers))

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
        """The bytes of a robots.txt; none where the site has none. Raises TransientError where it
        cannot be known.
        """
        try:
            with anyio.fail_after(ROBOTS_SECONDS):
                reply = await self._follow_redirects(
                    url, {}, _Wanted(LONGEST, attempts, cut=True), asked=True
                )
        except TimeoutError:
            raise TransientError(f"not there within {ROBOTS_SECONDS:g} seconds") from None
        if reply.status in _AGAIN or reply.status >= 500:
            raise TransientError(f"status {reply.status}")
        return reply.data if reply.status == 200 else b""

    async def _follow_redirects(
        self, url: str, headers: dict[str, str], wanted: _Wanted, *, asked: bool = False
    ) -> _Reply:
        """The reply at the end of the redirects. `asked`: robots.txt has not to be asked, for this
        is it.
        """
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
                hint = "allow that host where it belongs to the site"
                raise PermanentError(
                    f"{before} leads to {url}, which is elsewhere", hint=hint, code="leads_away"
                )
            if before.startswith("https:") and url.startswith("http:"):
                notes += (f"{before} leads to {url}, which is not encrypted",)
        if asked:
            return _Reply(url, 404, reply.headers)  # RFC 9309: as if there were none
        hint = "the site sends its readers in a circle, or wants cookies"
        raise PermanentError(
            f"{passed[0]}: more than {MOST_REDIRECTS} redirects", hint=hint, code="redirect_loop"
        )

    async def _request_with_retry(
        self, url: str, headers: dict[str, str], wanted: _Wanted, delay: float
    ) -> _Reply:
        """The reply to one request, made again where its host is busy and there is time."""
        tried = 0

        def again(error: Exception) -> bool | float:
            """The seconds to wait first. What the host asked for is more than a guess; nothing is
            waited for in vain.
            """
            nonlocal tried
            tried += 1
            wait = max(self._hosts.pause(url), _WAIT * 2 ** (tried - 1)) + random.uniform(  # noqa: S311  # no secret
                0, _JITTER
            )
            useful = (
                isinstance(error, TransientError)
                and wait < get_time_left()
                and not self._hosts.is_failing(url)
            )
            return useful and wait

        async for attempt in stamina.retry_context(
            on=again, attempts=wanted.attempts, timeout=None
        ):
            with attempt:
                async with self._hosts.turn(url, delay):
                    return await self._request_once(url, headers, wanted)
        raise AssertionError("the last attempt returns or raises")

    async def _request_once(self, url: str, headers: dict[str, str], wanted: _Wanted) -> _Reply:
        """The reply, noted with its host. Raises TransientError where a host is busy for now."""
        try:
            reply = await self._send_get(url, headers, wanted)
        except TransientError:
            self._hosts.record_outcome(url, well=False)
            raise
        if reply.status in _AGAIN or reply.status >= 500:
            pause = parse_retry_after(
                reply.headers.get("retry-after", ""), reply.headers.get("date", "")
            )
            if pause is not None:
                self._hosts.told(url, pause)
        self._hosts.record_outcome(url, well=reply.status not in _BUSY)
        if reply.status in _BUSY:
            raise _make_status_error(url, reply)
        return reply

    async def _send_get(self, url: str, headers: dict[str, str], wanted: _Wanted) -> _Reply:
        import httpx2

        if self._client is None:
            from citewell.fetch.ssrf_transport import create_client

            self._client = create_client(self._guard, self._agent)
        try:
            async with self._client.stream("GET", url, headers=headers) as response:
                if response.status_code == 200:
                    data = await _read_body(response, url, wanted)
                else:
                    data = b""
                    await _discard_body(response)
                return _Reply(url, response.status_code, response.headers, data)
        except httpx2.InvalidURL as error:
            raise PermanentError(
                f"{url}: {error}", hint="see that the address is right", code="bad_url"
            ) from None
        except httpx2.HTTPError as error:
            raise _make_connection_error(url, error) from None


async def _read_body(response: httpx2.Response, url: str, wanted: _Wanted) -> bytes:
    """The body, unpacked piece by piece, so that a small one that grows without end is noticed."""
    media_type = _get_media_type(response.headers)
    if wanted.readable is not None and not wanted.readable(media_type, url):
        raise UnreadableFile(
            f"{url}: it is {media_type or 'of an unknown type'}, which cannot be read"
        )
    packed = response.headers.get("content-encoding", "").strip().lower()
    if packed not in _UNPACKED:
        raise UnreadableFile(f"{url}: it comes packed as {packed[:40]}, which was not asked for")
    length = response.headers.get("content-length", "")
    if (
        not wanted.cut
        and length.isascii()
        and length.isdigit()
        and len(length) < 20
        and int(length) > wanted.most
    ):
        raise _make_size_error(url, wanted.most)
    data = bytearray()
    async for part in response.aiter_bytes():
        data += part
        if len(data) > wanted.most:
            if wanted.cut:
                return bytes(data[: wanted.most])
            raise _make_size_error(url, wanted.most)
    return bytes(data)


async def _discard_body(response: httpx2.Response) -> None:
    import httpx2

    left = _REST
    # then the connection is not used again
    with contextlib.suppress(httpx2.HTTPError), anyio.move_on_after(_REST_SECONDS):
        async for part in response.aiter_raw():
            left -= len(part)
            if left < 0:
                return


def _build_page(url: str, reply: _Reply, *, conditional: bool) -> Page:
    if reply.status != 200 and not (reply.status == 304 and conditional):
        raise _make_status_error(reply.url, reply)
    headers = reply.headers
    return Page(
        url=url,
        final_url=reply.url,
        status=reply.status,
        media_type=_get_media_type(headers),
        charset=(
            headers.get("content-type", "")
            .lower()
            .partition("charset=")[2]
            .split(";")[0]
            .strip(" \"'")
        ),
        data=reply.data,
        etag=headers.get("etag", ""),
        last_modified=headers.get("last-modified", ""),
        fetched_at=time.time(),
        not_modified=reply.status == 304,
        notes=reply.notes,
        redirects=reply.redirects,
        robots_tag=str(headers.get("x-robots-tag", "")).lower(),
    )


def _get_media_type(headers: httpx2.Headers) -> str:
    return str(headers.get("content-type", "")).split(";")[0].strip().lower()


def _make_size_error(url: str, most: int) -> UnreadableFile:
    return UnreadableFile(
        f"{url}: larger than {most:,} bytes",
        hint="setting web.page_bytes says how large a page may be",
    )


def _make_status_error(url: str, reply: _Reply) -> CitewellError:
    status = reply.status
    if status in _AGAIN or status >= 500:
        pause = parse_retry_after(
            reply.headers.get("retry-after", ""), reply.headers.get("date", "")
        )
        if pause is not None:
            return TransientError(
                f"{url}: status {status}", hint=format_retry_hint(pause), code="paused"
            )
        return TransientError(
            f"{url}: status {status}", hint="the site is busy or failing; try again later"
        )
    if status in {404, 410}:
        return PermanentError(
            f"{url}: status {status}", hint="there is no such page", code="page_missing"
        )
    if status in {401, 402, 403, 407, 451}:
        hint = "the site does not show it to everyone; save the page as a file and add the file"
        return PermanentError(f"{url}: status {status}", hint=hint, code="page_refused")
    return PermanentError(f"{url}: status {status}", hint="see that the address is right")


def _make_connection_error(url: str, error: httpx2.HTTPError) -> CitewellError:
    import httpx2

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = f"its certificate is refused: {cause.verify_message}"
            hint = "for a host of yours, SSL_CERT_FILE names the certificates to trust"
            return PermanentError(f"{url}: {why}", hint=hint, code="bad_certificate")
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx2.DecodingError):
        return UnreadableFile(f"{url}: its bytes are packed wrongly")
    # httpx's own words may name the address that was tried; inside a house that is nobody's
    # business
    why = (
        "no connection"
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
        else "the connection broke"
    )
    return TransientError(f"{url}: {why}", hint="is the site there? try again later")

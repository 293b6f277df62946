"""Fetches pages of the web, politely and guarded: addresses, robots.txt, redirects, sizes and times are all limited here.

The one rule: every request, that for a robots.txt and each step of a redirect included, goes through the guarded transport.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio

from citewell.config import Settings
from citewell.errors import CitewellError, PermanentError, TransientError, UnreadableFile
from citewell.ingest.addresses import Guard
from citewell.ingest.hosts import Hosts
from citewell.ingest.robots import LONGEST
from citewell.ingest.urls import canonical, identity, joined

if TYPE_CHECKING:
    import httpx2

__all__ = ["Fetcher", "Page", "Readable", "canonical", "identity", "joined"]

MOST_REDIRECTS = 5
ROBOTS_SECONDS = 10.0  # for a robots.txt with its redirects
_REDIRECTS = {301, 302, 303, 307, 308}
_AGAIN = {408, 425, 429}  # and every 5xx
_UNPACKED = {"", "identity", "gzip", "x-gzip", "deflate"}

Readable = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Page:
    """What came of `url`, from `final_url` (both canonical). `charset` is what the header says, or empty. With `not_modified`
    there is no `data`: it is as it was when `etag` or `last_modified` was given. `fetched_at`: seconds since the epoch.
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


@dataclass(frozen=True, slots=True)
class _Wanted:
    """`readable` None: any media type. `cut`: what is over `most` bytes is left out, else it is an error."""

    most: int
    readable: Readable | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class _Reply:
    url: str
    status: int
    headers: httpx2.Headers
    data: bytes = b""
    notes: tuple[str, ...] = ()


class Fetcher:
    """Keeps what it learns of each host, so one is meant to live long. `delay`: seconds between two requests to a host, where
    its robots.txt does not want more. Raises ConfigError where `allow_private_hosts` is not understood.
    """

    def __init__(self, settings: Settings, *, max_bytes: int, delay: float = 0.0) -> None:
        self._guard = Guard(settings.allow_private_hosts)
        self._agent = settings.user_agent
        self._most = max_bytes
        self._hosts = Hosts(self._robots, self._agent, delay)
        self._client: httpx2.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def page(
        self, url: str, *, etag: str = "", last_modified: str = "", seconds: float, readable: Readable | None = None
    ) -> Page:
        """Fetch a page within `seconds`, waiting for its host's turn included. `readable(media_type, url)` False refuses it
        before its bytes come.

        Raises InvalidInput (`bad_url`, `address_refused`), UnreadableFile (too large, not readable), TransientError (may work
        later) and PermanentError (`robots_refused`, `page_missing`, `page_refused`, `redirect_loop`, `bad_certificate`,
        `unknown_host` or just `permanent`).
        """
        url = canonical(url)
        conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        headers = {name: value for name, value in conditions.items() if value}
        try:
            with anyio.fail_after(seconds):
                reply = await self._follow(url, headers, _Wanted(self._most, readable))
        except TimeoutError:
            hint = "the site is slow; try again later"
            raise TransientError(f"{url}: not there within {seconds:g} seconds", hint=hint, code="timeout") from None
        return _page(url, reply, conditional=bool(headers))

    async def _robots(self, url: str) -> bytes:
        """The bytes of a robots.txt; none where the site has none. Raises TransientError where it cannot be known."""
        try:
            with anyio.fail_after(ROBOTS_SECONDS):
                reply = await self._follow(url, {}, _Wanted(LONGEST, cut=True), asked=True)
        except TimeoutError:
            raise TransientError(f"not there within {ROBOTS_SECONDS:g} seconds") from None
        if reply.status in _AGAIN or reply.status >= 500:
            raise TransientError(f"status {reply.status}")
        return reply.data if reply.status == 200 else b""

    async def _follow(self, url: str, headers: dict[str, str], wanted: _Wanted, *, asked: bool = False) -> _Reply:
        """The reply at the end of the redirects. `asked`: robots.txt has not to be asked, for this is it."""
        notes: tuple[str, ...] = ()
        start = url
        for _ in range(MOST_REDIRECTS + 1):
            delay = 0.0 if asked else await self._hosts.check(url)
            async with self._hosts.turn(url, delay):
                reply = await self._get(url, headers, wanted)
            there = reply.headers.get("location", "").strip() if reply.status in _REDIRECTS else ""
            if not there:
                return _Reply(url, reply.status, reply.headers, reply.data, notes)
            before, url = url, joined(url, there.replace(" ", "%20"))
            if before.startswith("https:") and url.startswith("http:"):
                notes += (f"{before} leads to {url}, which is not encrypted",)
        if asked:
            return _Reply(url, 404, reply.headers)  # RFC 9309: as if there were none
        hint = "the site sends its readers in a circle, or wants cookies"
        raise PermanentError(f"{start}: more than {MOST_REDIRECTS} redirects", hint=hint, code="redirect_loop")

    async def _get(self, url: str, headers: dict[str, str], wanted: _Wanted) -> _Reply:
        import httpx2

        if self._client is None:
            from citewell.ingest.guarded import client

            self._client = client(self._guard, self._agent)
        try:
            async with self._client.stream("GET", url, headers=headers) as response:
                data = await _read(response, url, wanted) if response.status_code == 200 else b""
                return _Reply(url, response.status_code, response.headers, data)
        except httpx2.InvalidURL as error:
            raise PermanentError(f"{url}: {error}", hint="see that the address is right", code="bad_url") from None
        except httpx2.HTTPError as error:
            raise _trouble(url, error) from None


async def _read(response: httpx2.Response, url: str, wanted: _Wanted) -> bytes:
    """The body, unpacked piece by piece, so that a small one that grows without end is noticed."""
    media_type = _media_type(response.headers)
    if wanted.readable is not None and not wanted.readable(media_type, url):
        raise UnreadableFile(f"{url}: it is {media_type or 'of an unknown type'}, which cannot be read")
    packed = response.headers.get("content-encoding", "").strip().lower()
    if packed not in _UNPACKED:
        raise UnreadableFile(f"{url}: it comes packed as {packed[:40]}, which was not asked for")
    length = response.headers.get("content-length", "")
    if not wanted.cut and length.isascii() and length.isdigit() and len(length) < 20 and int(length) > wanted.most:
        raise _too_large(url, wanted.most)
    data = bytearray()
    async for part in response.aiter_bytes():
        data += part
        if len(data) > wanted.most:
            if wanted.cut:
                return bytes(data[: wanted.most])
            raise _too_large(url, wanted.most)
    return bytes(data)


def _page(url: str, reply: _Reply, *, conditional: bool) -> Page:
    if reply.status != 200 and not (reply.status == 304 and conditional):
        raise _of_status(reply.url, reply.status)
    headers = reply.headers
    return Page(
        url=url,
        final_url=reply.url,
        status=reply.status,
        media_type=_media_type(headers),
        charset=(headers.get("content-type", "").lower().partition("charset=")[2].split(";")[0].strip(" \"'")),
        data=reply.data,
        etag=headers.get("etag", ""),
        last_modified=headers.get("last-modified", ""),
        fetched_at=time.time(),
        not_modified=reply.status == 304,
        notes=reply.notes,
    )


def _media_type(headers: httpx2.Headers) -> str:
    return str(headers.get("content-type", "")).split(";")[0].strip().lower()


def _too_large(url: str, most: int) -> UnreadableFile:
    return UnreadableFile(f"{url}: larger than {most:,} bytes", hint="setting web.page_bytes says how large a page may be")


def _of_status(url: str, status: int) -> CitewellError:
    if status in _AGAIN or status >= 500:
        return TransientError(f"{url}: status {status}", hint="the site is busy or failing; try again later")
    if status in {404, 410}:
        return PermanentError(f"{url}: status {status}", hint="there is no such page", code="page_missing")
    if status in {401, 402, 403, 407, 451}:
        hint = "the site does not show it to everyone; save the page as a file and add the file"
        return PermanentError(f"{url}: status {status}", hint=hint, code="page_refused")
    return PermanentError(f"{url}: status {status}", hint="see that the address is right")


def _trouble(url: str, error: httpx2.HTTPError) -> CitewellError:
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
    # httpx's own words may name the address that was tried; inside a house that is nobody's business
    why = "no connection" if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout) else "the connection broke"
    return TransientError(f"{url}: {why}", hint="is the site there? try again later")

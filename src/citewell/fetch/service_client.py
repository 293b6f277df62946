"""Requests to a service that was named on purpose and may want a password: WebDAV, a bucket, a Git
server. Pages of the web go through `Fetcher`. Every request goes through the guarded transport, a
password only over TLS or to a host that the settings list, and never to another host than the one
it is for.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final
from urllib.parse import urljoin, urlsplit

import anyio
import stamina

from citewell.config import Settings
from citewell.errors import (
    CitewellError,
    InvalidInput,
    PermanentError,
    TransientError,
    UnreadableFile,
)
from citewell.fetch.addresses import Guard
from citewell.fetch.hosts import get_time_left, parse_retry_after
from citewell.fetch.page_reply import discard_body, make_connection_error
from citewell.messages import Text

if TYPE_CHECKING:
    import httpx2

ITEM_MISSING: Final = "item_missing"
ATTEMPTS: Final = 3
SECONDS: Final = 60.0  # for a listing's reply
_WAIT: Final = 0.5  # seconds before the second attempt, doubled before the third
_LONGEST_WAIT: Final = 20.0  # seconds that a Retry-After is waited for; a longer one ends the run
_BUSY: Final = {408, 425, 429, 500, 502, 503, 504}
_REDIRECTS: Final = {301, 302, 307, 308}
_MOST_REDIRECTS: Final = 3
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ServiceReply:
    """`size`: bytes that came, in `data` or in the file that was named."""

    url: str
    status: int
    headers: Mapping[str, str]
    data: bytes
    size: int


class ServiceClient:
    """`user` and `password`: sent with every request where there is a password; none: a request
    carries what its own headers say. Raises ConfigError.
    """

    def __init__(self, settings: Settings, user: str = "", password: str = "") -> None:
        self._guard = Guard(settings.allow_private_hosts)
        self._agent = settings.user_agent
        self._client: httpx2.AsyncClient | None = None
        both = base64.b64encode(f"{user}:{password}".encode()).decode()
        self._own = {"Authorization": f"Basic {both}"} if password else {}

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def check_secrecy(self, url: str) -> None:
        """Raises InvalidInput where a password would go over the network in clear."""
        parts = urlsplit(url)
        if parts.scheme != "https" and not self._guard.is_listed(parts.hostname or ""):
            raise make_clear_error(parts.hostname or url)

    async def send(
        self,
        method: str,
        url: str,
        *,
        most: int,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        seconds: float = SECONDS,
        into: BinaryIO | None = None,
        passing: Iterable[int] = (),
        secret: bool = False,
    ) -> ServiceReply:
        """A reply of at most `most` bytes, within `seconds`; `into` a file where one is named.
        `passing`: statuses that are no error. `secret`: the headers hold one.

        Raises UnreadableFile (too large), TransientError (busy, slow, away), PermanentError
        (`item_missing`, `refused`, or just `permanent`) and what the guard raises.
        """
        sent = {**self._own, **(headers or {})}
        if secret or self._own:
            self.check_secrecy(url)
        allowed = frozenset(passing)
        try:
            with anyio.fail_after(seconds):
                for _ in range(_MOST_REDIRECTS + 1):
                    reply = await self._send_with_retry(method, url, sent, content, most, into)
                    if reply.status not in _REDIRECTS or reply.status in allowed:
                        break
                    url = _follow_redirect(url, reply)
        except TimeoutError:
            raise TransientError(
                Text(
                    "{url}: not there within {seconds:.3g} seconds",
                    url=hide_query(url),
                    seconds=seconds,
                ),
                code="timeout",
            ) from None
        if not 200 <= reply.status < 300 and reply.status not in allowed:
            raise make_reply_error(reply)
        return reply

    async def _send_with_retry(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes,
        most: int,
        into: BinaryIO | None,
    ) -> ServiceReply:
        pause = 0.0
        tried = 0

        def compute_wait(error: Exception) -> bool | float:
            nonlocal tried
            tried += 1
            wait = max(pause, _WAIT * 2.0 ** (tried - 1))
            useful = isinstance(error, TransientError) and wait <= _LONGEST_WAIT
            return useful and wait < get_time_left() and wait

        async for attempt in stamina.retry_context(
            on=compute_wait, attempts=ATTEMPTS, timeout=None
        ):
            with attempt:
                if into is not None:
                    into.seek(0)
                    into.truncate()
                reply = await self._send_once(method, url, headers, content, most, into)
                if reply.status in _BUSY:
                    pause = parse_retry_after(reply.headers.get("retry-after", "")) or 0.0
                    raise make_reply_error(reply)
        return reply

    async def _send_once(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes,
        most: int,
        into: BinaryIO | None,
    ) -> ServiceReply:
        import httpx2

        if self._client is None:
            from citewell.fetch.ssrf_transport import create_client

            self._client = create_client(self._guard, self._agent)
        shown = hide_query(url)
        try:
            async with self._client.stream(
                method, url, headers=dict(headers), content=content
            ) as response:
                if 200 <= response.status_code < 300:
                    data, size = await _read_body(response, shown, most, into)
                else:
                    data, size = b"", 0
                    await discard_body(response)
                return ServiceReply(url, response.status_code, response.headers, data, size)
        except httpx2.InvalidURL as error:
            raise InvalidInput(
                Text("{url}: {error}", url=shown, error=error), code="bad_url"
            ) from None
        except httpx2.HTTPError as error:
            raise make_connection_error(shown, error) from None


async def _read_body(
    response: httpx2.Response, shown: str, most: int, into: BinaryIO | None
) -> tuple[bytes, int]:
    """Piece by piece and unpacked on the way: what is larger than was said is noticed."""
    length = response.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:18]) > most:
        raise _make_size_error(shown, most)
    kept, size = bytearray(), 0
    async for part in response.aiter_bytes(_PIECE):
        size += len(part)
        if size > most:
            raise _make_size_error(shown, most)
        if into is None:
            kept += part
        else:
            into.write(part)
    return bytes(kept), size


def _make_size_error(url: str, most: int) -> UnreadableFile:
    return UnreadableFile(
        Text("{url}: larger than {most:,} bytes", url=url, most=most),
        hint=Text("raise ingest.max_bytes, or split the file"),
    )


def _follow_redirect(url: str, reply: ServiceReply) -> str:
    """Within one host and port only: what was sent may hold a password."""
    there = urljoin(url, reply.headers.get("location", ""))
    if urlsplit(there)[:2] != urlsplit(url)[:2]:
        raise PermanentError(
            Text("{url} leads to another host", url=hide_query(url)),
            hint=Text("name that address itself where it is the right one"),
            code="leads_away",
        )
    return there


def make_reply_error(reply: ServiceReply) -> CitewellError:
    """What a status that is no success means."""
    said = Text("{url}: status {status}", url=hide_query(reply.url), status=reply.status)
    if reply.status in _BUSY or reply.status >= 500:
        return TransientError(said, hint=Text("it is busy or failing; the next run tries again"))
    if reply.status in {404, 410}:
        return PermanentError(said, hint=Text("there is no such item"), code=ITEM_MISSING)
    if reply.status in {401, 403, 407}:
        hint = Text("see that user and password are right and may read it")
        return PermanentError(said, hint=hint, code="refused")
    return PermanentError(said, hint=Text("see that the address is right"))


def make_clear_error(host: str) -> InvalidInput:
    """That a password is not sent over the network in clear."""
    return InvalidInput(
        Text("a password for {host} would be sent in clear", host=host),
        hint=Text(
            "use the encrypted form of the address, or list a host of yours in allow_private_hosts"
        ),
        code="bad_url",
    )


def hide_query(url: str) -> str:
    """An address as it may be shown: without what may be a key."""
    return url.partition("?")[0]

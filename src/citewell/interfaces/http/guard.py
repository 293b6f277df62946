"""What every request passes before a route sees it: host, origin, size; and the headers of every reply.

The one rule: a page of another site must not be able to use this server through its visitor's browser. A foreign `Host` is a
rebound name, a foreign `Origin` on a request that changes something is such a page; both are refused.
"""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.interfaces.http.errors import Refused, reply
from citewell.interfaces.problem import problem_of

READING = frozenset({"GET", "HEAD", "OPTIONS"})
LARGEST_BODY = 1_000_000  # bytes of a request that is no upload
UPLOADS = ("/documents", "/api/papers", "/api/data/sources")  # ends of the paths that files are sent to
ENVELOPE = 1_000_000  # bytes that a multipart form adds to its files at most


class Guard:
    """ASGI middleware. `largest_file`: bytes that one upload may carry."""

    def __init__(self, app: ASGIApp, largest_file: int) -> None:
        self.app = app
        self.largest_file = largest_file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_safe(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).setdefault("X-Content-Type-Options", "nosniff")
            await send(message)

        try:
            check_host(headers)
            if scope["method"] not in READING:
                check_origin(headers)
            limit = self._limit(scope["path"], headers)
            check_length(headers, limit)
        except Refused as error:
            await reply(error.status, problem_of(error))(scope, receive, send_safe)
            return
        await self.app(scope, _counted(receive, limit), send_safe)

    def _limit(self, path: str, headers: Headers) -> int:
        upload = path.endswith(UPLOADS) and headers.get("content-type", "").startswith("multipart/form-data")
        return self.largest_file + ENVELOPE if upload else LARGEST_BODY


def check_host(headers: Headers) -> None:
    """Only a loopback name or address may be asked for. Raises Refused."""
    host = headers.get("host", "")
    name = (urlsplit(f"//{host}").hostname or "") if _splits(host) else ""
    with suppress(ValueError):
        if ipaddress.ip_address(name).is_loopback:
            return
    if name != "localhost":
        hint = "use http://127.0.0.1 or http://localhost with the port that `citewell serve` printed"
        raise Refused(421, "wrong_host", f"host {host!r} is not this server", hint)


def check_origin(headers: Headers) -> None:
    """A browser says which page sends a request; programs say nothing and may. Raises Refused."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    same = origin is None or origin.lower() == f"http://{headers.get('host', '')}".lower()
    if not same or site not in {"same-origin", "none"}:
        raise Refused(403, "wrong_origin", f"a page of {origin or 'another site'} may not change anything here")


def check_length(headers: Headers, limit: int) -> None:
    """A declared length over the limit is refused before a byte is read. Raises Refused."""
    length = headers.get("content-length", "0")
    if length.isdigit() and int(length) > limit:
        raise Refused(413, "too_large", too_large(limit), "send less at a time")


def too_large(limit: int) -> str:
    return f"the request is larger than the {limit:,} bytes allowed"


def _counted(receive: Receive, limit: int) -> Receive:
    """For bodies of no declared length: stop when they pass the limit."""
    total = 0

    async def counted() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > limit:
            raise HTTPException(413, too_large(limit))
        return message

    return counted


def _splits(host: str) -> bool:
    with suppress(ValueError):
        urlsplit(f"//{host}")
        return True
    return False

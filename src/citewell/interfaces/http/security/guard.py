"""What every request passes before a route sees it: host, origin, size; and the headers of every
reply. A page of another site must not be able to use this server through its visitor's browser. A
foreign `Host` is a rebound name, a foreign `Origin` on a request that changes something is such a
page; both are refused. Pages of the sites that the setting `access.origins` names may do what the
chat element does, and nothing else.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.config import Settings
from citewell.interfaces.http.deps import READING
from citewell.interfaces.http.errors import Refused, build_json_reply
from citewell.interfaces.http.security.access import OPEN, WIDGET
from citewell.interfaces.http.security.request_headers import is_https
from citewell.interfaces.problem import to_problem
from citewell.messages import Text

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
LARGEST_BODY = 1_000_000  # bytes of a request that is no upload
# ends of the paths that files are sent to
UPLOADS = ("/documents", "/api/papers", "/api/data/sources", "/api/chunks")
# bytes of a request to what is open to everybody: a token to sign in with has 46
LARGEST_OPEN = 4_096
ENVELOPE = 1_000_000  # bytes that a multipart form adds to its files at most

# replies that no cache keeps, unless a route says otherwise
DATA = ("/api/", "/v1/", "/mcp", "/metrics")
ELSEWHERE = "/widget.js"  # the one file that pages of other sites load
SAFE = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
VISITING = frozenset({"POST", "OPTIONS"})
PREFLIGHT = {
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
}


class Guard:
    """ASGI middleware, around access.py."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.largest_file = settings.ingest.max_bytes
        self.origins = frozenset(settings.access.origins)
        self.proxies = settings.access.proxies
        self.hosts = get_allowed_hosts(settings)
        self.users = settings.auth != "none"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, path = Headers(scope=scope), str(scope["path"])
        shown = self._build_headers(headers, path, scope["method"])

        async def send_safe(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = MutableHeaders(scope=message)
                for name, value in shown.items():
                    added.setdefault(name, value)
            await send(message)

        try:
            check_host(headers, self.hosts, get_reached_address(scope) if self.users else None)
            scope["citewell.visitor"] = visits = self._is_visitor(headers, path, scope["method"])
            if visits and scope["method"] == "OPTIONS":
                await Response(status_code=204, headers=PREFLIGHT)(scope, receive, send_safe)
                return
            if scope["method"] not in READING and not visits:
                check_origin(headers, https=is_https(scope, self.proxies))
            limit = self._get_size_limit(path, headers)
            check_length(headers, limit)
        except Refused as error:
            await build_json_reply(error.status, to_problem(error))(scope, receive, send_safe)
            return
        await self.app(scope, _limit_body(receive, limit), send_safe)

    def _is_visitor(self, headers: Headers, path: str, method: str) -> bool:
        """Whether a permitted site's page shows the chat element. Our own page is no visitor."""
        if path not in WIDGET or method not in VISITING:
            return False
        return headers.get("origin", "").lower() in self.origins and headers.get(
            "sec-fetch-site"
        ) not in {"same-origin", "none"}

    def _build_headers(self, headers: Headers, path: str, method: str) -> Mapping[str, str]:
        """Of every reply, where a route does not say otherwise."""
        shown = dict(SAFE)
        if path.startswith(DATA):
            shown["Cache-Control"] = "no-store"
        if path == ELSEWHERE:
            shown["Cross-Origin-Resource-Policy"] = "cross-origin"
        if self.origins and path in WIDGET:
            shown["Vary"] = "Origin"
            if self._is_visitor(headers, path, method):
                shown["Access-Control-Allow-Origin"] = headers["origin"]
                shown["Access-Control-Expose-Headers"] = "Retry-After"
        return shown

    def _get_size_limit(self, path: str, headers: Headers) -> int:
        if path in OPEN:
            return LARGEST_OPEN
        upload = path.endswith(UPLOADS) and headers.get("content-type", "").startswith(
            "multipart/form-data"
        )
        return self.largest_file + ENVELOPE if upload else LARGEST_BODY


def get_allowed_hosts(settings: Settings) -> frozenset[str]:
    """Names and addresses to be asked for besides this machine's; none without users."""
    if settings.auth == "none":
        return frozenset()
    named = [each.lower().rstrip(".") for each in settings.access.hosts]
    everywhere = settings.host in {"0.0.0.0", "::", ""}  # noqa: S104 - what is compared, not what is listened on
    return frozenset(named if everywhere else [*named, settings.host.lower()])


def get_reached_address(scope: Scope) -> IPAddress | None:
    """The one of this machine that the connection came to."""
    with suppress(ValueError):
        address = ipaddress.ip_address((scope.get("server") or ("", None))[0])
        return getattr(address, "ipv4_mapped", None) or address
    return None


def check_host(headers: Headers, hosts: frozenset[str], reached: IPAddress | None = None) -> None:
    """Only a loopback name or address, one of `hosts`, or the address `reached` may be asked for:
    so ask probes and Prometheus, and no rebound name is an address. Raises Refused.
    """
    host = headers.get("host", "")
    name = (urlsplit(f"//{host}").hostname or "") if _is_parsable_host(host) else ""
    with suppress(ValueError):
        address = ipaddress.ip_address(name)
        if address.is_loopback or address == reached:
            return
    if name != "localhost" and name.rstrip(".") not in hosts:
        hint = Text(
            "use http://127.0.0.1 or http://localhost with the port that `citewell serve` printed"
        )
        hint += Text('; with auth = "token", access.hosts lists other names')
        raise Refused(421, "wrong_host", Text("host {host!r} is not this server", host=host), hint)


def check_origin(headers: Headers, *, https: bool = False) -> None:
    """A browser says which page sends a request; programs say nothing and may. A proxy in front may
    add the https. Raises Refused.
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    host = headers.get("host", "").lower()
    same = origin is None or origin.lower() in (
        {f"https://{host}"} if https else {f"https://{host}", f"http://{host}"}
    )
    if not same or site not in {"same-origin", "none"}:
        raise Refused(
            403,
            "wrong_origin",
            Text(
                "a page of {origin} may not change anything here",
                origin=origin or Text("another site"),
            ),
        )


def check_length(headers: Headers, limit: int) -> None:
    """A declared length over the limit is refused before a byte is read. Raises Refused."""
    length = headers.get("content-length", "0")
    if length.isdigit() and int(length) > limit:
        raise Refused(413, "too_large", format_too_large(limit), Text("send less at a time"))


def format_too_large(limit: int) -> str:
    return Text("the request is larger than the {limit:,} bytes allowed", limit=limit)


def _limit_body(receive: Receive, limit: int) -> Receive:
    """For bodies of no declared length: stop when they pass the limit."""
    total = 0

    async def receive_counted() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > limit:
            raise HTTPException(413, format_too_large(limit))
        return message

    return receive_counted


def _is_parsable_host(host: str) -> bool:
    with suppress(ValueError):
        urlsplit(f"//{host}")
        return True
    return False

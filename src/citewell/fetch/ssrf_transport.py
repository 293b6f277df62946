"""The transport under every page that is fetched: HTTP/1.1 or HTTP/2 over connections that are kept
for a while. Imports the HTTP client, so it is itself imported when first needed. A request goes to
an address that the guard has just checked, whatever its host means a moment later, over a
connection that was made for its own host and for no other.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import ssl
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import anyio
import httpx2
from h2.exceptions import H2Error

from citewell.fetch.addresses import Guard
from citewell.fetch.public_addresses import Address

# seconds without a request after which a connection may be closed; servers wait 5 at least, most of
# them 60
IDLE = 8.0
MOST_HOSTS = 32  # whose connections are kept
_CONNECT = 5.0  # seconds for one address; then the next is tried
_PORTS = {"http": 80, "https": 443}
# what comes of a connection that the server has closed in the meantime
_BROKEN = (httpx2.ReadError, httpx2.WriteError, httpx2.CloseError, httpx2.ProtocolError)

Key = tuple[str, str, int]  # scheme, host name and port
Ended = Callable[[bool], Coroutine[Any, Any, None]]


@dataclass(slots=True, eq=False)
class _HostPool:
    """The connections to one host. `users`: requests under way. `address`: that answered last."""

    transport: httpx2.AsyncHTTPTransport
    users: int = 0
    idle_since: float = 0.0
    address: Address | None = None


class _Connections:
    """A pool for each host: one for all would tell its connections apart by address alone, so that
    one made for a host could carry the request of another at the same address, past its
    certificate.
    """

    def __init__(self) -> None:
        self._tls = httpx2.create_ssl_context()
        self._kept: OrderedDict[Key, _HostPool] = OrderedDict()  # the least recently used first
        self._spent: set[_HostPool] = set()  # in use, and to be closed after that
        self._closing: asyncio.Task[None] | None = None

    def take(self, key: Key) -> _HostPool:
        if key not in self._kept:
            limits = httpx2.Limits(
                max_connections=None, max_keepalive_connections=4, keepalive_expiry=IDLE
            )
            self._kept[key] = _HostPool(
                httpx2.AsyncHTTPTransport(verify=self._tls, http2=True, limits=limits)
            )
        kept = self._kept[key]
        kept.users += 1
        self._kept.move_to_end(key)
        return kept

    async def release_pool(self, key: Key, kept: _HostPool, *, whole: bool) -> None:
        """`whole`: the reply was read to its end. Else the connections are used no more: over
        HTTP/2 the rest of that reply would go on coming, and fill the room that the replies of
        later requests need.
        """
        kept.users -= 1
        kept.idle_since = time.monotonic()
        if not whole and self._kept.get(key) is kept:
            del self._kept[key]
            self._spent.add(kept)
        if kept in self._spent and not kept.users:
            self._spent.discard(kept)
            await _close_pool(kept)
        surplus = len(self._kept) - MOST_HOSTS
        if surplus > 0:
            await self._close_pools(
                [each for each, one in self._kept.items() if not one.users][:surplus]
            )
        if self._kept and (self._closing is None or self._closing.done()):
            self._closing = asyncio.create_task(self._close_idle())

    async def _close_idle(self) -> None:
        """A pool looks at its connections only when it is asked for one, and a host may never be
        asked for again.
        """
        while self._kept:
            await asyncio.sleep(IDLE)
            before = time.monotonic() - IDLE
            await self._close_pools(
                [
                    key
                    for key, kept in self._kept.items()
                    if not kept.users and kept.idle_since <= before
                ]
            )

    async def _close_pools(self, keys: list[Key]) -> None:
        for kept in [self._kept.pop(key) for key in keys]:
            await _close_pool(kept)

    async def aclose(self) -> None:
        closing, self._closing = self._closing, None
        if closing is not None:
            closing.cancel()
            await asyncio.wait([closing])
        every = [*self._kept.values(), *self._spent]
        self._kept.clear()
        self._spent.clear()
        for kept in every:
            await _close_pool(kept)


class _Body(httpx2.AsyncByteStream):
    """A reply's bytes, which tells once whether they were read to their end."""

    def __init__(self, stream: httpx2.AsyncByteStream, ended: Ended) -> None:
        self._stream = stream
        self._ended: Ended | None = ended
        self._whole = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _convert_protocol_errors():
            async for part in self._stream:
                yield part
        self._whole = True

    async def aclose(self) -> None:
        ended, self._ended = self._ended, None
        try:
            await self._stream.aclose()
        finally:
            if ended is not None:
                await ended(self._whole)


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Resolves, checks, connects; certificates are checked by name. Raises as `Guard.addresses`."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._connections = _Connections()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        host = url.raw_host.decode("ascii")
        key = url.scheme, host, url.port or _PORTS[url.scheme]
        found = await self._guard.addresses(host, key[2])
        if not _is_address(host):
            request.extensions = {**request.extensions, "sni_hostname": host}
        try:
            return await self._send_over_pool(key, request, found)
        except _BROKEN:
            if request.method != "GET" or request.extensions.get("connected"):
                raise
        # the connection was an old one, and its server had left
        return await self._send_over_pool(key, request, found)

    async def _send_over_pool(
        self, key: Key, request: httpx2.Request, found: list[Address]
    ) -> httpx2.Response:
        kept = self._connections.take(key)
        try:
            response = await _send_request(kept, request, found)
        except BaseException:
            await self._connections.release_pool(key, kept, whole=False)
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)

        async def release(whole: bool) -> None:
            await self._connections.release_pool(key, kept, whole=whole)

        response.stream = _Body(response.stream, release)
        return response

    async def aclose(self) -> None:
        await self._connections.aclose()


async def _send_request(
    kept: _HostPool, request: httpx2.Request, found: list[Address]
) -> httpx2.Response:
    """The extension `connected` of the request tells whether a connection was made for it."""

    async def note(event: str, _: object) -> None:
        if event == "connection.connect_tcp.started":
            request.extensions["connected"] = True

    url = request.url
    request.extensions = {**request.extensions, "trace": note, "connected": False}
    # name servers give the addresses in another order each time; the one that there is a connection
    # to is as good
    for left, address in enumerate(
        sorted(found, key=lambda each: each != kept.address), start=1 - len(found)
    ):
        # the header Host was set from the name before
        request.url = url.copy_with(host=_format_address(address))
        try:
            with _convert_protocol_errors():
                response = await kept.transport.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            if not left:
                raise
        else:
            kept.address = address
            return response
        finally:
            request.url = url
    raise httpx2.ConnectError("no addresses")


@contextlib.contextmanager
def _convert_protocol_errors() -> Iterator[None]:
    """What libraries raise, uncaught, at broken HTTP/2 or TLS, such as a status without number."""
    try:
        yield
    except (H2Error, ssl.SSLError, ValueError, LookupError) as error:
        raise httpx2.RemoteProtocolError("the bytes make no sense") from error


async def _close_pool(kept: _HostPool) -> None:
    with anyio.CancelScope(shield=True):  # it waits for nobody
        await kept.transport.aclose()


def create_client(guard: Guard, agent: str) -> httpx2.AsyncClient:
    """A client without cookies, redirects and proxies: a proxy would resolve for itself."""
    headers = {
        "User-Agent": agent,
        "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.5",
        "Accept-Encoding": "gzip, deflate, br",  # all are unpacked piece by piece
    }
    return httpx2.AsyncClient(
        transport=GuardedTransport(guard),
        trust_env=False,
        headers=headers,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        # the time of all of it is the caller's to limit
        timeout=httpx2.Timeout(None, connect=_CONNECT),
    )


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _format_address(address: Address) -> str:
    return f"[{address}]" if address.version == 6 else str(address)

"""The transport under every page that is fetched. Imports the HTTP client, so it is itself imported when first needed.

The one rule: a request goes to an address that the guard has just checked, whatever its host means a moment later.
"""

from __future__ import annotations

import ipaddress
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx2

from citewell.ingest.addresses import Address, Guard

_CONNECT = 5.0  # seconds for one address; then the next is tried
_PORTS = {"http": 80, "https": 443}


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Resolves, checks, connects; the certificate is checked against the host's name. Raises what `Guard.addresses` raises."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        # Connections are told apart by address below, so one made for a host could carry the request of another host at the
        # same address, past its certificate. So each serves one request.
        self._inner = httpx2.AsyncHTTPTransport(limits=httpx2.Limits(max_keepalive_connections=0, max_connections=None))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        host = url.raw_host.decode("ascii")
        found = await self._guard.addresses(host, url.port or _PORTS[url.scheme])
        if not _is_address(host):
            request.extensions = {**request.extensions, "sni_hostname": host}
        for left, address in enumerate(found, start=1 - len(found)):
            request.url = url.copy_with(host=_written(address))  # the header Host was set from the name before
            try:
                return await self._inner.handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if not left:
                    raise
            finally:
                request.url = url
        raise httpx2.ConnectError("no addresses")

    async def aclose(self) -> None:
        await self._inner.aclose()


def client(guard: Guard, agent: str) -> httpx2.AsyncClient:
    """A client that keeps no cookies, follows no redirects by itself, and knows no proxy: one would resolve for itself."""
    headers = {
        "User-Agent": agent,
        "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.5",
        "Accept-Encoding": "gzip, deflate",  # both are unpacked piece by piece
        "Connection": "close",
    }
    return httpx2.AsyncClient(
        transport=GuardedTransport(guard),
        trust_env=False,
        headers=headers,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=httpx2.Timeout(None, connect=_CONNECT),  # the time of all of it is the caller's to limit
    )


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _written(address: Address) -> str:
    return f"[{address}]" if address.version == 6 else str(address)

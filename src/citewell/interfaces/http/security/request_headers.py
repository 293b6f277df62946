"""What a request says of its sender: address, scheme, token, session."""

from __future__ import annotations

import ipaddress
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import Scope

from citewell.config import AccessSettings

COOKIE = "citewell_session"
FORWARDED = frozenset({"forwarded", "via", "x-real-ip"})  # and all of X-Forwarded-: a proxy's


def get_bearer_token(headers: Headers) -> str:
    """The one that a program shows; empty where there is none."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def get_session_cookie(headers: Headers) -> str:
    """The secret of the page's session; empty where there is none."""
    return cookie_parser(headers.get("cookie", "")).get(COOKIE, "")


def get_client_address(scope: Scope, proxies: tuple[str, ...]) -> str:
    """Where a request comes from: as the last trusted proxy saw it, else who is connected."""
    client, believed = _get_peer_address(scope), {normalize_address(each) for each in proxies}
    if client in believed:
        seen = [normalize_address(each) for each in _list_header_values(scope, "x-forwarded-for")]
        return next((each for each in reversed(seen) if each not in believed), client)
    return client


def is_https(scope: Scope, proxies: tuple[str, ...]) -> bool:
    """Whether who asks does so by https: from here, or by the word of a proxy we believe."""
    said = (
        _list_header_values(scope, "x-forwarded-proto")
        if _get_peer_address(scope) in {normalize_address(each) for each in proxies}
        else []
    )
    return (said[-1] if said else str(scope.get("scheme", ""))).lower() == "https"


def _get_peer_address(scope: Scope) -> str:
    """Who is connected."""
    return normalize_address(str((scope.get("client") or ("",))[0]))


def _list_header_values(scope: Scope, name: str) -> list[str]:
    """What all headers of this name list: a client sends one, a proxy may add another."""
    return [
        part.strip()
        for line in Headers(scope=scope).getlist(name)
        for part in line.split(",")
        if part.strip()
    ]


def normalize_address(address: str) -> str:
    """An address without its port, written one way."""
    alone = address.partition("]")[0].removeprefix("[") if address.startswith("[") else address
    if alone.count(":") == 1:
        alone = alone.partition(":")[0]
    with suppress(ValueError):
        found = ipaddress.ip_address(alone)
        return str(getattr(found, "ipv4_mapped", None) or found)
    return alone


def is_local_request(scope: Scope, headers: Headers, access: AccessSettings) -> bool:
    """From this machine, not through a proxy on it, which need not say so in a header."""
    if (
        access.proxies
        or access.hosts
        or any(name in FORWARDED or name.startswith("x-forwarded-") for name in headers)
    ):
        return False
    with suppress(ValueError):
        return ipaddress.ip_address(_get_peer_address(scope)).is_loopback
    return False

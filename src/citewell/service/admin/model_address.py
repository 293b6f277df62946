"""Is this an address that a server of models may have? This machine and the house's own network are
the usual place of one, so only what can be none is refused: another scheme, a password in the
address, and the link-local network, where clouds keep credentials.
"""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress
from urllib.parse import urlsplit, urlunsplit

import anyio

from citewell.errors import InvalidInput
from citewell.messages import Text

LONGEST = 500  # characters
VERSIONED = "/v1"  # the path of an address that has none


async def normalize_address(url: str, path: str = "") -> str:
    """Without a slash at its end; `path` where it has none. Raises InvalidInput."""
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise _refuse(Text("that is not an address")) from None
    if len(url) > LONGEST or not url.strip().isprintable() or " " in url.strip():
        raise _refuse(Text("that is not an address"))
    if parts.scheme not in {"http", "https"} or not host:
        raise _refuse(Text("it must start with http:// or https:// and name a server"))
    if "@" in parts.netloc:
        raise _refuse(Text("leave out user name and password; the key has its own field"))
    if parts.query or parts.fragment:
        raise _refuse(Text("leave out what follows ? or #"))
    await _check_network(host)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") or path, "", ""))


def get_origin(url: str) -> tuple[str, str, int | None]:
    """Which server it is: scheme, host and port."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port


async def _check_network(host: str) -> None:
    """A name that does not resolve now is the trial's to tell."""
    with suppress(OSError, UnicodeError):
        found = await anyio.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        for *_, address in found:
            ip = ipaddress.ip_address(str(address[0]).partition("%")[0])
            ip = getattr(ip, "ipv4_mapped", None) or ip
            if ip.is_link_local or ip.is_multicast:
                raise _refuse(Text("{ip} is not the address of a model server", ip=ip))


def _refuse(why: str) -> InvalidInput:
    return InvalidInput(
        Text("the address cannot be used: {why}", why=why),
        hint=Text("for example http://127.0.0.1:11434/v1, which is Ollama on this machine"),
    )

"""Which addresses may be connected to: public ones, and those of this house that the settings list.

The one rule: the address that is checked is the address that is connected to, and a host with one refused address is refused.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Iterable
from typing import Final

from citewell.errors import CitewellError, ConfigError, InvalidInput, PermanentError, TransientError
from citewell.ingest.urls import host_name

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# not for the public, though older Pythons do not all say so, and a cloud's metadata server on an address of its own
_CLOSED: Final = tuple(
    ipaddress.ip_network(each)
    for each in (
        "0.0.0.0/8",
        "100.64.0.0/10",
        "168.63.129.16",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "240.0.0.0/4",
    )
)
_GLOBAL: Final = ipaddress.IPv6Network("2000::/3")  # all of IPv6 that is given out
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_PATTERN = re.compile(r"\*\.(.+)")
_FOR_NOW: Final = {socket.EAI_AGAIN, socket.EAI_MEMORY, socket.EAI_SYSTEM}


def public(address: Address) -> bool:
    """Whether an address is on the open internet, with any IPv4 address that an IPv6 one carries looked at too."""
    if isinstance(address, ipaddress.IPv6Address):
        carried = _carried(address)
        if not all(public(each) for each in carried):
            return False
        if carried and address not in _GLOBAL:
            return True  # mapped or translated: what it carries decides
        return address in _GLOBAL and address.is_global and not address.is_multicast
    return address.is_global and not (address.is_multicast or address.is_reserved or any(address in net for net in _CLOSED))


def _carried(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """Mapped, 6to4, Teredo (server and client) and NAT64 addresses carry an IPv4 address to which packets may go."""
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))
    return [each for each in found if each is not None]


async def resolve(host: str, port: int) -> list[Address]:
    """The addresses of a host, in the order in which they should be tried; an address has itself. Raises OSError."""
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        return list(dict.fromkeys(ipaddress.ip_address(str(row[4][0])) for row in rows))


class Guard:
    """`allow`: host names (`*.example.com` for those below it), addresses and networks that need not be public. Raises
    ConfigError where one is none of these.
    """

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._names: set[str] = set()
        self._below: set[str] = set()  # what the names must end in
        self._networks: list[Network] = []
        for entry in allow:
            self._allow(entry)

    def _allow(self, entry: str) -> None:
        try:
            self._networks.append(ipaddress.ip_network(entry.strip("[]"), strict=False))
        except ValueError:
            below = _PATTERN.fullmatch(entry)
            try:
                name = host_name(below[1] if below else entry)
            except InvalidInput:
                hint = "host names, *.names, addresses, or networks such as 10.0.0.0/8; no port"
                raise ConfigError(f"setting allow_private_hosts: {entry} is not a host or a network", hint=hint) from None
            if below:
                self._below.add("." + name)
            else:
                self._names.add(name)

    async def addresses(self, host: str, port: int) -> list[Address]:
        """Where `host` may be reached now. Raises InvalidInput (`address_refused`), PermanentError (`unknown_host`) and
        TransientError.
        """
        try:
            found = await resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise _unresolved(host, error) from None
        if not found:
            raise _unresolved(host, OSError("no addresses"))
        if not self._listed(host) and not all(public(each) or self._inside(each) for each in found):
            raise InvalidInput(
                f"{host} is refused: it is not on the public internet",
                hint=f"if it is a host of yours, list it in allow_private_hosts (CITEWELL_ALLOW_PRIVATE_HOSTS={host})",
                code="address_refused",
            )
        return found

    def _listed(self, host: str) -> bool:
        return host in self._names or any(host.endswith(ending) for ending in self._below)

    def _inside(self, address: Address) -> bool:
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return any((mapped or address) in network for network in self._networks)


def _unresolved(host: str, error: Exception) -> CitewellError:
    if isinstance(error, socket.gaierror) and error.errno in _FOR_NOW:
        return TransientError(f"{host}: its address could not be looked up", hint="is this machine connected?")
    return PermanentError(f"{host}: there is no such host", hint="see that the address is right", code="unknown_host")

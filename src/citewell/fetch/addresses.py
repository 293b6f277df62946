"""Which addresses may be connected to: public ones, and those of this house that the settings list.
The address that is checked is the address that is connected to, and a host with one refused address
is refused.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Iterable
from typing import Final

from citewell.errors import CitewellError, ConfigError, InvalidInput, PermanentError, TransientError
from citewell.fetch.public_addresses import Address, is_public
from citewell.fetch.urls import normalize_host
from citewell.messages import Text

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Ports that pages of others are fetched from: below 1024 these, from there on all but those of
# other services.
_LOW: Final = {80, 443}
_SERVICES: Final = frozenset(
    {
        1080,
        1099,
        1194,
        1433,
        1434,
        1521,
        1719,
        1720,
        1723,
        1883,
        2049,
        2181,
        2375,
        2376,
        2377,
        2379,
        2380,
        2483,
        2484,
        3128,
    }
    | {
        3268,
        3269,
        3306,
        3389,
        3659,
        3690,
        4045,
        4190,
        4222,
        4369,
        5060,
        5061,
        5222,
        5269,
        5432,
        5433,
        5671,
        5672,
        5900,
        5901,
    }
    | {
        5984,
        5985,
        5986,
        6000,
        6379,
        6380,
        6443,
        6566,
        6660,
        6665,
        6666,
        6667,
        6668,
        6669,
        6679,
        6697,
        7000,
        7199,
        7474,
        7687,
    }
    | {
        8086,
        8125,
        8300,
        8500,
        8529,
        8600,
        8883,
        9042,
        9092,
        9093,
        9160,
        9200,
        9300,
        9418,
        10080,
        10250,
        10255,
        11211,
        15672,
    }
    | {16379, 26257, 26379, 27017, 27018, 27019, 28015, 28017, 33060, 50000, 50070, 61613, 61616}
)
_PATTERN = re.compile(r"\*\.(.+)")
_FOR_NOW: Final = {socket.EAI_AGAIN, socket.EAI_MEMORY, socket.EAI_SYSTEM}


async def resolve(host: str, port: int) -> list[Address]:
    """The addresses of a host in the order to try; an address has itself. Raises OSError."""
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        rows = await asyncio.get_running_loop().getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
        return list(dict.fromkeys(ipaddress.ip_address(str(row[4][0])) for row in rows))


class Guard:
    """`allow`: host names (`*.example.com` for those below it), addresses and networks that need
    not be public. Raises ConfigError where one is none of these.
    """

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._names: set[str] = set()
        self._below: set[str] = set()  # what the names must end in
        self._networks: list[Network] = []
        for entry in allow:
            self._allow_entry(entry)

    def _allow_entry(self, entry: str) -> None:
        try:
            self._networks.append(ipaddress.ip_network(entry.strip("[]"), strict=False))
        except ValueError:
            below = _PATTERN.fullmatch(entry)
            try:
                name = normalize_host(below[1] if below else entry)
            except InvalidInput:
                hint = Text(
                    "host names, *.names, addresses, or networks such as 10.0.0.0/8; no port"
                )
                raise ConfigError(
                    Text(
                        "setting allow_private_hosts: {entry} is not a host or a network",
                        entry=entry,
                    ),
                    hint=hint,
                ) from None
            if below:
                self._below.add("." + name)
            else:
                self._names.add(name)

    async def addresses(self, host: str, port: int, service: int = 0) -> list[Address]:
        """Where `host` may be reached now; `service`: a port that is asked for on purpose, that of
        mail say. Raises InvalidInput (`address_refused`; `bad_url` for a port that is not one of
        the web), PermanentError (`unknown_host`) and TransientError.
        """
        try:
            found = await resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise _make_resolve_error(host, error) from None
        if not found:
            raise _make_resolve_error(host, OSError("no addresses"))
        self._check_addresses(host, 443 if port == service else port, found)
        return found

    def is_listed(self, host: str) -> bool:
        """Whether the settings name this host, or the address that it is, as one of this house."""
        try:
            return self._is_allowed_host(host) or self._is_allowed_address(
                ipaddress.ip_address(host.strip("[]"))
            )
        except ValueError:
            return False

    def may_fetch(self, host: str, port: int) -> bool:
        """As far as can be told without a look-up: an address is judged, and `localhost`; what a
        name stands for is judged when it is fetched.
        """
        local = host == "localhost" or host.endswith(".localhost")
        try:
            found = [ipaddress.ip_address("127.0.0.1" if local else host.strip("[]"))]
        except ValueError:
            found = []
        try:
            self._check_addresses(host, port, found)
        except InvalidInput:
            return False
        return True

    def _check_addresses(self, host: str, port: int, found: list[Address]) -> None:
        if self._is_allowed_host(host) or (
            found and all(self._is_allowed_address(each) for each in found)
        ):
            return
        if not all(is_public(each) or self._is_allowed_address(each) for each in found):
            raise InvalidInput(
                Text("{host} is refused: it is not on the public internet", host=host),
                hint=Text(
                    "if it is a host of yours, list it in allow_private_hosts "
                    "(CITEWELL_ALLOW_PRIVATE_HOSTS={host})",
                    host=host,
                ),
                code="address_refused",
            )
        if (port < 1024 and port not in _LOW) or port in _SERVICES:
            raise InvalidInput(
                Text(
                    "{host}, port {port}, cannot be fetched: that port belongs to another "
                    "service than the web",
                    host=host,
                    port=port,
                ),
                hint=Text(
                    "80, 443 and most from 1024 are fetched; other ports of hosts that "
                    "allow_private_hosts lists"
                ),
                code="bad_url",
            )

    def _is_allowed_host(self, host: str) -> bool:
        return host in self._names or any(host.endswith(ending) for ending in self._below)

    def _is_allowed_address(self, address: Address) -> bool:
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return any((mapped or address) in network for network in self._networks)


def _make_resolve_error(host: str, error: Exception) -> CitewellError:
    if isinstance(error, socket.gaierror) and error.errno in _FOR_NOW:
        return TransientError(
            Text("{host}: its address could not be looked up", host=host),
            hint=Text("is this machine connected?"),
            code="no_connection",
        )
    return PermanentError(
        Text("{host}: there is no such host", host=host),
        hint=Text("see that the address is right"),
        code="unknown_host",
    )

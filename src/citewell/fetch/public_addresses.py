"""Which addresses are public."""

from __future__ import annotations

import ipaddress
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# not for the public, though older Pythons do not all say so, and a cloud's metadata server on an
# address of its own
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
        "3fff::/20",
    )
)

_GLOBAL: Final = ipaddress.IPv6Network("2000::/3")  # all of IPv6 that is given out

_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")

# before the IPv4 address, at the end of an address of any network
_ISATAP: Final = {0x5EFE, 0x0200_5EFE}


def is_public(address: Address) -> bool:
    """Whether an address is on the open internet, as is any IPv4 address inside an IPv6 one."""
    if isinstance(address, ipaddress.IPv6Address):
        if int(address) >> 32 & 0xFFFF_FFFF in _ISATAP and not is_public(
            _extract_trailing_ipv4(address)
        ):
            return False
        carried = _extract_embedded_ipv4(address)
        if not all(is_public(each) for each in carried):
            return False
        if carried and address not in _GLOBAL:
            return True  # mapped or translated: what it carries decides
        return (
            address in _GLOBAL
            and address.is_global
            and not (address.is_multicast or _is_reserved(address))
        )
    return address.is_global and not (
        address.is_multicast or address.is_reserved or _is_reserved(address)
    )


def _is_reserved(address: Address) -> bool:
    return any(address in network for network in _CLOSED)


def _extract_trailing_ipv4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address:
    """The IPv4 address in the last four bytes."""
    return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)


def _extract_embedded_ipv4(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 address in a mapped, 6to4, Teredo (server and client) or NAT64 address."""
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        found.append(_extract_trailing_ipv4(address))
    return [each for each in found if each is not None]

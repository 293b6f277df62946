"""Which sites a crawl may read: the URL validator of spec 002. A URL is judged by the host of its
canonical form, whole; nothing is searched for inside of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from citewell.errors import InvalidInput
from citewell.fetch.addresses import Guard
from citewell.fetch.urls import canonicalize_url, normalize_host
from citewell.messages import Text

_PORTS: Final = {"http": 80, "https": 443}
_HINT: Final = Text(
    "give hosts such as docs.example.com, *.example.com for what is below one, or none "
    "to allow every site"
)
_SHOWN: Final = 200  # characters of a wrong entry


@dataclass(frozen=True, slots=True)
class _Entry:
    """`below`: the names that end in `.host` and not the host itself. `port` None: any."""

    host: str
    port: int | None = None
    below: bool = False


@dataclass(frozen=True, slots=True)
class Domains:
    """Made by `parse_domains`. Without entries every valid URL is allowed."""

    entries: tuple[_Entry, ...] = ()

    def is_allowed(self, url: str) -> bool:
        """Whether this URL may be fetched (see `canonicalize_url`), of a host that entries name."""
        try:
            host, port = _parse_host_port(url)
        except InvalidInput:
            return False
        return not self.entries or any(
            (host.endswith("." + entry.host) if entry.below else host == entry.host)
            and entry.port in {None, port}
            for entry in self.entries
        )


def parse_domains(entries: Sequence[str]) -> Domains:
    """`example.com` is that host alone, `*.example.com` what is below it, `127.0.0.1:8000` a host
    on one port; of a whole URL its host counts, with the port where it has one. Raises InvalidInput
    (`bad_domain`), which names the entry.
    """
    return Domains(tuple(_parse_entry(entry) for entry in entries))


def is_valid(url: str, allowed_domains: Sequence[str], private: Sequence[str] = ()) -> bool:
    """Spec 002's `url_validator`: one of the hosts that are named, which may be of this house; any
    of the public ones, and of `private` (as the setting `allow_private_hosts`), where none is.
    Raises InvalidInput where an entry is wrong.
    """
    allowed = parse_domains(allowed_domains)
    if not allowed.is_allowed(url):
        return False
    host, port = _parse_host_port(url)
    return bool(allowed.entries) or Guard(private).may_fetch(host, port)


def _parse_host_port(url: str) -> tuple[str, int]:
    """Host and port of a URL. Raises InvalidInput where it is none."""
    parts = urlsplit(canonicalize_url(url))
    return parts.hostname or "", parts.port or _PORTS[parts.scheme]


def _parse_entry(entry: str) -> _Entry:
    text = entry.strip()
    try:
        if "://" in text:
            parts = urlsplit(canonicalize_url(text))
            return _Entry(parts.hostname or "", urlsplit(text).port)
        name, port = _split_host_port(text)
        below = name.startswith("*.")
        host = normalize_host(name.removeprefix("*.") if below else name)
        if below and _is_address(host):
            raise _make_domain_error(entry)
    except (InvalidInput, ValueError):
        raise _make_domain_error(entry) from None
    return _Entry(host, port, below)


def _split_host_port(text: str) -> tuple[str, int | None]:
    """Host and port. An IPv6 address has brackets where a port follows. Raises ValueError."""
    if text.startswith("["):
        host, closed, after = text[1:].partition("]")
        if not closed or ":" not in host or (after and not after.startswith(":")):
            raise ValueError
        return host, _parse_port(after[1:]) if after else None
    if text.count(":") != 1:
        return text, None
    host, _, port = text.partition(":")
    return host, _parse_port(port)


def _parse_port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 65536):
        raise ValueError
    return int(text)


def _is_address(host: str) -> bool:
    return ":" in host or host.rpartition(".")[2].isdigit()


def _make_domain_error(entry: str) -> InvalidInput:
    shown = "".join(  # no password
        char if char.isprintable() else "?" for char in entry.rpartition("@")[2][:_SHOWN]
    )
    return InvalidInput(
        Text("allowed_domains: {shown!r} is not a host", shown=shown), hint=_HINT, code="bad_domain"
    )

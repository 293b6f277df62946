"""Canonical URLs: one spelling of each page, and only what may be fetched over the web at all. A
URL that two programs could read in two ways (spaces, backslashes, a user name before the host) is
refused.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from citewell.errors import InvalidInput
from citewell.messages import Text

LONGEST: Final = 2_000  # characters
_PORTS: Final = {"http": 80, "https": 443}
_HINT = Text("give a whole address such as https://example.com/page")
# what only tells who sent the reader
_TRACKING = re.compile(
    r"(utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_cid|"
    r"mc_eid|_hsenc|_hsmi"
    r"|mkt_tok|oly_enc_id|oly_anon_id|vero_id|wickedid|spm|scm|_openstat|srsltid)",
    re.IGNORECASE,
)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_STRAY = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SAFE = "!$&'()*+,;=:@/?%-._~|[]"  # in a path or query; `|[]` are sent as they are by browsers
_PLAIN = re.compile(r"[A-Za-z0-9._~-]")  # characters that mean the same with and without an escape
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]*|[0-9]+)")


def canonicalize_url(url: str) -> str:
    """One spelling of a URL: scheme and host in small letters, an international name as `xn--`, no
    default port, no fragment, no tracking parameters, `..` resolved, escapes in one form.

    An empty path is `/`; any other slash at the end stays, for servers may show another page
    without it (see `get_url_identity`). Raises InvalidInput with the code `bad_url`.
    """
    parts = _validate_url(url)
    scheme = parts.scheme.lower()
    try:
        port = parts.port
    except ValueError:
        raise _make_url_error(url, Text("its port is not a number from 1 to 65535")) from None
    if port == 0:
        raise _make_url_error(url, Text("its port is not a number from 1 to 65535"))
    name = normalize_host(parts.hostname or "", url)
    host = f"[{name}]" if ":" in name else name
    ended = "" if port in {None, _PORTS[scheme]} else f":{port}"
    query = "&".join(
        part
        for part in parts.query.split("&")
        if part and not _TRACKING.fullmatch(part.partition("=")[0])
    )
    path = _remove_dot_segments(normalize_escapes(parts.path)) or "/"
    return f"{scheme}://{host}{ended}{path}" + (f"?{normalize_escapes(query)}" if query else "")


def get_url_identity(url: str) -> str:
    """The key by which canonical URLs are compared: without a slash at the end of the path."""
    path, mark, query = url.partition("?")
    return path.rstrip("/") + mark + query


def join_url(base: str, link: str) -> str:
    """The canonical URL that `link` means on the page `base`. Raises InvalidInput (`bad_url`)."""
    try:
        return canonicalize_url(urljoin(base, link))
    except ValueError:
        raise _make_url_error(link, Text("it cannot be read")) from None


def get_origin(url: str) -> str:
    """Scheme, host and port of a canonical URL: what one robots.txt applies to."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def normalize_escapes(text: str) -> str:
    """Path or query with its escapes in one form: large letters, none where none is needed, UTF-8
    for what is not ASCII.
    """

    def normalize_escape(match: re.Match[str]) -> str:
        char = chr(int(match[1], 16))
        return char if _PLAIN.fullmatch(char) else match[0].upper()

    return quote(_ESCAPE.sub(normalize_escape, _STRAY.sub("%25", text)), safe=_SAFE)


def normalize_host(host: str, url: str = "") -> str:
    """A host in small ASCII letters: `xn--` for an international name, an IP address in its usual
    notation without brackets. Raises InvalidInput (`bad_url`).
    """
    url = url or host
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host if "%" not in host else ""))
        except ValueError:
            raise _make_url_error(url, Text("its address is not one of IPv6")) from None
    name = (host if host.isascii() else _encode_idna(host, url)).lower().removesuffix(".")
    labels = name.split(".")
    # an address; 0177.1, 0x7f.1 and 2130706433 are read in more than one way
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(name))
        except ValueError:
            raise _make_url_error(url, Text("its address is not four decimal numbers")) from None
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _make_url_error(url, Text("its host is not a name"))
    return name


def _encode_idna(host: str, url: str) -> str:
    import idna

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except idna.IDNAError:
        raise _make_url_error(url, Text("its host is not an international name")) from None


def _validate_url(url: str) -> SplitResult:
    if len(url) > LONGEST:
        raise _make_url_error(
            url[:80] + "...", Text("it is longer than {longest:,} characters", longest=LONGEST)
        )
    if "\\" in url or any(char.isspace() or not char.isprintable() for char in url):
        raise _make_url_error(url, Text("it has spaces, backslashes or control characters in it"))
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _make_url_error(url, Text("it cannot be read")) from None
    if parts.scheme.lower() not in _PORTS:
        raise _make_url_error(url, Text("only http and https are fetched"))
    if "@" in parts.netloc:
        # and it is not repeated here: it may be a password
        hint = Text("leave out what stands before the @")
        raise InvalidInput(
            Text("a web address with a user name or password in it is refused"),
            hint=hint,
            code="bad_url",
        )
    if not parts.hostname:
        raise _make_url_error(url, Text("it names no host"))
    if ("[" in parts.netloc) != (":" in parts.hostname):  # brackets are for IPv6 alone
        raise _make_url_error(url, Text("its host is not a name"))
    return parts


def _remove_dot_segments(path: str) -> str:
    """RFC 3986, section 5.2.4."""
    kept: list[str] = []
    parts = path.split("/")[1:]
    for part in parts:
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    if parts and parts[-1] in {".", ".."}:
        kept.append("")
    return "".join("/" + part for part in kept)


def _make_url_error(url: str, why: str) -> InvalidInput:
    shown = "".join(char if char.isprintable() else "?" for char in url[:300])
    return InvalidInput(
        Text("{shown} cannot be fetched: {why}", shown=shown, why=why), hint=_HINT, code="bad_url"
    )


def strip_www(url: str) -> str:
    """Host and port without `www.`, which most sites answer alike."""
    return urlsplit(url).netloc.removeprefix("www.")

"""What people name to be kept in step: a folder, or an address whose scheme says what is there. An
address that is kept or shown has no password in it, and one that would run a program or open a file
is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit, urlunsplit

from citewell.errors import InvalidInput
from citewell.fetch.urls import canonicalize_url, normalize_host
from citewell.messages import Text

LONGEST: Final = 2_000  # characters
FOLDER: Final = "folder"
FORMS: Final = (
    "/a/folder, https://HOST/feed.xml, davs://USER@HOST/path, s3://BUCKET/prefix, "
    "git+https://HOST/repository.git, imaps://USER@HOST/INBOX"
)
_SCHEMES: Final = {
    "http": "feed",
    "https": "feed",
    "dav": "webdav",
    "davs": "webdav",
    "s3": "s3",
    "git+http": "git",
    "git+https": "git",
    "imap": "imap",
    "imaps": "imap",
}
# what may stand behind the question mark
_OPTIONS: Final = {
    "webdav": frozenset[str](),
    "s3": frozenset({"endpoint", "region"}),
    "git": frozenset({"ref"}),
    "imap": frozenset[str](),
}


@dataclass(frozen=True, slots=True)
class Place:
    """`address`: as it is kept and shown; of a folder its path. `user` is part of it."""

    kind: str
    address: str
    user: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def restore(cls, kind: str, address: str, options: Mapping[str, str]) -> Place:
        """As it was kept."""
        user = "" if kind == FOLDER else unquote(urlsplit(address).username or "")
        return cls(kind, address, user, options)

    @property
    def parts(self) -> SplitResult:
        return urlsplit(self.address)

    @property
    def host(self) -> str:
        return self.parts.hostname or ""

    @property
    def path(self) -> str:
        """Without escapes."""
        return unquote(self.parts.path)


def parse_place(said: str) -> Place:
    """Raises InvalidInput for what is no folder's path and no address of a known kind."""
    said = said.strip()
    if not said or len(said) > LONGEST or any(not char.isprintable() for char in said):
        raise _make_place_error(Text("it is empty, too long or not printable"))
    scheme, mark, _ = said.partition("://")
    if not mark:
        if "::" in said:
            raise _make_place_error(Text("{said} is no folder and no address", said=said))
        return Place(FOLDER, str(Path(said).expanduser().absolute()))
    kind = _SCHEMES.get(scheme.lower(), "")
    if not kind:
        raise _make_place_error(Text("{scheme}:// is not known", scheme=scheme))
    if kind == "feed" and urlsplit(said).path.endswith(".git"):
        return parse_place(f"git+{said}")
    return Place(kind, canonicalize_url(said)) if kind == "feed" else _parse_address(kind, said)


def _parse_address(kind: str, said: str) -> Place:
    try:
        parts = urlsplit(said)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _make_place_error(Text("it cannot be read")) from None
    if parts.password is not None:
        raise _make_place_error(
            Text("a password does not belong into the address"),
            Text("leave it out and name where it is: --secret env:NAME or file:PATH"),
        )
    if "\\" in said or ".." in unquote(parts.path).split("/"):
        raise _make_place_error(Text("it has .. or a backslash in it"))
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = options.keys() - _OPTIONS[kind]
    if unknown:
        known = ", ".join(sorted(_OPTIONS[kind])) or "-"
        raise _make_place_error(
            Text("{unknown} is not known here", unknown=", ".join(sorted(unknown))),
            Text("known behind the question mark: {known}", known=known),
        )
    # a bucket is no host: its own name is what is asked for
    name = host if kind == "s3" else normalize_host(host, said)
    user = unquote(parts.username or "")
    at = f"{quote(user)}@" if user else ""
    ended = f":{port}" if port else ""
    address = urlunsplit((parts.scheme.lower(), f"{at}{name}{ended}", parts.path, "", ""))
    return Place(kind, address, user, options)


def _make_place_error(why: str, hint: str = "") -> InvalidInput:
    return InvalidInput(
        Text("this place cannot be watched: {why}", why=why),
        hint=hint or Text("name one of {forms}", forms=FORMS),
        code="bad_url",
    )

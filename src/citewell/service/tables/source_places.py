"""What people add as a source: a file's path, or the URL of a database. `${NAME}` for a password is
kept as it is, and filled in from the environment only to connect.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from citewell.errors import InvalidInput, SourceUnavailable
from citewell.ingest.tables.column_names import clean_name
from citewell.ingest.tables.import_file import FORMATS
from citewell.messages import Text
from citewell.sql.engines import mask_url, parse_location
from citewell.sql.engines.engine import Location
from citewell.store.source_rows import LONGEST_NAME

UPLOAD: Final = "upload:"  # before the name of a file whose bytes were sent
DOCUMENT: Final = "document:"  # before the id of a document that is a table
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PASSWORD: Final = re.compile(r"^[a-z][a-z0-9+.-]*://[^/?#@:]*:(.*)@", re.IGNORECASE)
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """`location` as kept; `shown`: no password. `path`: of a file. `owner`: of a new source."""

    location: str
    shown: str
    name: str
    path: Path | None = None
    owner: str = ""


def parse_place(said: str) -> Place:
    """Raises InvalidInput for what is neither a file's path nor a database's URL."""
    said = said.strip()
    if _URL.match(said):
        return _parse_database_url(said)
    if not said or "\0" in said or len(said) > 4096:
        raise InvalidInput(
            Text("{said!r} is no file", said=said[:40]),
            hint=Text("name a file ({formats}) or the URL of a database", formats=FORMATS),
        )
    path = Path(said).expanduser().resolve()
    return Place(str(path), str(path), make_source_name(path.stem), path)


def _parse_database_url(url: str) -> Place:
    if url.lower().startswith(("http://", "https://", "ftp://", "file://")):
        hint = Text(
            "add the file itself ({formats}): download it first where it is on the web",
            formats=FORMATS,
        )
        raise InvalidInput(Text("{mask_url} is no database", mask_url=mask_url(url)), hint=hint)
    outside = _VARIABLE.search(_hide_password(url))
    if outside is not None:
        raise InvalidInput(
            Text(
                "{mask_url}: ${{{outside}}} may stand for the password only",
                mask_url=mask_url(url),
                outside=outside[1],
            ),
            hint="user:${NAME}@host",
        )
    location = parse_location(_VARIABLE.sub("x", url))  # raises where the form is wrong
    if location.dialect == "sqlite":
        path = Path(location.where).expanduser().absolute()
        return Place(
            f"sqlite:///{quote(str(path), safe='/:')}",
            f"sqlite:///{path}",
            make_source_name(path.stem),
        )
    return Place(
        url,
        mask_url(url),
        make_source_name(unquote(urlsplit(location.where).path).strip("/").partition("/")[0]),
    )


def build_location(url: str, values: int, environ: Mapping[str, str] | None = None) -> Location:
    """Where the engine connects, with the password. Raises SourceUnavailable without it."""
    environ = os.environ if environ is None else environ

    def fill(match: re.Match[str]) -> str:
        if match[1] not in environ:
            hint = Text("set {match} where Citewell runs, the server too", match=match[1])
            raise SourceUnavailable(
                Text(
                    "the password of {mask_url} is in ${match}, which is not set",
                    mask_url=mask_url(url),
                    match=match[1],
                ),
                hint=hint,
            )
        return quote(environ[match[1]], safe="")

    found = _PASSWORD.match(url)
    if found is not None:
        url = url[: found.start(1)] + _VARIABLE.sub(fill, found[1]) + url[found.end(1) :]
    location = parse_location(url)
    return Location(location.dialect, location.where, {**location.options, "values": values})


def has_password(url: str) -> bool:
    """Whether a password itself stands in the URL."""
    found = _PASSWORD.match(url)
    return found is not None and bool(found[1]) and not _VARIABLE.fullmatch(found[1])


def is_readable_by_others(path: Path) -> bool:
    """Whether other users of the machine may read a file."""
    return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


def make_source_name(stem: str) -> str:
    """A name for a source, of a file's or a database's."""
    plain = clean_name(re.sub(r"[/\\]", "_", stem))[:LONGEST_NAME].strip()
    return plain if plain.strip(".") else "data"


def _hide_password(url: str) -> str:
    found = _PASSWORD.match(url)
    return url if found is None else url[: found.start(1)] + url[found.end(1) :]

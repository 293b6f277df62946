"""The table engines by dialect, loaded when one is opened, and how a database's URL is understood.
A URL is shown to nobody but through `mask_url`, which masks its password.
"""

from __future__ import annotations

import importlib
import re
from urllib.parse import unquote, urlsplit

from citewell.errors import InvalidInput
from citewell.messages import Text
from citewell.sql.engines.engine import Dialect, Engine, Location
from citewell.sql.engines.parameters import check_parameters

ENGINES: dict[Dialect, str] = {
    "duckdb": "citewell.sql.engines.duckdb:DuckDB",
    "sqlite": "citewell.sql.engines.sqlite:SQLite",
    "postgres": "citewell.sql.engines.postgres:Postgres",
    "mysql": "citewell.sql.engines.mysql:MySQL",
}
SCHEMES: dict[str, Dialect] = {
    "sqlite": "sqlite",
    "postgresql": "postgres",
    "postgres": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
}
PARAMETER = re.compile(r"[?&;]([^=&;?#]*)=")
HOSTS = re.compile(r"(\[[^\]]*\]|[^:/?#,\[]*)(:\d*)?(,(\[[^\]]*\]|[^:/?#,\[]*)(:\d*)?)*([/?#]|$)")
# not passfile, which is a path
SECRET = re.compile(r"pass(word|wd|phrase)?$|secret|token|pwd$", re.IGNORECASE)
FORMS = Text(
    "sqlite:///path/to/file.db, postgresql://user:password@host:5432/database or "
    "mysql://user:password@host:3306/database"
)


def open_engine(location: Location) -> Engine:
    """Nothing is reached yet: a source that is gone is told by the first call."""
    module, _, name = ENGINES[location.dialect].partition(":")
    engine: Engine = getattr(importlib.import_module(module), name)(location)
    return engine


def parse_location(url: str) -> Location:
    """Raises InvalidInput for what is not a database's URL."""
    url = url.strip()
    scheme, divider, rest = url.partition("://")
    dialect = SCHEMES.get(scheme.lower().partition("+")[0])
    if not divider or dialect is None:
        raise InvalidInput(
            Text("{mask_url} is not a database that can be asked", mask_url=mask_url(url)),
            hint=Text("give {forms}", forms=FORMS),
        )
    if dialect == "sqlite":
        return Location("sqlite", _parse_path(url, rest))
    try:
        parts = urlsplit(f"{dialect}://{rest}")
        _ = parts.port  # raises where it is not a number
    except ValueError:
        raise InvalidInput(
            Text("{mask_url} has no host and port that can be read", mask_url=mask_url(url)),
            hint=Text("give {forms}", forms=FORMS),
        ) from None
    if not unquote(parts.path).strip("/"):
        raise InvalidInput(
            Text("{mask_url} names no database", mask_url=mask_url(url)),
            hint=Text("put its name behind the host: ...@host/database"),
        )
    if "#" in rest:
        raise InvalidInput(
            Text("{mask_url} holds a '#'", mask_url=mask_url(url)),
            hint=Text("write special characters of the password as %23 and the like"),
        )
    where = f"{'postgresql' if dialect == 'postgres' else 'mysql'}://{rest}"
    check_parameters(where, dialect)
    return Location(dialect, where)


def _parse_path(url: str, rest: str) -> str:
    """`sqlite:///relative.db`, `sqlite:////absolute.db`; a Windows path as `sqlite:///C:/x.db`."""
    path = unquote(rest[1:]) if rest.startswith("/") else ""
    if not path or path == ":memory:" or "\0" in path:
        raise InvalidInput(
            Text("{url} names no file", url=url),
            hint=Text("three slashes and a path: sqlite:///data/sales.db"),
        )
    return path


def mask_url(url: str) -> str:
    """The URL with its password masked, also where the rest of it makes no sense: what stands
    before the last @ but a plain user's name, a port that is no number, and the values of
    parameters that are called so, however their names are written.
    """
    if url.lower().startswith("sqlite:"):
        return url
    scheme, divider, rest = url.rpartition("://") if url.count("://") == 1 else ("", "", url)
    before, at, after = rest.rpartition("@")
    if at:
        user, colon, _ = before.partition(":")
        plain = re.fullmatch(r"[^/?#:@&=;]*", user) is not None
        before = (f"{user}:***" if colon else user) if plain else "***"
    elif divider and not HOSTS.match(after):
        after = re.sub(r":[^/?#]*", ":***", after, count=1)
    return f"{scheme}{divider}{before}{at}{_mask_parameters(after)}"


def _mask_parameters(text: str) -> str:
    out, at = "", 0
    while found := PARAMETER.search(text, at):
        out, at = out + text[at : found.end()], found.end()
        if SECRET.search(_decode_name(found[1])):
            out, at = out + "***", _find_value_end(text, at)
    return out + text[at:]


def _find_value_end(text: str, at: int) -> int:
    places = [place for mark in "&#" if (place := text.find(mark, at)) >= 0]
    return min(places, default=len(text))


def _decode_name(name: str) -> str:
    """Drivers decode parameters' names: decoded until nothing is left to decode."""
    while (plain := unquote(name)) != name:
        name = plain
    return name

"""The address of a PostgreSQL database, as people write it and as it may be shown."""

from __future__ import annotations

from typing import Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from citewell.errors import ConfigError
from citewell.messages import Text

DRIVER: Final = "postgresql+psycopg"
# a network that loses everything is noticed half a minute after something was sent
CONNECT: Final = {
    "connect_timeout": "5",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "application_name": "citewell",
}
NAMES: Final = ("postgresql", "postgres", DRIVER)  # as people write it


def parse_database_url(text: str) -> URL:
    """Raises ConfigError, which says nothing of a password."""
    hint = Text("write it as postgresql+psycopg://user:password@host:5432/database")
    try:
        url = make_url(text.strip())
    except (ArgumentError, ValueError):
        why = Text("CITEWELL_DATABASE_URL: this is no address of a database")
        raise ConfigError(why, hint=hint) from None
    if url.drivername not in NAMES:
        why = Text(
            "CITEWELL_DATABASE_URL: {name} is no database that Citewell knows", name=url.drivername
        )
        raise ConfigError(why, hint=hint)
    several = {name: ",".join(values) for name, values in url.normalized_query.items()}
    return url.set(drivername=DRIVER, query=several)


def get_public_name(url: URL) -> str:
    """Where a database is, without its user and password."""
    host = url.host or str(url.query.get("host", "localhost"))
    port = f":{url.port}" if url.port else ""
    return f"postgresql://{host}{port}/{url.database or ''}"

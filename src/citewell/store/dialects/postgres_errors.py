"""Errors of PostgreSQL in words: which server, why, what to do."""

from __future__ import annotations

import re
from typing import Final

from sqlalchemy import URL

from citewell.errors import DatabaseAway, StorageError
from citewell.messages import Text

# SQLSTATEs, of the appendix "PostgreSQL Error Codes" of its manual
CONFLICTS: Final = ("40001", "40P01")  # others wrote, or waited for one another: run it again
# a row came or went between two statements of ours: unique, foreign key
CROSSED: Final = ("23505", "23503")
_LOST: Final = ("08", "57P01", "57P02", "57P03")
_REASONS: Final[dict[str, tuple[str, str]]] = {
    "40001": (
        Text("others are writing to the same rows"),
        Text("wait until they are done and try again"),
    ),
    "53100": (
        Text("the server's disk is full"),
        Text("free some space and try again; nothing of this change was kept"),
    ),
    "53300": (
        Text("the server takes no further connection"),
        Text("raise its max_connections, or put PgBouncer before it"),
    ),
    "25006": (
        Text("it cannot be written to"),
        Text("name the primary server in CITEWELL_DATABASE_URL, not a replica"),
    ),
    "42501": (
        Text("this user may not do that there"),
        Text("make the user the owner of the database: ALTER DATABASE name OWNER TO user"),
    ),
    "57014": (
        Text("a statement took too long and was stopped"),
        Text("look at the server's load; database_timeout gives it more time"),
    ),
    "55P03": (
        Text("others are writing to the same rows"),
        Text("wait until they are done and try again"),
    ),
    "3D000": (
        Text("there is no database of this name"),
        Text("make it with: createdb NAME, or look at the name in CITEWELL_DATABASE_URL"),
    ),
    "vector": (
        Text("the server lacks the extension pgvector, or this user may not make it"),
        Text("install pgvector, then as a superuser: CREATE EXTENSION vector"),
    ),
    "28P01": (
        Text("the server does not let this user in"),
        Text("look at user and password in CITEWELL_DATABASE_URL, and at the server's pg_hba.conf"),
    ),
}
_SAME: Final = {"40P01": "40001", "28000": "28P01"}
# what a refused connection says: its errors come without a SQLSTATE
_SAID: Final = (
    (re.compile("password|authentication|pg_hba|no role|role .* does not exist"), "28P01"),
    (re.compile("database .* does not exist"), "3D000"),
    (re.compile("too many clients|remaining connection slots"), "53300"),
)


def is_lost(error: BaseException | None) -> bool:
    """Whether the server, or the way to it, is away: another try may find it back."""
    import psycopg

    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    return (error.sqlstate or "08").startswith(_LOST) and _find_state(error).startswith(_LOST)


def to_storage_error(name: str, url: URL, error: BaseException | None) -> StorageError:
    """No word of the password is in it."""
    said = _extract_message(error)
    for secret in (url.password, *url.query.values()):
        if isinstance(secret, str) and secret:
            said = said.replace(secret, "***")
    state = _find_state(error)
    if state.startswith(_LOST):
        return DatabaseAway(
            Text("{name}: the database server cannot be reached: {said}", name=name, said=said),
            hint=Text("is the server up, and are host and port in CITEWELL_DATABASE_URL right?"),
        )
    reason, hint = _REASONS.get(
        _SAME.get(state, state),
        (
            Text("the database refuses: {error}", error=said),
            Text("`citewell db status` says how the database stands"),
        ),
    )
    return StorageError(Text("{path}: {reason}", path=name, reason=reason), hint=hint)


def _extract_message(error: BaseException | None) -> str:
    """In one line."""
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    return " ".join(str(primary or error).split()) or type(error).__name__


def _find_state(error: BaseException | None) -> str:
    """Its SQLSTATE, or the one that it should have; a connection that ended without any is
    lost.
    """
    import psycopg

    state = getattr(error, "sqlstate", None)
    if 'extension "vector"' in str(error):
        return "vector"
    if state:
        return str(state)
    said = str(error)
    for pattern, meant in _SAID:
        if pattern.search(said):
            return meant
    return "08000" if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) else ""

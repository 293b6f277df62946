"""Sessions of the page: the rows behind its cookie. Functions of a connection; `users.py` gives the
verbs.

The one rule: the cookie's secret is not kept, only its hash.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, text

# of one token at the same time, the newest; browsers that throw their cookie away would leave any
# number
SIGN_INS = 20


class Lifetime(NamedTuple):
    """Of the page's sessions, in seconds: at most, and without being used."""

    most: float
    idle: float


def compute_csrf_token(secret: str) -> str:
    """What the page shows beside its cookie with each change. Made of the cookie, which the page of
    another site can neither read nor set, so it needs no row; and one way, so that it tells nothing
    of the cookie.
    """
    return hmac.new(secret.encode("utf-8", "replace"), b"citewell csrf", hashlib.sha256).hexdigest()


def insert_sign_in(connection: Connection, digest: str, token_id: str, now: float) -> None:
    """Of those of the same token, the newest stay."""
    row = {"sha": digest, "id": token_id, "now": now, "most": SIGN_INS}
    connection.execute(_SIGN_IN, row)
    connection.execute(_TOO_MANY, row)


def find_sign_in(
    connection: Connection, digest: str, now: float, life: Lifetime
) -> Row[Any] | None:
    """The one of this hash, with its token and its user's role; None where there is none, or it (or
    the token behind it) has run out. Whether it was used lately is not asked here.
    """
    values = {"sha": digest, "now": now, "made": now - life.most}
    return connection.execute(_SIGNED_IN, values).one_or_none()


def delete_ended(connection: Connection, now: float, life: Lifetime) -> None:
    connection.execute(_ENDED, {"made": now - life.most, "used": now - life.idle})


_SIGN_IN = text(
    "INSERT INTO sign_ins (sha256, token_id, created_at, used_at) VALUES (:sha, :id, :now, :now)"
)
_TOO_MANY = text(
    """DELETE FROM sign_ins WHERE token_id = :id AND rowid NOT IN
    (SELECT rowid FROM sign_ins WHERE token_id = :id
        ORDER BY created_at DESC, rowid DESC LIMIT :most)"""
)
_SIGNED_IN = text(
    """SELECT s.sha256, s.token_id, s.created_at, s.used_at, t.user_id, t.scope, u.role
    FROM sign_ins s JOIN tokens t USING (token_id) JOIN users u USING (user_id)
    WHERE s.sha256 = :sha AND s.created_at > :made AND (t.expires = 0 OR t.expires > :now)"""
)
_ENDED = text("DELETE FROM sign_ins WHERE created_at <= :made OR used_at <= :used")

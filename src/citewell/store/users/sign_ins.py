"""Sessions of the page: the rows behind its cookie. Functions of a connection; `users.py` gives the
verbs. The cookie's secret is not kept, only its hash.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, delete, insert, or_, select

from citewell.store.dialects.locks import hold
from citewell.store.schema.people import sign_ins, tokens, users
from citewell.store.users.user_rows import USABLE

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
    hold(connection, "sign-ins", token_id)
    row = {"sha256": digest, "token_id": token_id, "created_at": now, "used_at": now}
    connection.execute(insert(sign_ins), row)
    connection.execute(_TOO_MANY, {"id": token_id})


def find_sign_in(
    connection: Connection, digest: str, now: float, life: Lifetime
) -> Row[Any] | None:
    """The one of this hash, with its token and its user's role; None where there is none, or it (or
    the token behind it) has run out. Whether it was used lately is not asked here.
    """
    values = {"sha": digest, "now": now, "made": now - life.most}
    return connection.execute(_SIGNED_IN, values).one_or_none()


def delete_sign_in(connection: Connection, digest: str) -> None:
    connection.execute(_SIGN_OUT, {"sha": digest})


def delete_ended(connection: Connection, now: float, life: Lifetime) -> None:
    connection.execute(_ENDED, {"made": now - life.most, "used": now - life.idle})


_SAME = sign_ins.alias()
_NEWEST = (
    select(_SAME.c.sha256)
    .where(_SAME.c.token_id == bindparam("id"))
    .order_by(_SAME.c.created_at.desc(), _SAME.c.rowid.desc())
    .limit(SIGN_INS)
)
_TOO_MANY = delete(sign_ins).where(
    sign_ins.c.token_id == bindparam("id"), sign_ins.c.sha256.not_in(_NEWEST)
)
_SIGNED_IN = (
    select(sign_ins, tokens.c.user_id, tokens.c.scope, users.c.role)
    .join_from(sign_ins, tokens)
    .join(users)
    .where(sign_ins.c.sha256 == bindparam("sha"), sign_ins.c.created_at > bindparam("made"), USABLE)
)
_SIGN_OUT = delete(sign_ins).where(sign_ins.c.sha256 == bindparam("sha"))
_ENDED = delete(sign_ins).where(
    or_(sign_ins.c.created_at <= bindparam("made"), sign_ins.c.used_at <= bindparam("used"))
)

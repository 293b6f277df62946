"""Tokens that people and programs sign in with: how they are made, kept and found. Functions of a
connection; `users.py` gives the verbs. The token itself is not kept, only its hash.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Row, bindparam, insert, select

from citewell.errors import InvalidInput, NotFound
from citewell.messages import Text
from citewell.store.schema.metadata import pick_columns
from citewell.store.schema.people import tokens, users
from citewell.store.users.audit import record_event
from citewell.store.users.identity import normalize_user_id
from citewell.store.users.user_rows import LONGEST_NAME, USABLE, Role
from citewell.types import Shown

# what a token is good for: everything its user may, or asking from a page of another site
Scope = Literal["", "widget"]
PREFIX = "cw_"  # of a token, so that people and scanners for lost secrets know what it is


class TokenInfo(Shown):
    """All that is known of a token; the token itself is not. `expires` 0: never. `bound`: what one
    for a page may ask, as `collection:NAME` or `site:NAME`.
    """

    token_id: str
    user_id: str
    name: str
    scope: Scope = ""
    bound: str = ""
    created_at: float
    used_at: float
    expires: float


class Made(Shown):
    """A new token, shown this once."""

    token: str
    info: TokenInfo


class Holder(NamedTuple):
    """Who showed a good token or cookie. `since`: when they signed in."""

    user_id: str
    role: Role
    scope: Scope
    token_id: str
    since: float = 0.0
    bound: str = ""


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def generate_token(
    user: str, name: str, now: float, days: float | None, scope: Scope = "", bound: str = ""
) -> tuple[str, dict[str, Any]]:
    """One that is not kept yet, and its row. Raises InvalidInput."""
    label = normalize_user_id(name) or time.strftime("%Y-%m-%d", time.gmtime(now))
    if len(label) > LONGEST_NAME or not label.isprintable():
        raise InvalidInput(
            Text("token name: 1 to {longest_name} printable characters", longest_name=LONGEST_NAME),
            hint=Text("say what it is for: --name laptop"),
        )
    token = PREFIX + secrets.token_urlsafe(32)
    return token, {
        "token_id": "tok_" + secrets.token_hex(6),
        "user_id": user,
        "name": label,
        "scope": scope,
        "bound": bound,
        "sha256": hash_secret(token),
        "created_at": now,
        "used_at": 0.0,
        "expires": 0.0 if days is None else now + days * 86_400,
    }


def insert_token(connection: Connection, token: str, row: dict[str, Any]) -> Made:
    connection.execute(insert(tokens), row)
    record_event(
        connection,
        "token.make",
        "token",
        row["token_id"],
        person=row["user_id"],
        scope=row["scope"],
        bound=row["bound"],
    )
    return Made(token=token, info=get_token(connection, str(row["token_id"])))


def get_token(connection: Connection, token_id: str, user: str | None = None) -> TokenInfo:
    row = connection.execute(_TOKEN, {"id": token_id}).mappings().one_or_none()
    if row is None or user not in {None, row["user_id"]}:
        hint = Text("`citewell user list` shows each user's tokens with their ids (tok_...)")
        raise NotFound(Text("no token {token_id!r}", token_id=token_id[:LONGEST_NAME]), hint=hint)
    return TokenInfo(**row)


def list_tokens(connection: Connection, user: str) -> list[TokenInfo]:
    """The newest first."""
    return [TokenInfo(**row) for row in connection.execute(_TOKENS, {"id": user}).mappings()]


def find_token(connection: Connection, digest: str, now: float) -> Row[Any] | None:
    """The one of this hash, with its user's role; None where there is none, or it has run out."""
    return connection.execute(_HOLDER, {"sha": digest, "now": now}).one_or_none()


_FACTS = select(*pick_columns(tokens, TokenInfo))
_TOKENS = _FACTS.where(tokens.c.user_id == bindparam("id")).order_by(
    tokens.c.created_at.desc(), tokens.c.rowid.desc()
)
_TOKEN = _FACTS.where(tokens.c.token_id == bindparam("id"))
_HOLDER = (
    select(tokens, users.c.role)
    .join_from(tokens, users)
    .where(tokens.c.sha256 == bindparam("sha"), USABLE)
)

"""The rows of users: their names, roles, and who may not go. Functions of a connection; `users.py`
gives the verbs.
"""

from __future__ import annotations

import unicodedata
from typing import Any, Literal, get_args

from sqlalchemy import Connection, Row, text

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.store.users.audit import record_event
from citewell.store.users.identity import VISITOR, get_person_key, normalize_user_id
from citewell.types import Shown

Role = Literal["reader", "editor", "reviewer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do what those before it may
LONGEST_NAME = 64
BETWEEN = "._-@"  # what a user's name may have beside letters, their marks, and digits


class User(Shown):
    """`tokens`: how many can still be used. Seconds since the epoch; `used_at` 0: never."""

    user_id: str
    role: Role
    created_at: float
    tokens: int = 0
    used_at: float = 0.0


def check_user(user_id: str) -> str:
    """A new name as it is kept. It stands in addresses, lists, commands and lines of the log, and
    must be nothing but a name in any of them. Raises InvalidInput.
    """
    user = normalize_user_id(user_id)
    kinds = [unicodedata.category(each)[0] if each not in BETWEEN else "" for each in user]
    if (
        not 0 < len(user) <= LONGEST_NAME
        or kinds[0] not in {"L", "N"}
        or not {*kinds} <= {"L", "N", "M", ""}
    ):
        hint = f"1 to {LONGEST_NAME} letters and digits of any script; after the first also . _ - @"
        raise InvalidInput(f"user name {user[:LONGEST_NAME]!r}: not allowed", hint=hint)
    if get_person_key(user) == VISITOR:
        raise InvalidInput(
            f"user name {user}: kept for visitors of pages of other sites",
            hint="choose another, as guest",
        )
    return user


def check_role(role: str) -> Role:
    for known in ROLES:
        if role == known:
            return known
    raise InvalidInput(f"unknown role: {role}", hint=f"known: {', '.join(ROLES)}")


def list_reviewers(connection: Connection) -> tuple[str, ...]:
    """The users whose role makes their word count. Not those with a token that stands in a page:
    their word is everybody's.
    """
    return tuple(connection.execute(_REVIEWERS).scalars())


def add_user(connection: Connection, user: str, role: Role, now: float) -> User:
    row = {"id": user, "person": get_person_key(user), "role": role, "now": now}
    if taken := connection.execute(_SAME, row).scalar_one_or_none():
        hint = (
            f"`citewell user token {taken}` makes another token of theirs; or choose another name"
        )
        raise Conflict(f"user {taken} exists already", hint=hint)
    connection.execute(_ADD, row)
    record_event(connection, "user.add", "user", user, role=role)
    return get_user(connection, user, now)


def ensure_admin_left(connection: Connection, user: str) -> None:
    admins = list(
        connection.execute(text("SELECT user_id FROM users WHERE role = 'admin'")).scalars()
    )
    if admins == [user]:
        raise Conflict(
            f"{user} is the only admin",
            hint="give somebody else the role first: citewell user role NAME admin",
        )


def get_user(connection: Connection, user: str, now: float) -> User:
    row = connection.execute(_ONE, {"id": user, "now": now}).one_or_none()
    if row is None:
        raise NotFound(
            f"no user {user[:LONGEST_NAME]!r}",
            hint="`citewell user list` shows them; `citewell user add NAME` adds one",
        )
    return _parse_user(row)


def list_users(connection: Connection, now: float) -> list[User]:
    """In the order of their names."""
    return [_parse_user(row) for row in connection.execute(_ALL, {"now": now})]


def _parse_user(row: Row[Any]) -> User:
    return User(
        user_id=row.user_id,
        role=row.role,
        created_at=row.created_at,
        tokens=row.tokens,
        used_at=row.used_at or 0.0,
    )


_REVIEWERS = text(
    """SELECT user_id FROM users WHERE role IN ('reviewer', 'admin')
    AND user_id NOT IN (SELECT user_id FROM tokens WHERE scope = 'widget')"""
)
_USERS = """SELECT u.user_id, u.role, u.created_at,
        (SELECT count(*) FROM tokens t WHERE t.user_id = u.user_id
            AND (t.expires = 0 OR t.expires > :now)) AS tokens,
        (SELECT max(used_at) FROM tokens t WHERE t.user_id = u.user_id) AS used_at
    FROM users u"""
_ALL = text(f"{_USERS} ORDER BY u.user_id")
_ONE = text(f"{_USERS} WHERE u.user_id = :id")
_SAME = text("SELECT user_id FROM users WHERE person = :person")
_ADD = text(
    "INSERT INTO users (user_id, person, role, created_at) VALUES (:id, :person, :role, :now)"
)

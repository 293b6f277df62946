"""The rows of users: names, roles, who may not go. Functions of a connection."""

from __future__ import annotations

import unicodedata
from typing import Literal, get_args

from sqlalchemy import Connection, bindparam, func, insert, or_, select

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.messages import Text
from citewell.store.schema.people import tokens, users
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
        hint = Text(
            "1 to {longest_name} letters and digits of any script; after the first also . _ - @",
            longest_name=LONGEST_NAME,
        )
        raise InvalidInput(
            Text("user name {user!r}: not allowed", user=user[:LONGEST_NAME]), hint=hint
        )
    if get_person_key(user) == VISITOR:
        raise InvalidInput(
            Text("user name {user}: kept for visitors of pages of other sites", user=user),
            hint=Text("choose another, as guest"),
        )
    return user


def check_role(role: str) -> Role:
    for known in ROLES:
        if role == known:
            return known
    raise InvalidInput(
        Text("unknown role: {role}", role=role), hint=Text("known: {roles}", roles=", ".join(ROLES))
    )


def list_reviewers(connection: Connection) -> tuple[str, ...]:
    """Users whose role makes their word count; not tokens in pages: they are everybody's."""
    return tuple(connection.execute(_REVIEWERS).scalars())


def add_user(connection: Connection, user: str, role: Role, now: float) -> User:
    row = {"user_id": user, "person": get_person_key(user), "role": role, "created_at": now}
    if taken := connection.execute(_SAME, row).scalar_one_or_none():
        hint = Text(
            "`citewell user token {taken}` makes another token of theirs; or choose another name",
            taken=taken,
        )
        raise Conflict(Text("user {taken} exists already", taken=taken), hint=hint)
    connection.execute(insert(users), row)
    record_event(connection, "user.add", "user", user, role=role)
    return get_user(connection, user, now)


def ensure_admin_left(connection: Connection, user: str) -> None:
    if connection.execute(_ADMINS).scalars().all() == [user]:
        raise Conflict(
            Text("{user} is the only admin", user=user),
            hint=Text("give somebody else the role first: citewell user role NAME admin"),
        )


def get_user(connection: Connection, user: str, now: float) -> User:
    row = connection.execute(_ONE, {"id": user, "now": now}).mappings().one_or_none()
    if row is None:
        raise NotFound(
            Text("no user {user!r}", user=user[:LONGEST_NAME]),
            hint=Text("`citewell user list` shows them; `citewell user add NAME` adds one"),
        )
    return User(**row)


def list_users(connection: Connection, now: float) -> list[User]:
    """In the order of their names."""
    return [User(**row) for row in connection.execute(_ALL, {"now": now}).mappings()]


# a token that has not run out
USABLE = or_(tokens.c.expires == 0, tokens.c.expires > bindparam("now"))
_THEIRS = select(func.coalesce(func.max(tokens.c.used_at), 0.0)).where(
    tokens.c.user_id == users.c.user_id
)
_USERS = select(
    users.c.user_id,
    users.c.role,
    users.c.created_at,
    _THEIRS.with_only_columns(func.count()).where(USABLE).scalar_subquery().label("tokens"),
    _THEIRS.scalar_subquery().label("used_at"),
)
_ALL = _USERS.order_by(users.c.user_id)
_ONE = _USERS.where(users.c.user_id == bindparam("id"))
_SAME = select(users.c.user_id).where(users.c.person == bindparam("person"))
_ADMINS = select(users.c.user_id).where(users.c.role == "admin")
_REVIEWERS = select(users.c.user_id).where(
    users.c.role.in_(("reviewer", "admin")),
    users.c.user_id.not_in(select(tokens.c.user_id).where(tokens.c.scope == "widget")),
)

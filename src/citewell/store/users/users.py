"""Who may sign in: users with a role, their tokens, and the page's sessions.

The one rule: no secret is kept. A token and a session's cookie have 256 random bits each, so one
round of SHA-256 hides them for good; the slow hashes that passwords need would only cost every
request its time.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

from sqlalchemy import Connection, Row, text

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.store.db import Database
from citewell.store.users.audit import record_event
from citewell.store.users.identity import VISITOR, get_person_key, normalize_user_id
from citewell.store.users.token_uses import Uses
from citewell.types import Shown

Role = Literal["reader", "editor", "reviewer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do what those before it may
# what a token is good for: everything its user may, or asking from a page of another site
Scope = Literal["", "widget"]

PREFIX = "cw_"  # of a token, so that people and scanners for lost secrets know what it is
LONGEST_NAME = 64
BETWEEN = "._-@"  # what a user's name may have beside letters, their marks, and digits
NOTED = 60.0  # seconds within which a second use is not written down: not every request shall write
# of one token at the same time, the newest; browsers that throw their cookie away would leave any
# number
SIGN_INS = 20


class User(Shown):
    """`tokens`: how many can still be used. Seconds since the epoch; `used_at` 0: never."""

    user_id: str
    role: Role
    created_at: float
    tokens: int = 0
    used_at: float = 0.0


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


class Lifetime(NamedTuple):
    """Of the page's sessions, in seconds: at most, and without being used."""

    most: float
    idle: float


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


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


class Users:
    """Raises NotFound for an unknown user or token, Conflict for a name that is taken,
    InvalidInput, StorageError.
    """

    def __init__(self, db: Database, clock: Callable[[], float] = time.time) -> None:
        self._db = db
        self._clock = clock
        self._uses = Uses(db, clock)

    async def settle(self) -> None:
        """Wait until the uses that are being written down are."""
        await self._uses.settle()

    async def add(self, user_id: str, role: str) -> User:
        user, now = check_user(user_id), self._clock()
        known = check_role(role)
        return await self._db.write(lambda connection: _add_user(connection, user, known, now))

    async def add_with_token(
        self, user_id: str, role: str = "", name: str = "", *, days: float | None = None
    ) -> tuple[User, Made]:
        """A user and their first token, both or neither. No role said: the first user is an admin,
        all others are readers.
        """
        user, now = check_user(user_id), self._clock()
        known: Role | None = check_role(role) if role else None
        token, row = _generate_token(user, name, now, days)

        def add(connection: Connection) -> tuple[User, Made]:
            anybody = connection.execute(text("SELECT EXISTS (SELECT 1 FROM users)")).scalar_one()
            _add_user(connection, user, known or ("reader" if anybody else "admin"), now)
            made = _insert_token(connection, token, row)
            return _get_user(connection, user, now), made

        return await self._db.write(add)

    async def list(self) -> list[User]:
        """In the order of their names."""
        now = self._clock()
        return await self._db.read(
            lambda connection: [_parse_user(row) for row in connection.execute(_ALL, {"now": now})]
        )

    async def get(self, user_id: str) -> User:
        return await self._db.read(
            lambda connection: _get_user(connection, normalize_user_id(user_id), self._clock())
        )

    async def set_role(self, user_id: str, role: str) -> User:
        """Raises Conflict for the last admin: nobody could give the role back."""
        user, new = normalize_user_id(user_id), check_role(role)

        def change(connection: Connection) -> User:
            _get_user(connection, user, 0)
            if new != "admin":
                _ensure_admin_left(connection, user)
            connection.execute(
                text("UPDATE users SET role = :role WHERE user_id = :id"), {"id": user, "role": new}
            )
            record_event(connection, "user.role", "user", user, role=new)
            return _get_user(connection, user, self._clock())

        return await self._db.write(change)

    async def remove(self, user_id: str, *, keep_admin: bool = False) -> User:
        """With their tokens and sessions of the page; what they asked and added stays. Raises
        Conflict for the last admin of several users; with `keep_admin` also where they are the only
        user.
        """
        user = normalize_user_id(user_id)

        def remove(connection: Connection) -> User:
            gone = _get_user(connection, user, self._clock())
            if (
                keep_admin
                or connection.execute(text("SELECT count(*) FROM users")).scalar_one() > 1
            ):
                _ensure_admin_left(connection, user)
            connection.execute(text("DELETE FROM users WHERE user_id = :id"), {"id": user})
            record_event(connection, "user.remove", "user", user, role=gone.role)
            return gone

        removed = await self._db.write(remove)
        await self._db.forget()
        return removed

    async def make_token(
        self,
        user_id: str,
        name: str = "",
        *,
        days: float | None = None,
        scope: Scope = "",
        bound: str = "",
    ) -> Made:
        """`days`: how long it is good; None: until it is revoked."""
        user = normalize_user_id(user_id)
        token, row = _generate_token(user, name, self._clock(), days, scope, bound)

        def make(connection: Connection) -> Made:
            _get_user(connection, user, 0)
            return _insert_token(connection, token, row)

        return await self._db.write(make)

    async def tokens(self, user_id: str) -> Sequence[TokenInfo]:
        """The newest first, those that have run out among them."""
        user = normalize_user_id(user_id)

        def tokens(connection: Connection) -> Sequence[TokenInfo]:
            _get_user(connection, user, 0)
            return [
                TokenInfo(**row) for row in connection.execute(_TOKENS, {"id": user}).mappings()
            ]

        return await self._db.read(tokens)

    async def revoke_token(self, token_id: str, user_id: str | None = None) -> TokenInfo:
        """It is good for nothing from now on, and who signed in with it is signed out. `user_id`:
        only where it is theirs.
        """

        def revoke(connection: Connection) -> TokenInfo:
            gone = _get_token(
                connection, token_id, None if user_id is None else normalize_user_id(user_id)
            )
            connection.execute(text("DELETE FROM tokens WHERE token_id = :id"), {"id": token_id})
            record_event(connection, "token.revoke", "token", token_id, person=gone.user_id)
            return gone

        return await self._db.write(revoke)

    async def revoke_all(self, user_id: str) -> Sequence[TokenInfo]:
        """All that a user has, in one step: those that were, the newest first."""
        user = normalize_user_id(user_id)

        def revoke(connection: Connection) -> Sequence[TokenInfo]:
            _get_user(connection, user, 0)
            gone = [
                TokenInfo(**row) for row in connection.execute(_TOKENS, {"id": user}).mappings()
            ]
            connection.execute(text("DELETE FROM tokens WHERE user_id = :id"), {"id": user})
            for token in gone:
                record_event(connection, "token.revoke", "token", token.token_id, person=user)
            return gone

        return await self._db.write(revoke)

    async def holder(self, token: str, *, note: bool = True) -> Holder | None:
        """Whose token it is; None where it is nobody's, or has run out. `note`: as a use of it."""
        now, digest = self._clock(), hash_secret(token)
        row = await self._db.read(
            lambda connection: connection.execute(
                _HOLDER, {"sha": digest, "now": now}
            ).one_or_none()
        )
        if row is None or not hmac.compare_digest(row.sha256, digest):
            return None
        if note and now - self._uses.get_latest("token", row.token_id, row.used_at) > NOTED:
            self._uses.note("token", row.token_id, now)
        return Holder(row.user_id, row.role, row.scope, row.token_id, bound=row.bound)

    async def sign_in(self, token_id: str) -> str:
        """A new session of the page: the secret of its cookie. Of those of the same token, the
        newest stay.
        """
        secret, now = secrets.token_urlsafe(32), self._clock()
        row = {"sha": hash_secret(secret), "id": token_id, "now": now, "most": SIGN_INS}

        def sign_in(connection: Connection) -> None:
            connection.execute(_SIGN_IN, row)
            connection.execute(_TOO_MANY, row)

        await self._db.write(sign_in)
        return secret

    async def find_session_holder(
        self, secret: str, life: Lifetime, *, note: bool = True
    ) -> Holder | None:
        """Whose session it is; None where it is none, was ended, or has run out (it, or the token
        behind it). `note`: as a use of it.
        """
        now, digest = self._clock(), hash_secret(secret)
        values = {"sha": digest, "now": now, "made": now - life.most}
        row = await self._db.read(
            lambda connection: connection.execute(_SIGNED_IN, values).one_or_none()
        )
        if row is None or not hmac.compare_digest(row.sha256, digest):
            return None
        used = self._uses.get_latest("session", digest, row.used_at)
        if used <= now - life.idle:
            return None
        if note and now - used > min(NOTED, life.idle / 2):
            self._uses.note("session", digest, now)
        return Holder(row.user_id, row.role, row.scope, row.token_id, row.created_at)

    async def sign_out(self, secret: str) -> None:
        """Nothing happens where the session has ended already."""
        query = text("DELETE FROM sign_ins WHERE sha256 = :sha")
        await self._db.write(
            lambda connection: connection.execute(query, {"sha": hash_secret(secret)}) and None
        )

    async def forget_ended(self, life: Lifetime) -> None:
        """Sessions of the page that have run out leave no row."""
        now = self._clock()
        values = {"made": now - life.most, "used": now - life.idle}

        def forget(connection: Connection) -> None:
            self._uses.write_in(connection)  # else one that is in use could look as if it were not
            connection.execute(_ENDED, values)

        await self._db.write(forget)


def compute_csrf_token(secret: str) -> str:
    """What the page shows beside its cookie with each change. Made of the cookie, which the page of
    another site can neither read nor set, so it needs no row; and one way, so that it tells nothing
    of the cookie.
    """
    return hmac.new(secret.encode("utf-8", "replace"), b"citewell csrf", hashlib.sha256).hexdigest()


def list_reviewers(connection: Connection) -> tuple[str, ...]:
    """The users whose role makes their word count. Not those with a token that stands in a page:
    their word is everybody's.
    """
    return tuple(connection.execute(_REVIEWERS).scalars())


def _add_user(connection: Connection, user: str, role: Role, now: float) -> User:
    row = {"id": user, "person": get_person_key(user), "role": role, "now": now}
    if taken := connection.execute(_SAME, row).scalar_one_or_none():
        hint = (
            f"`citewell user token {taken}` makes another token of theirs; or choose another name"
        )
        raise Conflict(f"user {taken} exists already", hint=hint)
    connection.execute(_ADD, row)
    record_event(connection, "user.add", "user", user, role=role)
    return _get_user(connection, user, now)


def _generate_token(
    user: str, name: str, now: float, days: float | None, scope: Scope = "", bound: str = ""
) -> tuple[str, dict[str, Any]]:
    """One that is not kept yet, and its row. Raises InvalidInput."""
    label = normalize_user_id(name) or time.strftime("%Y-%m-%d", time.gmtime(now))
    if len(label) > LONGEST_NAME or not label.isprintable():
        raise InvalidInput(
            f"token name: 1 to {LONGEST_NAME} printable characters",
            hint="say what it is for: --name laptop",
        )
    token = PREFIX + secrets.token_urlsafe(32)
    return token, {
        "token_id": "tok_" + secrets.token_hex(6),
        "user_id": user,
        "name": label,
        "scope": scope,
        "bound": bound,
        "sha256": hash_secret(token),
        "now": now,
        "expires": 0.0 if days is None else now + days * 86_400,
    }


def _insert_token(connection: Connection, token: str, row: dict[str, Any]) -> Made:
    connection.execute(_MAKE, row)
    record_event(
        connection,
        "token.make",
        "token",
        row["token_id"],
        person=row["user_id"],
        scope=row["scope"],
        bound=row["bound"],
    )
    return Made(token=token, info=_get_token(connection, str(row["token_id"])))


def _ensure_admin_left(connection: Connection, user: str) -> None:
    admins = list(
        connection.execute(text("SELECT user_id FROM users WHERE role = 'admin'")).scalars()
    )
    if admins == [user]:
        raise Conflict(
            f"{user} is the only admin",
            hint="give somebody else the role first: citewell user role NAME admin",
        )


def _get_user(connection: Connection, user: str, now: float) -> User:
    row = connection.execute(_ONE, {"id": user, "now": now}).one_or_none()
    if row is None:
        raise NotFound(
            f"no user {user[:LONGEST_NAME]!r}",
            hint="`citewell user list` shows them; `citewell user add NAME` adds one",
        )
    return _parse_user(row)


def _parse_user(row: Row[Any]) -> User:
    return User(
        user_id=row.user_id,
        role=row.role,
        created_at=row.created_at,
        tokens=row.tokens,
        used_at=row.used_at or 0.0,
    )


def _get_token(connection: Connection, token_id: str, user: str | None = None) -> TokenInfo:
    row = connection.execute(_TOKEN, {"id": token_id}).mappings().one_or_none()
    if row is None or user not in {None, row["user_id"]}:
        hint = "`citewell user list` shows each user's tokens with their ids (tok_...)"
        raise NotFound(f"no token {token_id[:LONGEST_NAME]!r}", hint=hint)
    return TokenInfo(**row)


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
_FACTS = "SELECT token_id, user_id, name, scope, bound, created_at, used_at, expires FROM tokens"
_TOKENS = text(f"{_FACTS} WHERE user_id = :id ORDER BY created_at DESC, rowid DESC")
_TOKEN = text(f"{_FACTS} WHERE token_id = :id")
_MAKE = text(
    """INSERT INTO tokens (token_id, user_id, name, scope, bound, sha256, created_at, used_at,
        expires)
    VALUES (:token_id, :user_id, :name, :scope, :bound, :sha256, :now, 0, :expires)"""
)
_HOLDER = text(
    """SELECT t.sha256, t.token_id, t.user_id, t.scope, t.bound, t.used_at, u.role FROM tokens t
    JOIN users u USING (user_id)
    WHERE t.sha256 = :sha AND (t.expires = 0 OR t.expires > :now)"""
)
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

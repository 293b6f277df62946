"""Who may sign in: users with a role, their tokens, and the page's sessions. No secret is kept. A
token and a session's cookie have 256 random bits each, so one round of SHA-256 hides them for good;
the slow hashes that passwords need would only cost every request its time.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlalchemy import Connection, bindparam, delete, func, select, update

from citewell.store.db import Database
from citewell.store.dialects.locks import hold
from citewell.store.retention_clock import get_deletion_time
from citewell.store.schema.people import tokens, users
from citewell.store.users.access_tokens import (
    Holder,
    Made,
    Scope,
    TokenInfo,
    find_token,
    generate_token,
    get_token,
    hash_secret,
    insert_token,
    list_tokens,
)
from citewell.store.users.audit import record_event
from citewell.store.users.identity import normalize_user_id
from citewell.store.users.sign_ins import (
    Lifetime,
    delete_ended,
    delete_sign_in,
    find_sign_in,
    insert_sign_in,
)
from citewell.store.users.token_uses import Uses
from citewell.store.users.user_rows import (
    Role,
    User,
    add_user,
    check_role,
    check_user,
    ensure_admin_left,
    get_user,
    list_users,
)

T = TypeVar("T")
NOTED = 60.0  # seconds within which a second use is not written down: not every request shall write


class Users:
    """Raises NotFound (user, token), Conflict (name taken), InvalidInput, StorageError."""

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
        return await self._write_alone(lambda c: add_user(c, user, known, now))

    async def add_with_token(
        self, user_id: str, role: str = "", name: str = "", *, days: float | None = None
    ) -> tuple[User, Made]:
        """A user and their first token, both or neither. No role said: the first user is an admin,
        all others are readers.
        """
        user, now = check_user(user_id), self._clock()
        known: Role | None = check_role(role) if role else None
        token, row = generate_token(user, name, now, days)

        def add(connection: Connection) -> tuple[User, Made]:
            anybody = connection.execute(_COUNT).scalar_one()
            add_user(connection, user, known or ("reader" if anybody else "admin"), now)
            made = insert_token(connection, token, row)
            return get_user(connection, user, now), made

        return await self._write_alone(add)

    async def list(self) -> list[User]:
        """In the order of their names."""
        now = self._clock()
        return await self._db.read(list_users, now)

    async def get(self, user_id: str) -> User:
        return await self._db.read(
            lambda connection: get_user(connection, normalize_user_id(user_id), self._clock())
        )

    async def set_role(self, user_id: str, role: str) -> User:
        """Raises Conflict for the last admin: nobody could give the role back."""
        user, new = normalize_user_id(user_id), check_role(role)

        def change(connection: Connection) -> User:
            get_user(connection, user, 0)
            if new != "admin":
                ensure_admin_left(connection, user)
            connection.execute(_SET_ROLE, {"id": user, "role": new})
            record_event(connection, "user.role", "user", user, role=new)
            return get_user(connection, user, self._clock())

        return await self._write_alone(change)

    async def remove(self, user_id: str, *, keep_admin: bool = False) -> User:
        """With their tokens and sessions of the page; what they asked and added stays. Raises
        Conflict for the last admin of several users; with `keep_admin` also where they are the only
        user.
        """
        user = normalize_user_id(user_id)

        def remove(connection: Connection) -> User:
            gone = get_user(connection, user, self._clock())
            if keep_admin or connection.execute(_COUNT).scalar_one() > 1:
                ensure_admin_left(connection, user)
            connection.execute(_REMOVE, {"id": user})
            record_event(connection, "user.remove", "user", user, role=gone.role)
            return gone

        removed = await self._write_alone(remove)
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
        token, row = generate_token(user, name, self._clock(), days, scope, bound)

        def make(connection: Connection) -> Made:
            get_user(connection, user, 0)
            return insert_token(connection, token, row)

        return await self._write_alone(make)

    async def tokens(self, user_id: str) -> Sequence[TokenInfo]:
        """The newest first, those that have run out among them."""
        user = normalize_user_id(user_id)

        def tokens(connection: Connection) -> Sequence[TokenInfo]:
            get_user(connection, user, 0)
            return list_tokens(connection, user)

        return await self._db.read(tokens)

    async def revoke_token(self, token_id: str, user_id: str | None = None) -> TokenInfo:
        """Good for nothing now, its sessions signed out. `user_id`: only if theirs."""

        def revoke(connection: Connection) -> TokenInfo:
            gone = get_token(
                connection, token_id, None if user_id is None else normalize_user_id(user_id)
            )
            connection.execute(_REVOKE, {"id": token_id})
            record_event(connection, "token.revoke", "token", token_id, person=gone.user_id)
            return gone

        return await self._write_alone(revoke)

    async def revoke_all(self, user_id: str) -> Sequence[TokenInfo]:
        """All that a user has, in one step: those that were, the newest first."""
        user = normalize_user_id(user_id)

        def revoke(connection: Connection) -> Sequence[TokenInfo]:
            get_user(connection, user, 0)
            gone = list_tokens(connection, user)
            connection.execute(_REVOKE_ALL, {"id": user})
            for token in gone:
                record_event(connection, "token.revoke", "token", token.token_id, person=user)
            return gone

        return await self._write_alone(revoke)

    async def holder(self, token: str, *, note: bool = True) -> Holder | None:
        """Whose token it is; None where it is nobody's, or has run out. `note`: as a use of it."""
        now, digest = self._clock(), hash_secret(token)
        row = await self._db.read(find_token, digest, now)
        if row is None or not hmac.compare_digest(row.sha256, digest):
            return None
        if note and now - self._uses.get_latest("token", row.token_id, row.used_at) > NOTED:
            self._uses.note("token", row.token_id, now)
        return Holder(row.user_id, row.role, row.scope, row.token_id, bound=row.bound)

    async def sign_in(self, token_id: str) -> str:
        """A page's new session: its cookie's secret. Of a token's sessions the newest stay."""
        secret, now = secrets.token_urlsafe(32), self._clock()
        digest = hash_secret(secret)
        await self._db.write_beside(insert_sign_in, digest, token_id, now)
        return secret

    async def find_session_holder(
        self, secret: str, life: Lifetime, *, note: bool = True
    ) -> Holder | None:
        """Whose session it is; None where it is none, was ended, or has run out (it, or the token
        behind it). `note`: as a use of it.
        """
        now, digest = self._clock(), hash_secret(secret)
        # before the row: what is noted is dropped once written, and a row read then may be older
        noted = self._uses.get_latest("session", digest, 0.0)
        row = await self._db.read(find_sign_in, digest, now, life)
        if row is None or not hmac.compare_digest(row.sha256, digest):
            return None
        used = max(noted, row.used_at)
        if used <= now - life.idle:
            return None
        if note and now - used > min(NOTED, life.idle / 2):
            self._uses.note("session", digest, now)
        return Holder(row.user_id, row.role, row.scope, row.token_id, row.created_at)

    async def sign_out(self, secret: str) -> None:
        """Nothing happens where the session has ended already."""
        await self._db.write_beside(delete_sign_in, hash_secret(secret))

    async def forget_ended(self, life: Lifetime) -> None:
        """Sessions of the page that have run out leave no row; not at once where the clock has
        leapt forward.
        """

        def forget(connection: Connection) -> None:
            self._uses.write_in(connection)  # else one that is in use could look as if it were not
            delete_ended(connection, get_deletion_time(connection, self._clock()), life)

        await self._db.write_beside(forget)

    async def _write_alone(self, fn: Callable[[Connection], T]) -> T:
        """One transaction while nobody else changes users, their roles or tokens."""

        def decide(connection: Connection) -> T:
            hold(connection, "users")
            return fn(connection)

        return await self._db.write_beside(decide)


_COUNT = select(func.count()).select_from(users)
_THIS = users.c.user_id == bindparam("id")
_SET_ROLE = update(users).where(_THIS)
_REMOVE = delete(users).where(_THIS)
_REVOKE = delete(tokens).where(tokens.c.token_id == bindparam("id"))
_REVOKE_ALL = delete(tokens).where(tokens.c.user_id == bindparam("id"))

"""Links by which others read a conversation. A link is known by its id alone, which is random and
long; what it shows is the session as far as it went when the link was made. It ends with its
session, at its time, or when it is revoked.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select

from citewell.errors import InvalidInput, NotFound
from citewell.messages import Text
from citewell.store.db import Database
from citewell.store.dialects.locks import hold
from citewell.store.schema.conversations import share_readers, shares
from citewell.types import Shown

DAY = 86_400.0
MOST = 100  # links of a session


class Share(Shown):
    """`readers`: who may read it besides its maker; empty: everybody who may ask this server.
    `messages`: how much of the session it shows. Times are in seconds since the epoch.
    """

    share_id: str
    session_id: str
    user_id: str
    readers: list[str]
    messages: int
    created_at: float
    expires_at: float


class Shares:
    """Raises NotFound for a link that is unknown, revoked or past its time, and StorageError."""

    def __init__(self, db: Database, clock: Callable[[], float] = time.time) -> None:
        self._db = db
        self._clock = clock

    async def create(
        self, session_id: str, user_id: str, messages: int, days: int, readers: Sequence[str]
    ) -> Share:
        """Raises InvalidInput where the session has too many."""
        now = self._clock()
        share_id = secrets.token_urlsafe(32)
        row = {
            "share_id": share_id,
            "session_id": session_id,
            "user_id": user_id,
            "messages": messages,
            "named": int(bool(readers)),
            "created_at": now,
            "expires_at": now + days * DAY,
        }

        def create(connection: Connection) -> Share:
            hold(connection, "shares", session_id)  # how many there are
            connection.execute(_EXPIRE, {"now": now})
            if connection.execute(_COUNT, {"session": session_id}).scalar_one() >= MOST:
                raise InvalidInput(
                    Text("this conversation has {most} links already", most=MOST),
                    hint=Text("revoke some of them"),
                )
            connection.execute(_INSERT, row)
            for reader in dict.fromkeys(readers):
                connection.execute(_ADD_READER, {"share_id": share_id, "user_id": reader})
            return _get_share(connection, share_id, now)

        return await self._db.write_beside(create)

    async def get(self, share_id: str) -> Share:
        now = self._clock()
        return await self._db.read(lambda connection: _get_share(connection, share_id, now))

    async def list(self, session_id: str) -> list[Share]:
        """Those of a session that still lead somewhere, the newest first."""
        values = {"session": session_id, "now": self._clock()}
        return await self._db.read(
            lambda connection: [
                _parse_share(connection, row) for row in connection.execute(_LIST, values)
            ]
        )

    async def revoke(self, session_id: str, share_id: str) -> None:
        row = {"session": session_id, "share": share_id}
        if not await self._db.write_beside(
            lambda connection: connection.execute(_REVOKE, row).rowcount
        ):
            raise build_dead_link()


def build_dead_link() -> NotFound:
    """The same words whatever the reason: a guess learns nothing."""
    return NotFound(
        Text("this link leads nowhere"),
        hint=Text("it was revoked, its time is over, or it is for somebody else"),
    )


def _get_share(connection: Connection, share_id: str, now: float) -> Share:
    row = connection.execute(_GET, {"share": share_id, "now": now}).one_or_none()
    if row is None:
        raise build_dead_link()
    return _parse_share(connection, row)


def _parse_share(connection: Connection, row: Row[Any]) -> Share:
    readers = list(connection.execute(_READERS, {"share": row.share_id}).scalars())
    if row.named and not readers:  # they were forgotten: that opens it to nobody else
        readers = [row.user_id]
    kept = {name: getattr(row, name) for name in Share.model_fields.keys() - {"readers"}}
    return Share(**kept, readers=readers)


_ONE = shares.c.share_id == bindparam("share")
_OF_SESSION = shares.c.session_id == bindparam("session")
_ALIVE = shares.c.expires_at > bindparam("now")
_INSERT = insert(shares)
_ADD_READER = insert(share_readers)
_EXPIRE = delete(shares).where(shares.c.expires_at <= bindparam("now"))
_REVOKE = delete(shares).where(_OF_SESSION, _ONE)
_COUNT = select(func.count()).select_from(shares).where(_OF_SESSION)
_GET = select(shares).where(_ONE, _ALIVE)
_LIST = (
    select(shares)
    .where(_OF_SESSION, _ALIVE)
    .order_by(shares.c.created_at.desc(), shares.c.rowid.desc())
)
_READERS = (
    select(share_readers.c.user_id)
    .where(share_readers.c.share_id == bindparam("share"))
    .order_by(share_readers.c.user_id)
)

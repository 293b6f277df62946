"""Conversations that can be gone back to: spec 003's table `sessions`, field by field.

The one rule: `session_data` is JSON and holds all that has no column: `chat_history` (the only copy
of what was said), the agent's name, and what an agent keeps from turn to turn. Every change reads
and writes it in one transaction.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, text

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.store.db import Database
from citewell.types import Message, Shown

HISTORY = "chat_history"
AGENT = "agent"


class SessionInfo(Shown):
    """`messages` counts what was said by both sides; `last_updated` is in seconds since the
    epoch.
    """

    session_id: str
    user_id: str
    title: str
    agent: str
    current_state: str
    messages: int
    last_updated: float


class Sessions:
    """Raises NotFound for an unknown session, and StorageError."""

    def __init__(self, db: Database, clock: Callable[[], float] = time.time) -> None:
        self._db = db
        self._clock = clock

    async def create(
        self, agent: str, user_id: str = "local", title: str = "", *, state: str = "OPEN"
    ) -> SessionInfo:
        return await self._db.write(
            lambda connection: self.create_in(connection, agent, user_id, title, state=state)
        )

    def create_in(
        self, connection: Connection, agent: str, user_id: str, title: str, *, state: str = "OPEN"
    ) -> SessionInfo:
        """The same, as part of a transaction."""
        session_id = "ses_" + secrets.token_hex(8)
        row = {
            "session_id": session_id,
            "user_id": user_id,
            "title": title,
            "current_state": state,
            "session_data": json.dumps({AGENT: agent, HISTORY: []}),
            "last_updated": self._clock(),
        }
        connection.execute(_INSERT, row)
        return _parse_info(_get_row(connection, session_id))

    async def get(self, session_id: str) -> SessionInfo:
        return await self._db.read(lambda connection: _parse_info(_get_row(connection, session_id)))

    async def rename(self, session_id: str, title: str) -> SessionInfo:
        """A new title; the session keeps its place in the list."""

        def rename(connection: Connection) -> SessionInfo:
            connection.execute(
                text("UPDATE sessions SET title = :t WHERE session_id = :s"),
                {"t": title, "s": session_id},
            )
            return _parse_info(_get_row(connection, session_id))

        return await self._db.write(rename)

    async def delete(self, session_id: str) -> None:
        await self._db.write(lambda connection: self.delete_in(connection, session_id))
        await self._db.forget()

    def delete_in(self, connection: Connection, session_id: str) -> dict[str, Any]:
        """The same, as part of a transaction, after which `Database.forget` is called; gives what
        was kept in it.
        """
        data = _parse_data(_get_row(connection, session_id))
        connection.execute(text("DELETE FROM sessions WHERE session_id = :s"), {"s": session_id})
        return data

    def list_user_data_in(self, connection: Connection, user_id: str) -> Sequence[dict[str, Any]]:
        """What is kept in each session of a user, the newest first."""
        return [_parse_data(row) for row in connection.execute(_OF_USER, {"user_id": user_id})]

    async def append(self, session_id: str, messages: Sequence[Message]) -> None:
        """Add to the end of the history. Two that append at once both keep what they said, each in
        one piece.
        """
        await self._db.write(lambda connection: self.append_in(connection, session_id, messages))

    def append_in(
        self, connection: Connection, session_id: str, messages: Sequence[Message]
    ) -> None:
        """The same, as part of a transaction."""

        def append(data: dict[str, Any]) -> None:
            data.setdefault(HISTORY, []).extend(message.model_dump() for message in messages)

        self._change_in(connection, session_id, append, None)

    async def history(self, session_id: str) -> list[Message]:
        return [Message(**message) for message in (await self.data(session_id)).get(HISTORY, [])]

    async def data(self, session_id: str) -> dict[str, Any]:
        """All of `session_data`, the history and the agent's name included."""
        return await self._db.read(lambda connection: _parse_data(_get_row(connection, session_id)))

    async def set_data(
        self, session_id: str, values: Mapping[str, Any], *, state: str | None = None
    ) -> None:
        """Set these keys, leave the others, and go to `state` in the same transaction. The history
        is only ever appended to.
        """
        await self._db.write(
            lambda connection: self.set_data_in(connection, session_id, values, state=state)
        )

    def set_data_in(
        self,
        connection: Connection,
        session_id: str,
        values: Mapping[str, Any],
        *,
        state: str | None = None,
    ) -> None:
        """The same, as part of a transaction."""
        reserved = {HISTORY, AGENT} & set(values)
        if reserved:
            raise InvalidInput(
                f"session data {', '.join(sorted(reserved))}: not set this way",
                hint="use append or create",
            )
        self._change_in(connection, session_id, lambda data: data.update(values), state)

    def advance_in(
        self,
        connection: Connection,
        session_id: str,
        *,
        before: str,
        after: str,
        said: Sequence[Message],
        change: Callable[[dict[str, Any]], None],
    ) -> None:
        """From one state to the next, with what was said and what came of it. Raises Conflict where
        the session is in another state than `before` by now: whoever was quicker has made the step.
        """
        row = _get_row(connection, session_id)
        if row.current_state != before:
            raise Conflict(
                f"session {session_id} went on to {row.current_state} meanwhile",
                hint="open it again",
                code="illegal_event",
            )

        def advance(data: dict[str, Any]) -> None:
            change(data)
            data.setdefault(HISTORY, []).extend(message.model_dump() for message in said)

        self._change_in(connection, session_id, advance, after)

    async def list(self, user_id: str = "local") -> list[SessionInfo]:
        """A user's sessions, newest first."""

        def rows(connection: Connection) -> list[SessionInfo]:
            return [_parse_listing(row) for row in connection.execute(_LIST, {"user_id": user_id})]

        return await self._db.read(rows)

    def _change_in(
        self,
        connection: Connection,
        session_id: str,
        change: Callable[[dict[str, Any]], None],
        state: str | None,
    ) -> None:
        row = _get_row(connection, session_id)
        data = _parse_data(row)
        change(data)
        values = {
            "session_id": session_id,
            "session_data": json.dumps(data),
            "state": state or row.current_state,
            "now": self._clock(),
        }
        connection.execute(_UPDATE, values)


def _get_row(connection: Connection, session_id: str) -> Row[Any]:
    row = connection.execute(
        text("SELECT * FROM sessions WHERE session_id = :s"), {"s": session_id}
    ).one_or_none()
    if row is None:
        raise NotFound(
            f"no session {session_id!r}",
            hint="it was deleted, or the id is mistyped; leave it out for a new one",
        )
    return row


def _parse_data(row: Row[Any]) -> dict[str, Any]:
    return dict(json.loads(row.session_data or "{}"))


def _parse_info(row: Row[Any]) -> SessionInfo:
    data = _parse_data(row)
    return _build_info(row, data.get(AGENT, ""), len(data.get(HISTORY, [])))


def _parse_listing(row: Row[Any]) -> SessionInfo:
    """Of a row that tells the agent and the number of messages alone; one that is no JSON to SQLite
    (a NaN) is there whole.
    """
    told = json.loads(row.told or "{}")
    agent, messages = (
        told if isinstance(told, list) else (told.get(AGENT, ""), len(told.get(HISTORY, [])))
    )
    return _build_info(row, agent or "", messages or 0)


def _build_info(row: Row[Any], agent: str, messages: int) -> SessionInfo:
    return SessionInfo(
        session_id=row.session_id,
        user_id=row.user_id,
        title=row.title or "",
        agent=agent,
        current_state=row.current_state,
        messages=messages,
        last_updated=row.last_updated,
    )


_INSERT = text(
    """INSERT INTO sessions (session_id, user_id, title, current_state, session_data, last_updated)
    VALUES (:session_id, :user_id, :title, :current_state, :session_data, :last_updated)"""
)
_OF_USER = text(
    "SELECT * FROM sessions WHERE user_id = :user_id ORDER BY last_updated DESC, rowid DESC"
)
_LIST = text(
    """SELECT session_id, user_id, title, current_state, last_updated,
        CASE WHEN json_valid(session_data)
            THEN json_array(json_extract(session_data, '$.agent'),
                json_array_length(session_data, '$.chat_history'))
            ELSE session_data END AS told
    FROM sessions WHERE user_id = :user_id ORDER BY last_updated DESC, rowid DESC"""
)
_UPDATE = text(
    """UPDATE sessions SET session_data = :session_data, current_state = :state, last_updated = :now
    WHERE session_id = :session_id"""
)

"""Conversations that can be gone back to: spec 003's table `sessions`, field by field.
`session_data` is JSON and holds all that has no column: `chat_history` (the only copy of what was
said), the agent's name, and what an agent keeps from turn to turn. Every change reads it, FOR
UPDATE, and writes it in one transaction.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.messages import Text, dump_json
from citewell.store.db import Database
from citewell.store.dialects.expressions import json_excerpt
from citewell.store.schema.conversations import sessions
from citewell.store.session_rows import (
    AGENT,
    ARCHIVED,
    FOLDER,
    HISTORY,
    PINNED,
    SessionInfo,
    has_words,
    parse_data,
    parse_info,
    parse_listing,
)
from citewell.types import Message


class Sessions:
    """Raises NotFound for an unknown session, and StorageError."""

    def __init__(self, db: Database, clock: Callable[[], float] = time.time) -> None:
        self._db = db
        self._clock = clock

    async def create(
        self, agent: str, user_id: str = "local", title: str = "", *, state: str = "OPEN"
    ) -> SessionInfo:
        return await self._db.write_beside(self.create_in, agent, user_id, title, state=state)

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
        return parse_info(_get_row(connection, session_id))

    async def get(self, session_id: str) -> SessionInfo:
        return await self._db.read(lambda connection: parse_info(_get_row(connection, session_id)))

    async def rename(self, session_id: str, title: str) -> SessionInfo:
        """A new title; the session keeps its place in the list."""

        def rename(connection: Connection) -> SessionInfo:
            connection.execute(_CHANGE, {"id": session_id, "title": title})
            return parse_info(_get_row(connection, session_id))

        return await self._db.write_beside(rename)

    async def mark(
        self,
        session_id: str,
        *,
        pinned: bool | None = None,
        archived: bool | None = None,
        folder: str | None = None,
    ) -> SessionInfo:
        """None: as it is; an empty `folder`: in none. The session keeps its place in the list."""
        said = {PINNED: pinned, ARCHIVED: archived, FOLDER: folder}

        def mark(connection: Connection) -> SessionInfo:
            data = parse_data(_get_row(connection, session_id, lock=True))
            data |= {name: value for name, value in said.items() if value is not None}
            connection.execute(_CHANGE, {"id": session_id, "session_data": dump_json(data)})
            return parse_info(_get_row(connection, session_id))

        return await self._db.write_beside(mark)

    async def delete(self, session_id: str) -> None:
        await self._db.write_beside(self.delete_in, session_id)
        await self._db.forget()

    def delete_in(self, connection: Connection, session_id: str) -> dict[str, Any]:
        """The same in a transaction, then call `Database.forget`; gives what was kept."""
        data = parse_data(_get_row(connection, session_id, lock=True))
        connection.execute(_DELETE, {"id": session_id})
        return data

    def list_user_data_in(self, connection: Connection, user_id: str) -> Sequence[dict[str, Any]]:
        """What is kept in each session of a user, the newest first."""
        return [parse_data(row) for row in connection.execute(_OF_USER, {"user": user_id})]

    async def append(self, session_id: str, messages: Sequence[Message]) -> None:
        """Add to the history's end. Two that append at once both keep theirs, each in one piece."""
        await self._db.write_beside(self.append_in, session_id, messages)

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
        return await self._db.read(lambda connection: parse_data(_get_row(connection, session_id)))

    async def set_data(
        self, session_id: str, values: Mapping[str, Any], *, state: str | None = None
    ) -> None:
        """Set these keys, leave the others, and go to `state` in the same transaction. The history
        is only ever appended to.
        """
        await self._db.write_beside(self.set_data_in, session_id, values, state=state)

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
                Text(
                    "session data {reserved}: not set this way",
                    reserved=", ".join(sorted(reserved)),
                ),
                hint=Text("use append or create"),
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
        row = _get_row(connection, session_id, lock=True)
        if row.current_state != before:
            raise Conflict(
                Text(
                    "session {session_id} went on to {current_state} meanwhile",
                    session_id=session_id,
                    current_state=row.current_state,
                ),
                hint=Text("open it again"),
                code="illegal_event",
            )

        def advance(data: dict[str, Any]) -> None:
            change(data)
            data.setdefault(HISTORY, []).extend(message.model_dump() for message in said)

        self._change_in(connection, session_id, advance, after)

    async def list(self, user_id: str = "local") -> list[SessionInfo]:
        """A user's sessions, newest first."""

        def rows(connection: Connection) -> list[SessionInfo]:
            return [parse_listing(row) for row in connection.execute(_LIST, {"user": user_id})]

        return await self._db.read(rows)

    async def find(self, user_id: str, words: Sequence[str]) -> set[str]:
        """The ids of a user's sessions that have each of the words in their title or in what was
        said, whatever the case.
        """
        wanted = [word.casefold() for word in words]

        def rows(connection: Connection) -> set[str]:
            return {
                row.session_id
                for row in connection.execute(_OF_USER, {"user": user_id})
                if has_words(row, wanted)
            }

        return await self._db.read(rows)

    def _change_in(
        self,
        connection: Connection,
        session_id: str,
        change: Callable[[dict[str, Any]], None],
        state: str | None,
    ) -> None:
        row = _get_row(connection, session_id, lock=True)
        data = parse_data(row)
        change(data)
        values = {
            "id": session_id,
            "session_data": dump_json(data),
            "current_state": state or row.current_state,
            "last_updated": self._clock(),
        }
        connection.execute(_CHANGE, values)


def _get_row(connection: Connection, session_id: str, *, lock: bool = False) -> Row[Any]:
    """`lock`: as it is until the end of the transaction, for who changes it."""
    row = connection.execute(_LOCK if lock else _GET, {"id": session_id}).one_or_none()
    if row is None:
        raise NotFound(
            Text("no session {session_id!r}", session_id=session_id),
            hint=Text("it was deleted, or the id is mistyped; leave it out for a new one"),
        )
    return row


_INSERT = insert(sessions)
_ONE = sessions.c.session_id == bindparam("id")
_GET = select(sessions).where(_ONE)
_LOCK = _GET.with_for_update()
_CHANGE = update(sessions).where(_ONE)
_DELETE = delete(sessions).where(_ONE)
_NEWEST = (sessions.c.last_updated.desc(), sessions.c.rowid.desc())
_OF_USER = select(sessions).where(sessions.c.user_id == bindparam("user")).order_by(*_NEWEST)
_DATA = sessions.c.session_data
_LIST = (
    select(
        sessions.c.session_id,
        sessions.c.user_id,
        sessions.c.title,
        sessions.c.current_state,
        sessions.c.last_updated,
        json_excerpt(_DATA, AGENT, PINNED, ARCHIVED, FOLDER, counted=HISTORY).label("told"),
    )
    .where(sessions.c.user_id == bindparam("user"))
    .order_by(*_NEWEST)
)

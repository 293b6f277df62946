"""Folders of conversations, each of one user. A folder holds nothing: a session says which it
stands in (`session_data`), so that no conversation goes with a folder that is deleted.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping

from sqlalchemy import Connection, Executable, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.messages import Text
from citewell.store.db import Database
from citewell.store.dialects.expressions import json_field, json_without
from citewell.store.dialects.locks import hold
from citewell.store.schema.conversations import folders, sessions
from citewell.store.session_rows import FOLDER
from citewell.types import Shown

MOST = 200  # folders of a user


class Folder(Shown):
    folder_id: str
    name: str


class Folders:
    """Raises NotFound for a folder that this user does not have, and StorageError."""

    def __init__(self, db: Database, clock: Callable[[], float] = time.time) -> None:
        self._db = db
        self._clock = clock

    async def list(self, user_id: str) -> list[Folder]:
        """By name."""
        found = await self._db.read(
            lambda connection: connection.execute(_ALL, {"user": user_id}).all()
        )
        listed = [Folder(folder_id=row.folder_id, name=row.name) for row in found]
        return sorted(listed, key=lambda folder: folder.name.casefold())

    async def create(self, user_id: str, name: str) -> Folder:
        """Raises Conflict where the user has one of that name, InvalidInput where too many."""
        folder = Folder(folder_id="fld_" + secrets.token_hex(8), name=name)
        row = {**folder.model_dump(), "user_id": user_id, "created_at": self._clock()}

        def create(connection: Connection) -> None:
            hold(connection, "folders", user_id)  # how many there are
            if connection.execute(_COUNT, {"user": user_id}).scalar_one() >= MOST:
                raise InvalidInput(Text("there are {most} folders already", most=MOST))
            _run_named(connection, _INSERT, row)

        await self._db.write_beside(create)
        return folder

    async def rename(self, user_id: str, folder_id: str, name: str) -> Folder:
        """Raises Conflict where the user has another of that name."""
        row = {"id": folder_id, "user": user_id, "name": name}
        changed = await self._db.write_beside(
            lambda connection: _run_named(connection, _CHANGE, row)
        )
        if not changed:
            raise _build_not_found(folder_id)
        return Folder(folder_id=folder_id, name=name)

    async def get(self, user_id: str, folder_id: str) -> Folder:
        for folder in await self.list(user_id):
            if folder.folder_id == folder_id:
                return folder
        raise _build_not_found(folder_id)

    async def delete(self, user_id: str, folder_id: str) -> None:
        """Its conversations stay, in no folder."""

        def delete(connection: Connection) -> int:
            row = {"id": folder_id, "user": user_id}
            connection.execute(_EMPTY, row)
            return connection.execute(_DELETE, row).rowcount

        if not await self._db.write_beside(delete):
            raise _build_not_found(folder_id)


def _run_named(connection: Connection, statement: Executable, row: Mapping[str, object]) -> int:
    """Raises Conflict where the name is another folder's."""
    try:
        return connection.execute(statement, row).rowcount
    except IntegrityError:
        raise Conflict(
            Text("there is a folder {name!r} already", name=row["name"]),
            hint=Text("choose another name"),
        ) from None


def _build_not_found(folder_id: str) -> NotFound:
    return NotFound(
        Text("no folder {folder_id!r}", folder_id=folder_id[:64]),
        hint=Text("it was deleted, or the id is mistyped"),
    )


_OF_USER = folders.c.user_id == bindparam("user")
_ONE = _OF_USER & (folders.c.folder_id == bindparam("id"))
_ALL = select(folders.c.folder_id, folders.c.name).where(_OF_USER)
_COUNT = select(func.count()).select_from(folders).where(_OF_USER)
_INSERT = insert(folders)
_CHANGE = update(folders).where(_ONE)
_DELETE = delete(folders).where(_ONE)
_DATA = sessions.c.session_data
_EMPTY = (
    update(sessions)
    .where(sessions.c.user_id == bindparam("user"), json_field(_DATA, FOLDER) == bindparam("id"))
    .values(session_data=json_without(_DATA, FOLDER))
)

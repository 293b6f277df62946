"""Where the bytes of original files lie: in the table `files`, or in an object store. An object is
there before the row that names it is committed. When such a row goes, a trigger writes the key to
`released_objects` in the same transaction; `release` deletes the object, then the key. So bytes
that no row names any more are gone soon, whatever breaks in between.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress

from sqlalchemy import Connection, select

from citewell.errors import CitewellError, StorageError
from citewell.messages import Text
from citewell.store.db import Database
from citewell.store.object_store import ObjectStore
from citewell.store.schema.library import files, released_objects

# seconds after which an object that no row names belongs to a put that has ended
ORPHANED = 86_400.0
_MANY = 500

log = logging.getLogger(__name__)


class FileObjects:
    """`store` None: all bytes are kept in the database."""

    def __init__(self, db: Database, store: ObjectStore | None) -> None:
        self._db = db
        self._store = store

    @asynccontextmanager
    async def keep(self, sha256: str, data: bytes) -> AsyncIterator[tuple[bytes, str]]:
        """What the row of these bytes is to hold, while it is written: the bytes, or none and the
        key of their object. Where no row took the key, for there were the same bytes already, the
        object goes again. Raises TransientError and StorageError.
        """
        if self._store is None or not data:
            yield data, ""
            return
        place = await self._store.put(sha256, data)
        try:
            yield b"", place
        finally:
            with suppress(StorageError):  # else `sweep` finds it
                if not await self._db.read(_find_named, [place]):
                    await self._try_deleting([place])
            await self.release()  # of the version before

    async def get(self, data: bytes, place: str) -> bytes:
        """The bytes of a row. Raises TransientError and StorageError."""
        if not place:
            return data
        if self._store is None:
            raise StorageError(
                Text("the bytes of this file lie in an object store, and none is set"),
                hint=Text("set CITEWELL_OBJECTS_URL as it was when the file was added"),
            )
        return await self._store.get(place)

    async def release(self) -> None:
        """Delete the objects whose rows have gone; what fails now is tried by the worker again."""
        if self._store is None:
            return
        try:
            for some in _split(await self._db.read(_list_released)):
                if not await self._try_deleting(some):
                    return
                await self._db.write_beside(_forget_released, some)
        except StorageError as error:
            log.warning("objects that nothing names stay for now: %s", error.message)

    async def sweep(self) -> int:
        """Delete objects without a row, of processes that ended between the two; how many."""
        if self._store is None:
            return 0
        found = [key async for key in self._store.list_keys(time.time() - ORPHANED)]
        gone = 0
        for some in _split(found):
            named = await self._db.read(_find_named, some)
            orphans = [key for key in some if key not in named]
            gone += len(orphans) if await self._try_deleting(orphans) else 0
        return gone

    async def _try_deleting(self, places: list[str]) -> bool:
        assert self._store is not None
        try:
            await self._store.delete(places)
        except CitewellError as error:
            log.warning("objects that nothing names stay for now: %s", error.message)
            return False
        return True


def _split(keys: Sequence[str]) -> Iterator[list[str]]:
    for first in range(0, len(keys), _MANY):
        yield list(keys[first : first + _MANY])


def _list_released(connection: Connection) -> list[str]:
    return list(connection.execute(_RELEASED).scalars())


def _forget_released(connection: Connection, places: list[str]) -> None:
    connection.execute(released_objects.delete().where(released_objects.c.place.in_(places)))


def _find_named(connection: Connection, places: list[str]) -> set[str]:
    return set(connection.execute(select(files.c.place).where(files.c.place.in_(places))).scalars())


_RELEASED = select(released_objects.c.place)

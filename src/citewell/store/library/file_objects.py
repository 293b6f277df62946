"""Where bytes lie that the database speaks of: original files in the table `files`, or in an object
store; there also the copies of table files and the uploads that wait, else in the home's folder.

An object is there before the row that names it is committed. When such a row goes,
its key is written to `released_objects` (of an original by a trigger, in the same transaction);
`release` deletes the object, then the key. So bytes that no row names any more are gone soon,
whatever breaks in between; only while a backup copies objects (`hold`) do they all stay.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import anyio
from sqlalchemy import Connection, bindparam, delete, select

from citewell.errors import StorageError
from citewell.messages import Text
from citewell.store.db import Database
from citewell.store.dialects.upserts import insert_or_ignore, upsert
from citewell.store.jobs import FOLDERS
from citewell.store.leases import Leases, is_before_deadline
from citewell.store.library.object_store import ORIGINALS, ObjectStore
from citewell.store.schema.data_tables import sources
from citewell.store.schema.library import files, object_holds, released_objects

# seconds after which an object that no row names belongs to a put that has ended
ORPHANED = 86_400.0
HELD = Leases(300.0)  # how long the hold of a killed backup lasts
COPIES: Final = "sources"  # how the keys of copies of table files begin
UPLOADS: Final = "uploads"  # and those of uploads that wait: then the folder of the job
_MANY = 500

log = logging.getLogger(__name__)


class FileObjects:
    """`store` None: all bytes are kept in the database and the home. Raises StorageError."""

    def __init__(self, db: Database, store: ObjectStore | None) -> None:
        self._db = db
        self.store = store

    @asynccontextmanager
    async def keep(self, sha256: str, data: bytes) -> AsyncIterator[tuple[bytes, str]]:
        """What the row of these bytes is to hold, while it is written: the bytes, or none and the
        key of their object. Where no row took the key, for there were the same bytes already, the
        object goes again.
        """
        if self.store is None or not data:
            yield data, ""
            return
        place = await self.store.put(sha256, data)
        try:
            yield b"", place
        finally:
            with suppress(StorageError):  # else `sweep` finds it
                if not await self._db.read(_find_originals, [place]):
                    await self._try_deleting([place])
            await self.release()  # of the version before

    async def get(self, data: bytes, place: str) -> bytes:
        """The bytes of a row."""
        if not place:
            return data
        if self.store is None:
            raise StorageError(
                Text("the bytes of this file lie in an object store, and none is set"),
                hint=Text("set CITEWELL_OBJECTS_URL as it was when the file was added"),
            )
        return await self.store.get(place)

    async def fetch(self, key: str, path: Path) -> None:
        """Have the object as a file there, whole or not at all; nothing where the file is there."""
        if self.store is None or await anyio.Path(path).is_file():
            return
        part = anyio.Path(path.with_name(f".{path.name}.{secrets.token_hex(4)}.part"))
        try:
            await part.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            await self.store.download(key, Path(part))
            await part.chmod(0o600)
            await part.rename(path)
        except OSError as error:
            raise StorageError(
                Text("{path}: {error}", path=path, error=error.strerror or str(error)),
                hint=Text("see that the disk has room and the folder can be written to"),
            ) from None
        finally:
            with anyio.CancelScope(shield=True):
                await part.unlink(missing_ok=True)

    async def discard(self, keys: Sequence[str]) -> None:
        """Delete objects that nothing needs any more, now or when the store is back; where the
        database is away they are swept later.
        """
        if self.store is None or not keys:
            return
        try:
            await self._db.write_beside(_note_released, keys)
        except StorageError as error:
            log.warning("objects that nothing names stay for now: %s", error.message)
        else:
            await self.release()

    async def forget_deleted(self) -> None:
        """Erase what was deleted from the database's file and from the object store."""
        await self._db.forget()
        await self.release()

    async def release(self) -> None:
        """Delete the objects whose rows have gone; what fails now is tried by the worker again."""
        if self.store is None:
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
        if self.store is None:
            return 0
        gone = 0
        for folder, find_named in _NAMED.items():
            found = [key async for key in self.store.list_keys(folder, time.time() - ORPHANED)]
            for some in _split(found):
                orphans = await self._db.read(_list_orphans, some, find_named)
                gone += len(orphans) if await self._try_deleting(orphans) else 0
        return gone

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """While the block lasts nobody deletes an object that a row names at its beginning."""
        if self.store is None:
            yield
            return
        holder = secrets.token_hex(8)
        await self._db.write_beside(_put_hold, holder)
        renewing = asyncio.create_task(self._renew_hold(holder))
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            await self._db.write_beside(_drop_hold, holder)
            await self.release()

    async def _renew_hold(self, holder: str) -> None:
        while True:
            await asyncio.sleep(HELD.seconds / 5)
            try:
                await self._db.write_beside(_put_hold, holder)
            except StorageError as error:
                log.warning("the backup's hold on the object store is not renewed: %s", error)

    async def _try_deleting(self, places: list[str]) -> bool:
        assert self.store is not None
        try:
            await self.store.delete(places)
        except StorageError as error:
            log.warning("objects that nothing names stay for now: %s", error.message)
            return False
        return True


def list_upload_keys(payload: Mapping[str, Any]) -> list[str]:
    """Of what was sent with a job; none for a job that was sent nothing."""
    folder = str(payload.get("folder", ""))
    count = len(payload.get("names", ())) if folder.isalnum() else 0
    return [f"{UPLOADS}/{folder}/{number}" for number in range(count)]


def _split(keys: Sequence[str]) -> Iterator[list[str]]:
    for first in range(0, len(keys), _MANY):
        yield list(keys[first : first + _MANY])


def _list_released(connection: Connection) -> list[str]:
    """Nothing while a backup needs what was there at its beginning."""
    return [] if _is_held(connection) else list(connection.execute(_RELEASED).scalars())


def _note_released(connection: Connection, places: Sequence[str]) -> None:
    connection.execute(_RELEASE, [{"place": place} for place in places])


def _forget_released(connection: Connection, places: list[str]) -> None:
    connection.execute(released_objects.delete().where(released_objects.c.place.in_(places)))


def _is_held(connection: Connection) -> bool:
    now = HELD.read_moment(connection).steady
    held = connection.execute(select(object_holds.c.until)).scalars()
    return any(is_before_deadline(now, until, HELD.seconds) for until in held)


def _put_hold(connection: Connection, holder: str) -> None:
    connection.execute(
        _HOLD, {"holder": holder, "until": HELD.read_moment(connection).compute_expiry()}
    )


def _drop_hold(connection: Connection, holder: str) -> None:
    connection.execute(_DROP, {"of": holder})


def _list_orphans(connection: Connection, keys: list[str], find_named: FindNamed) -> list[str]:
    if _is_held(connection):
        return []
    named = find_named(connection, keys)
    return [key for key in keys if key not in named]


def _find_originals(connection: Connection, keys: list[str]) -> set[str]:
    return set(connection.execute(select(files.c.place).where(files.c.place.in_(keys))).scalars())


def _find_copies(connection: Connection, keys: list[str]) -> set[str]:
    return set(connection.execute(select(sources.c.path).where(sources.c.path.in_(keys))).scalars())


def _find_uploads(connection: Connection, keys: list[str]) -> set[str]:
    wanted = set(connection.execute(FOLDERS).scalars())
    return {key for key in keys if key.split("/")[1] in wanted}


FindNamed = Callable[[Connection, list[str]], set[str]]
_NAMED: Final[dict[str, FindNamed]] = {
    ORIGINALS: _find_originals,
    COPIES: _find_copies,
    UPLOADS: _find_uploads,
}
_RELEASED = select(released_objects.c.place)
_RELEASE = insert_or_ignore(released_objects)
_HOLD = upsert(object_holds, object_holds.c.holder, update=[object_holds.c.until])
_DROP = delete(object_holds).where(object_holds.c.holder == bindparam("of"))

"""A restore into PostgreSQL and, where one is set, an object store: both have to be empty.

The one rule: objects are there before the rows that name them; until the last row has come and all
is compared, nothing else opens the database (store/moving/target.py).
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from sqlalchemy import Connection, bindparam, func, select, update

from citewell.config import Settings
from citewell.errors import Conflict
from citewell.messages import Text
from citewell.runtime.app import make_database, make_file_objects
from citewell.service.admin.backup import link_or_copy
from citewell.service.admin.backup_list import DATABASE, FILES, FOLDERS
from citewell.store.db import Database
from citewell.store.library.file_objects import COPIES, UPLOADS
from citewell.store.library.object_store import ObjectStore
from citewell.store.moving.move import move_all
from citewell.store.schema.library import files
from citewell.store.users.home_key import FILE as KEY


async def restore_shared_home(settings: Settings, made: Path) -> None:
    """`made`: the home of an archive, unpacked, checked, and on the disk of the settings' home; it
    is used up. Raises Conflict where something is there that would be mixed with it, StorageError,
    ConfigError.
    """
    target, database = make_database(settings), Database(made / DATABASE)
    store = make_file_objects(settings, target).store
    await _check_target(settings, target, store, made)
    if store is not None:
        async with database as opened:
            await _push_originals(opened, store)
        await _push_files(store, made)
    await move_all(database, target, _ignore_progress)
    await asyncio.to_thread(_link_home, made, settings.home, cached=settings.home_is_cache)


async def _check_target(
    settings: Settings, target: Database, store: ObjectStore | None, made: Path
) -> None:
    if (await target.look()).state not in {"empty", "current", "older"}:
        raise Conflict(
            Text("{name}: it is no empty database", name=target.server.name),
            hint=Text("make a new one with createdb, and name that"),
        )
    if store is not None and not await store.is_empty():
        raise Conflict(
            Text("{url}: there is something in it already", url=store.url),
            hint=Text("name another bucket, or another prefix in it"),
        )
    own, given = settings.home / KEY, made / KEY
    if own.is_file() and given.is_file() and own.read_text().strip() != given.read_text().strip():
        raise Conflict(
            Text("{path}: it is another key than that of the archive", path=own),
            hint=Text("take it away: the archive brings its own"),
        )


async def _push_originals(copy: Database, store: ObjectStore) -> None:
    """Each original into an object; its row names it."""
    for sha256 in await copy.read(_list_originals):
        data = await copy.read(_read_original, sha256)
        place = await store.put(sha256, data)
        await copy.write(_put_place, sha256, place)


async def _push_files(store: ObjectStore, made: Path) -> None:
    """Copies of tables and uploads that wait, under their names in the home."""
    for folder in (COPIES, UPLOADS):
        for path in sorted((made / folder).rglob("*")):
            if path.is_file():
                with path.open("rb") as file:
                    await store.put_at(path.relative_to(made).as_posix(), file)


def _link_home(made: Path, home: Path, *, cached: bool) -> None:
    """What stays in the home; a home that is only a cache needs no folders."""
    for name in FILES:
        link_or_copy(made / name, home / name)
    for folder in () if cached else FOLDERS:
        for path in sorted((made / folder).rglob("*")):
            if path.is_file():
                link_or_copy(path, home / path.relative_to(made))


async def _ignore_progress(_done: int, _total: int, _table: str) -> None:
    """The bytes of the archive were told."""


def _list_originals(connection: Connection) -> list[str]:
    query = select(files.c.sha256).where(func.length(files.c.data) > 0)
    return list(connection.execute(query).scalars())


def _read_original(connection: Connection, sha256: str) -> bytes:
    query = select(files.c.data).where(files.c.sha256 == sha256)
    return bytes(connection.execute(query).scalar_one())


def _put_place(connection: Connection, sha256: str, place: str) -> None:
    connection.execute(_NAME, {"of": sha256, "at": place})


_NAME = (
    update(files).where(files.c.sha256 == bindparam("of")).values(data=b"", place=bindparam("at"))
)

"""The copy that a backup is made of where the database is PostgreSQL's, or files lie in an object
store: the same home as of one machine, with all rows in a file and all bytes beside or in it.

The one rule: nobody deletes an object between the moment that the rows show and the end.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path

from sqlalchemy import Connection, bindparam, delete, select, update

from citewell.config import Settings
from citewell.errors import StorageError
from citewell.messages import Text
from citewell.runtime.app import make_database, make_file_objects
from citewell.service.admin.backup import Copy, copy_home, link_files, link_or_copy
from citewell.service.admin.backup_list import DATABASE, FILES, is_home_file
from citewell.store.confirmed.item_files import get_item_path, render_document, write_file
from citewell.store.confirmed.items import list_items
from citewell.store.db import Database
from citewell.store.job_rows import ENDED
from citewell.store.library.file_objects import FileObjects, list_upload_keys
from citewell.store.moving.move import copy_snapshot
from citewell.store.schema.data_tables import sources
from citewell.store.schema.job_tables import jobs
from citewell.store.schema.library import files, object_holds, released_objects
from citewell.store.users.shared_home import open_shared_home


def choose_copy(settings: Settings) -> Copy:
    """How a backup of this home copies it."""
    if not settings.objects_url and not settings.database_url.get_secret_value():
        return copy_home
    return lambda _, folder: asyncio.run(_copy_shared_home(settings, folder))


async def _copy_shared_home(settings: Settings, folder: Path) -> list[str]:
    """What it left out. Raises StorageError, ConfigError."""
    async with make_database(settings) as db:
        if settings.home_is_cache:
            await open_shared_home(db)
        objects = make_file_objects(settings, db)
        async with objects.hold():
            if db.dialect == "sqlite":
                others = await asyncio.to_thread(copy_home, settings.home, folder)
            else:
                others = await _copy_rows(settings, db, folder)
            async with Database(folder / DATABASE) as copy:
                others += await _bring_objects(copy, objects, folder)
                if settings.home_is_cache:
                    await _write_items(copy, folder)
    return others


async def _copy_rows(settings: Settings, db: Database, folder: Path) -> list[str]:
    """All rows at one moment, and the files of the home that lie in no object store: before, for
    they may be thrown away afterwards, and after it, for others may have come meanwhile.
    """
    home, others = settings.home, list[str]()
    if settings.home_is_cache:
        for name in FILES:
            link_or_copy(home / name, folder / name)
    else:
        await asyncio.to_thread(link_files, home, folder)
    await copy_snapshot(db, Database(folder / DATABASE), _ignore_progress)
    if not settings.home_is_cache:
        others = await asyncio.to_thread(link_files, home, folder)
    return others


async def _ignore_progress(_done: int, _total: int, _table: str) -> None:
    """Rows take little of the time that a backup takes."""


async def _bring_objects(copy: Database, objects: FileObjects, folder: Path) -> list[str]:
    """Into the copy what its rows name in the object store; which files are nowhere."""
    for sha256, place in await copy.read(_list_places):
        data = await objects.get(b"", place)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise StorageError(
                Text("{place}: its bytes are not those that were added", place=place),
                hint=Text("restore the bucket, or remove the document and add it again"),
            )
        await copy.write(_put_bytes, sha256, data)
    await copy.write(_forget_objects)
    missing = list[str]()
    if objects.store is not None:
        for key in filter(is_home_file, await copy.read(_list_keys)):
            if (folder / key).is_file():
                continue
            if await objects.store.get_size(key) is None:
                missing.append(key)
            else:
                await objects.fetch(key, folder / key)
    return missing


async def _write_items(copy: Database, folder: Path) -> None:
    """The files of confirmed answers, which a home that is only a cache has not."""
    for item in await copy.read(list_items):
        if item.state == "active":
            path = get_item_path(folder, item.trace_id)
            await asyncio.to_thread(write_file, path, render_document(item))


def _list_places(connection: Connection) -> list[tuple[str, str]]:
    query = select(files.c.sha256, files.c.place).where(files.c.place != "")
    return [(row.sha256, row.place) for row in connection.execute(query)]


def _put_bytes(connection: Connection, sha256: str, data: bytes) -> None:
    connection.execute(_PUT, {"of": sha256, "bytes": data})


def _forget_objects(connection: Connection) -> None:
    """What is to be deleted from the store, and who holds it, is no business of the copy."""
    connection.execute(delete(released_objects))
    connection.execute(delete(object_holds))


def _list_keys(connection: Connection) -> list[str]:
    """Of copies of tables, and of uploads whose job has not ended, or can be tried again."""
    keys = list(connection.execute(select(sources.c.path).where(sources.c.path != "")).scalars())
    waiting = jobs.c.state.not_in(ENDED - {"failed"})
    for payload in connection.execute(select(jobs.c.payload).where(waiting)).scalars():
        keys += list_upload_keys(json.loads(payload))
    return keys


_PUT = (
    update(files).where(files.c.sha256 == bindparam("of")).values(data=bindparam("bytes"), place="")
)

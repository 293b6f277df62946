"""The database of the settings: how its schema stands, bringing it up to date, and moving all rows
of one into another. Nothing here opens the home itself.
"""

from __future__ import annotations

from pathlib import Path

from citewell.config import Settings
from citewell.runtime.app import make_database
from citewell.runtime.progress import OnProgress, Progress
from citewell.store.db import Database
from citewell.store.index.search_rows import pack_words
from citewell.store.moving.move import move_all
from citewell.types import Shown


class DatabaseStatus(Shown):
    """`place`: the file, or the server without user and password. `revision`: of its schema, ""
    where there is none; `known`: what this Citewell knows. `state`: empty, current, older, ahead
    (later, and yet one to work with), later, or foreign, which is somebody else's.
    """

    dialect: str
    place: str
    state: str
    revision: str
    known: str
    tables: int


async def get_database_status(settings: Settings) -> DatabaseStatus:
    """Nothing is made or changed. Raises StorageError, ConfigError."""
    db = make_database(settings)
    schema = await db.look()
    return DatabaseStatus(
        dialect=db.dialect,
        place=db.server.name,
        state=schema.state,
        revision=schema.revision,
        known=schema.known,
        tables=schema.tables,
    )


async def upgrade_database(settings: Settings) -> DatabaseStatus:
    """Bring the schema to what this Citewell knows; of several at once, one does it. Raises
    StorageError for a later or a foreign one, ConfigError.
    """
    await make_database(settings).upgrade()
    async with make_database(settings) as db:
        await pack_words(db)
    return await get_database_status(settings)


class DatabaseMoved(Shown):
    """`counts`: rows by table, `checksums`: of each table, both the same on both sides. `resumed`:
    rows that an earlier run had moved already.
    """

    source: str
    target: str
    counts: dict[str, int]
    checksums: dict[str, str]
    resumed: int


async def move_database(
    settings: Settings, source: str, target: str, on_progress: OnProgress
) -> DatabaseMoved:
    """Each is the folder of a home, or the address of a database. The files of the home and its key
    stay where they are. Raises NotFound, Conflict, StorageError, ConfigError.
    """
    one, other = (_find_database(settings, place) for place in (source, target))

    async def tell(done: int, total: int, name: str) -> None:
        await on_progress(Progress("move", done, total, name))

    moved = await move_all(one, other, tell)
    return DatabaseMoved(
        source=one.server.name,
        target=other.server.name,
        counts=moved.counts,
        checksums=moved.checksums,
        resumed=moved.resumed,
    )


def _find_database(settings: Settings, place: str) -> Database:
    if "://" in place:
        return Database(settings.database, place, statement_seconds=settings.database_timeout)
    return Database(Path(place).expanduser() / settings.database.name)

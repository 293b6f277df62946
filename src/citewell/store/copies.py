"""A copy of the database as it was at one moment, while others go on writing; and a hold on it that
nobody shares. What is copied is never changed by it, and the moment is one for the database and for
the files beside it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import Conflict, StorageError
from citewell.store.db_errors import to_storage_error
from citewell.store.dialects.sqlite_file import BUSY_SECONDS
from citewell.store.migrations.migration_list import MIGRATIONS
from citewell.store.migrations.revisions import REVISIONS
from citewell.store.migrations.statements import APPLICATION_ID

STEP = 2_000  # pages copied before Ctrl-C is heard: 8 MB
COUNTED = (
    "collections",
    "documents",
    "chunks",
    "sessions",
    "traces",
    "confirmed",
    "memories",
    "sources",
    "users",
    "jobs",
    "runs",
)
SCHEMA = len(MIGRATIONS) + len(REVISIONS) - 1  # what this version knows


@dataclass(frozen=True, slots=True)
class Copied:
    """`schema`: the number of its last migration, counted on through the revisions after them.
    `counts`: rows by table, of those that people
    know by name.
    """

    schema: int
    counts: dict[str, int]


def copy_database(path: Path, target: Path, hold: Callable[[], None]) -> Copied:
    """Copy the database at `path`. `hold` is called at the moment that the copy shows: nobody can
    write until it returns, so the files that rows speak of are there. Raises StorageError.
    """
    try:
        with closing(_connect_existing(path)) as reader:
            with closing(_connect_existing(path)) as writer:
                writer.execute("BEGIN IMMEDIATE")
                reader.execute("BEGIN")
                copied = _inspect_database(reader, path)
                hold()
                writer.execute("ROLLBACK")
            _copy_pages(reader, target)
            return copied
    except sqlite3.Error as error:
        raise to_storage_error(path, error) from error


def _copy_pages(reader: sqlite3.Connection, target: Path) -> None:
    """Some pages at a time; the reader's transaction keeps the moment while others write."""
    try:
        with closing(sqlite3.connect(target)) as copy:
            copy.execute("PRAGMA journal_mode = OFF")
            copy.execute("PRAGMA synchronous = OFF")  # whoever packs it sees to that
            reader.backup(copy, pages=STEP)
    except sqlite3.Error as error:
        raise to_storage_error(target, error) from error


def inspect_copy(path: Path) -> Copied:
    """Of a copy that nobody else has. Raises StorageError."""
    try:
        with closing(_connect_existing(path)) as connection:
            return _inspect_database(connection, path)
    except sqlite3.Error as error:
        raise to_storage_error(path, error) from error


def check_copy(path: Path) -> int:
    """The schema of a copy that nobody else has, is whole, and Citewell's: every page and index,
    every reference, every original by its sum, the index of words. Raises StorageError.
    """
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        ) as connection:
            schema = _inspect_database(connection, path).schema
            wrong = next(_find_damage(connection), None)
        if wrong is None:
            _check_words(path)
    except sqlite3.Error as error:
        raise to_storage_error(path, error) from error
    if wrong is not None:
        raise StorageError(f"{path}: the database is damaged: {wrong}", hint="use another backup")
    return schema


def _find_damage(connection: sqlite3.Connection) -> Iterator[str]:
    """What is wrong, the cheapest first. Raises sqlite3.Error where it cannot be read."""
    for (said,) in connection.execute("PRAGMA integrity_check(1)"):
        if said != "ok":
            yield str(said)
    for table, row, *_ in connection.execute("PRAGMA foreign_key_check"):
        yield f"row {row} of {table} speaks of one that is not there"
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'files'").fetchone():
        kept = "SELECT sha256, data FROM files WHERE length(data) > 0"  # else an object has them
        for sha256, data in connection.execute(kept):
            if hashlib.sha256(data).hexdigest() != sha256:
                yield f"the bytes of the original {sha256[:12]} are not those that were added"


def _check_words(path: Path) -> None:
    """The index of words against its content; needs a writable connection. Raises sqlite3.Error."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'words'").fetchone():
            connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")


@contextmanager
def lock_exclusively(path: Path) -> Iterator[None]:
    """Nobody else has the database open, and nobody can open it while the block lasts. A file that
    is no database is nobody's.

    Raises Conflict where a server or another command has it open, and StorageError.
    """
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            # so that closing it touches no file by its name
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            code = error.sqlite_errorcode & 0xFF
            if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                what = f"{path.parent}: a server or another command of Citewell has it open"
                raise Conflict(
                    what, hint="stop it first (Ctrl-C, or systemctl stop), then try again"
                ) from None
            if code not in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
                raise to_storage_error(path, error) from error
        yield
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


@contextmanager
def hold_unchanged(path: Path) -> Iterator[None]:
    """Nobody else has the database open at the beginning, and nobody writes to it while the block
    lasts. Raises Conflict, StorageError.
    """
    with lock_exclusively(path):
        pass
    try:
        with closing(_connect_existing(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")  # so that it can be read meanwhile
            connection.execute("BEGIN IMMEDIATE")
            yield
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise to_storage_error(path, error) from error


def _connect_existing(path: Path) -> sqlite3.Connection:
    """To a database that is there; none is made."""
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS, isolation_level=None
    )


def _inspect_database(connection: sqlite3.Connection, path: Path) -> Copied:
    tables = {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    if (
        connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID
        or "migrations" not in tables
    ):
        raise StorageError(
            f"{path}: this is not a database of Citewell",
            hint="name another home, or another backup",
        )
    schema = int(
        connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()[0]
    )
    if "alembic_version" in tables:
        query = "SELECT coalesce(max(version_num), 1) FROM alembic_version"
        schema += int(connection.execute(query).fetchone()[0]) - 1
    counts = {
        name: int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0])  # noqa: S608 names are ours
        for name in COUNTED
        if name in tables
    }
    return Copied(schema, counts)

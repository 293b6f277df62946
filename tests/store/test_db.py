"""Opening, migrating, transactions, and what the disk can refuse."""

# ruff: noqa: ASYNC240 a test that looks at a file keeps nobody waiting

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from citewell.errors import StorageError
from citewell.store import db_errors
from citewell.store.db import Database
from citewell.store.dialects import sqlite_file
from citewell.store.migrations.migration_list import MIGRATIONS


def pragma(name: str, connection: Connection) -> object:
    return connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()


async def test_opening_makes_a_private_folder_and_file(path: Path) -> None:
    """Folder 0700, file 0600, the log files too; write-ahead log, full synchronisation, foreign
    keys, secure deletion.
    """
    async with Database(path) as db:
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
        values = await db.read(
            lambda c: [
                pragma(p, c)
                for p in (
                    "journal_mode",
                    "synchronous",
                    "foreign_keys",
                    "secure_delete",
                    "busy_timeout",
                )
            ]
        )
    assert values == ["wal", 2, 1, 1, 10_000]


async def test_migrations_are_recorded_and_run_once(path: Path) -> None:
    """Each has its number and name; opening again runs none."""
    for _ in range(2):
        async with Database(path) as db:
            rows = await db.read(
                lambda c: c.execute(
                    text("SELECT number, name FROM migrations ORDER BY number")
                ).all()
            )
    assert [tuple(row) for row in rows] == [
        (n, step.__name__) for n, step in enumerate(MIGRATIONS, start=1)
    ]


async def test_a_failing_migration_leaves_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it did is undone, earlier steps stay, and it is tried again next time."""

    def m999_broken(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE half (x)")
        connection.exec_driver_sql("INSERT INTO nowhere VALUES (1)")

    monkeypatch.setattr(sqlite_file, "MIGRATIONS", [*MIGRATIONS, m999_broken])
    with pytest.raises(StorageError, match="nowhere"):
        await Database(path).open()
    monkeypatch.undo()
    async with Database(path) as db:
        names = await db.read(
            lambda c: set(c.execute(text("SELECT name FROM sqlite_master")).scalars())
        )
    assert "half" not in names
    assert "chunks" in names


def test_two_processes_start_at_once(path: Path) -> None:
    """Four first starts on no database: all succeed, and each migration ran once."""
    program = (
        "import asyncio, sys, pathlib; from citewell.store.db import Database\n"
        "async def main():\n  async with Database(pathlib.Path(sys.argv[1])): pass\n"
        "asyncio.run(main())"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(path)], stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in started:
        assert process.communicate(timeout=120)[1] == b""
        assert process.returncode == 0
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM migrations").fetchone() == (
            len(MIGRATIONS),
        )


async def test_a_write_is_whole_or_absent(db: Database) -> None:
    """An error of any kind inside undoes the transaction and comes out as it is."""

    def half(connection: Connection) -> None:
        connection.execute(text("INSERT INTO collections (name, created_at) VALUES ('x', 0)"))
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        await db.write(half)
    assert (
        await db.read(lambda c: c.execute(text("SELECT count(*) FROM collections")).scalar_one())
        == 0
    )


async def test_many_writers_in_one_process(db: Database) -> None:
    """Fifty at once wait for each other; none is refused."""

    def add(connection: Connection) -> None:
        n = connection.execute(text("SELECT count(*) FROM collections")).scalar_one()
        connection.execute(
            text("INSERT INTO collections (name, created_at) VALUES (:n, 0)"), {"n": str(n)}
        )

    await asyncio.gather(*[db.write(add) for _ in range(50)])
    assert (
        await db.read(lambda c: c.execute(text("SELECT count(*) FROM collections")).scalar_one())
        == 50
    )


async def refused(db: Database) -> StorageError:
    new = text("INSERT INTO collections (name, created_at) VALUES (:n, 0)")
    with pytest.raises(StorageError) as caught:
        await db.write(lambda c: c.execute(new, {"n": "x" * 100_000}))
    assert str(db.path) in caught.value.message
    assert caught.value.hint
    return caught.value


async def test_another_process_holds_the_lock(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting has an end, and the message says what for."""
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.1)
    async with Database(path) as db:
        with closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert "another process is writing" in (await refused(db)).message
            assert (
                await db.read(
                    lambda c: c.execute(text("SELECT count(*) FROM collections")).scalar_one()
                )
                == 0
            )


@pytest.mark.sqlite
async def test_the_disk_is_full(db: Database) -> None:
    """Nothing of the change is kept, what was there is, and writing goes on once there is space."""

    def limit(connection: Connection, pages: int = 0) -> None:
        connection.exec_driver_sql(
            f"PRAGMA max_page_count = {pages or pragma('page_count', connection)}"
        )

    await db.write(limit)
    assert "disk is full" in (await refused(db)).message
    assert (
        await db.read(lambda c: c.execute(text("SELECT count(*) FROM collections")).scalar_one())
        == 0
    )
    await db.write(lambda c: limit(c, 10**6))
    await db.write(
        lambda c: c.execute(text("INSERT INTO collections (name, created_at) VALUES ('x', 0)"))
    )


@contextmanager
def nobody() -> Iterator[None]:
    """Give up being root, whom no permission stops."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_a_folder_that_cannot_be_written() -> None:
    """Neither creating nor opening: the file is named, and what to do."""
    folder = Path(tempfile.mkdtemp())
    try:
        async with Database(folder / "there" / "citewell.db"):
            pass
        for file in (folder / "there", *(folder / "there").iterdir(), folder):
            file.chmod(0o555 if file.is_dir() else 0o444)
        for path in (folder / "there" / "citewell.db", folder / "new" / "citewell.db"):
            with nobody(), pytest.raises(StorageError, match="cannot be opened") as caught:
                await Database(path).open()
            assert str(path) in caught.value.message
            assert "CITEWELL_HOME" in caught.value.hint
    finally:
        folder.chmod(0o755)
        (folder / "there").chmod(0o755)
        shutil.rmtree(folder)


async def test_a_file_that_is_no_database(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"Dear diary, " * 1000)
    with pytest.raises(StorageError, match="not a Citewell database") as caught:
        await Database(path).open()
    assert str(path) in caught.value.message
    assert path.read_bytes() == b"Dear diary, " * 1000


async def test_a_database_of_another_program(path: Path) -> None:
    """It is refused before a byte of it is changed."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE diary (entry TEXT)")
    before = path.read_bytes()
    with pytest.raises(StorageError, match="not Citewell's"):
        await Database(path).open()
    assert path.read_bytes() == before


async def test_a_database_of_a_later_version(path: Path) -> None:
    async with Database(path) as db:
        await db.write(
            lambda c: c.execute(text("INSERT INTO migrations VALUES (99, 'm099_later', 0)"))
        )
    with pytest.raises(
        StorageError, match=r"a later Citewell wrote this database \(schema 99"
    ) as caught:
        await Database(path).open()
    assert "upgrade" in caught.value.hint


async def test_a_damaged_file(path: Path) -> None:
    """Pages overwritten in the middle: the first read that meets them says which file is
    damaged.
    """
    async with Database(path) as db:
        await db.write(
            lambda c: c.execute(
                text("INSERT INTO files (sha256, data) VALUES ('a', :d)"), {"d": b"x" * 100_000}
            )
        )
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 2 * 4096))
    with pytest.raises(StorageError, match=r"citewell\.db: the file is damaged"):
        async with Database(path) as db:
            await db.read(lambda c: c.execute(text("SELECT * FROM files JOIN chunks")).all())


async def test_a_closed_database_says_so(path: Path) -> None:
    db = Database(path)
    with pytest.raises(StorageError, match="closed"):
        await db.read(lambda _: None)


async def test_a_deletion_is_no_error_where_only_the_log_cannot_be_emptied(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What is deleted is deleted; the log is emptied after the next write. Who promises that it is
    empty is told.
    """
    async with Database(path) as db:
        await db.write(
            lambda connection: connection.execute(text("CREATE TABLE notes (said TEXT)"))
        )
        await db.write(
            lambda connection: connection.execute(
                text("INSERT INTO notes VALUES ('the secret lamp')")
            )
        )
        refusal = StorageError("citewell.db: the disk is full")

        def refuse(_: sqlite_file.SqliteFile, *, strict: bool) -> None:
            raise refusal

        with monkeypatch.context() as full:
            full.setattr(sqlite_file.SqliteFile, "erase", refuse)
            await db.write(lambda connection: connection.execute(text("DELETE FROM notes")))
            await db.forget()
            with pytest.raises(StorageError, match="disk is full"):
                await db.forget(strict=True)
        assert (
            "the write-ahead log is not emptied yet: citewell.db: the disk is full" in caplog.text
        )
        log = path.with_name(f"{path.name}-wal")
        assert b"the secret lamp" in log.read_bytes()
        await db.write(
            lambda connection: connection.execute(text("INSERT INTO notes VALUES ('another')"))
        )
        assert log.read_bytes() == b""
        assert b"the secret lamp" not in path.read_bytes()


def test_a_full_disk_is_named_where_a_journal_cannot_be_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite's own word for it is that it cannot open a file."""
    error = sqlite3.OperationalError("unable to open database file")
    error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
    path.parent.mkdir(parents=True, exist_ok=True)
    assert db_errors.to_storage_error(path, error).message == f"{path}: it cannot be opened"
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(4096, 4096, 0))
    assert db_errors.to_storage_error(path, error).message == f"{path}: the disk is full"

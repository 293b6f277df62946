"""The one SQLite file of the truth: connections, transactions, errors in words.

The one rule: all access is a function of a connection, given to `read` or `write`; it runs in a
thread, in one transaction, and touches nothing else that can fail half-way. What `write` has
returned from is on the disk (`synchronous = FULL`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import anyio
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from citewell.errors import StorageError
from citewell.store.migrations.migration_list import MIGRATIONS
from citewell.store.migrations.statements import APPLICATION_ID
from citewell.threads import run_in_thread

T = TypeVar("T")
_log = logging.getLogger(__name__)

# Transactions at once in this process; of those that write, one. It gives 1.06 to 1.15 times the
# answers a second that 8 give, whose threads wait for Python's lock (200 at once as
# evals/bench_serve.py asks them, five pairs of runs on two cores).
CONNECTIONS = 4
BUSY_SECONDS = 10.0

_PRAGMAS = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",  # what is deleted is overwritten, not only unlinked
    "PRAGMA temp_store = MEMORY",
)

_ELSEWHERE = "restore a copy of it, or move it away, or set CITEWELL_HOME to another folder"
_REASONS: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "free some space and try again; nothing of this change was kept",
    ),
    sqlite3.SQLITE_READONLY: (
        "it cannot be written to",
        "make the file and its folder writable, or set CITEWELL_HOME",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "it cannot be opened",
        "make the file and its folder readable and writable, or set CITEWELL_HOME",
    ),
    sqlite3.SQLITE_PERM: (
        "access is not permitted",
        "make the file and its folder readable and writable, or set CITEWELL_HOME",
    ),
    sqlite3.SQLITE_BUSY: (
        "another process is writing to it",
        "wait until it is done and try again",
    ),
    sqlite3.SQLITE_LOCKED: (
        "another process is writing to it",
        "wait until it is done and try again",
    ),
    sqlite3.SQLITE_NOTADB: ("it is not a Citewell database", _ELSEWHERE),
    sqlite3.SQLITE_CORRUPT: ("the file is damaged", _ELSEWHERE),
    sqlite3.SQLITE_IOERR: (
        "the disk reports an error",
        "check the disk and its free space, then try again",
    ),
}


class Database:
    """`async with Database(path) as db:` creates the folder (0700) and the file (0600) where they
    are missing, and migrates. Every method raises StorageError, which names the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine: Engine | None = None
        self._writing = anyio.Lock()
        self._log_left = False  # what was deleted may still stand in the write-ahead log
        self._connections = anyio.CapacityLimiter(CONNECTIONS)

    async def open(self) -> Self:
        """Create, check and migrate. Safe while other processes do the same."""
        await self._run_in_thread(self._open)
        return self

    async def close(self) -> None:
        if self._engine is not None:
            await self._run_in_thread(self._engine.dispose)
            self._engine = None

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def read(self, fn: Callable[[Connection], T]) -> T:
        """Run `fn` on one snapshot of the database."""
        return await self._run_in_thread(lambda: self._transact(fn, False))

    async def write(self, fn: Callable[[Connection], T]) -> T:
        """Run `fn` in one transaction that no other writer can disturb; all of it is kept, or
        none.
        """
        async with self._writing:
            written = await self._run_in_thread(lambda: self._transact(fn, True))
        if self._log_left:
            await self.forget()
        return written

    async def try_writing(self) -> None:
        """A write that changes nothing: the mark that the file has already. It reaches the disk as
        every other does.
        """
        await self.write(
            lambda connection: connection.exec_driver_sql(
                f"PRAGMA application_id = {APPLICATION_ID}"
            )
        )

    async def forget(self, *, strict: bool = False) -> None:
        """After a deletion: empty the write-ahead log too, as far as readers allow, so that no copy
        stays in it.

        Where the disk refuses that, the deletion stands all the same, and nothing is raised: the
        log is emptied after the next write that succeeds. `strict`: raise, for whoever promises
        that no copy is left.
        """
        async with self._writing:
            try:
                await self._run_in_thread(self._truncate_log)
            except StorageError as error:
                self._log_left = True
                if strict:
                    raise
                _log.warning(
                    "deleted, but the write-ahead log is not emptied yet: %s", error.message
                )
            else:
                self._log_left = False

    async def _run_in_thread(self, fn: Callable[[], T]) -> T:
        """A connection's place is free again when `fn` is done, not when nobody waits for it any
        more.
        """
        async with self._connections:
            return await run_in_thread(fn)

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            hint = "make the folder writable, or set CITEWELL_HOME to another one"
            raise StorageError(
                f"{self.path}: cannot be opened: {error.strerror}", hint=hint
            ) from error
        engine = create_engine(
            "sqlite://",
            creator=self._connect,
            poolclass=QueuePool,
            pool_size=CONNECTIONS,
            max_overflow=0,
        )
        event.listen(engine, "begin", _begin_transaction)
        self._engine = engine
        try:
            self._transact(self._check_file, False)
            self._enable_write_ahead_log()
            self._migrate()
        except BaseException:
            engine.dispose()
            self._engine = None
            raise

    def _connect(self, busy_seconds: float | None = None) -> sqlite3.Connection:
        timeout = BUSY_SECONDS if busy_seconds is None else busy_seconds
        connection = sqlite3.connect(
            self.path, timeout=timeout, isolation_level=None, check_same_thread=False
        )
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        return connection

    def _transact(self, fn: Callable[[Connection], T], writing: bool) -> T:
        if self._engine is None:
            raise StorageError(
                f"{self.path}: the database is closed",
                hint="open it first: async with Database(path) as db",
            )
        try:
            with (
                self._engine.connect().execution_options(citewell_writing=writing) as connection,
                connection.begin(),
            ):
                return fn(connection)
        except DBAPIError as error:
            raise to_storage_error(self.path, error.orig) from error
        except sqlite3.Error as error:
            raise to_storage_error(self.path, error) from error

    def _check_file(self, connection: Connection) -> None:
        """Refuse a file that is someone else's, or of a later version, before a byte of it is
        changed.
        """
        mark = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
        tables = {name for (name,) in connection.exec_driver_sql("SELECT name FROM sqlite_master")}
        if tables and mark != APPLICATION_ID:
            raise StorageError(
                f"{self.path}: this is a database, but not Citewell's", hint=_ELSEWHERE
            )
        version = _get_version(connection) if tables else 0
        if version > len(MIGRATIONS):
            known = len(MIGRATIONS)
            raise StorageError(
                f"{self.path}: a later Citewell wrote this database (schema {version}, this "
                f"one knows {known})",
                hint="upgrade Citewell, or set CITEWELL_HOME to another folder",
            )

    def _enable_write_ahead_log(self) -> None:
        """The switch is kept in the file. SQLite does not wait for a lock here, so two first starts
        at once take turns.
        """
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._run_pragma("PRAGMA journal_mode = WAL")
            except StorageError as error:
                if (
                    not isinstance(error.__cause__, sqlite3.OperationalError)
                    or time.monotonic() > deadline
                ):
                    raise
                if error.__cause__.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                time.sleep(0.02)
            else:
                return

    def _migrate(self) -> None:
        """Each step and its record are one transaction; the version is read inside it, so two
        processes never repeat one.
        """
        before = self._transact(_get_version, False)
        for number, step in enumerate(MIGRATIONS, start=1):
            if self._transact(_get_version, False) >= number:
                continue

            def apply(
                connection: Connection,
                number: int = number,
                step: Callable[[Connection], None] = step,
            ) -> None:
                if _get_version(connection) < number:
                    step(connection)
                    record = text(
                        "INSERT INTO migrations (number, name, applied_at) VALUES (:number, "
                        ":name, :at)"
                    )
                    connection.execute(
                        record, {"number": number, "name": step.__name__, "at": time.time()}
                    )

            self._transact(apply, True)
        if before < len(MIGRATIONS):
            self._truncate_log()  # a step may have taken away what shall not be read any more

    def _truncate_log(self) -> None:
        self._run_pragma("PRAGMA wal_checkpoint(TRUNCATE)", busy_seconds=0.5)

    def _run_pragma(self, statement: str, busy_seconds: float | None = None) -> None:
        """A pragma that must run outside any transaction, on a connection of its own."""
        try:
            with contextlib.closing(self._connect(busy_seconds)) as connection:
                connection.execute(statement).fetchall()
        except sqlite3.Error as error:
            raise to_storage_error(self.path, error) from error


def to_storage_error(path: Path, error: BaseException | None) -> StorageError:
    """SQLite's refusal in words: which file, why, what to do."""
    code = _refine_error_code(path, (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF)
    reason, hint = _REASONS.get(
        code, (f"the database refuses: {error}", "`citewell doctor` checks the database")
    )
    return StorageError(f"{path}: {reason}", hint=hint)


def _refine_error_code(path: Path, code: int) -> int:
    """SQLite says that it cannot open a file also where a full disk takes no journal beside it."""
    if code == sqlite3.SQLITE_CANTOPEN:
        with contextlib.suppress(OSError):
            if shutil.disk_usage(path.parent).free == 0:
                return sqlite3.SQLITE_FULL
    return code


def _begin_transaction(connection: Connection) -> None:
    """A transaction that will write takes the write lock at once: a later upgrade could fail
    without waiting.
    """
    writing = connection.get_execution_options().get("citewell_writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _get_version(connection: Connection) -> int:
    exists = connection.exec_driver_sql(
        "SELECT count(*) FROM sqlite_master WHERE name = 'migrations'"
    ).scalar_one()
    if not exists:
        return 0
    return int(
        connection.exec_driver_sql("SELECT coalesce(max(number), 0) FROM migrations").scalar_one()
    )

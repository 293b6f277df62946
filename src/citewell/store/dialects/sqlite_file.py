"""SQLite: one file, opened, checked, migrated and written to.

The one rule: what a transaction that writes has returned from is on the disk (`synchronous =
FULL`), and of those that write there is one at a time, among all processes.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from citewell.errors import StorageError
from citewell.messages import Text
from citewell.store.db_errors import ELSEWHERE, to_storage_error
from citewell.store.dialects.schema_state import describe_schema, make_schema_error
from citewell.store.dialects.server import HOME, Mode, Schema
from citewell.store.migrations.migration_list import MIGRATIONS
from citewell.store.migrations.revisions import (
    State,
    apply_revisions,
    get_head,
    get_revision,
    judge_revision,
    set_baseline,
)
from citewell.store.migrations.statements import APPLICATION_ID

P = ParamSpec("P")
T = TypeVar("T")

BUSY_SECONDS = 10.0

_PRAGMAS = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",  # what is deleted is overwritten, not only unlinked
    "PRAGMA temp_store = MEMORY",
)


class SqliteFile:
    """The file at `path`. Folder (0700) and file (0600) are made where they are missing."""

    # Transactions at once in this process; of those that write, one. It gives 1.06 to 1.15 times
    # the answers a second that 8 give, whose threads wait for Python's lock (200 at once as
    # evals/bench_serve.py asks them, five pairs of runs on two cores).
    connections = 4
    writes_at_once = 1

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        self._engine: Engine | None = None

    def close(self) -> None:
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def check_reach(self, since: float) -> None:
        """A file is always there."""

    def try_writing(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")

    def open(self, *, moving: bool = False) -> None:
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            hint = Text("make the folder writable, or set CITEWELL_HOME to another one")
            raise StorageError(
                Text(
                    "{path}: cannot be opened: {strerror}", path=self.path, strerror=error.strerror
                ),
                hint=hint,
            ) from error
        self._engine = self._make_engine()
        try:
            state = self.transact(self._check_file, "read", moving)
            self._enable_write_ahead_log()
            if state != "moving":
                self._migrate()
        except BaseException:
            self.close()
            raise

    def look(self) -> Schema:
        if not self.path.is_file():
            return Schema("empty", "", get_head(), 0)
        self._engine = self._make_engine()
        try:
            return self.transact(self._describe, "read")
        finally:
            self.close()

    def upgrade(self) -> None:
        self.open()
        self.close()

    def _make_engine(self) -> Engine:
        engine = create_engine(
            "sqlite://",
            creator=self._connect,
            poolclass=QueuePool,
            pool_size=self.connections,
            max_overflow=0,
            execution_options={HOME: self.path.parent},
        )
        event.listen(engine, "begin", _begin_transaction)
        return engine

    def _connect(self, busy_seconds: float | None = None) -> sqlite3.Connection:
        timeout = BUSY_SECONDS if busy_seconds is None else busy_seconds
        connection = sqlite3.connect(
            self.path, timeout=timeout, isolation_level=None, check_same_thread=False
        )
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        return connection

    def transact(
        self,
        fn: Callable[Concatenate[Connection, P], T],
        mode: Mode,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        if self._engine is None:
            raise StorageError(
                Text("{path}: the database is closed", path=self.path),
                hint=Text("open it first: async with Database(path) as db"),
            )
        try:
            with (
                self._engine.connect().execution_options(citewell_mode=mode) as connection,
                connection.begin(),
            ):
                return fn(connection, *args, **kwargs)
        except DBAPIError as error:
            raise to_storage_error(self.path, error.orig) from error
        except sqlite3.Error as error:
            raise to_storage_error(self.path, error) from error

    def _check_file(self, connection: Connection, moving: bool) -> State:
        """How it stands. Refuse a file that is someone else's, or of a later version, before a
        byte of it is changed.
        """
        mark = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
        tables = {name for (name,) in connection.exec_driver_sql("SELECT name FROM sqlite_master")}
        if tables and mark != APPLICATION_ID:
            raise StorageError(
                Text("{path}: this is a database, but not Citewell's", path=self.path),
                hint=ELSEWHERE,
            )
        version = _get_version(connection) if tables else 0
        state = judge_revision(connection) if tables else "empty"
        if state == "later" or (state == "moving" and not moving):
            raise make_schema_error(self.name, describe_schema(connection))
        if version > len(MIGRATIONS):
            known = len(MIGRATIONS)
            raise StorageError(
                Text(
                    "{path}: a later Citewell wrote this database (schema {version}, this "
                    "one knows {known})",
                    path=self.path,
                    version=version,
                    known=known,
                ),
                hint=Text("upgrade Citewell, or set CITEWELL_HOME to another folder"),
            )
        return state

    def _describe(self, connection: Connection) -> Schema:
        """A file before Alembic is older, and its steps are counted."""
        schema = describe_schema(connection)
        mark = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
        if schema.state != "foreign" or mark != APPLICATION_ID:
            return schema
        steps = _get_version(connection)
        state: State = "later" if steps > len(MIGRATIONS) else "older"
        return replace(schema, state=state, revision=str(steps))

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
        before = self.transact(_get_version, "read")
        for number, step in enumerate(MIGRATIONS, start=1):
            if self.transact(_get_version, "read") >= number:
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

            self.transact(apply, "alone")
        if self.transact(get_revision, "read") != get_head():
            self.transact(set_baseline, "alone")
            self.transact(_apply_missing, "alone")
        if before < len(MIGRATIONS):
            self._empty_log()  # a step may have taken away what shall not be read any more

    async def listen_for_jobs(self, wake: Callable[[], None]) -> None:
        """Nobody tells of them."""

    def erase(self, *, strict: bool) -> list[str]:  # noqa: ARG002 here the log is all there is
        """Of the file itself nothing is left: `secure_delete`."""
        self._empty_log()
        return []

    def _empty_log(self) -> None:
        self._run_pragma("PRAGMA wal_checkpoint(TRUNCATE)", busy_seconds=0.5)

    def _run_pragma(self, statement: str, busy_seconds: float | None = None) -> None:
        """A pragma that must run outside any transaction, on a connection of its own."""
        try:
            with contextlib.closing(self._connect(busy_seconds)) as connection:
                connection.execute(statement).fetchall()
        except sqlite3.Error as error:
            raise to_storage_error(self.path, error) from error


def _begin_transaction(connection: Connection) -> None:
    """A transaction that will write takes the write lock at once: a later upgrade could fail
    without waiting.
    """
    mode = connection.get_execution_options().get("citewell_mode", "read")
    connection.exec_driver_sql("BEGIN" if mode == "read" else "BEGIN IMMEDIATE")


def _apply_missing(connection: Connection) -> None:
    if get_revision(connection) != get_head():
        apply_revisions(connection)


def _get_version(connection: Connection) -> int:
    exists = connection.exec_driver_sql(
        "SELECT count(*) FROM sqlite_master WHERE name = 'migrations'"
    ).scalar_one()
    if not exists:
        return 0
    return int(
        connection.exec_driver_sql("SELECT coalesce(max(number), 0) FROM migrations").scalar_one()
    )

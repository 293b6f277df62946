"""The database: transactions, run in threads. All access is by functions of a connection, passed to
`read` or `write`, each run in one transaction. When `write` returns, the change is on the disk. A
function may run more than once, where PostgreSQL finds a conflict with another transaction: so it
changes nothing but rows.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

import anyio
from sqlalchemy import Connection

from citewell.errors import StorageError, TransientError
from citewell.messages import Text
from citewell.store.dialects.postgres_server import STATEMENT_SECONDS, PostgresServer
from citewell.store.dialects.replicas import Replicas
from citewell.store.dialects.server import AFTER, Mode, Schema, Server
from citewell.store.dialects.sqlite_file import SqliteFile
from citewell.threads import run_in_thread

P = ParamSpec("P")
T = TypeVar("T")
REPLICA_LAG = 2.0  # seconds
_log = logging.getLogger(__name__)


class Database:
    """`async with Database(path) as db:` creates the folder (0700) and the file (0600) where they
    are missing, and migrates. `Database(path, url)` is a database of PostgreSQL; `path` then only
    says where the home is, with its key and its files. Every method raises StorageError, which
    names the file or the server. `statement_seconds`: that a statement of PostgreSQL may take.
    `direct_url`: the same database, where `url` names a pooler before it. `replica_urls`: copies
    that follow it, for `search`; `replica_lag`: seconds that they may be behind.
    """

    def __init__(
        self,
        path: Path,
        url: str = "",
        *,
        statement_seconds: float = STATEMENT_SECONDS,
        direct_url: str = "",
        replica_urls: Sequence[str] = (),
        replica_lag: float = REPLICA_LAG,
    ) -> None:
        self.path = path
        self.home = path.parent
        self.server: Server = (
            PostgresServer(url, self.home, seconds=statement_seconds, direct_url=direct_url)
            if url
            else SqliteFile(path)
        )
        self._replicas = self._make_replicas(replica_urls, statement_seconds, replica_lag)
        self._writing = anyio.CapacityLimiter(self.server.writes_at_once)
        self._log_left = False  # what was deleted may still stand in the write-ahead log
        self._connections = anyio.CapacityLimiter(self.server.connections)

    @property
    def dialect(self) -> str:
        """Its name: "sqlite" or "postgresql"."""
        return "sqlite" if isinstance(self.server, SqliteFile) else "postgresql"

    async def open(self, *, moving: bool = False) -> Self:
        """Create, check and migrate. Safe while other processes do the same. `moving`: also one
        that another database is being moved into.
        """
        await self._run_in_thread(lambda: self._open(moving))
        return self

    async def look(self) -> Schema:
        """The state of the schema; nothing is changed. Not while the database is open."""
        return await self._run_in_thread(self.server.look)

    async def upgrade(self) -> None:
        """Migrate to the schema of this version. Not while the database is open."""
        await self._run_in_thread(self._upgrade)

    async def close(self) -> None:
        await self._run_in_thread(self._close)

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def read(
        self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `fn(connection, *args)` on one snapshot of the database."""
        return await self._run_in_thread(lambda: self.server.transact(fn, "read", *args, **kwargs))

    async def search(
        self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Like `read`, on a replica if one is near enough: the latest commits may be missing."""
        if self._replicas is not None:
            try:
                return await self._replicas.read(self._run_on_replica, fn, *args, **kwargs)
            except TransientError as error:
                _log.info("a search goes to the database itself: %s", error.message)
        return await self.read(fn, *args, **kwargs)

    async def write(
        self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `fn` in one transaction while nobody else writes: all of it is kept, or none."""
        return await self._write("alone", fn, *args, **kwargs)

    async def write_beside(
        self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Like `write`, while others write too: `fn` locks the rows that it decides on
        (`dialects/locks.py`).
        """
        return await self._write("beside", fn, *args, **kwargs)

    async def _write(
        self,
        mode: Mode,
        fn: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        after: list[Callable[[], None]] = []

        def run(connection: Connection) -> T:
            after.clear()  # of a try that was not kept
            connection.info[AFTER] = after
            return fn(connection, *args, **kwargs)

        def keep() -> T:
            done = self.server.transact(run, mode)
            for call in after:
                call()
            return done

        began = time.monotonic()
        async with self._writing:
            written = await self._run_in_thread(keep, began)
        if self._log_left:
            await self.forget()
        return written

    async def write_briefly(
        self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Like `write`, for one statement on rows that no other transaction decides on: it waits
        for no other writer.
        """
        return await self._run_in_thread(lambda: self.server.transact(fn, "brief", *args, **kwargs))

    async def try_writing(self) -> None:
        """Test a write: it changes nothing, but reaches the disk as every other does."""
        await self.write_beside(self.server.try_writing)

    async def forget(self, *, strict: bool = False) -> list[str]:
        """After a deletion: empty the write-ahead log too, as far as readers allow, so that no copy
        stays in it. Returns the tables in whose files deleted data may remain.

        If the disk refuses, nothing is raised, and the log is emptied after the next successful
        write. `strict`: raise, for callers that promise that no copy is left; and rewrite
        PostgreSQL's tables.
        """
        left: list[str] = []
        async with self._writing:
            try:
                left = await self._run_in_thread(lambda: self.server.erase(strict=strict))
            except StorageError as error:
                self._log_left = True
                if strict:
                    raise
                _log.warning(
                    "deleted, but the write-ahead log is not emptied yet: %s", error.message
                )
            else:
                self._log_left = False
        return left

    def _open(self, moving: bool) -> None:
        self._make_home()
        self.server.open(moving=moving)
        if self._replicas is not None:
            self._replicas.open()

    def _close(self) -> None:
        if self._replicas is not None:
            self._replicas.close()
        self.server.close()

    def _make_replicas(self, urls: Sequence[str], seconds: float, lag: float) -> Replicas | None:
        if not urls or not isinstance(self.server, PostgresServer):
            return None
        servers = [PostgresServer(each, self.home, seconds=seconds) for each in urls]
        self._asking = anyio.CapacityLimiter(sum(each.connections for each in servers))
        return Replicas(self.server, servers, lag)

    def _upgrade(self) -> None:
        self._make_home()
        self.server.upgrade()

    def _make_home(self) -> None:
        try:
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                Text(
                    "{path}: cannot be opened: {strerror}", path=self.path, strerror=error.strerror
                ),
                hint=Text("make the folder writable, or set CITEWELL_HOME to another one"),
            ) from error

    async def _run_in_thread(self, fn: Callable[[], T], began: float | None = None) -> T:
        """The slot of a connection is free when `fn` ends, also where the caller was cancelled
        before. `began`: when the wait for a slot began.
        """
        began = began or time.monotonic()
        async with self._connections:
            self.server.check_reach(began)
            return await run_in_thread(fn)

    async def _run_on_replica(self, fn: Callable[[], T]) -> T:
        async with self._asking:
            return await run_in_thread(fn)

"""PostgreSQL: a pool of connections, and transactions as SQLite gives them.

The one rule: one that writes is READ COMMITTED, and others that write are kept out by locks
(`locks.py`): all of them where it is `alone`, else those of what it decides on. Not SERIALIZABLE:
the server notes what such a transaction reads by pages of an index and by whole tables, so writers
of different rows were refused by each other, the more of them the more often. Nothing is set for
longer than a transaction, and nothing is prepared, so PgBouncer may stand between (its transaction
mode); what listens goes around it (`direct_url`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import stamina
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError

from citewell.errors import DatabaseAway, StorageError
from citewell.messages import Text
from citewell.store.dialects.bounded_connection import make_engine
from citewell.store.dialects.database_url import CONNECT, get_public_name, parse_database_url
from citewell.store.dialects.erasure import rewrite_tables
from citewell.store.dialects.fence import write_fence
from citewell.store.dialects.job_notices import listen_forever
from citewell.store.dialects.locks import write_first_lock
from citewell.store.dialects.postgres_errors import is_lost, to_storage_error
from citewell.store.dialects.postgres_tries import Tries
from citewell.store.dialects.schema_state import describe_schema, make_schema_error
from citewell.store.dialects.server import HOME, Mode, Schema
from citewell.store.migrations.revisions import apply_revisions

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

RETRY_SECONDS: Final = 10.0  # that a transaction is tried again, after others' writes or a restart
STATEMENT_SECONDS: Final = 60.0
READING_SECONDS: Final = 300.0  # of silence after which the server ends a transaction
WRITING_SECONDS: Final = 60.0  # of one that writes: it may hold what others wait for
OLDEST: Final = 16  # the first with IS JSON
_LOCK: Final = 0x43495445  # "CITE": the advisory lock of whoever changes tables
_SNAPSHOT: Final[dict[str, Any]] = {
    "isolation_level": "REPEATABLE READ",
    "postgresql_readonly": True,
}


class PostgresServer:
    connections = 8
    writes_at_once = 4

    def __init__(
        self, url: str, home: Path, *, seconds: float = STATEMENT_SECONDS, direct_url: str = ""
    ) -> None:
        """`seconds`: that a statement may take. `direct_url`: the same database without a pooler
        between. Raises ConfigError.
        """
        self._url = parse_database_url(url)
        self._direct = parse_database_url(direct_url) if direct_url else self._url
        self.name = get_public_name(self._url)
        self._home = home
        self._seconds = seconds
        self._limits = (
            f"SET LOCAL statement_timeout = {round(1000 * seconds)}; "
            f"SET LOCAL lock_timeout = {round(1000 * RETRY_SECONDS)}; "
            "SET LOCAL idle_in_transaction_session_timeout = '"
        )
        self._engine: Engine | None = None
        self._opened = False
        self._in_vain: tuple[float, DatabaseAway] | None = None  # who waited last: since when

    def open(self, *, moving: bool = False) -> None:
        """An empty database gets its tables; an older one is refused until somebody says `citewell
        db upgrade`: other servers may still be at work with it.
        """
        self.connect()
        try:
            schema = self._look()
            if not (moving and schema.state == "moving"):
                self._check_schema(schema)
        except BaseException:
            self.close()
            raise
        self._opened = True

    def _check_schema(self, schema: Schema) -> None:
        if schema.state == "empty":
            self._change_schema()
        elif schema.state == "ahead":
            log.warning(
                "%s: its schema %s is later than this Citewell's, %s, which works with it",
                self.name,
                schema.revision,
                schema.known,
            )
        elif schema.state != "current":
            raise make_schema_error(self.name, schema)

    def look(self) -> Schema:
        self.connect()
        try:
            return self._look()
        finally:
            self.close()

    def upgrade(self) -> None:
        self.connect()
        try:
            schema = self._look()
            if schema.state not in {"empty", "older", "current"}:
                raise make_schema_error(self.name, schema)
            self._change_schema()
        finally:
            self.close()

    def connect(self) -> None:
        """Ready to be asked; no connection is made before that."""
        self._engine = make_engine(
            self._url,
            self._seconds,
            pool_size=self.connections,
            execution_options={HOME: self._home},
        )
        event.listen(self._engine, "begin", self._limit_transaction)

    def _look(self) -> Schema:
        self.transact(self._check_server, "read")
        return self.transact(describe_schema, "read")

    def _change_schema(self) -> None:
        """READ COMMITTED: who has waited for another that does the same sees what it did."""
        assert self._engine is not None
        try:
            with self._engine.connect() as connection:
                connection.connection.driver_connection.patience = None  # type: ignore[union-attr]
                connection.detach()  # and closed at the end
                with connection.begin():
                    connection.exec_driver_sql(
                        "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0"
                    )
                    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
                    if describe_schema(connection).state in {"empty", "older"}:
                        apply_revisions(connection)
        except DBAPIError as error:
            raise to_storage_error(self.name, self._url, error.orig) from error

    def close(self) -> None:
        if self._engine is not None:
            self._engine.dispose()
            self._engine, self._opened = None, False

    def check_reach(self, since: float) -> None:
        if (waited := self._in_vain) and waited[0] > since:
            raise DatabaseAway(waited[1].message, hint=waited[1].hint)

    def try_writing(self, connection: Connection) -> None:
        """A transaction id is taken, and its commit is written to the log."""
        connection.exec_driver_sql("SELECT pg_current_xact_id()")

    async def listen_for_jobs(self, wake: Callable[[], None]) -> None:
        await listen_forever(self._direct, dict(CONNECT), wake)

    def erase(self, *, strict: bool) -> list[str]:
        """Not `strict`: what was deleted is overwritten by what is written next, once the server's
        autovacuum has been by.
        """
        import psycopg

        if not strict:
            return []
        try:
            return rewrite_tables(self._direct, {**CONNECT, **self._direct.query})
        except psycopg.Error as error:
            raise to_storage_error(self.name, self._url, error) from error

    def transact(
        self,
        fn: Callable[Concatenate[Connection, P], T],
        mode: Mode,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        if self._engine is None:
            raise self._make_closed_error()
        tries, began = Tries(self._opened), time.monotonic()
        try:
            for attempt in stamina.retry_context(
                on=tries.may_go_on,
                attempts=None,
                timeout=RETRY_SECONDS,
                wait_initial=0.005,
                wait_max=0.5,
                wait_jitter=0.02,
            ):
                with attempt:
                    done = self._try_once(self._engine, tries, fn, mode, *args, **kwargs)
                    self._in_vain = None
                    return done
        except DBAPIError as error:
            if tries.committing and is_lost(error.orig):
                raise self._make_doubt_error() from error
            problem = to_storage_error(self.name, self._url, error.orig)
            if isinstance(problem, DatabaseAway) and self._opened:
                self._in_vain = (began, problem)
            raise problem from error
        raise AssertionError("the last attempt returns or raises")

    def ask_once(
        self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """`fn` on one snapshot, without waiting for a server that is away. Raises StorageError."""
        assert self._engine is not None
        try:
            return self._try_once(self._engine, Tries(False), fn, "read", *args, **kwargs)
        except DBAPIError as error:
            raise to_storage_error(self.name, self._url, error.orig) from error

    @contextmanager
    def hold_snapshot(self) -> Iterator[Connection]:
        """A connection that sees the database as it is now, for as long as the block lasts. It may
        be used by one thread after another.
        """
        if self._engine is None:
            raise self._make_closed_error()
        try:
            with (
                self._engine.connect().execution_options(**_SNAPSHOT) as connection,
                connection.begin(),
            ):
                yield connection
        except DBAPIError as error:
            raise to_storage_error(self.name, self._url, error.orig) from error

    def _make_closed_error(self) -> StorageError:
        return StorageError(
            Text("{path}: the database is closed", path=self.name),
            hint=Text("open it first: async with Database(path) as db"),
        )

    def _try_once(
        self,
        engine: Engine,
        tries: Tries,
        fn: Callable[Concatenate[Connection, P], T],
        mode: Mode,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        tries.committing = False
        options = _SNAPSHOT if mode == "read" else {"isolation_level": "READ COMMITTED"}
        pool = engine.pool
        try:
            with (
                engine.connect().execution_options(citewell_mode=mode, **options) as connection,
                connection.begin(),
            ):
                done = fn(connection, *args, **kwargs)
                tries.committing = mode != "read"
        finally:
            if self._engine is not engine:  # closed meanwhile: its connection came back too late
                pool.dispose()
        return done

    def _make_doubt_error(self) -> DatabaseAway:
        return DatabaseAway(
            Text(
                "{name}: the connection was lost at the very end of a change; it may have been "
                "kept or not",
                name=self.name,
            ),
            hint=Text("look whether it is there before you try again"),
        )

    def _limit_transaction(self, connection: Connection) -> None:
        mode = connection.get_execution_options().get("citewell_mode", "read")
        waits = mode in {"beside", "alone"}
        first = "; " + write_first_lock(alone=mode == "alone") if waits else ""
        idle = f"{READING_SECONDS if mode == 'read' else WRITING_SECONDS:.0f}s'"
        connection.exec_driver_sql(self._limits + idle + write_fence() + first)

    def _check_server(self, connection: Connection) -> None:
        version = connection.dialect.server_version_info or (0,)
        encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
        if int(version[0]) < OLDEST:
            raise StorageError(
                Text("{name}: PostgreSQL {version} is too old", name=self.name, version=version[0]),
                hint=Text("use PostgreSQL {oldest} or later", oldest=OLDEST),
            )
        if encoding != "UTF8":
            raise StorageError(
                Text("{name}: its encoding is {encoding}", name=self.name, encoding=encoding),
                hint=Text("make the database with: createdb -E UTF8 -T template0 NAME"),
            )

"""PostgreSQL, by psycopg: each statement is a cursor in a read-only transaction that is rolled
back. Nothing is sent but through the extended protocol, which takes one statement, and as the query
of a cursor, which the server allows to read alone; EXPLAIN and SHOW are the only others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from citewell.sql.engines import mask_url
from citewell.sql.engines.engine import Kind, Limits, Location, Rows, Schema
from citewell.sql.engines.postgres_calls import check_calls
from citewell.sql.engines.postgres_errors import mask_secrets, translate_error
from citewell.sql.engines.postgres_schema import find_tables, list_notes
from citewell.sql.engines.profile import INSPECT_SECONDS, Budget, inspect_tables
from citewell.sql.engines.values import gather_rows
from citewell.sql.engines.worker_process import (
    ProcessEngine,
    limit_memory,
    make_memory_error,
    make_unavailable_error,
    make_unreadable_value_error,
    time_query,
)

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

# at an address; the worker is killed a second later than the statement's own time is over
CONNECT_SECONDS = 3
CLIENT_MIB = 256  # that one row may take here
AT_ONCE = 500  # rows fetched together
WORK_MEM_MIB = 16  # of one sort or hash table on the server: a statement may have several
TEMP_FILE_MIB = 512
READ_ALL = "pg_read_all_data"  # from version 14 on: may read every table, and nothing else
# the names of kinds in pg_type.typcategory (postgresql.org/docs/current/catalog-pg-type.html)
CATEGORIES: dict[str, Kind] = {
    "N": "number",
    "D": "date",
    "T": "date",
    "S": "text",
    "E": "text",
    "B": "bool",
}
DIRECT = re.compile(r"(?is)^\s*(explain|show)\b")


class Postgres(ProcessEngine):
    dialect = "postgres"
    module = "citewell.sql.engines.postgres"
    driver = "psycopg"
    server = True


def run(location: Location, token: str, sql: str, limits: Limits) -> Rows:
    with (
        _open_read_only(location, token, limits.seconds) as connection,
        limit_memory(min(limits.memory_mib, CLIENT_MIB)),
    ):
        check_calls(connection, sql)
        return time_query(lambda: _fetch_rows(connection, sql, limits))


def explain(location: Location, token: str, sql: str, limits: Limits) -> None:
    with _open_read_only(location, token, limits.seconds) as connection:
        check_calls(connection, sql)
        _send_statement(connection, sql if DIRECT.match(sql) else f"EXPLAIN {sql}").fetchall()


def inspect(location: Location, token: str, values: int) -> Schema:
    budget = Budget.of(INSPECT_SECONDS - CONNECT_SECONDS)
    with _open_read_only(location, token, INSPECT_SECONDS) as connection:
        import psycopg

        def ask(sql: str, seconds: float) -> list[Sequence[Any]] | None:
            """A view that no longer works, or takes too long, tells nothing."""
            try:
                with connection.transaction():
                    _set_config(
                        connection, {"statement_timeout": str(max(1, round(seconds * 1000)))}
                    )
                    return list(_send_statement(connection, sql).fetchall())
            except psycopg.Error:
                if connection.closed:
                    raise
                return None

        found = find_tables(connection, CATEGORIES)
        notes = list_notes(connection)
        tables, left = inspect_tables(found, ask, "postgres", values, budget)
    return Schema("postgres", tuple(tables), (*notes, *left))


def stop(location: Location, token: str) -> None:
    """Ends the session of a killed worker: its server would notice only when sending rows."""
    import psycopg

    ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
    try:
        with psycopg.connect(
            location.where, connect_timeout=CONNECT_SECONDS, autocommit=True
        ) as connection:
            connection.execute(ending, (token,))
    except psycopg.Error as error:
        raise translate_error(error, location.where, 0.0, None) from None


@contextmanager
def _open_read_only(location: Location, token: str, seconds: float) -> Iterator[Connection]:
    """A read-only transaction's connection with limits; rolled back and closed at the end."""
    import psycopg

    connection = None
    try:
        connection = psycopg.connect(
            location.where,
            connect_timeout=CONNECT_SECONDS,
            application_name=token,
            client_encoding="utf-8",
            autocommit=True,
        )
        connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
        connection.execute("BEGIN READ ONLY")
        _apply_limits(connection, seconds)
        _register_text_loaders(connection)
        yield connection
    except psycopg.Error as error:
        raise translate_error(error, location.where, seconds, connection) from None
    except MemoryError:
        raise make_memory_error() from None
    except (ValueError, OverflowError, UnicodeError) as error:
        if connection is None:  # the URL
            raise make_unavailable_error(
                mask_url(location.where),
                mask_secrets(str(error), location.where),
                "look at the URL",
            ) from None
        raise make_unreadable_value_error(error) from None
    finally:
        if connection is not None:
            connection.close()  # rolls back


def _apply_limits(connection: Connection, seconds: float) -> None:
    """The settings hold for the transaction. Reading them first also fixes that it is read-only:
    the server refuses to change that after the first statement.
    """
    milliseconds = str(max(1, round(seconds * 1000)))
    told = connection.execute(
        "SELECT current_setting('is_superuser'), current_setting('server_version_num')::int"
    ).fetchone()
    assert told is not None
    superuser, version = told[0] == "on", int(told[1])
    limits = {
        "statement_timeout": milliseconds,
        "lock_timeout": str(min(2_000, int(milliseconds))),
        "idle_in_transaction_session_timeout": str(int(milliseconds) + 60_000),
        "work_mem": f"{WORK_MEM_MIB}MB",
        "max_parallel_workers_per_gather": "0",
        "jit": "off",
        "standard_conforming_strings": "on",  # the guard reads texts by this rule
        "datestyle": "ISO, YMD",
        "intervalstyle": "iso_8601",
        "extra_float_digits": "1",
        "cursor_tuple_fraction": "1.0",
        "default_transaction_read_only": "on",
    }
    if version >= 140_000:
        limits["client_connection_check_interval"] = "500"
    if superuser:
        limits["temp_file_limit"] = f"{TEMP_FILE_MIB}MB"
    _set_config(connection, limits)
    if superuser and version >= 140_000:
        connection.execute(f"SET LOCAL ROLE {READ_ALL}")


def _set_config(connection: Connection, settings: dict[str, str]) -> None:
    calls = ", ".join(["set_config(%s, %s, true)"] * len(settings))
    connection.execute(
        f"SELECT {calls}".encode(), [part for pair in settings.items() for part in pair]
    )


def _register_text_loaders(connection: Connection) -> None:
    """Dates and times as the server writes them (ISO): Python has no year 0, no `infinity`."""
    from psycopg.types.string import TextLoader

    for name in (
        "date",
        "time",
        "timetz",
        "timestamp",
        "timestamptz",
        "interval",
        "uuid",
        "json",
        "jsonb",
    ):
        connection.adapters.register_loader(name, TextLoader)


def _send_statement(connection: Connection, sql: str) -> psycopg.Cursor[tuple[Any, ...]]:
    """By the extended protocol, which psycopg uses without parameters by `prepare` alone."""
    return connection.execute(sql.encode(), prepare=True)


def _fetch_rows(connection: Connection, sql: str, limits: Limits) -> Rows:
    direct = bool(DIRECT.match(sql))
    if not direct:
        _send_statement(connection, f"DECLARE citewell NO SCROLL CURSOR FOR {sql}")
    fetching = f"FETCH {min(AT_ONCE, limits.rows + 1)} FROM citewell"
    cursor = _send_statement(connection, sql if direct else fetching)
    described = cursor.description or []
    kinds = _load_kinds(connection, [column.type_code for column in described])

    def fetch_rows() -> Iterator[Sequence[Any]]:
        some = cursor.fetchall()
        while some:
            yield from some
            some = [] if direct else _send_statement(connection, fetching).fetchall()

    return gather_rows([column.name for column in described], kinds, fetch_rows(), limits)


def _load_kinds(connection: Connection, types: Sequence[int]) -> list[Kind]:
    told = connection.execute(
        "SELECT oid, typcategory::text FROM pg_catalog.pg_type WHERE oid = ANY(%s)",
        (list(set(types)),),
    )
    categories = {int(oid): CATEGORIES.get(category, "other") for oid, category in told.fetchall()}
    return [categories.get(one, "other") for one in types]

"""DuckDB: the copies made of files that people add. Opened read-only, without other files, network
and extensions; its configuration is locked.

The one rule: DuckDB's own parser says what kind of statement it is, and only those that hand out
rows are run: a read-only file would still let them make temporary tables and call procedures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.errors import SourceUnavailable, StatementFailed
from citewell.sql.engines.engine import Column, ForeignKey, Limits, Location, Rows, Schema, Table
from citewell.sql.engines.profile import INSPECT_SECONDS, Budget, Found, look, quoted
from citewell.sql.engines.values import gather, kind_of
from citewell.sql.engines.worker_process import (
    ProcessEngine,
    complaint,
    late,
    timed,
    too_large,
    unavailable,
    within_memory,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

THREADS = 2
INSPECT_MIB = 1024
AT_ONCE = 500  # rows fetched together
# in this order: what is locked last can no more be changed
SETTINGS: dict[str, object] = {
    "temp_directory": "",
    "max_temp_directory_size": "0KiB",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,
    "enable_external_file_cache": False,
    "enable_progress_bar": False,
    "threads": THREADS,
    "enable_external_access": False,
}
TABLES = """
SELECT schema_name, table_name, coalesce(comment, ''), estimated_size, false FROM duckdb_tables()
WHERE NOT internal AND NOT temporary AND database_name = current_database()
UNION ALL SELECT schema_name, view_name, coalesce(comment, ''), NULL, true FROM duckdb_views()
WHERE NOT internal AND NOT temporary AND database_name = current_database()
ORDER BY ALL"""
COLUMNS = """
SELECT schema_name, table_name, column_name, data_type, coalesce(comment, '') FROM duckdb_columns()
WHERE NOT internal AND database_name = current_database() ORDER BY column_index"""
KEYS = """
SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table,
    referenced_column_names
FROM duckdb_constraints() WHERE database_name = current_database() ORDER BY constraint_index"""


class DuckDB(ProcessEngine):
    dialect = "duckdb"
    module = "citewell.sql.engines.duckdb"
    driver = "duckdb"


def run(location: Location, _token: str, sql: str, limits: Limits) -> Rows:
    with _opened(location, limits.seconds, limits.memory_mib, locked=True) as connection:
        return timed(lambda: _rows(connection, _one(connection, sql), limits))


def explain(location: Location, _token: str, sql: str, limits: Limits) -> None:
    with _opened(location, limits.seconds, limits.memory_mib, locked=True) as connection:
        _one(connection, sql)
        explained = sql.lstrip().lower().startswith("explain")
        connection.execute(sql if explained else f"EXPLAIN {sql}").fetchall()


def inspect(location: Location, _token: str, values: int) -> Schema:
    budget = Budget.of(INSPECT_SECONDS)
    with _opened(location, INSPECT_SECONDS, INSPECT_MIB, locked=False) as connection:
        tables, notes = look(_found(connection), _Asking(connection), "duckdb", values, budget)
    return Schema("duckdb", tuple(tables), tuple(notes))


@contextmanager
def _opened(
    location: Location, seconds: float, mib: int, *, locked: bool
) -> Iterator[DuckDBPyConnection]:
    import duckdb

    connection = _connected(location.where)
    began = time.monotonic()
    try:
        for name, value in SETTINGS.items():
            connection.execute(f"SET {name} = {value!r}")
        connection.execute(f"SET memory_limit = '{mib}MiB'")
        connection.execute(f"SET max_execution_time = {max(1, round(seconds * 1000))}")
        if locked:
            connection.execute("SET lock_configuration = true")
        with within_memory(mib):
            yield connection
    except duckdb.InterruptException:
        raise late(seconds) from None
    except (duckdb.OutOfMemoryException, MemoryError):
        raise too_large() from None
    except duckdb.FatalException as error:
        raise unavailable(Path(location.where).name, error, "add the source again") from None
    except duckdb.Error as error:
        if time.monotonic() - began >= seconds and "nterrupt" in str(error):
            raise late(seconds) from None
        raise StatementFailed(_without_path(complaint(error), location.where)) from None
    except (ValueError, OverflowError, UnicodeError, RuntimeError) as error:
        # a value that Python cannot hold
        raise StatementFailed(f"a value of the result cannot be read: {complaint(error)}") from None
    finally:
        connection.close()


def _connected(path: str) -> DuckDBPyConnection:
    import duckdb

    name = Path(path).name
    if not Path(path).is_file():
        raise SourceUnavailable(
            f"the tables of {name} are gone: there is no such file", hint="add the source again"
        )
    try:
        return duckdb.connect(path, read_only=True)
    except duckdb.Error as error:
        said = _without_path(complaint(error), path)
        if "lock" in said.lower():
            raise unavailable(
                name, "another program has it open for writing", "wait, or close that program"
            ) from None
        raise unavailable(
            name, said, "is it a DuckDB database of this version? else add the source again"
        ) from None


def _without_path(message: str, path: str) -> str:
    return message.replace(str(Path(path).resolve()), Path(path).name).replace(
        path, Path(path).name
    )


def _one(connection: DuckDBPyConnection, sql: str) -> str:
    """The statement, if it is one and hands out rows."""
    import duckdb

    kinds = [statement.type for statement in connection.extract_statements(sql)]
    if len(kinds) != 1:
        raise StatementFailed(f"one statement is run at a time, and this is {len(kinds)}")
    if kinds[0] not in {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}:
        raise StatementFailed(f"only statements that read are run, and this is {kinds[0].name}")
    return sql


def _rows(connection: DuckDBPyConnection, sql: str, limits: Limits) -> Rows:
    connection.execute(sql)
    described = [(str(column[0]), str(column[1])) for column in connection.description or []]
    if any("TIME ZONE" in kind for _, kind in described):
        connection.execute(_zones_as_text(sql, [kind for _, kind in described]))

    def each() -> Iterator[Sequence[Any]]:
        while some := connection.fetchmany(min(AT_ONCE, limits.rows + 1)):
            yield from some

    return gather(
        [name for name, _ in described], [kind_of(kind) for _, kind in described], each(), limits
    )


def _zones_as_text(sql: str, kinds: Sequence[str]) -> str:
    """DuckDB hands out moments with a time zone only where a package for them is installed: as text
    they need none.
    """
    names = [f"c{place}" for place in range(len(kinds))]
    told = ", ".join(
        f"{name}::VARCHAR" if "TIME ZONE" in kind else name
        for name, kind in zip(names, kinds, strict=True)
    )
    return f"SELECT {told} FROM ({sql.rstrip().rstrip(';')}\n) AS told({', '.join(names)})"  # noqa: S608 - the statement itself


class _Asking:
    """Looks into tables; a view that no longer works, or takes too long, tells nothing."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self.connection = connection

    def __call__(self, sql: str, seconds: float) -> list[Sequence[Any]] | None:
        import duckdb

        try:
            self.connection.execute(f"SET max_execution_time = {max(1, round(seconds * 1000))}")
            return list(self.connection.execute(sql).fetchall())
        except (duckdb.Error, ValueError, OverflowError, MemoryError):
            return None


def _found(connection: DuckDBPyConnection) -> list[Found]:
    tables = connection.execute(TABLES).fetchall()
    columns: dict[tuple[str, str], list[Column]] = {}
    for schema, table, name, kind, comment in connection.execute(COLUMNS).fetchall():
        columns.setdefault((schema, table), []).append(Column(name, kind, kind_of(kind), comment))
    primary, foreign = _keys(connection)
    found = []
    for schema, name, comment, rows, is_view in tables:
        key = (schema, name)
        source = f"{quoted(schema, 'duckdb')}.{quoted(name, 'duckdb')}"
        own = Table(
            _shown(schema, name),
            tuple(columns.get(key, ())),
            comment,
            rows,
            primary.get(key, ()),
            foreign.get(key, ()),
        )
        found.append(Found(own, source, is_view))
    return found


def _shown(schema: str, name: str) -> str:
    return name if schema == "main" else f"{schema}.{name}"


def _keys(
    connection: DuckDBPyConnection,
) -> tuple[dict[tuple[str, str], tuple[str, ...]], dict[tuple[str, str], tuple[ForeignKey, ...]]]:
    primary: dict[tuple[str, str], tuple[str, ...]] = {}
    foreign: dict[tuple[str, str], tuple[ForeignKey, ...]] = {}
    for schema, table, kind, columns, target, target_columns in connection.execute(KEYS).fetchall():
        key = (schema, table)
        if kind == "PRIMARY KEY":
            primary[key] = tuple(columns)
        elif kind == "FOREIGN KEY" and target:
            foreign[key] = (
                *foreign.get(key, ()),
                ForeignKey(tuple(columns), _shown(schema, target), tuple(target_columns)),
            )
    return primary, foreign

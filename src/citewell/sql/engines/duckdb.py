"""DuckDB: the copies made of files that people add. Opened read-only, without other files, network
and extensions; its configuration is locked. DuckDB's own parser says what kind of statement it is,
and only those that hand out rows are run: a read-only file would still let them make temporary
tables and call procedures.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.errors import SourceUnavailable, StatementFailed
from citewell.messages import Text
from citewell.sql.engines.engine import Column, ForeignKey, Limits, Location, Rows, Schema, Table
from citewell.sql.engines.profile import INSPECT_SECONDS, Budget, Found, inspect_tables, quote_name
from citewell.sql.engines.values import detect_kind, gather_rows
from citewell.sql.engines.worker_process import (
    ProcessEngine,
    format_engine_error,
    limit_memory,
    make_memory_error,
    make_timeout_error,
    make_unavailable_error,
    make_unreadable_value_error,
    time_query,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

THREADS = 2
INSPECT_MIB = 1024
_PLACE = re.compile(r"^(LINE (\d+): .*)\n( *)\^", re.MULTILINE)  # how it marks where a fault is
_WORD = re.compile(r"[\w.\"]+|\S")
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
    with _open_connection(location, limits.seconds, limits.memory_mib, locked=True) as connection:
        return time_query(lambda: _fetch_rows(connection, _check_single(connection, sql), limits))


def explain(location: Location, _token: str, sql: str, limits: Limits) -> None:
    with _open_connection(location, limits.seconds, limits.memory_mib, locked=True) as connection:
        _check_single(connection, sql)
        explained = sql.lstrip().lower().startswith("explain")
        connection.execute(sql if explained else f"EXPLAIN {sql}").fetchall()


def inspect(location: Location, _token: str, values: int) -> Schema:
    budget = Budget.of(INSPECT_SECONDS)
    with _open_connection(location, INSPECT_SECONDS, INSPECT_MIB, locked=False) as connection:
        tables, notes = inspect_tables(
            _find_tables(connection), _TableProber(connection), "duckdb", values, budget
        )
    return Schema("duckdb", tuple(tables), tuple(notes))


@contextmanager
def _open_connection(
    location: Location, seconds: float, mib: int, *, locked: bool
) -> Iterator[DuckDBPyConnection]:
    import duckdb

    connection = _connect_file(location.where)
    began = time.monotonic()
    try:
        for name, value in SETTINGS.items():
            connection.execute(f"SET {name} = {value!r}")
        connection.execute(f"SET memory_limit = '{mib}MiB'")
        connection.execute(f"SET max_execution_time = {max(1, round(seconds * 1000))}")
        if locked:
            connection.execute("SET lock_configuration = true")
        with limit_memory(mib):
            yield connection
    except duckdb.InterruptException:
        raise make_timeout_error(seconds) from None
    except (duckdb.OutOfMemoryException, MemoryError):
        raise make_memory_error() from None
    except duckdb.FatalException as error:
        raise make_unavailable_error(
            Path(location.where).name, error, "add the source again"
        ) from None
    except duckdb.Error as error:
        if time.monotonic() - began >= seconds and "nterrupt" in str(error):
            raise make_timeout_error(seconds) from None
        raise StatementFailed(_describe_error(error, location.where)) from None
    except (ValueError, OverflowError, UnicodeError, RuntimeError) as error:
        # a value that Python cannot hold
        raise make_unreadable_value_error(error) from None
    finally:
        connection.close()


def _describe_error(error: Exception, path: str) -> str:
    """In the engine's words, and where in the statement."""
    told = _hide_path(format_engine_error(error), path)
    found = _PLACE.search(str(error))
    if found is None or len(found[3]) >= len(found[1]):
        return told
    word = _WORD.match(found[1][len(found[3]) :])
    if word is None:
        return told
    told = told.partition("\nLINE ")[0]
    return Text("{told} (line {line}, at {word!r})", told=told, line=found[2], word=word[0][:40])


def _connect_file(path: str) -> DuckDBPyConnection:
    import duckdb

    name = Path(path).name
    if not Path(path).is_file():
        raise SourceUnavailable(
            Text("the tables of {name} are gone: there is no such file", name=name),
            hint=Text("add the source again"),
        )
    try:
        return duckdb.connect(path, read_only=True)
    except duckdb.Error as error:
        said = _hide_path(format_engine_error(error), path)
        if "lock" in said.lower():
            raise make_unavailable_error(
                name, "another program has it open for writing", "wait, or close that program"
            ) from None
        raise make_unavailable_error(
            name, said, "is it a DuckDB database of this version? else add the source again"
        ) from None


def _hide_path(message: str, path: str) -> str:
    return message.replace(str(Path(path).resolve()), Path(path).name).replace(
        path, Path(path).name
    )


def _check_single(connection: DuckDBPyConnection, sql: str) -> str:
    """The statement, if it is one and hands out rows."""
    import duckdb

    kinds = [statement.type for statement in connection.extract_statements(sql)]
    if len(kinds) != 1:
        raise StatementFailed(
            Text("one statement is run at a time, and this is {kinds}", kinds=len(kinds))
        )
    if kinds[0] not in {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}:
        raise StatementFailed(
            Text("only statements that read are run, and this is {name}", name=kinds[0].name)
        )
    return sql


def _fetch_rows(connection: DuckDBPyConnection, sql: str, limits: Limits) -> Rows:
    connection.execute(sql)
    described = [(str(column[0]), str(column[1])) for column in connection.description or []]
    if any("TIME ZONE" in kind for _, kind in described):
        connection.execute(_cast_zones_to_text(sql, [kind for _, kind in described]))

    def fetch_rows() -> Iterator[Sequence[Any]]:
        while some := connection.fetchmany(min(AT_ONCE, limits.rows + 1)):
            yield from some

    return gather_rows(
        [name for name, _ in described],
        [detect_kind(kind) for _, kind in described],
        fetch_rows(),
        limits,
    )


def _cast_zones_to_text(sql: str, kinds: Sequence[str]) -> str:
    """DuckDB gives moments with a time zone only with another package: as text without."""
    names = [f"c{place}" for place in range(len(kinds))]
    told = ", ".join(
        f"{name}::VARCHAR" if "TIME ZONE" in kind else name
        for name, kind in zip(names, kinds, strict=True)
    )
    return f"SELECT {told} FROM ({sql.rstrip().rstrip(';')}\n) AS told({', '.join(names)})"  # noqa: S608 - the statement itself


class _TableProber:
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


def _find_tables(connection: DuckDBPyConnection) -> list[Found]:
    tables = connection.execute(TABLES).fetchall()
    columns: dict[tuple[str, str], list[Column]] = {}
    for schema, table, name, kind, comment in connection.execute(COLUMNS).fetchall():
        columns.setdefault((schema, table), []).append(
            Column(name, kind, detect_kind(kind), comment)
        )
    primary, foreign = _load_keys(connection)
    found = []
    for schema, name, comment, rows, is_view in tables:
        key = (schema, name)
        source = f"{quote_name(schema, 'duckdb')}.{quote_name(name, 'duckdb')}"
        own = Table(
            _qualify_name(schema, name),
            tuple(columns.get(key, ())),
            comment,
            rows,
            primary.get(key, ()),
            foreign.get(key, ()),
        )
        found.append(Found(own, source, is_view))
    return found


def _qualify_name(schema: str, name: str) -> str:
    return name if schema == "main" else f"{schema}.{name}"


def _load_keys(
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
                ForeignKey(tuple(columns), _qualify_name(schema, target), tuple(target_columns)),
            )
    return primary, foreign

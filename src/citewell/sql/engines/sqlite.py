"""SQLite files, by the driver of the standard library: opened read-only, with an authorizer that
lets only reading through. The authorizer refuses whatever it does not know.
"""

from __future__ import annotations

import re
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from citewell.errors import SourceUnavailable, StatementFailed
from citewell.messages import Text
from citewell.sql.engines.engine import Limits, Location, Rows, Schema
from citewell.sql.engines.profile import INSPECT_SECONDS, Budget, inspect_tables, quote_name
from citewell.sql.engines.sqlite_schema import find_tables
from citewell.sql.engines.values import gather_rows
from citewell.sql.engines.worker_process import (
    MIB,
    ProcessEngine,
    format_engine_error,
    limit_memory,
    make_memory_error,
    make_timeout_error,
    make_unavailable_error,
    time_query,
)
from citewell.text.split_words import split_words

INSPECT_MIB = 512
OPERATIONS = 2_000  # of SQLite's machine between two looks at the clock: well under a millisecond
ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
# FTS5 and FTS4 look these up; asked by anybody else they tell a number
ASKED_BY_SEARCH = {"data_version", "page_size"}
# functions with effects, or that show memory; most builds have none of them, some have all
REFUSED = split_words("load_extension readfile writefile edit fts3_tokenizer fts5 fsdir lsmode")
QUOTES = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|$)|'(?P<text>(?:[^']|'')*)'|"(?P<name>(?:[^"]|"")*)\"""", re.DOTALL
)
# Of the file, not of a value in it: "malformed JSON" and "malformed MATCH expression" are told of a
# statement.
BROKEN = re.compile(
    r"not a database|(image|schema\b.*) is malformed|malformed database|file is encrypted|disk I/O"
)
TABLE_FUNCTIONS = ("json_each", "json_tree", "generate_series")  # those that the guard lets through
LENGTHS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 200_000,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
PRAGMAS = (
    "query_only = ON",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "mmap_size = 0",
    "temp_store = MEMORY",
)
BUSY_SECONDS = 2.0


class SQLite(ProcessEngine):
    dialect = "sqlite"
    module = "citewell.sql.engines.sqlite"
    driver = "sqlite3"


def run(location: Location, _token: str, sql: str, limits: Limits) -> Rows:
    with _open_connection(location, limits.seconds, limits.memory_mib) as connection:
        _restrict_connection(connection, limits.memory_mib)
        _check_names(connection, sql)
        return time_query(lambda: _fetch_rows(connection, sql, limits))


def explain(location: Location, _token: str, sql: str, limits: Limits) -> None:
    with _open_connection(location, limits.seconds, limits.memory_mib) as connection:
        _restrict_connection(connection, limits.memory_mib)
        _check_names(connection, sql)
        explained = sql.lstrip().lower().startswith("explain")
        connection.execute(sql if explained else f"EXPLAIN {sql}").fetchall()


def inspect(location: Location, _token: str, values: int) -> Schema:
    budget = Budget.of(INSPECT_SECONDS)
    with _open_connection(location, INSPECT_SECONDS, INSPECT_MIB) as connection:

        def ask(sql: str, seconds: float) -> list[Sequence[Any]] | None:
            """A view that no longer works, or takes too long, tells nothing."""
            _set_timeout(connection, seconds)
            try:
                return list(connection.execute(sql).fetchall())
            except (sqlite3.Error, MemoryError):
                return None

        found = find_tables(connection)
        tables, notes = inspect_tables(found, ask, "sqlite", values, budget)
    return Schema("sqlite", tuple(tables), tuple(notes))


@contextmanager
def _open_connection(location: Location, seconds: float, mib: int) -> Iterator[sqlite3.Connection]:
    path = Path(location.where)
    if not path.is_file():
        raise SourceUnavailable(
            Text("{name} is gone: there is no such file", name=path.name),
            hint=Text("bring it back, or remove the source"),
        )
    connection = None
    try:
        uri = f"file:{quote(str(path.resolve()))}?mode=ro"
        connection = sqlite3.connect(
            uri, uri=True, timeout=min(seconds, BUSY_SECONDS), cached_statements=0
        )
        connection.isolation_level = None
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        # reads the file: is it one of SQLite's?
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        _set_timeout(connection, seconds)
        with limit_memory(mib):
            yield connection
    except (sqlite3.Error, sqlite3.Warning, MemoryError, UnicodeError, OverflowError) as error:
        raise _translate_error(error, path, seconds) from None
    finally:
        if connection is not None:
            connection.close()


def _set_timeout(connection: sqlite3.Connection, seconds: float) -> None:
    until = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > until, OPERATIONS)


def _restrict_connection(connection: sqlite3.Connection, mib: int) -> None:
    """What a statement from outside may do, by SQLite's own means."""
    for limit, most in LENGTHS.items():
        connection.setlimit(limit, most)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(1_000_000, mib * MIB // 8))
    connection.execute(f"PRAGMA hard_heap_limit = {mib * MIB}")
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DQS_DML, False)
    if hasattr(connection, "enable_load_extension"):
        connection.enable_load_extension(False)
    _connect_virtual(connection)
    connection.set_authorizer(_authorize_action)


def _connect_virtual(connection: sqlite3.Connection) -> None:
    """Virtual tables (full text, geometry) are made ready before the authorizer is there: they
    prepare writing statements, and those of functions (json_each) declare a table.
    """
    for function in TABLE_FUNCTIONS:
        with suppress(sqlite3.Error):  # of a build without it
            connection.execute(f"SELECT * FROM {function}('[]') LIMIT 0").fetchall()  # noqa: S608 - names of our own
    listed = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'"
    ).fetchall()
    for (name,) in listed:
        with suppress(sqlite3.Error):  # of an extension that is not here: nobody can ask it
            connection.execute(f"SELECT * FROM {quote_name(name, 'sqlite')} LIMIT 0").fetchall()  # noqa: S608 - quoted


def _authorize_action(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action == sqlite3.SQLITE_PRAGMA and first in ASKED_BY_SEARCH and second is None:
        return sqlite3.SQLITE_OK
    if action not in ALLOWED:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (second or first or "").lower() in REFUSED:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _check_names(connection: sqlite3.Connection, sql: str) -> None:
    """A name in double quotes that is no column would be taken for a text, and answer with
    nonsense. It shows in SQLite's own program for the statement: a text that the statement nowhere
    has in single quotes. (From Python 3.12 on SQLite can be told.)
    """
    found = [(match["name"], match["text"]) for match in QUOTES.finditer(sql)]
    names = {name.replace('""', '"') for name, _ in found if name} - {
        text.replace("''", "'") for _, text in found if text
    }
    if not names or sql.lstrip().lower().startswith("explain"):
        return
    for _, operation, _, _, _, value, *_ in connection.execute(f"EXPLAIN {sql}").fetchall():
        if operation == "String8" and value in names:
            raise StatementFailed(Text("no such column: {value}", value=value))


def _fetch_rows(connection: sqlite3.Connection, sql: str, limits: Limits) -> Rows:
    cursor = connection.execute(sql)
    if cursor.description is None:
        raise StatementFailed(
            Text("only statements that read are run, and this one hands out nothing")
        )
    names = [column[0] for column in cursor.description]
    # a column of SQLite has no type: its values have
    return gather_rows(names, [None] * len(names), iter(cursor), limits)


def _translate_error(error: Exception, path: Path, seconds: float) -> Exception:
    said = format_engine_error(error)
    if isinstance(error, MemoryError):
        return make_memory_error()
    if "interrupted" in said:
        return make_timeout_error(seconds)
    if "is locked" in said or "busy" in said:
        return make_unavailable_error(
            path.name, "another program is writing to it", "try again when it is done"
        )
    if "unable to open database file" in said or (
        "readonly database" in said and _is_write_ahead(path)
    ):
        return make_unavailable_error(path.name, said, _suggest_opening_hint(path))
    if BROKEN.search(said):
        return make_unavailable_error(path.name, said, "is it a SQLite database, and whole?")
    if "too big" in said:
        return StatementFailed(
            said, hint=Text("ask for less at once, or raise data.memory_mib"), code="memory"
        )
    return StatementFailed(said)


def _suggest_opening_hint(path: Path) -> str:
    if _is_write_ahead(path):
        return (
            "it is in WAL mode, which needs a folder that can be written to, also for reading: "
            "copy it elsewhere, or let its "
            "owner run PRAGMA journal_mode = DELETE"
        )
    return "may this user read the file?"


def _is_write_ahead(path: Path) -> bool:
    """Bytes 18 and 19 of the header are 2 in WAL mode (sqlite.org/fileformat2.html)."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(20)[18:20] == b"\2\2"
    return False

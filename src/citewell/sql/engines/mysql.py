"""MySQL and MariaDB, by PyMySQL: each statement in a read-only transaction, its rows taken one by
one.

`sql_mode` is set without ANSI_QUOTES, NO_BACKSLASH_ESCAPES and PIPES_AS_CONCAT, whatever the
server's own: a text in double quotes is a text, a backslash escapes, names stand in backquotes. So
the guard reads it too.

A statement that does not begin as reading ones do is not sent; MySQL has no cursor that would
refuse it.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from citewell.errors import SourceUnavailable, StatementFailed
from citewell.messages import Text
from citewell.sql.engines import mask_url
from citewell.sql.engines.engine import Kind, Limits, Location, Rows, Schema
from citewell.sql.engines.mysql_errors import UNAVAILABLE, translate_error
from citewell.sql.engines.mysql_schema import find_tables, list_notes
from citewell.sql.engines.profile import INSPECT_SECONDS, Budget, inspect_tables
from citewell.sql.engines.values import gather_rows
from citewell.sql.engines.worker_process import (
    MIB,
    STOP_SECONDS,
    ProcessEngine,
    limit_memory,
    make_memory_error,
    make_unavailable_error,
    make_unreadable_value_error,
    time_query,
)

if TYPE_CHECKING:
    import pymysql

    Connection = pymysql.Connection[pymysql.cursors.Cursor]

CONNECT_SECONDS = 3
AFTER_SECONDS = 2.0  # beyond the server's own limit, until a silent server is given up
CLIENT_MIB = 256  # that one row may take here
MODE = (
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"
    "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
)
# what may stand before the first word
BEFORE = r"(?is)^(\s|\(|--[^\n]*\n|#[^\n]*\n|/\*(?!!|M!|\+).*?\*/)*"
READING = re.compile(BEFORE + r"(select|with|values|table|explain|describe|desc|show)\b")
EXPLAINS = re.compile(r"(?is)^\s*(explain|describe|desc|show)\b")
BINARY = 63  # the character set of what is no text
# the field types of the protocol (dev.mysql.com/doc/dev/mysql-server, field_types.h)
NUMBERS = {0, 1, 2, 3, 4, 5, 8, 9, 13, 246}
DATES = {7, 10, 11, 12, 14, 17, 18, 19}
TEXTS = {15, *range(247, 255)}
HINTS = {
    1045: "look at user and password",
    1044: "may this user read that database?",
    1049: "look at the database's name",
}


class MySQL(ProcessEngine):
    dialect = "mysql"
    module = "citewell.sql.engines.mysql"
    driver = "pymysql"
    server = True


def run(location: Location, token: str, sql: str, limits: Limits) -> Rows:
    _check_reading(sql)
    with (
        _open_read_only(location, limits.seconds, limits.memory_mib) as connection,
        limit_memory(min(limits.memory_mib, CLIENT_MIB)),
    ):
        return time_query(lambda: _fetch_rows(connection, _tag_statement(sql, token), limits))


def explain(location: Location, token: str, sql: str, limits: Limits) -> None:
    _check_reading(sql)
    with (
        _open_read_only(location, limits.seconds, limits.memory_mib) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(_tag_statement(sql if EXPLAINS.match(sql) else f"EXPLAIN {sql}", token))
        cursor.fetchall()


def inspect(location: Location, token: str, values: int) -> Schema:
    import pymysql

    budget = Budget.of(INSPECT_SECONDS - CONNECT_SECONDS)
    with (
        _open_read_only(location, INSPECT_SECONDS, CLIENT_MIB) as connection,
        connection.cursor() as cursor,
    ):

        def ask(sql: str, seconds: float) -> list[Sequence[Any]] | None:
            """A view that no longer works, or takes too long, tells nothing."""
            try:
                _set_timeout(connection, seconds)
                cursor.execute(_tag_statement(sql, token))
                return list(cursor.fetchall())
            except pymysql.Error as error:
                if error.args and error.args[0] in UNAVAILABLE:
                    raise
                return None

        found = find_tables(cursor)
        notes = list_notes(cursor)
        tables, left = inspect_tables(found, ask, "mysql", values, budget)
    return Schema("mysql", tuple(tables), (*notes, *left))


def stop(location: Location, token: str) -> None:
    """Ends the statement of a worker that was killed; it carries the token in a comment."""
    with (
        _open_read_only(location, STOP_SECONDS, CLIENT_MIB) as connection,
        connection.cursor() as cursor,
    ):
        _kill_statements(cursor, token)


def _kill_statements(cursor: pymysql.cursors.Cursor, token: str) -> None:
    import pymysql

    looking = (
        "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND info LIKE %s"
    )
    cursor.execute(looking, (f"/* {token} */%",))
    for (number,) in cursor.fetchall():
        with suppress(pymysql.Error):  # it has ended by itself
            cursor.execute(f"KILL {int(number)}")


def _tag_statement(sql: str, token: str) -> str:
    return f"/* {token} */ {sql}"


def _check_reading(sql: str) -> None:
    if not READING.match(sql):
        raise StatementFailed(Text("only statements that read are run"))


@contextmanager
def _open_read_only(location: Location, seconds: float, mib: int) -> Iterator[Connection]:
    """A read-only transaction's connection with limits; at the end its socket is closed."""
    import pymysql

    connection: Connection | None = None
    try:
        connection = pymysql.connect(
            **_build_arguments(location.where), read_timeout=seconds + AFTER_SECONDS
        )
        _apply_limits(connection, seconds, mib)
        yield connection
    except pymysql.Error as error:
        raise translate_error(
            error, location.where, seconds, connected=connection is not None
        ) from None
    except MemoryError:
        raise make_memory_error() from None
    except OSError as error:
        # pymysql's own are told above: this is of the file with the certificates
        raise _make_certificate_error(location.where, error) from None
    except (ValueError, OverflowError, UnicodeError) as error:
        raise make_unreadable_value_error(error) from None
    finally:
        if connection is not None:
            connection._force_close()  # type: ignore[attr-defined]  # noqa: SLF001 - close() reads on to the last row first


def _build_arguments(url: str) -> dict[str, Any]:
    """What the driver takes, of `mysql://user:password@host:port/database?ssl_ca=...`."""
    parts = urlsplit(url)
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    said: dict[str, Any] = {
        "host": parts.hostname or "localhost",
        "port": parts.port or 3306,
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "database": unquote(parts.path).strip("/"),
        "charset": "utf8mb4",
        "autocommit": False,
        "local_infile": False,
        "connect_timeout": CONNECT_SECONDS,
        "program_name": "citewell",
    }
    if "unix_socket" in options:
        said["unix_socket"] = options["unix_socket"]
    if "ssl_ca" in options:
        said |= {"ssl_ca": options["ssl_ca"], "ssl_verify_cert": True, "ssl_verify_identity": True}
    return said


def _apply_limits(connection: Connection, seconds: float, mib: int) -> None:
    import pymysql

    with connection.cursor() as cursor:
        cursor.execute("SET SESSION sql_mode = %s", (MODE,))
        cursor.execute("SET SESSION TRANSACTION READ ONLY")
        _set_timeout(connection, seconds)
        wait = max(1, min(2, round(seconds)))
        size = mib * MIB
        for setting in (
            f"lock_wait_timeout = {wait}",
            f"innodb_lock_wait_timeout = {wait}",
            f"max_session_mem_used = {size}",
        ):
            with suppress(pymysql.Error):  # not known to this server
                cursor.execute(f"SET SESSION {setting}")
        cursor.execute("START TRANSACTION READ ONLY")


def _set_timeout(connection: Connection, seconds: float) -> None:
    """MariaDB counts seconds, for every statement; MySQL milliseconds, for those that read."""
    maria = "MariaDB" in str(connection.get_server_info())  # type: ignore[no-untyped-call]
    limit = (
        f"max_statement_time = {seconds:.3f}"
        if maria
        else f"max_execution_time = {max(1, round(seconds * 1000))}"
    )
    with connection.cursor() as cursor:
        cursor.execute(f"SET SESSION {limit}")


def _fetch_rows(connection: Connection, sql: str, limits: Limits) -> Rows:
    from pymysql.cursors import SSCursor

    cursor = connection.cursor(SSCursor)
    cursor.execute(sql)
    if cursor.description is None:  # SELECT ... INTO @x
        raise StatementFailed(
            Text("only statements that read are run, and this one hands out nothing")
        )
    result = getattr(cursor, "_result")  # noqa: B009 - only there is said what is binary
    kinds = [_detect_kind(field.type_code, field.charsetnr) for field in result.fields or ()]
    try:
        return gather_rows(
            [column[0] for column in cursor.description or ()],
            kinds,
            cursor.fetchall_unbuffered(),
            limits,
        )
    finally:  # else both would read to the last row when they are dropped
        connection._force_close()  # type: ignore[attr-defined]  # noqa: SLF001
        result.unbuffered_active = False


def _detect_kind(code: int, charset: int) -> Kind:
    if code in NUMBERS:
        return "number"
    if code in DATES:
        return "date"
    return "text" if code in TEXTS and charset != BINARY else "other"


def _make_certificate_error(url: str, error: OSError) -> SourceUnavailable:
    """Never with the words of the file."""
    if isinstance(error, ssl.SSLError):
        said = "the file of ssl_ca holds no certificate that can be read"
    else:
        said = f"the file of ssl_ca cannot be opened: {error.strerror or type(error).__name__}"
    return make_unavailable_error(
        mask_url(url),
        said,
        "ssl_ca=/path/to/ca.pem, certificates in PEM form that this user may read",
    )

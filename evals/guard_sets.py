"""What the guard is tried on: the lists of attacks and of safe statements, and a database of each
dialect to throw them at.

The one rule: whether an attack had an effect is seen from outside, by another connection and by
what lies in the folder, never from what the engine says.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from citewell.errors import SourceUnavailable, StatementFailed, StatementRefused
from citewell.sql.engines import open_engine
from citewell.sql.engines.engine import Dialect, Limits, Location

LISTS = Path(__file__).resolve().parent.parent / "tests" / "sql" / "guard"
DIALECTS: tuple[Dialect, ...] = ("sqlite", "duckdb", "postgres", "mysql")
MARK = "a secret of the machine"
LIMITS = Limits(seconds=10.0, rows=200, memory_mib=256)
# Of attacks: those that would go on for ever have to be ended, some by killing their worker; all
# others take a hundredth of it.
SHORT = Limits(seconds=0.2, rows=200, memory_mib=256)
GRACE = 1.5
# Seconds after the limit that end a statement for certain: GRACE until the worker is killed, 3 to
# stop it at the server, and as many again on a busy machine.
LATE = 9.0
Effect = Literal["stopped", "ran", "changed", "read", "late", "lost", "fault"]


@dataclass(frozen=True, slots=True)
class Statement:
    name: str
    dialect: Dialect
    sql: str

    def __str__(self) -> str:
        return f"{self.dialect}-{self.name}"


@dataclass(frozen=True, slots=True)
class Thrown:
    """What became of a statement. `ran`: it gave rows, or nothing, and nothing else happened."""

    statement: Statement
    effect: Effect
    told: str = ""
    seconds: float = 0.0


def statements(kind: Literal["attacks", "safe"]) -> list[Statement]:
    """Those under `[all]` once for each dialect."""
    lists: dict[Any, dict[str, str]] = tomllib.loads((LISTS / f"{kind}.toml").read_text("utf-8"))
    return [
        Statement(name, dialect, sql)
        for section, items in lists.items()
        for name, sql in items.items()
        for dialect in (DIALECTS if section == "all" else (section,))
    ]


_MADE = [
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(50), city VARCHAR(50))",
    """CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, amount DECIMAL(10, 2),
    status VARCHAR(20), ordered DATE, note VARCHAR(200))""",
    "CREATE TABLE people (id INTEGER PRIMARY KEY, boss INTEGER)",
    "CREATE TABLE 员工 (编号 INTEGER, 姓名 VARCHAR(20), 部门 VARCHAR(20), 工资 INTEGER)",
    'CREATE TABLE "update" ("select" INTEGER, "from" INTEGER, "order by" INTEGER)',
    "INSERT INTO customers VALUES (1, 'Ann Lee', 'Berlin'), (2, 'Bob', '北京'), (3, 'Cyd', 'Rome')",
    """INSERT INTO orders VALUES
    (1, 1, 12.50, 'paid', '2024-01-05', '{"a": 1, "b": "x", "tags": ["p", "q"]}'),
    (2, 1, 3, 'open', '2024-02-05', NULL), (3, 2, 150, 'paid', '2024-03-05', 'late')""",
    "INSERT INTO people VALUES (1, NULL), (2, 1), (3, 2)",
    "INSERT INTO 员工 VALUES (1, '王伟', '技术部', 9000), (2, '李娜', '市场部', 8000)",
    'INSERT INTO "update" VALUES (1, 2, 3)',
]
_MORE: dict[Dialect, list[str]] = {
    "sqlite": ["CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT)"],
    "duckdb": ["CREATE SEQUENCE numbers"],
    "postgres": ["CREATE SEQUENCE numbers", "CREATE TYPE mood AS ENUM ('happy', 'sad')"],
    "mysql": ["CREATE SEQUENCE numbers"],
}


def making(dialect: Dialect) -> list[str]:
    """The statements that fill an empty database."""
    made = _MADE + _MORE[dialect]
    return (
        [sql.replace('"', "`") if '"update"' in sql else sql for sql in made]
        if dialect == "mysql"
        else made
    )


@contextmanager
def connected(location: Location) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    """A connection of our own, beside the engine's: runs a statement at once and gives its rows."""
    if location.dialect == "sqlite":
        connection: Any = sqlite3.connect(location.where, isolation_level=None)
    elif location.dialect == "duckdb":
        import duckdb

        connection = duckdb.connect(location.where)
    elif location.dialect == "postgres":
        import psycopg

        connection = psycopg.connect(location.where, autocommit=True)
    else:
        import pymysql

        parts = urlsplit(location.where)
        connection = pymysql.connect(
            host=parts.hostname or "", port=parts.port or 3306,
            user=unquote(parts.username or ""), password=unquote(parts.password or ""),
            database=parts.path.strip("/"), autocommit=True, charset="utf8mb4",
        )  # fmt: skip
    try:

        def run(sql: str) -> list[tuple[Any, ...]]:
            cursor = connection.cursor()
            cursor.execute(sql)
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

        yield run
    finally:
        connection.close()


_TABLES: dict[Dialect, str] = {
    "postgres": "SELECT relkind::text, relname::text FROM pg_class WHERE relnamespace <> "
    "'pg_toast'::regnamespace"
    " AND relpersistence <> 't' ORDER BY 1, 2",
    "mysql": "SELECT TABLE_TYPE, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
    "DATABASE() ORDER BY 1, 2",
}
_BESIDE: dict[Dialect, list[str]] = {
    "postgres": [
        "SELECT last_value, is_called FROM numbers",
        "SELECT count(*) FROM pg_largeobject_metadata",
        "SELECT count(*) FROM pg_proc",
        "SELECT rolname::text FROM pg_roles ORDER BY 1",
        "SELECT relname::text, relacl::text FROM pg_class WHERE relname = 'orders'",
    ],
    "mysql": [
        "SELECT next_not_cached_value FROM numbers",
        "SELECT User, Host FROM mysql.global_priv ORDER BY 1, 2",
        "SELECT count(*) FROM information_schema.ROUTINES",
        "SHOW GLOBAL VARIABLES LIKE 'general_log'",
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY 1",
    ],
}


class Scene:
    """A filled database of one dialect, and a folder that the server's own user may write to.
    `close` it.
    """

    def __init__(self, location: Location, folder: Path) -> None:
        self.location, self.folder, self.dialect = location, folder, location.dialect
        self.engine = open_engine(location)
        self._held = ExitStack()
        with connected(location) as run:
            for sql in making(self.dialect):
                run(sql)
        if self.dialect in _TABLES:
            self._run = self._held.enter_context(connected(location))
        self._last = self.state()

    def close(self) -> None:
        self._held.close()

    def state(self) -> list[Any]:
        """All that an attack could have changed: rows, tables, sequences, users, functions,
        files.
        """
        files = sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))
        beside = [files, (self.folder / "secret.txt").read_bytes()]
        if self.dialect not in _TABLES:  # the whole database is one file
            return [Path(self.location.where).read_bytes(), *beside]
        told = [
            self._run(sql)
            for sql in (
                "SELECT * FROM orders ORDER BY id",
                _TABLES[self.dialect],
                *_BESIDE[self.dialect],
            )
        ]
        return [*told, *beside]

    async def throw(
        self, statement: Statement, check: Callable[[str, Dialect], str] | None = None
    ) -> Thrown:
        """At the engine, through `check` first where one is given. What it wrote into the folder is
        taken away again.
        """
        sql = statement.sql.replace("{folder}", str(self.folder))
        began = time.monotonic()
        effect, told = await self._asked(check, sql)
        seconds = time.monotonic() - began
        if not check and seconds > SHORT.seconds + LATE:
            effect = "late"
        state = self.state()
        if state != self._last:
            effect = "changed"
            for path in self.folder.glob("stolen*"):
                path.unlink()
            self._last = self.state()
        # its worker was killed: the next statement's time is not for starting another
        if seconds > SHORT.seconds + GRACE:
            await self.engine.run("SELECT 1", LIMITS)
        return Thrown(statement, effect, told, seconds)

    async def _asked(
        self, check: Callable[[str, Dialect], str] | None, sql: str
    ) -> tuple[Effect, str]:
        try:
            if check:
                rows = str((await self.engine.run(check(sql, self.dialect), LIMITS)).rows)
            else:
                rows = str((await self.engine.run(sql, SHORT)).rows)
        except (StatementFailed, StatementRefused) as error:
            return "stopped", f"{error.code}: {error.message}"
        except SourceUnavailable as error:
            return "lost", error.message
        except Exception as error:  # noqa: BLE001 - a fault of an engine is a finding, not the end of the list
            return "fault", repr(error)
        return "read" if MARK in rows or MARK.encode().hex() in rows else "ran", rows[:200]


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user of the machine may write to, as a server under another user would
    need to do harm.
    """
    folder = Path(tempfile.mkdtemp(prefix="citewell-guard-"))
    try:
        os.chmod(folder, 0o777)  # noqa: S103, PTH101 - on purpose
        (folder / "secret.txt").write_text(MARK, "utf-8")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def scene(dialect: Dialect, folder: Path, url: str = "") -> Scene:
    """`url` of an empty database where the dialect has a server."""
    return Scene(
        Location(dialect, url or str(folder / f"data.{dialect}"), {"grace": GRACE}), folder
    )

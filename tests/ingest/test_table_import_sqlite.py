"""SQLite files become tables: types by what is in them, keys, views; and files that are there to do
harm.
"""

# ruff: noqa: DTZ001 - cells of tables have no time zone

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.tables.import_file import import_file
from citewell.ingest.tables.table_store import Imported

Maker = Callable[[str], tuple[Imported, duckdb.DuckDBPyConnection]]


@pytest.fixture
def made(tmp_path: Path) -> Maker:
    def inner(script: str) -> tuple[Imported, duckdb.DuckDBPyConnection]:
        path, copy = tmp_path / "shop.sqlite", tmp_path / "copy"
        with closing(sqlite3.connect(path)) as database:
            database.executescript(script)
        done = import_file(str(path), str(copy), "shop.sqlite", IngestSettings())
        return done, duckdb.connect(str(copy), read_only=True)

    return inner


def test_types_keys_and_views(made: Maker) -> None:
    done, asked = made("""
        CREATE TABLE "a b" (id INTEGER PRIMARY KEY, n TEXT, d DATE, f REAL, b BLOB, e TEXT,
            flag BOOLEAN, odd INTEGER);
        INSERT INTO "a b" VALUES (1, 'x', '2024-01-05', 1.5, x'00ff', '', 1, 3);
        INSERT INTO "a b" VALUES (2, NULL, '2024-02-05', 2, NULL, 'é', 0, 'many');
        CREATE TABLE o (id INTEGER PRIMARY KEY, p INTEGER REFERENCES "a b", t DATETIME);
        INSERT INTO o VALUES (1, 7, '2024-01-05 10:00:00');
        CREATE VIEW v AS SELECT n, sum(f) AS s FROM "a b" GROUP BY n;
    """)
    assert asked.execute('SELECT * FROM "a b"').fetchall() == [
        (1, "x", dt.date(2024, 1, 5), 1.5, b"\x00\xff", "", True, "3"),
        (2, None, dt.date(2024, 2, 5), 2.0, None, "é", False, "many"),
    ]
    assert asked.execute("SELECT t FROM o").fetchall() == [(dt.datetime(2024, 1, 5, 10),)]
    assert sorted(asked.execute("SELECT * FROM v").fetchall(), key=str) == [("x", 1.5), (None, 2.0)]
    keys = {table.name: table.keys for table in done.tables}
    assert keys["a b"].primary == ("id",)
    assert keys["o"].foreign == ((("p",), "a b", ("id",)),)  # told though a row of o obeys no key


def test_what_a_stranger_may_put_there(made: Maker) -> None:
    done, asked = made("""
        CREATE TABLE "x""; DROP TABLE y; --" ("c""1" TEXT);
        INSERT INTO "x""; DROP TABLE y; --" VALUES ('it''s "data" ' || char(1) || char(2) || 'N');
        CREATE TABLE y (a);
        INSERT INTO y VALUES (1);
        CREATE VIEW endless AS
            WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT * FROM r;
        CREATE VIEW reader AS SELECT * FROM read_csv('/etc/passwd');
        CREATE VIEW broken AS SELECT missing FROM nowhere;
        CREATE VIRTUAL TABLE words USING fts5(w);
    """)
    assert [table.name for table in done.tables] == ['x"; DROP TABLE y; --', "y"]
    assert asked.execute('SELECT "c""1" FROM "x""; DROP TABLE y; --"').fetchall() == [
        ('it\'s "data" \x01\x02N',)
    ]
    told = " ".join(done.warnings)
    assert all(f"{name} is left out" in told for name in ("endless", "reader", "broken", "words"))


def test_the_log_beside_it_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE t (a INTEGER)")
        database.execute("INSERT INTO t VALUES (5)")
        database.commit()  # and not closed: the rows are in the log alone
        before = (path.read_bytes(), path.with_name("live.db-wal").read_bytes())
        import_file(str(path), str(tmp_path / "copy"), "live.db", IngestSettings())
        assert (path.read_bytes(), path.with_name("live.db-wal").read_bytes()) == before
    with closing(duckdb.connect(str(tmp_path / "copy"), read_only=True)) as asked:
        assert asked.execute("SELECT a FROM t").fetchall() == [(5,)]


def test_nothing_in_it(made: Maker) -> None:
    with pytest.raises(UnreadableFile, match="holds no table"):
        made("PRAGMA user_version = 1")


def test_real_databases(shared_data: Path, tmp_path: Path) -> None:
    """Every row of every table arrives."""
    files = sorted((shared_data / "text2sql/databases").glob("*/*.sqlite"))[:6]
    assert files
    for number, path in enumerate(files):
        done = import_file(str(path), str(tmp_path / str(number)), path.name, IngestSettings())
        with closing(sqlite3.connect(path)) as database:
            for table in done.tables:
                name = table.name.replace('"', '""')
                assert database.execute(f'SELECT count(*) FROM "{name}"').fetchone() == (
                    table.rows,
                ), (path, table)

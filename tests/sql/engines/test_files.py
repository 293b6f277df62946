"""DuckDB and SQLite: files that are gone, broken, held by others, wide, many, odd."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from citewell.errors import SourceUnavailable, StatementFailed
from citewell.sql.engines import duckdb as duckdb_engine
from citewell.sql.engines import open_engine, parse_location
from citewell.sql.engines.engine import Dialect, Limits, Location
from citewell.sql.engines.sqlite_schema import extract_comments

USUAL = Limits(seconds=5.0)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    "content", [b"", b"name,city\nx,y\n", b"SQLite format 3\0" + bytes(500), bytes(5_000)]
)
async def test_not_a_database(dialect: Dialect, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    path.write_bytes(content)
    engine = open_engine(Location(dialect, str(path)))
    if dialect == "sqlite" and not content:
        assert (
            await engine.inspect()
        ).tables == ()  # for SQLite an empty file is an empty database
        return
    with pytest.raises(SourceUnavailable, match=r"odd\.db") as told:
        await engine.inspect()
    assert told.value.hint
    assert str(tmp_path) not in told.value.message


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
async def test_gone_while_open(dialect: Dialect, tmp_path: Path) -> None:
    engine = open_engine(Location(dialect, str(tmp_path / "x.db")))
    with pytest.raises(SourceUnavailable, match="no such file"):
        await engine.explain("SELECT 1", USUAL)
    assert not (tmp_path / "x.db").exists()  # asking makes no empty file


def opened_elsewhere(path: Path) -> subprocess.Popen[bytes]:
    program = (
        f"import duckdb, sys; c = duckdb.connect({str(path)!r}); print('open', flush=True); "
        "sys.stdin.read()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


async def test_duckdb_that_another_program_writes(tmp_path: Path) -> None:
    path = tmp_path / "busy.duckdb"
    with opened_elsewhere(path) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        other.stdout.readline()
        with pytest.raises(SourceUnavailable, match="another program"):
            await open_engine(Location("duckdb", str(path))).run("SELECT 1", USUAL)
        other.stdin.close()


async def test_sqlite_that_another_program_writes(tmp_path: Path) -> None:
    path = tmp_path / "busy.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("CREATE TABLE t (a)")
    writer.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SourceUnavailable, match="another program"):
        await open_engine(Location("sqlite", str(path))).run("SELECT * FROM t", Limits(seconds=0.3))
    writer.execute("COMMIT")
    assert (
        await open_engine(Location("sqlite", str(path))).run("SELECT * FROM t", USUAL)
    ).rows == ()
    writer.close()


async def test_sqlite_in_wal_mode(tmp_path: Path) -> None:
    path = tmp_path / "wal.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE t (a)")
    writer.execute("INSERT INTO t VALUES (7)")
    engine = open_engine(Location("sqlite", str(path)))
    assert (await engine.run("SELECT a FROM t", USUAL)).rows == (
        (7,),
    )  # beside its writer, what is in the log included
    # as in a folder that cannot be written to: the index of the log cannot be made
    (tmp_path / "stuck.db-shm").symlink_to(tmp_path / "nowhere" / "shm")
    for suffix in ("", "-wal"):
        (tmp_path / f"stuck.db{suffix}").write_bytes((tmp_path / f"wal.db{suffix}").read_bytes())
    with pytest.raises(SourceUnavailable, match=r"stuck\.db") as told:
        await open_engine(Location("sqlite", str(tmp_path / "stuck.db"))).run(
            "SELECT a FROM t", USUAL
        )
    assert "WAL" in told.value.hint
    writer.close()
    assert (await engine.run("SELECT a FROM t", USUAL)).rows == ((7,),)


async def test_duckdb_itself_refuses_to_write(tmp_path: Path) -> None:
    """Below our own look at the kind of statement."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE t AS SELECT 1 AS a; CREATE SEQUENCE s")
    for statement in (
        "INSERT INTO t VALUES (2)",
        "CREATE TABLE u (a INT)",
        "SELECT nextval('s')",
        "SET threads = 1",
    ):
        with (
            pytest.raises(StatementFailed, match=r"read-only|locked"),
            duckdb_engine._open_connection(
                Location("duckdb", str(path)), 5, 256, locked=True
            ) as connection,
        ):
            connection.execute(statement)


async def test_duckdb_values(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    duckdb.connect(str(path)).close()
    engine = open_engine(Location("duckdb", str(path)))
    told = await engine.run(
        "SELECT [1, 2] AS l, {'a': 1.5} AS s, MAP {'k': 2} AS m, 'NaN'::DOUBLE AS n, "
        "'\\xFF'::BLOB AS b, INTERVAL 3 HOUR AS i, "
        "170141183460469231731687303715884105727::HUGEINT AS h, '20000-01-01'::DATE AS d, "
        "TIMESTAMPTZ '2024-01-02 03:04:05+00' AS t, 12.30::DECIMAL(9,2) AS p, uuid() IS NOT NULL "
        "AS u",
        USUAL,
    )
    assert told.rows[0][:6] == ("[1, 2]", '{"a": 1.5}', '{"k": 2}', "nan", "ff", "03:00:00")
    assert told.rows[0][6] == 2**127 - 1
    assert told.rows[0][7] == "20000-01-01"
    assert str(told.rows[0][8]).startswith("2024-01-0")  # in the time zone of this machine
    assert told.rows[0][9:] == (12.3, True)
    assert told.kinds == (
        "other",
        "other",
        "other",
        "number",
        "other",
        "date",
        "number",
        "date",
        "date",
        "number",
        "bool",
    )


async def test_native_crash_is_a_refusal(tmp_path: Path) -> None:
    """A function that takes an address out of the statement: the guard refuses it, and without
    guard only a worker dies.
    """
    path = tmp_path / "t.duckdb"
    duckdb.connect(str(path)).close()
    engine = open_engine(Location("duckdb", str(path)))
    with pytest.raises(StatementFailed):
        await engine.run("SELECT * FROM arrow_scan(1::POINTER, 2::POINTER, 3::POINTER)", USUAL)
    assert (await engine.run("SELECT 1", USUAL)).rows == ((1,),)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
async def test_wide_and_many(dialect: Dialect, tmp_path: Path) -> None:
    path = tmp_path / "big.db"
    names = ", ".join(f"c{number} {'TEXT' if number % 2 else 'INTEGER'}" for number in range(300))
    statements = [
        f"CREATE TABLE wide ({names})",
        f"INSERT INTO wide VALUES ({', '.join(['7'] * 300)})",
    ]
    statements += [f"CREATE TABLE t{number} (a INTEGER, b TEXT)" for number in range(200)]
    made = duckdb.connect(str(path)) if dialect == "duckdb" else sqlite3.connect(path)
    for statement in ["BEGIN", *statements, "COMMIT"]:
        made.execute(statement)
    made.close()
    began = time.monotonic()
    schema = await open_engine(Location(dialect, str(path))).inspect()
    assert time.monotonic() - began < 20
    assert len(schema.tables) == 201
    assert schema.notes == ()
    wide = next(table for table in schema.tables if table.name == "wide")
    assert len(wide.columns) == 300
    assert {(column.kind, column.values, column.lowest) for column in wide.columns} == {
        ("text", ("7",), None),
        ("number", (), 7),
    }


async def test_a_large_table_is_sampled(tmp_path: Path) -> None:
    for dialect in ("duckdb", "sqlite"):
        path = tmp_path / dialect
        rows = 300_000
        if dialect == "duckdb":
            with duckdb.connect(str(path)) as made:
                made.execute(
                    f"CREATE TABLE t AS SELECT range AS n, 'w' || range % 3 AS w FROM range({rows})"
                )
        else:
            other = sqlite3.connect(path)
            other.execute("CREATE TABLE t (n INTEGER, w TEXT)")
            numbers = (
                f"WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r LIMIT {rows})"
            )
            other.execute(f"{numbers} INSERT INTO t SELECT i, 'w' || (i % 3) FROM r")
            other.commit()
            other.close()
        (table,) = (await open_engine(Location(dialect, str(path))).inspect()).tables
        assert table.rows == rows
        assert sorted(table.columns[1].values) == ["w0", "w1", "w2"]
        assert table.columns[1].distinct is None  # of a sample, nobody knows that these are all
        assert (table.columns[0].lowest, table.columns[0].highest) == (0, rows - 1)


async def test_sqlite_oddities(tmp_path: Path) -> None:
    """A view on what is gone, a column without a type, a blob, text that is not UTF-8, a key that
    names no target columns.
    """
    path = tmp_path / "odd.db"
    made = sqlite3.connect(path)
    made.executescript(
        """CREATE TABLE parent (a INT, b INT, PRIMARY KEY (b, a));
        CREATE TABLE "order" ("from" , "x y" BLOB, n, FOREIGN KEY (n) REFERENCES gone,
            FOREIGN KEY ("from", n) REFERENCES parent);
        INSERT INTO "order" VALUES ('2024-01-02', x'0102', 3), ('2024-02-03', NULL, 4);
        CREATE VIEW broken AS SELECT * FROM "order";
        CREATE VIEW fine AS SELECT n * 2 AS twice FROM "order";
        CREATE VIRTUAL TABLE words USING fts5(body); INSERT INTO words VALUES ('hello');
        CREATE TABLE raw (t TEXT); INSERT INTO raw VALUES (CAST(x'ff41' AS TEXT));
        CREATE TABLE generated (a INT, twice INT GENERATED ALWAYS AS (a * 2));
        CREATE VIEW worse AS SELECT * FROM raw2; """
    )
    made.close()
    engine = open_engine(parse_location(f"sqlite:///{path}"))
    tables = {table.name: table for table in (await engine.inspect()).tables}
    assert sorted(tables) == ["broken", "fine", "generated", "order", "parent", "raw", "words"]
    order = tables["order"]
    assert [column.kind for column in order.columns] == ["date", "other", "number"]
    assert [column.name for column in tables["generated"].columns] == ["a", "twice"]
    assert [(key.table, key.target_columns) for key in order.foreign_keys] == [
        ("gone", ()),
        ("parent", ("b", "a")),
    ]
    assert tables["raw"].columns[0].values == ("\ufffdA",)
    assert (await engine.run("SELECT body FROM words WHERE words MATCH 'hello'", USUAL)).rows == (
        ("hello",),
    )
    assert (await engine.run('SELECT "x y" FROM "order"', USUAL)).rows == (("0102",), (None,))


@pytest.mark.parametrize(
    "statement",
    ["SELECT json_extract(note, '$.a') FROM t", "SELECT value FROM t, json_each(t.note)"],
)
async def test_a_cell_that_is_no_json_is_no_broken_file(statement: str, tmp_path: Path) -> None:
    made = sqlite3.connect(tmp_path / "t.db")
    made.executescript("CREATE TABLE t (note TEXT); INSERT INTO t VALUES ('late');")
    made.close()
    with pytest.raises(StatementFailed, match="malformed JSON"):
        await open_engine(Location("sqlite", str(tmp_path / "t.db"))).run(statement, USUAL)


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("SELECT value FROM json_each('[1, \"b\"]')", ((1,), ("b",))),
        ("SELECT t.name, j.value FROM t, json_each(t.tags) AS j", (("Ann", "p"), ("Ann", "q"))),
        ("SELECT fullkey FROM json_tree('{\"a\": [7]}') WHERE atom = 7", (("$.a[0]",),)),
    ],
)
async def test_sqlite_tables_of_json(statement: str, rows: object, tmp_path: Path) -> None:
    """They are virtual tables, which declare themselves when they are first met: the authorizer
    would refuse that.
    """
    made = sqlite3.connect(tmp_path / "t.db")
    made.executescript(
        """CREATE TABLE t (name TEXT, tags TEXT); INSERT INTO t VALUES ('Ann', '["p", "q"]');"""
    )
    made.close()
    engine = open_engine(Location("sqlite", str(tmp_path / "t.db")))
    await engine.explain(statement, USUAL)
    assert (await engine.run(statement, USUAL)).rows == rows


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ('SELECT "nam" FROM t', "no such column: nam"),
        ('SELECT name FROM t WHERE "nam" = name', "no such column: nam"),
        ('SELECT count(*) FROM t WHERE name = "Ann"', "no such column: Ann"),
        ('SELECT "NAME" FROM t', None),
        ('SELECT name AS "nam" FROM t ORDER BY "nam"', None),
        ("SELECT '\"nam\"', 'nam' FROM t -- \"nam\"", None),
        ('SELECT "t"."name", \'nam\' AS "nam" FROM "t"', None),
    ],
)
async def test_a_name_in_double_quotes_is_no_text(
    statement: str, said: str | None, tmp_path: Path
) -> None:
    """SQLite would take it for a text where there is no such column, and answer in silence with
    nonsense.
    """
    made = sqlite3.connect(tmp_path / "t.db")
    made.executescript("CREATE TABLE t (name TEXT); INSERT INTO t VALUES ('Ann');")
    made.close()
    engine = open_engine(Location("sqlite", str(tmp_path / "t.db")))
    if said is None:
        await engine.explain(statement, USUAL)
        assert len((await engine.run(statement, USUAL)).rows) == 1
        return
    for call in (engine.run, engine.explain):
        with pytest.raises(StatementFailed, match=said):
            await call(statement, USUAL)


@pytest.mark.parametrize(
    ("text", "table", "columns"),
    [
        (
            "CREATE TABLE t (\n a INT, -- first\n b INT -- second\n)",
            "",
            {"a": "first", "b": "second"},
        ),
        ("CREATE TABLE t ( -- 客户表\n a INT -- 编号\n, b INT)", "客户表", {"a": "编号"}),
        (
            'CREATE TABLE t (\n -- before\n a INT,\n -- of two\n -- lines\n "b c" DECIMAL(1, 2))',
            "",
            {"a": "before", "b c": "of two lines"},
        ),
        (
            "CREATE TABLE t (a INT /* inside */, b TEXT DEFAULT '-- no' /* yes */)",
            "",
            {"a": "inside", "b": "yes"},
        ),
        ("CREATE TABLE t (a INT, -- x\n PRIMARY KEY (a) -- key\n)", "", {"a": "x"}),
        (
            "CREATE TABLE t (a INT CHECK (a > 1), -- more than 1\n [b] INT, `c` INT -- c\n)",
            "",
            {"a": "more than 1", "c": "c"},
        ),
        ("CREATE TABLE t (a INT -- never ends", "", {"a": "never ends"}),
        ("CREATE TABLE t (a INT) -- behind", "behind", {}),
        ("", "", {}),
        ("CREATE TABLE t (a '-- not' , b", "", {}),
    ],
)
def test_comments_in_create_table(text: str, table: str, columns: dict[str, str]) -> None:
    assert extract_comments(text) == (table, columns)

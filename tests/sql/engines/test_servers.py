"""PostgreSQL and MySQL: who may log in, what their roles may do, schemas, values, and what is left
of a stopped statement.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from urllib.parse import quote

import anyio
import psycopg
import pytest
from tests.servers.mysql import PASSWORD, free_port, login

from citewell.errors import SourceUnavailable, StatementFailed
from citewell.sql.engines import mysql as mysql_engine
from citewell.sql.engines import open_engine, parse_location
from citewell.sql.engines import postgres as postgres_engine
from citewell.sql.engines.engine import Engine, Limits, Location

USUAL = Limits(seconds=5.0)
HIDDEN = "p@ss:word/1"


LONG = "SELECT count(*) FROM generate_series(1, 770000) AS a, generate_series(1, 770000) AS b"


def as_role(url: str, user: str) -> str:
    return re.sub(r"//[^@]*@", f"//{user}@", url)


async def test_postgres_role_that_reads_only(postgres_database: str) -> None:
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute(
            """DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN;
            CREATE SCHEMA sales; CREATE SCHEMA hidden;
            CREATE TABLE sales.items (id INT PRIMARY KEY, mood TEXT);
            CREATE TABLE hidden.pay (amount INT);
            CREATE TABLE public.shown (item INT REFERENCES sales.items, note TEXT, secret TEXT);
            GRANT USAGE ON SCHEMA sales TO clerk; GRANT SELECT ON sales.items TO clerk;
            GRANT SELECT (item, note) ON public.shown TO clerk"""
        )
    engine = open_engine(parse_location(as_role(postgres_database, "clerk")))
    schema = await engine.inspect()
    assert [(table.name, [column.name for column in table.columns]) for table in schema.tables] == [
        ("shown", ["item", "note"]),
        ("sales.items", ["id", "mood"]),
    ]
    assert schema.tables[0].foreign_keys[0].table == "sales.items"
    assert schema.notes == ()
    with pytest.raises(StatementFailed, match="permission denied"):
        await engine.run("SELECT * FROM hidden.pay", USUAL)
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute(
            "GRANT INSERT ON sales.items TO clerk; GRANT pg_read_server_files TO clerk"
        )
        assert "pg_read_server_files" in (await engine.inspect()).notes[0]
        connection.execute("REVOKE pg_read_server_files FROM clerk")
        assert "may change tables" in (await engine.inspect()).notes[0]
        with pytest.raises(StatementFailed):
            await engine.run("INSERT INTO sales.items VALUES (1, 'x')", USUAL)
        connection.execute("DROP OWNED BY clerk; DROP ROLE clerk")


async def test_postgres_superuser_is_warned_about(postgres_database: str) -> None:
    schema = await open_engine(parse_location(postgres_database)).inspect()
    assert schema.tables == ()
    assert "superuser" in schema.notes[0]


async def test_postgres_itself_refuses_to_write(postgres_database: str) -> None:
    """Below the cursor, and within functions: the transaction is read-only and stays so."""
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute(
            """CREATE TABLE t (a INT); CREATE SEQUENCE s;
            CREATE FUNCTION sly() RETURNS INT LANGUAGE plpgsql AS $$
            BEGIN PERFORM set_config('transaction_read_only', 'off', false);
            INSERT INTO t VALUES (1); RETURN 1; END $$;
            CREATE FUNCTION slyer() RETURNS INT LANGUAGE plpgsql AS $$
            BEGIN BEGIN SET TRANSACTION READ WRITE; EXCEPTION WHEN OTHERS THEN NULL; END;
            INSERT INTO t VALUES (1); RETURN 1; END $$;
            CREATE FUNCTION ends() RETURNS INT LANGUAGE plpgsql AS $$
            BEGIN COMMIT; RETURN 1; END $$"""
        )
        location = parse_location(postgres_database)
        engine = open_engine(location)
        for statement in ("SELECT sly()", "SELECT slyer()", "SELECT ends()", "SELECT nextval('s')"):
            with pytest.raises(StatementFailed):
                await engine.run(statement, USUAL)
        for statement in ("INSERT INTO t VALUES (1)", "CREATE TABLE u (a INT)", "DROP TABLE t"):
            with (
                pytest.raises(StatementFailed, match=r"read-only transaction|permission denied"),
                postgres_engine._open_read_only(location, "t", 5.0) as reading,
            ):
                postgres_engine._send_statement(reading, statement)
        assert (await engine.run("SELECT current_setting('work_mem')", USUAL)).rows == (("16MB",),)
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)


# a text that ts_stat would run
LOOK = "SELECT to_tsvector(''simple'', set_config(''role'', ''postgres'', false))"


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("SELECT set_config('statement_timeout', '0', false)", "set_config"),
        ("SELECT \"set_config\"('role', 'postgres', false)", "set_config"),
        ("SELECT '\"' || set_config('role', 'postgres', false) || '\"'", "set_config"),
        ("SELECT pg_catalog . set_config/**/('role', 'postgres', false)", "set_config"),
        (f"SELECT * FROM ts_stat('{LOOK}')", "ts_stat|set_config"),
        (
            f"SELECT ts_stat.ts_stat FROM unnest(ARRAY['{LOOK}']) AS ts_stat(a)",
            "ts_stat|set_config",
        ),
        ("SELECT x.ts_stat FROM unnest(ARRAY['SELECT to_tsvector(''a'')']) AS x", "ts_stat"),
        ("SELECT query_to_xml('SELECT 1', true, true, '')", "query_to_xml"),
        ("SELECT (9::float8).pg_sleep", "pg_sleep"),
        ('SELECT U&"pg\\005fsleep"(9)', "Unicode"),
        ("SELECT x.waits FROM unnest(ARRAY[9]) AS x", "waits"),
        ("SELECT waits (9)", "waits"),
    ],
)
async def test_postgres_calls_nothing_volatile(
    statement: str, name: str, postgres_database: str
) -> None:
    """With no guard before it and as the superuser: what could take back the role, or run a text,
    is not reached.
    """
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION waits(n INT) RETURNS INT LANGUAGE sql VOLATILE AS 'SELECT n'"
        )
    engine = open_engine(parse_location(postgres_database))
    with pytest.raises(StatementFailed, match=name):
        await engine.run(statement, USUAL)
    with pytest.raises(StatementFailed, match=name):
        await engine.explain(statement, USUAL)


async def test_postgres_columns_may_be_called_as_functions(postgres_database: str) -> None:
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION total(n INT) RETURNS INT LANGUAGE sql VOLATILE AS 'SELECT n'"
        )
        connection.execute(
            "CREATE TABLE t (total INT, version TEXT); INSERT INTO t VALUES (7, 'a')"
        )
    engine = open_engine(parse_location(postgres_database))
    told = await engine.run(
        "SELECT t.total, total / 2, version, 'random', random() >= 0 FROM t", USUAL
    )
    assert told.rows == ((7, 3, "a", "random", True),)


async def test_postgres_values(postgres_database: str) -> None:
    engine = open_engine(parse_location(postgres_database))
    told = await engine.run(
        "SELECT 'infinity'::timestamp AS a, '4713-01-01 BC'::date AS b, ARRAY[1, 2] AS c, "
        "'{\"k\": 1}'::jsonb AS d, "
        "'NaN'::numeric AS e, '\\xdeadbeef'::bytea AS f, interval '1 day 2 hours' AS g, ROW(1, "
        "'x') AS h, 'a'::char AS i, "
        "1.5::money AS j, 12.50::numeric AS k, true AS l, '12:00+02'::timetz AS m",
        USUAL,
    )
    assert told.rows[0][:4] == ("infinity", "4713-01-01 BC", "[1, 2]", '{"k": 1}')
    assert told.rows[0][4:7] == ("NaN", "deadbeef", "P1DT2H")
    assert told.rows[0][10:] == (12.5, True, "12:00:00+02")
    assert told.kinds[:4] == ("date", "date", "other", "other")
    shown = await engine.run("SHOW server_version_num", USUAL)
    assert int(str(shown.rows[0][0])) > 100_000
    planned = await engine.run("EXPLAIN SELECT 1", USUAL)
    assert "Result" in str(planned.rows[0][0])


async def test_postgres_reads_texts_as_the_guard_does(postgres_database: str) -> None:
    """A backslash is a letter of a plain text, whatever the server or the role say: else a text
    could end elsewhere.
    """
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        try:
            connection.execute(
                f"ALTER DATABASE {connection.info.dbname} SET standard_conforming_strings = "
                "off".encode()
            )
        except psycopg.errors.InvalidParameterValue:
            pytest.skip("this server knows no other rule")
    engine = open_engine(parse_location(postgres_database))
    told = await engine.run(
        r"SELECT 'a\' AS a, current_setting('standard_conforming_strings') AS b", USUAL
    )
    assert told.rows == (("a\\", "on"),)


async def running(url: str, looking: str) -> int:
    """Statements that are still at work on the server a moment later."""
    left = -1
    until = time.monotonic() + 3
    while left != 0 and time.monotonic() < until:
        if url.startswith("mysql"):
            with login(url) as connection, connection.cursor() as cursor:
                cursor.execute(
                    "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE %s "
                    "AND id <> CONNECTION_ID()",
                    (looking,),
                )
                (left,) = cursor.fetchone() or (-1,)
        else:
            with psycopg.connect(url, autocommit=True) as other:
                asked = (
                    "SELECT count(*) FROM pg_stat_activity WHERE query LIKE %s AND pid <> "
                    "pg_backend_pid() AND state = 'active'"
                )
                (left,) = other.execute(asked, (looking,)).fetchone() or (-1,)
        await anyio.sleep(0.05)
    return int(left)


async def interrupted(engine: Engine, sql: str) -> None:
    """Cancelled while it runs: a worker is there, so a moment is enough for it to begin."""
    await engine.run("SELECT 1", USUAL)
    with anyio.move_on_after(0.4) as scope:
        await engine.run(sql, Limits(seconds=100))
    assert scope.cancelled_caught


async def test_postgres_stops_at_the_server_too(postgres_database: str) -> None:
    await interrupted(open_engine(parse_location(postgres_database)), LONG)
    assert await running(postgres_database, f"%{LONG}%") == 0


async def test_mysql_stops_at_the_server_too(mysql_database: str) -> None:
    await interrupted(open_engine(parse_location(mysql_database)), "SELECT SLEEP(77)")
    assert await running(mysql_database, "%SLEEP(77)%") == 0


async def unavailable(engine: Engine) -> SourceUnavailable:
    with pytest.raises(SourceUnavailable) as told:
        await engine.run("SELECT 1", USUAL)
    said = told.value.message + told.value.hint
    assert told.value.hint
    assert HIDDEN not in said
    assert quote(HIDDEN, safe="") not in said
    return told.value


async def test_postgres_that_cannot_be_reached(postgres_database: str) -> None:
    hidden = quote(HIDDEN, safe="")
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        (file,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        with open(file, "r+", encoding="utf-8") as hba:  # noqa: PTH123, ASYNC230 - the server's own file, a few lines
            rules = hba.read()
            hba.seek(0)
            hba.write(f"local all guest scram-sha-256\n{rules}")
        connection.execute(
            "DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD 'another'; SELECT "
            "pg_reload_conf()"
        )
    wrong = await unavailable(
        open_engine(parse_location(as_role(postgres_database, f"guest:{hidden}")))
    )
    assert "password authentication failed" in wrong.message
    assert "password" in wrong.hint
    down = await unavailable(
        open_engine(parse_location(f"postgresql://u:{hidden}@127.0.0.1:{free_port()}/d"))
    )
    assert "refused" in down.message
    no_host = await unavailable(
        open_engine(parse_location(f"postgresql://u:{hidden}@host.invalid/d"))
    )
    assert "host" in no_host.message
    odd = await unavailable(
        open_engine(Location("postgres", f"postgresql://u:{hidden}@127.0.0.1/d?nonsense=1"))
    )
    assert "nonsense" in odd.message


async def test_mysql_that_cannot_be_reached(mysql_database: str) -> None:
    hidden = quote(HIDDEN, safe="")
    wrong = await unavailable(
        open_engine(parse_location(re.sub(r"//[^@]*@", f"//root:{hidden}@", mysql_database)))
    )
    assert "Access denied" in wrong.message
    assert "password" in wrong.hint
    unknown = await unavailable(open_engine(parse_location(f"{mysql_database}_gone")))
    assert "Unknown database" in unknown.message
    down = await unavailable(
        open_engine(parse_location(f"mysql://u:{hidden}@127.0.0.1:{free_port()}/d"))
    )
    assert "server" in down.hint
    assert PASSWORD not in unknown.message + wrong.message


async def test_mysql_certificates_that_cannot_be_read(mysql_database: str, tmp_path: Path) -> None:
    """Said for what it is, and without a word of the file."""
    gone = await unavailable(
        open_engine(parse_location(f"{mysql_database}?ssl_ca={tmp_path}/gone.pem"))
    )
    assert "ssl_ca" in gone.message
    assert "No such file" in gone.message
    (tmp_path / "odd.pem").write_text("root:x:0:0", "utf-8")
    odd = await unavailable(
        open_engine(parse_location(f"{mysql_database}?ssl_ca={tmp_path}/odd.pem"))
    )
    assert "holds no certificate" in odd.message
    for error in (gone, odd):
        assert "PEM" in error.hint
        assert "memory" not in error.message + error.hint
        assert "root:x" not in error.message + error.hint


async def test_mysql_rights_that_are_warned_about(mysql_database: str) -> None:
    schema = await open_engine(parse_location(mysql_database)).inspect()
    assert schema.tables == ()
    assert "FILE" in schema.notes[0]


async def test_mysql_itself_refuses_to_write(mysql_database: str) -> None:
    """Below our own look at the first word, and as root."""
    with login(mysql_database) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (a INT)")
        location = parse_location(mysql_database)
        for statement in (
            "INSERT INTO t VALUES (1)",
            "DELETE FROM t",
            "CREATE TABLE u (a INT)",
            "DROP TABLE t",
            "TRUNCATE t",
        ):
            with (
                pytest.raises(StatementFailed, match="READ ONLY transaction"),
                mysql_engine._open_read_only(location, 5.0, 64) as reading,
                reading.cursor() as other,
            ):
                other.execute(statement)
        with (
            pytest.raises(StatementFailed, match="local infile"),
            mysql_engine._open_read_only(location, 5.0, 64) as reading,
            reading.cursor() as other,
        ):
            other.execute("LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE t")
        cursor.execute("SELECT COUNT(*) FROM t")
        assert cursor.fetchone() == (0,)


async def test_mysql_statements_that_hand_out_nothing(mysql_database: str) -> None:
    """A variable is filled in place of rows: no fault of ours, and the variable is gone with the
    connection.
    """
    engine = open_engine(parse_location(mysql_database))
    for statement in ("SELECT 1 INTO @x", "SELECT 1, 2 INTO @x, @y"):
        with pytest.raises(StatementFailed, match="hands out nothing"):
            await engine.run(statement, USUAL)
    assert (await engine.run("SELECT @x", USUAL)).rows == ((None,),)


async def test_mysql_values_and_modes(mysql_database: str) -> None:
    with login(mysql_database) as connection, connection.cursor() as cursor:
        cursor.execute("SET GLOBAL sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'")
        try:
            engine = open_engine(parse_location(mysql_database))
            told = await engine.run(
                "SELECT \"a text\" AS a, 'it\\'s' AS b, 1 || 0 AS c, x'00ff' AS d, "
                "CAST('12:30:00' AS TIME) AS e, "
                "CAST(1.50 AS DECIMAL(5,2)) AS f, CAST('2024-01-02' AS DATE) AS g, NULL AS "
                "h, '键' AS i",
                USUAL,
            )
        finally:
            cursor.execute("SET GLOBAL sql_mode = DEFAULT")
    assert told.rows == (("a text", "it's", 1, "00ff", "12:30:00", 1.5, "2024-01-02", None, "键"),)
    assert told.kinds == (
        "text",
        "text",
        "number",
        "other",
        "date",
        "number",
        "date",
        "other",
        "text",
    )

"""What every engine must do alike: rows, kinds, limits, ends, reading only, and telling its tables.
No guard is in the way.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from tests.sql.engines.conftest import Shop

from citewell.errors import SourceUnavailable, StatementFailed
from citewell.sql.engines import open_engine
from citewell.sql.engines.engine import Limits, Location, Table

USUAL = Limits(seconds=5.0)
SLOW = {
    "duckdb": "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + "
    "b.range = -1",
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) "
    "FROM n",
    "postgres": "SELECT count(*) FROM generate_series(1, 600000) AS a, generate_series(1, "
    "600000) AS b",
    "mysql": "SELECT SLEEP(60) FROM orders",
}
WRITES = (
    "INSERT INTO customers VALUES (9, 'x', 'y')",
    "UPDATE customers SET name = 'x'",
    "DELETE FROM orders",
    "CREATE TABLE other (a INTEGER)",
    "CREATE TEMPORARY TABLE other (a INTEGER)",
    "CREATE VIEW other AS SELECT 1 AS a",
    "DROP TABLE orders",
    "ALTER TABLE orders ADD COLUMN more INTEGER",
    "SELECT 1; DELETE FROM orders",
    "BEGIN",
    "COMMIT",
    "",
    "-- nothing",
)
OWN = {
    "duckdb": (
        "ATTACH '{folder}/other.duckdb' AS o",
        "ATTACH ':memory:' AS o",
        "COPY customers TO '{folder}/out.csv'",
        "EXPORT DATABASE '{folder}/out'",
        "SELECT * FROM '{secret}'",
        "SELECT * FROM read_csv('{secret}')",
        "SELECT * FROM read_text('{secret}')",
        "SELECT * FROM read_blob('{secret}')",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM read_csv('http://127.0.0.1:9/x.csv')",
        "SELECT * FROM enable_logging(storage = 'file', storage_path = '{folder}/log')",
        "SELECT * FROM query('COPY customers TO ''{folder}/out.csv''')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '100GB'",
        "PRAGMA database_list",
        "CALL pragma_version()",
        "CREATE MACRO f() AS 1",
        "CREATE SECRET s (TYPE http)",
        "CHECKPOINT",
        "VACUUM",
        "SET VARIABLE a = 1",
        "EXPLAIN ANALYZE DELETE FROM orders",
    ),
    "sqlite": (
        "ATTACH DATABASE '{folder}/other.db' AS o",
        "PRAGMA query_only = OFF",
        "PRAGMA database_list",
        "SELECT * FROM pragma_database_list",
        "SELECT load_extension('{secret}')",
        "SELECT readfile('{secret}')",
        "SELECT writefile('{folder}/out', 'x')",
        "SELECT fts3_tokenizer('simple')",
        "VACUUM INTO '{folder}/out.db'",
        "REPLACE INTO customers VALUES (1, 'x', 'y')",
        "CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END",
        "DETACH main",
        "REINDEX",
        "ANALYZE",
        "SAVEPOINT s",
    ),
    "postgres": (
        "COPY customers TO '{folder}/out.csv'",
        "COPY (SELECT 1) TO PROGRAM 'touch {folder}/out'",
        "COPY customers FROM '{secret}'",
        "SELECT pg_read_file('{secret}')",
        "SELECT pg_ls_dir('/')",
        "SELECT lo_import('{secret}')",
        "SELECT lo_export(1, '{folder}/out')",
        "WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone",
        "SELECT * INTO other FROM orders",
        "SELECT nextval(pg_get_serial_sequence('orders', 'id')), setval('s', 1)",
        "SELECT * FROM customers FOR UPDATE",
        "SET TRANSACTION READ WRITE",
        "SELECT set_config('transaction_read_only', 'off', true)",
        "SET ROLE postgres",
        "DO $$ BEGIN DELETE FROM orders; END $$",
        "LISTEN x",
        "NOTIFY x",
        "LOCK TABLE orders",
        "VACUUM",
        "PREPARE p AS SELECT 1",
        "EXPLAIN ANALYZE DELETE FROM orders",
        "CREATE EXTENSION dblink",
        "ALTER SYSTEM SET work_mem = '1GB'",
        "LOAD 'auto_explain'",
    ),
    "mysql": (
        "SELECT * FROM customers INTO OUTFILE '{folder}/out.csv'",
        "LOAD DATA INFILE '{secret}' INTO TABLE customers",
        "LOAD DATA LOCAL INFILE '{secret}' INTO TABLE customers",
        "REPLACE INTO customers VALUES (1, 'x', 'y')",
        "/*!50000 DELETE */ FROM orders",
        "/*M! DELETE */ FROM orders",
        "SET SESSION TRANSACTION READ WRITE",
        "SET GLOBAL max_connections = 1",
        "GRANT ALL ON *.* TO reader@'127.0.0.1'",
        "KILL 1",
        "SHUTDOWN",
        "LOCK TABLES orders WRITE",
        "TRUNCATE orders",
        "HANDLER orders OPEN",
        "CALL nothing()",
        "DO SLEEP(0)",
        "PREPARE p FROM 'DELETE FROM orders'",
        "INSTALL SONAME 'ha_connect'",
    ),
}


async def counts(shop: Shop) -> tuple[object, ...]:
    told = await shop.engine.run(
        "SELECT (SELECT count(*) FROM customers), (SELECT count(*) FROM orders)", USUAL
    )
    return told.rows[0]


async def test_rows(shop: Shop) -> None:
    statement = shop.sql('SELECT id, name AS "姓名", city FROM customers ORDER BY id')
    told = await shop.engine.run(statement, USUAL)
    assert told.columns == ("id", "姓名", "city")
    assert told.kinds == ("number", "text", "text")
    assert told.rows == (
        (1, "王芳", "北京"),
        (2, "O'Brien", "Dublin"),
        (3, "李雷", "北京"),
        (4, "Zoë", None),
    )
    assert not told.truncated
    assert 0 <= told.seconds < 5


async def test_values_are_what_json_holds(shop: Shop) -> None:
    told = await shop.engine.run(
        "SELECT amount, sold_on, sold_at, paid FROM orders ORDER BY id", USUAL
    )
    assert [row[0] for row in told.rows] == [10.5, 20, 0.1]
    assert [row[1] for row in told.rows] == ["2024-01-02", "2024-02-03", "2023-12-31"]
    assert [row[2] for row in told.rows] == ["2024-01-02 03:04:05", None, "2023-12-31 23:59:59"]
    assert [row[3] for row in told.rows] == [
        1,
        0,
        None,
    ]  # True and False where the engine has a type for it
    assert told.kinds[:3] == ("number", "date", "date")


async def test_no_rows(shop: Shop) -> None:
    told = await shop.engine.run("SELECT id, name FROM customers WHERE id > 100", USUAL)
    assert told.columns == ("id", "name")
    assert told.rows == ()
    assert not told.truncated


async def test_columns_of_one_name(shop: Shop) -> None:
    told = await shop.engine.run(
        "SELECT c.id, o.id, c.id FROM customers c JOIN orders o ON o.customer_id = c.id", USUAL
    )
    assert told.columns == ("id", "id_2", "id_3")


async def test_names_that_are_words_of_sql(shop: Shop) -> None:
    told = await shop.engine.run(
        shop.sql('SELECT "商品", "group" FROM "订单 明细" WHERE "数量" > 4'), USUAL
    )
    assert told.rows == (("梨", "b"),)


async def test_a_percent_sign_is_a_percent_sign(shop: Shop) -> None:
    told = await shop.engine.run(
        "SELECT name, 'a%sb' AS t FROM customers WHERE name LIKE '%rien%'", USUAL
    )
    assert told.rows == (("O'Brien", "a%sb"),)


async def test_row_limit(shop: Shop) -> None:
    told = await shop.engine.run("SELECT id FROM customers ORDER BY id", Limits(rows=3))
    assert [row[0] for row in told.rows] == [1, 2, 3]
    assert told.truncated
    whole = await shop.engine.run("SELECT id FROM customers ORDER BY id", Limits(rows=4))
    assert len(whole.rows) == 4
    assert not whole.truncated


async def test_character_limit(shop: Shop) -> None:
    told = await shop.engine.run("SELECT name FROM customers ORDER BY id", Limits(characters=10))
    assert told.rows == (("王芳",), ("O'Brien",))
    assert told.truncated
    alone = await shop.engine.run("SELECT name FROM customers WHERE id = 2", Limits(characters=3))
    assert alone.rows == (("O'B…",),)
    assert alone.truncated


async def test_a_huge_result_is_not_read_to_its_end(shop: Shop) -> None:
    many = ", ".join(f"customers {letter}" for letter in "abcdefghijklmno")  # 4 to the 15th rows
    began = time.monotonic()
    told = await shop.engine.run(f"SELECT a.id FROM {many}", Limits(seconds=20, rows=1_000))
    assert len(told.rows) == 1_000
    assert told.truncated
    assert time.monotonic() - began < 8


async def test_time_limit(shop: Shop) -> None:
    began = time.monotonic()
    with pytest.raises(StatementFailed) as failed:
        await shop.engine.run(SLOW[shop.dialect], Limits(seconds=0.5))
    assert failed.value.code == "timeout"
    assert "0.5 s" in failed.value.message
    assert time.monotonic() - began < 4
    assert await counts(shop) == (4, 3)


async def test_cancel(shop: Shop) -> None:
    began = time.monotonic()
    with anyio.move_on_after(0.3) as scope:  # there is a worker, of the tests before
        await shop.engine.run(SLOW[shop.dialect], Limits(seconds=60))
    assert scope.cancelled_caught
    assert time.monotonic() - began < 5
    assert await counts(shop) == (4, 3)


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def got_through(shop: Shop, statements: Sequence[str]) -> list[tuple[str, object]]:
    """Those that were not refused."""
    through: list[tuple[str, object]] = []
    for statement in statements:
        try:
            through.append((statement, await shop.engine.run(statement, USUAL)))
        except StatementFailed:
            continue
    return through


async def test_writing_is_refused_by_the_engine(shop: Shop) -> None:
    assert await got_through(shop, WRITES) == []
    assert await counts(shop) == (4, 3)


async def test_files_network_and_settings_are_refused_by_the_engine(
    shop: Shop, tmp_path: Path
) -> None:
    (tmp_path / "secret.csv").write_text("word\nplugh\n", "utf-8")
    statements = [
        text.format(folder=tmp_path, secret=tmp_path / "secret.csv") for text in OWN[shop.dialect]
    ]
    assert await got_through(shop, statements) == []
    assert await counts(shop) == (4, 3)
    assert names_in(tmp_path) == ["secret.csv"]


async def test_explain_plans_without_running(shop: Shop) -> None:
    began = time.monotonic()
    await shop.engine.explain(SLOW[shop.dialect], USUAL)
    assert time.monotonic() - began < 3
    with pytest.raises(StatementFailed, match=r"(?i)nowhere"):
        await shop.engine.explain("SELECT nowhere FROM customers", USUAL)


async def test_the_engine_says_what_is_wrong(shop: Shop) -> None:
    with pytest.raises(StatementFailed, match=r"(?i)customer_nme") as failed:
        await shop.engine.run("SELECT customer_nme FROM customers", USUAL)
    assert len(failed.value.message.splitlines()) <= 2
    with pytest.raises(StatementFailed, match=r"(?i)clients"):
        await shop.engine.run("SELECT * FROM clients", USUAL)


def named(tables: tuple[Table, ...], name: str) -> Table:
    return next(table for table in tables if table.name == name)


async def test_inspect(shop: Shop) -> None:
    schema = await shop.engine.inspect()
    assert sorted(table.name for table in schema.tables) == [
        "big_orders",
        "customers",
        "orders",
        "订单 明细",
    ]
    customers, orders = named(schema.tables, "customers"), named(schema.tables, "orders")
    assert customers.comment == "客户"
    assert [column.comment for column in customers.columns] == ["客户编号", "姓名", ""]
    assert [column.kind for column in customers.columns] == ["number", "text", "text"]
    assert customers.primary_key == ("id",)
    assert customers.rows == 4
    city = customers.columns[2]
    assert city.values == ("北京", "Dublin")
    assert city.distinct == 2
    assert (customers.columns[0].lowest, customers.columns[0].highest) == (1, 4)
    assert [(key.columns, key.table, key.target_columns) for key in orders.foreign_keys] == [
        (("customer_id",), "customers", ("id",))
    ]
    assert [column.kind for column in orders.columns] == [
        "number",
        "number",
        "number",
        "date",
        "date",
        "bool",
    ]
    assert orders.columns[2].comment == "in euros, with tax"
    assert (orders.columns[2].lowest, orders.columns[2].highest) == (0.1, 20)
    assert (orders.columns[3].lowest, orders.columns[3].highest) == ("2023-12-31", "2024-02-03")
    detail = named(schema.tables, "订单 明细")
    assert [column.name for column in detail.columns] == ["商品", "数量", "group"]
    assert detail.columns[0].comment == "商品名称"
    assert named(schema.tables, "big_orders").rows == 2
    assert named(schema.tables, "big_orders").columns[1].highest == 20
    assert schema.fingerprint == (await shop.engine.inspect()).fingerprint


async def test_gone_is_said(shop: Shop) -> None:
    where = shop.location.where
    gone = (
        where.replace("/t_", "/gone_") if shop.dialect in {"postgres", "mysql"} else f"{where}.gone"
    )
    with pytest.raises(SourceUnavailable) as told:
        await open_engine(Location(shop.dialect, gone)).run("SELECT 1", USUAL)
    assert told.value.hint
    assert "only/here" not in str(told.value) + told.value.hint

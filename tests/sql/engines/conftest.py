"""The same small shop in every engine, for one suite: tables with keys, comments, Chinese names,
dates, NULLs, a view.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import duckdb
import psycopg
import pytest
from tests.servers import mysql, postgres

from citewell.sql.engines import open_engine, parse_location
from citewell.sql.engines.engine import Dialect, Engine, Location

DIALECTS: tuple[Dialect, ...] = ("duckdb", "sqlite", "postgres", "mysql")

TABLES = """
CREATE TABLE customers (  -- 客户
  id INTEGER PRIMARY KEY,  -- 客户编号
  name VARCHAR(80) NOT NULL,  -- 姓名
  city VARCHAR(40)
);
CREATE TABLE orders (  -- what was sold
  id INTEGER PRIMARY KEY,
  customer_id INTEGER REFERENCES customers (id),
  amount DECIMAL(10,2),  -- in euros, with tax
  sold_on DATE,
  sold_at TIMESTAMP NULL,
  paid BOOLEAN,
  FOREIGN KEY (customer_id) REFERENCES customers (id)
);
CREATE TABLE "订单 明细" (
  "商品" VARCHAR(80),  -- 商品名称
  "数量" INTEGER,
  "group" VARCHAR(10)
);
INSERT INTO customers VALUES
  (1, '王芳', '北京'), (2, 'O''Brien', 'Dublin'), (3, '李雷', '北京'), (4, 'Zoë', NULL);
INSERT INTO orders VALUES
  (1, 1, 10.50, '2024-01-02', '2024-01-02 03:04:05', TRUE),
  (2, 1, 20.00, '2024-02-03', NULL, FALSE),
  (3, 2, 0.10, '2023-12-31', '2023-12-31 23:59:59', NULL);
INSERT INTO "订单 明细" VALUES ('苹果', 3, 'a'), ('梨', 5, 'b');
CREATE VIEW big_orders AS SELECT id, amount FROM orders WHERE amount > 5;
"""
COMMENTS = {
    "customers": "客户",
    "customers.id": "客户编号",
    "customers.name": "姓名",
    "orders": "what was sold",
    "orders.amount": "in euros, with tax",
    '"订单 明细"."商品"': "商品名称",
}


def bare() -> str:
    """Without the comments, and with one foreign key: not every engine reads them as SQLite
    does.
    """
    lines = [line.partition("  -- ")[0] for line in TABLES.splitlines()]
    return "\n".join(lines).replace(
        "customer_id INTEGER REFERENCES customers (id)", "customer_id INTEGER"
    )


def comment_statements() -> list[str]:
    kinds = {name: "COLUMN" if "." in name else "TABLE" for name in COMMENTS}
    return [f"COMMENT ON {kinds[name]} {name} IS '{text}'" for name, text in COMMENTS.items()]


def make_duckdb(path: Path) -> Location:
    with duckdb.connect(str(path)) as connection:
        connection.execute(bare())
        for statement in comment_statements():
            connection.execute(statement)
    return Location("duckdb", str(path))


def make_sqlite(path: Path) -> Location:
    connection = sqlite3.connect(path)
    connection.executescript(
        TABLES.replace("customer_id INTEGER REFERENCES customers (id)", "customer_id INTEGER")
    )
    connection.close()
    return parse_location(f"sqlite:///{path}")


def make_postgres(url: str) -> Location:
    """Asked by the superuser, so that what is refused is refused by the way it is asked."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(bare().encode())
        for statement in comment_statements():
            connection.execute(statement.encode())
    return parse_location(url)


def make_mysql(url: str) -> Location:
    with mysql.login(url) as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION sql_mode = 'ANSI_QUOTES'")
        for statement in filter(str.strip, bare().split(";")):
            cursor.execute(statement)
        cursor.execute("ALTER TABLE customers COMMENT '客户', MODIFY id INTEGER COMMENT '客户编号'")
        cursor.execute("ALTER TABLE customers MODIFY name VARCHAR(80) NOT NULL COMMENT '姓名'")
        cursor.execute(
            "ALTER TABLE orders COMMENT 'what was sold', MODIFY amount DECIMAL(10,2) COMMENT 'in "
            "euros, with tax'"
        )
        cursor.execute('ALTER TABLE "订单 明细" MODIFY "商品" VARCHAR(80) COMMENT \'商品名称\'')
        cursor.execute("GRANT SELECT ON *.* TO reader@'127.0.0.1' IDENTIFIED BY 'seen:only/here'")
    address = url.partition("@")[2]
    return parse_location(f"mysql://reader:seen%3Aonly%2Fhere@{address}")


@dataclass(frozen=True)
class Shop:
    dialect: Dialect
    location: Location
    engine: Engine

    def sql(self, text: str) -> str:
        """Names stand in backquotes in MySQL, elsewhere in double quotes."""
        return text.replace('"', "`") if self.dialect == "mysql" else text


@pytest.fixture(scope="module", params=DIALECTS)
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    """Made once: nobody can change it."""
    folder = tmp_path_factory.mktemp("shop")
    with ExitStack() as stack:
        location = {
            "duckdb": lambda: make_duckdb(folder / "shop.duckdb"),
            "sqlite": lambda: make_sqlite(folder / "shop.sqlite"),
            "postgres": lambda: make_postgres(
                stack.enter_context(postgres.make_database(request.getfixturevalue("postgres_url")))
            ),
            "mysql": lambda: make_mysql(
                stack.enter_context(mysql.empty_database(request.getfixturevalue("mysql_url")))
            ),
        }[request.param]()
        yield Shop(request.param, location, open_engine(location))

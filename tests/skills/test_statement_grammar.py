"""What a model that is held to the grammar of a schema can and cannot write."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.skills.lark import Lark
from tests.skills.made_schema import SHOP

from citewell.sql.complete_grouping import make_runnable
from citewell.sql.engines.engine import Column, Schema, Table
from citewell.sql.grammar.plain_names import write_plain_names
from citewell.sql.grammar.statement_grammar import build_grammar
from citewell.sql.join_paths import find_join_paths, list_join_columns

QUESTION = "Which customers from Ürümqi bought more than 3 Drover's 上海货?"
JOINED = "FROM sale JOIN customer ON sale.customer_id = customer.customer_id"


@pytest.fixture(scope="module")
def shop() -> Lark:
    return Lark(build_grammar(SHOP, QUESTION))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT Name FROM customer",
        "SELECT DISTINCT City FROM customer ORDER BY 1",
        "SELECT count(*) FROM customer WHERE City = 'Paris' AND BirthYear < 1980",
        "SELECT City, count(*) FROM customer GROUP BY City ORDER BY count(*) DESC LIMIT 3",
        "SELECT City FROM customer GROUP BY City ORDER BY count(*) LIMIT 1 OFFSET 1",
        "SELECT Name FROM customer WHERE customer_id NOT IN (SELECT customer_id FROM sale)",
        f"SELECT customer.Name, sum(sale.amount) {JOINED} GROUP BY customer.customer_id",
        "SELECT City FROM customer INTERSECT SELECT City FROM customer WHERE BirthYear > 1980",
        "SELECT Name FROM customer WHERE BirthYear = (SELECT min(BirthYear) FROM customer)",
        "SELECT sum(amount) * 100.0 / (SELECT sum(amount) FROM sale) FROM sale",
        "SELECT \"made in\" FROM product WHERE title LIKE '%Drover''s%'",
        "SELECT Name FROM customer WHERE City IN ('Ürümqi', '上海')",
        "SELECT max(BirthYear) - min(BirthYear) FROM customer",
        "SELECT count(CASE WHEN City = 'Paris' THEN 1 END) * 100.0 / count(*) FROM customer",
        "SELECT sum(CASE WHEN amount > 3 THEN amount ELSE 0 END) FROM sale",
        "SELECT count(*) AS sales_made, sum(amount) AS total_amount FROM sale",
        f"SELECT count(sale.amount) {JOINED.replace('JOIN', 'LEFT JOIN')} GROUP BY customer.Name",
    ],
)
def test_what_can_be_asked_can_be_written(shop: Lark, sql: str) -> None:
    assert shop.accepts(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nothing FROM customer",
        "SELECT amount FROM customer",
        "SELECT customer.Name FROM customer JOIN product ON customer.customer_id = product.title",
        "SELECT Name FROM customer WHERE City = 'Rome'",
        "SELECT Name FROM customer WHERE BirthYear = 'Paris'",
        "SELECT sum(Name) FROM customer",
        "SELECT Name, max(BirthYear) FROM customer",
        "SELECT sum(amount) * 100.0 / (SELECT sum(amount) FROM sale WHERE amount > 3) FROM sale",
        "SELECT Name FROM customer; DROP TABLE customer",
        "DELETE FROM customer",
    ],
)
def test_what_no_engine_would_run_cannot_be_written(shop: Lark, sql: str) -> None:
    assert not shop.accepts(sql)


def test_tables_are_joined_over_those_between_them(shop: Lark) -> None:
    names = [{table.name for table in path.tables} for path in find_join_paths(SHOP)]
    assert {"customer", "product", "sale"} in names
    assert {"customer", "product"} not in names
    assert shop.accepts(
        f"SELECT product.title {JOINED} JOIN product ON product.product_id = sale.product_id"
    )


def test_a_column_called_like_a_table_or_by_the_same_name_joins_it() -> None:
    key = Column("id", "INT", "number")
    makers = Table("makers", (key, Column("region", "TEXT", "text", distinct=3)), rows=3)
    cars = Table("cars", (key, Column("maker_id", "INT", "number")))
    sales = Table("sales", (Column("region", "TEXT", "text"), Column("amount", "INT", "number")))
    assert list_join_columns(cars, makers) == [(("maker_id", "id"),)]
    assert list_join_columns(sales, makers) == [(("region", "region"),)]
    assert list_join_columns(sales, replace(makers, rows=9)) == []
    assert list_join_columns(sales, replace(makers, primary_key=("id",))) == []


@pytest.mark.parametrize(
    ("dialect", "month"),
    [
        ("duckdb", "strftime(day, '%Y-%m')"),
        ("sqlite", "strftime('%Y-%m', day)"),
        ("postgres", "to_char(day, 'YYYY-MM')"),
        ("mysql", "date_format(day, '%Y-%m')"),
    ],
)
def test_dates_by_month_as_each_engine_writes_it(dialect: str, month: str) -> None:
    table = Table("sale", (Column("day", "DATE", "date"), Column("amount", "REAL", "number")))
    schema = Schema(dialect, (table,))  # type: ignore[arg-type]
    by_month = f"SELECT {month}, sum(amount) FROM sale GROUP BY {month}"
    assert Lark(build_grammar(schema, "by month?")).accepts(by_month)


def test_all_that_is_shown_beside_sums_is_grouped_by_but_in_sqlite() -> None:
    sql = "SELECT name, count(*) FROM t GROUP BY id ORDER BY count(*) DESC"
    assert make_runnable(sql, "sqlite") == sql
    whole = "SELECT name, COUNT(*) FROM t GROUP BY id, name ORDER BY COUNT(*) DESC"
    assert make_runnable(sql, "duckdb") == whole
    assert make_runnable("SELECT 1 FROM", "duckdb") == "SELECT 1 FROM"
    by_name = "SELECT name, SUM(cost) AS total FROM t GROUP BY name ORDER BY total DESC"
    assert make_runnable(by_name, "duckdb") == by_name
    renamed = "SELECT name AS name, SUM(cost) FROM t GROUP BY id ORDER BY day"
    assert "GROUP BY id, name, day" in make_runnable(renamed, "duckdb")


def test_sums_of_groups_are_shown_with_the_groups() -> None:
    sums = "SELECT sum(cost) FROM t GROUP BY month"
    assert make_runnable(sums, "duckdb") == "SELECT month, SUM(cost) FROM t GROUP BY month"
    for sql in (f"{sums} ORDER BY sum(cost) DESC LIMIT 1", "SELECT a FROM t GROUP BY a"):
        assert make_runnable(sql, "sqlite") == sql


def test_one_value_is_held_against_all_that_a_select_gives(shop: Lark) -> None:
    inner = "(SELECT customer_id FROM customer WHERE City = 'Paris')"
    sql = f"SELECT count(*) FROM sale WHERE customer_id = {inner}"
    assert shop.accepts(sql)
    among = f"SELECT COUNT(*) FROM sale WHERE customer_id IN {inner}"
    assert make_runnable(sql, "duckdb") == among
    apart = f"SELECT COUNT(*) FROM sale WHERE NOT customer_id IN {inner}"
    assert make_runnable(sql.replace("id = (", "id != ("), "sqlite") == apart
    first = "SELECT amount FROM sale WHERE customer_id = (SELECT min(customer_id) FROM customer)"
    assert make_runnable(first, "sqlite") == first


def test_columns_are_compared_with_what_their_type_takes() -> None:
    columns = (
        Column("day", "DATE", "date"),
        Column("at", "TIME", "date"),
        Column("paid", "BOOLEAN", "bool"),
        Column("tags", "VARCHAR[]", "other"),
    )
    made = Lark(build_grammar(Schema("duckdb", (Table("sale", columns),)), "paid at 12:30?"))
    assert made.accepts("SELECT day FROM sale WHERE paid = TRUE AND day > '2024-02-28'")
    for wrong in ("at = '12:30'", "year(at) = 1", "paid = 'x'", "day = '2024-02-31'", "tags = ''"):
        assert not made.accepts(f"SELECT day FROM sale WHERE {wrong}")
    assert not made.accepts("SELECT max(paid) FROM sale")


def test_a_month_is_held_against_no_single_day() -> None:
    schema = Schema("duckdb", (Table("sale", (Column("day", "DATE", "date"),)),))
    month = Lark(build_grammar(schema, "How many sales were there in March 2024?"))
    assert not month.accepts("SELECT count(*) FROM sale WHERE day = '2024-03-01'")
    assert month.accepts("SELECT count(*) FROM sale WHERE year(day) = 2024 AND month(day) = 3")
    assert month.accepts(
        "SELECT count(*) FROM sale WHERE day BETWEEN '2024-03-01' AND '2024-03-31'"
    )
    day = Lark(build_grammar(schema, "2024年3月31日有多少销售？"))
    assert day.accepts("SELECT count(*) FROM sale WHERE day = '2024-03-31'")
    assert not day.accepts("SELECT count(*) FROM sale WHERE day = '2024-02-31'")
    for question in ("2024年5月有多少销售？", "How many sales were there in 2024-05?"):
        may = Lark(build_grammar(schema, question))
        assert not may.accepts("SELECT count(*) FROM sale WHERE day = '2024-05-05'")
        assert may.accepts("SELECT count(*) FROM sale WHERE year(day) = 2024 AND month(day) = 5")


def test_a_stored_value_is_held_only_against_columns_that_store_it() -> None:
    makers = Column("maker", "TEXT", "text", values=("Ford", "Fiat"), distinct=2)
    lands = Column("land", "TEXT", "text", values=("france", "Italy"), distinct=2)
    notes = Column("note", "TEXT", "text", values=("good",), distinct=90)
    schema = Schema("sqlite", (Table("car", (makers, lands, notes)),))
    made = Lark(build_grammar(schema, "How many cars from France or Peru?"))
    assert made.accepts("SELECT count(*) FROM car WHERE land = 'france'")
    assert made.accepts("SELECT count(*) FROM car WHERE note = 'France'")
    assert not made.accepts("SELECT count(*) FROM car WHERE maker = 'France'")
    assert made.accepts("SELECT count(*) FROM car WHERE land = 'Peru'")


@pytest.mark.parametrize(
    ("sql", "plain"),
    [
        (
            "SELECT T1.name FROM customer AS T1 ORDER BY T1.birthyear LIMIT 1",
            "SELECT Name FROM customer ORDER BY BirthYear LIMIT 1",
        ),
        ("SELECT NAME FROM Customer", "SELECT Name FROM customer"),
        (  # the tables come after the columns: T1 was thought to be the other one
            (
                "SELECT T1.Name, sum(T2.amount) FROM sale AS T1 JOIN customer AS T2 ON "
                "T1.customer_id = T2.customer_id GROUP BY T1.Name"
            ),
            (
                "SELECT customer.Name, sum(sale.amount) FROM sale JOIN customer ON "
                "sale.customer_id = customer.customer_id GROUP BY customer.Name"
            ),
        ),
        (
            (
                'SELECT t1."made in" FROM product t1 WHERE T1.title IN '
                "(SELECT T1.title FROM product AS T1)"
            ),
            'SELECT "made in" FROM product WHERE title IN (SELECT title FROM product)',
        ),
    ],
)
def test_names_in_any_case_and_aliases(shop: Lark, sql: str, plain: str) -> None:
    """A model may write them; what is run and shown has the schema's names."""
    if " t1 " not in sql:
        assert shop.accepts(sql)
    assert write_plain_names(sql, SHOP) == plain
    assert write_plain_names(plain, SHOP) == plain


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.Name FROM customer a JOIN customer b ON a.City = b.City",
        "SELECT Name FROM customer c WHERE EXISTS (SELECT 1 FROM sale s WHERE s.amount > c.x)",
        "SELECT x FROM (SELECT 1 AS x)",
        "SELECT nothing FROM",
    ],
)
def test_aliases_that_are_needed_stay(sql: str) -> None:
    assert write_plain_names(sql, SHOP) == sql

"""What the schema puts right in a model's SQL, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.skills.made_schema import SHOP

from citewell.sql.engines.engine import Column, ForeignKey, Schema, Table
from citewell.sql.mend import mend_statement, quote_names
from citewell.sql.schema_link import Link, Linked


def of(*tables: str) -> Linked:
    """A question that names these tables."""
    return Linked(tuple(Link(table, table, "", 1.0) for table in tables), (), (), tables)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (  # a column under another table's alias
            "SELECT T2.Name FROM customer AS T1 JOIN sale AS T2 ON T1.customer_id = T2.customer_id",
            "SELECT t1.Name FROM customer AS T1 JOIN sale AS T2 ON T1.customer_id = T2.customer_id",
        ),
        (  # a table that was forgotten
            "SELECT T2.title FROM sale AS T2",
            (
                "SELECT product.title FROM sale AS T2 JOIN product AS product ON t2.product_id "
                "= product.product_id"
            ),
        ),
        (
            'SELECT Name FROM customer WHERE City = "Paris"',
            "SELECT Name FROM customer WHERE City = 'Paris'",
        ),
        ("SELECT birth_year FROM customer", "SELECT BirthYear FROM customer"),
        (
            "SELECT amount FROM sale WHERE status = 'Paid'",
            "SELECT amount FROM sale WHERE status = 'paid'",
        ),
        (
            "SELECT amount FROM sale WHERE status IN ('PAID', 'x')",
            "SELECT amount FROM sale WHERE status IN ('paid', 'x')",
        ),
    ],
)
def test_what_the_schema_puts_right(wrong: str, right: str) -> None:
    assert mend_statement(wrong, SHOP) == right


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT Name FROM customer",
        (
            "SELECT c.Name, sum(s.amount) AS total FROM customer c JOIN sale s USING "
            "(customer_id) GROUP BY 1 ORDER BY total"
        ),
        "SELECT nothing_like_it FROM customer",
        "SELECT customer_id FROM customer AS a, sale AS b",  # in both: not ours to choose
        "WITH t AS (SELECT amount AS x FROM sale) SELECT x FROM t",
        "SELECT Name FROM customer WHERE City = 'paris, texas'",
        "SELECT * FROM stranger WHERE status = 'Paid'",
        "DROP TABLE customer",
        "not sql at all ((",
        "",
    ],
)
def test_what_is_left_alone(sql: str) -> None:
    assert mend_statement(sql, SHOP, of()) == sql


def test_a_join_that_nothing_needs_is_left_out_unless_the_question_speaks_of_it() -> None:
    sql = "SELECT T1.City FROM customer AS T1 JOIN sale AS T2 ON T1.customer_id = T2.customer_id"
    assert mend_statement(sql, SHOP, of("customer")) == "SELECT T1.City FROM customer AS T1"
    assert mend_statement(sql, SHOP, of("customer", "sale")) == sql
    assert mend_statement(sql, SHOP, None) == sql


def test_a_word_that_another_table_has_as_well_needs_no_join() -> None:
    """A `customer_id` in `sale` is no reason to keep it: the customer is there."""
    words = (Link("customer", "customer", "", 1.0), Link("customer", "sale", "customer_id", 0.8))
    sql = "SELECT c.City FROM customer AS c JOIN sale AS s ON c.customer_id = s.customer_id"
    assert (
        mend_statement(sql, SHOP, Linked(words, (), (), ("customer",)))
        == "SELECT c.City FROM customer AS c"
    )
    # what is counted within does not need it
    above = f"{sql} WHERE c.BirthYear > (SELECT AVG(BirthYear) FROM customer)"
    assert "JOIN" not in mend_statement(above, SHOP, of("customer"))


def test_a_join_by_a_column_that_only_another_table_has() -> None:
    wrong = (
        "SELECT customer.Name, COUNT(*) FROM customer JOIN product ON customer.customer_id = "
        "product.customer_id GROUP BY 1"
    )
    right = (
        "SELECT customer.Name, COUNT(*) FROM customer JOIN sale ON customer.customer_id = "
        "sale.customer_id GROUP BY 1"
    )
    assert mend_statement(wrong, SHOP) == right
    used = wrong.replace("COUNT(*)", "product.title")
    assert "product" in mend_statement(used, SHOP)  # something is asked of it


def test_an_outer_join_and_a_join_that_filters_stay() -> None:
    outer = (
        "SELECT T1.City FROM customer AS T1 LEFT JOIN sale AS T2 ON T1.customer_id = T2.customer_id"
    )
    counts = (
        "SELECT T1.City, COUNT(*) FROM customer AS T1 JOIN sale AS T2 ON T1.customer_id = "
        "T2.customer_id GROUP BY T1.City"
    )
    asked = replace(of("customer"), words=("customer", "bought"), leaning=(("bought", "product"),))
    assert mend_statement(counts, SHOP, asked) == counts  # what is not known may be what is counted
    assert "JOIN" not in mend_statement(counts, SHOP, of("customer"))
    filters = (
        "SELECT T1.City FROM customer AS T1 JOIN sale AS T2 ON T1.customer_id = T2.customer_id "
        "WHERE T2.amount > 3"
    )
    assert mend_statement(outer, SHOP, of("customer")) == outer
    assert mend_statement(filters, SHOP, of("customer")) == filters


def test_a_correlated_subquery_keeps_its_outer_names() -> None:
    sql = (
        "SELECT Name FROM customer AS c WHERE EXISTS (SELECT 1 FROM sale AS s WHERE "
        "s.customer_id = c.customer_id)"
    )
    assert mend_statement(sql, SHOP, of("customer")) == sql


def test_very_deep_input_is_left_alone_and_quickly() -> None:
    sql = "SELECT " + "(" * 3_000 + "1" + ")" * 3_000
    assert mend_statement(sql, SHOP) == sql


def test_names_that_need_quotes_get_those_of_their_dialect() -> None:
    names = ("金额（元）", "Unit price", "部门")
    odd = Table("费用", tuple(Column(name, "DOUBLE", "number") for name in names))
    duck, my = Schema("duckdb", (odd,)), Schema("mysql", (odd,))
    assert quote_names("SELECT SUM(金额（元）) FROM 费用 WHERE 部门 = '金额（元）'", duck) == (
        "SELECT SUM(\"金额（元）\") FROM 费用 WHERE 部门 = '金额（元）'"
    )
    assert (
        quote_names("SELECT AVG(`Unit price`) FROM `费用`", duck)
        == 'SELECT AVG("Unit price") FROM "费用"'
    )
    assert quote_names('SELECT AVG("Unit price"), Unit price FROM t WHERE x = "a"', my) == (
        'SELECT AVG(`Unit price`), `Unit price` FROM t WHERE x = "a"'
    )
    assert quote_names('SELECT "金额（元）" FROM 费用', duck) == 'SELECT "金额（元）" FROM 费用'


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            (
                "SELECT c.Name, p.title FROM product AS p JOIN customer AS c ON p.customer_id = "
                "c.customer_id"
            ),
            (
                "SELECT c.Name, p.title FROM product AS p JOIN sale ON p.product_id = "
                "sale.product_id JOIN customer AS c ON sale.customer_id = c.customer_id"
            ),
        ),
        (
            (
                "SELECT c.Name, p.title FROM customer AS c JOIN product AS p ON c.customer_id = "
                "p.customer_id"
            ),
            (
                "SELECT c.Name, p.title FROM customer AS c JOIN sale ON c.customer_id = "
                "sale.customer_id JOIN product AS p ON p.product_id = sale.product_id"
            ),
        ),
    ],
)
def test_the_table_that_links_two_is_put_between_them(wrong: str, right: str) -> None:
    assert mend_statement(wrong, SHOP) == right


def test_a_key_by_the_name_that_the_other_table_has_for_it() -> None:
    keyed = Schema(
        "sqlite",
        (
            Table(
                "channel",
                (Column("id", "INT", "number"), Column("name", "TEXT", "text")),
                primary_key=("id",),
            ),
            Table(
                "cartoon",
                (Column("channel", "INT", "number"), Column("title", "TEXT", "text")),
                foreign_keys=(ForeignKey(("channel",), "channel", ("id",)),),
            ),
        ),
    )
    joined = (
        "SELECT T1.name FROM channel AS T1 JOIN cartoon AS T2 ON T1.channel = T2.channel WHERE "
        "T2.title = 'x'"
    )
    assert mend_statement(joined, keyed) == joined.replace("T1.channel", "T1.id")
    without = (
        "SELECT name FROM channel WHERE NOT channel IN (SELECT channel FROM cartoon WHERE title "
        "= 'x')"
    )
    assert mend_statement(without, keyed) == without.replace("NOT channel", "NOT id")


def test_no_join_of_a_column_with_itself() -> None:
    sql = "SELECT c.Name FROM customer AS c JOIN sale AS s ON c.BirthYear = s.BirthYear"
    assert mend_statement(sql, SHOP) == sql  # it fails, and is written anew


def test_what_has_none_of_something() -> None:
    join = "FROM customer AS c JOIN sale AS s ON c.customer_id = s.customer_id"
    sql = f"SELECT c.Name {join} WHERE s.status <> 'paid' AND c.City = 'Paris' ORDER BY c.Name"
    paid = f"(SELECT c.customer_id {join} WHERE s.status = 'paid')"
    right = (
        "SELECT c.Name FROM customer AS c WHERE c.City = 'Paris' AND NOT c.customer_id IN "
        f"{paid} ORDER BY c.Name"
    )
    assert (
        mend_statement(sql, SHOP, None, "Which customers in Paris have not paid a sale?") == right
    )
    assert mend_statement(sql, SHOP, None, "没有付款的巴黎客户有哪些？") == right
    assert mend_statement(sql, SHOP, None, "Customers of other sales") == sql
    assert (
        mend_statement(sql, SHOP, None, "不同状态的巴黎客户") == sql
    )  # different: nothing is denied
    amounts = sql.replace("SELECT c.Name", "SELECT c.Name, s.amount")  # rows of sales are listed
    assert mend_statement(amounts, SHOP, None, "not paid") == amounts
    forth = (
        "SELECT s.amount FROM sale AS s JOIN customer AS c ON s.customer_id = c.customer_id "
        "WHERE c.City <> 'Paris'"
    )
    assert (
        mend_statement(forth, SHOP, None, "sales not in Paris") == forth
    )  # each sale has one customer

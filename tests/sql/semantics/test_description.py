"""The YAML that people write of a source: read with lines, held against a schema, put into
statements.
"""

from __future__ import annotations

import pytest
from tests.skills.lark import Lark
from tests.skills.made_schema import SHOP

from citewell.sql.engines.engine import ForeignKey
from citewell.sql.grammar.statement_grammar import build_grammar
from citewell.sql.semantics.check_description import check_names, list_trials
from citewell.sql.semantics.complete_statement import complete_statement, list_applied
from citewell.sql.semantics.described_schema import describe_schema
from citewell.sql.semantics.description import parse_description, read_description
from citewell.sql.semantics.draft_description import draft_description, render_description
from citewell.sql.semantics.metrics import Misnamed, add_metrics, find_named, list_measures
from citewell.sql.values_in_question import find_stored_values

WRITTEN = """
tables:
  sale:
    comment: one row an item sold
    synonyms: [order, 订单]
    filter: status <> 'open'
    columns:
      status:
        values: {paid: [settled, 已付]}
joins:
  - sale.product_id = product.product_id
metrics:
  revenue:
    sql: SUM(sale.amount)
    synonyms: 营业额
  paid share:
    sql: COUNT(sale.sale_id) * 1.0 / COUNT(*)
    filter: status = 'paid'
  reach:
    sql: COUNT(DISTINCT customer.City)
    table: sale
terms:
  big: amount over 100
"""
DESCRIPTION = parse_description(WRITTEN)
SCHEMA = describe_schema(SHOP, DESCRIPTION)
COUNTS = "WHERE sale.status <> 'open'"


def test_what_is_written_is_read() -> None:
    sale = SCHEMA.tables[1]
    assert (sale.comment, sale.synonyms) == ("one row an item sold", ("order", "订单"))
    assert sale.columns[4].value_synonyms == (("settled", "paid"), ("已付", "paid"))
    assert sale.foreign_keys == SHOP.tables[1].foreign_keys, "a join that is known is none anew"
    assert DESCRIPTION.metrics["revenue"].synonyms == ["营业额"]
    assert parse_description("tables:\njoins:\nmetrics:\n") == parse_description("")
    written = render_description(DESCRIPTION)
    assert parse_description(written) == DESCRIPTION


def test_a_join_becomes_a_key() -> None:
    said = parse_description("joins: ['customer.City = product.\"made in\"']")
    assert describe_schema(SHOP, said).tables[0].foreign_keys == (
        ForeignKey(("City",), "product", ("made in",)),
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("tables:\n  sale:\n    filtr: x\n", 3, "filtr is no key"),
        ("metrics:\n  m:\n    synonyms: a\n", 2, "sql is missing"),
        ("terms: {a: b}\nterms: {c: d}\n", 2, "stands here twice"),
        ("a: [1", 1, "no valid YAML"),
        ("terms:\n  a: &x b\n  c: *x\n", 2, "no aliases"),
        ("- just\n- words\n", 1, "YAML"),
        ("joins: x\n", 1, "joins"),
        ("!!python/object/apply:os.system [id]", 1, "YAML"),
        ("[[]]: x", 1, "a key is a text"),
        ("x" * 200_001, 1, "characters"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text: str, line: int, message: str) -> None:
    _, _, problems = read_description(text)
    assert problems[0].line == line
    assert message in problems[0].message


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("tables:\n  sales:\n", 2, "no table sales", "did you mean sale?"),
        ("tables:\n  sale:\n    columns:\n      amout:\n", 4, "no column amout", "amount"),
        ("tables:\n  sale:\n    filter: stats = 1\n", 3, "no column stats", "status"),
        ("tables:\n  sale:\n    filter: customer.City = 'x'\n", 3, "no column of sale", ""),
        ("joins:\n- sale.x = customer.City\n", 2, "no column sale.x", ""),
        ("joins:\n- sale.amount\n", 2, "no join", "write"),
        ("metrics:\n  m:\n    sql: SUM(amout)\n", 3, "no column amout", "did you mean amount?"),
        ("metrics:\n  m:\n    sql: SUM(product_id)\n", 3, "no column", "write table.column"),
        ("metrics:\n  m:\n    sql: sale.amount\n", 3, "counts, sums or averages nothing", ""),
        ("metrics:\n  m:\n    sql: COUNT(*)\n", 3, "say with `table`", ""),
        ("metrics:\n  m:\n    sql: (SELECT 1)\n", 3, "no expression of columns", ""),
        ("metrics:\n  m:\n    sql: SUM((\n", 3, "no expression", ""),
        ("metrics:\n  Amount:\n    sql: SUM(sale.amount)\n", 3, "sale has a column Amount", ""),
    ],
)
def test_names_that_do_not_exist(text: str, line: int, message: str, hint: str) -> None:
    description, lines, problems = read_description(text)
    assert problems == []
    problem = check_names(description, lines, SHOP)[0]
    assert problem.line == line
    assert message in problem.message
    assert hint in problem.hint


def test_each_metric_and_filter_is_tried() -> None:
    description, lines, _ = read_description(WRITTEN)
    assert check_names(description, lines, SHOP) == []
    trials = {each.line: each.sql for each in list_trials(description, lines, SHOP)}
    assert trials[6] == "SELECT count(*) FROM sale WHERE status <> 'open'"
    assert trials[14] == f'SELECT SUM(sale.amount) AS "revenue" FROM sale {COUNTS}'


def test_a_draft_fits_its_schema() -> None:
    text = draft_description(SHOP, "shop")
    description, lines, problems = read_description(text)
    assert problems == [] == check_names(description, lines, SHOP)
    assert "status:  # text; paid, open" in text
    assert "customer_id:  # int -> customer.customer_id" in text
    assert describe_schema(SHOP, description) == SHOP, "it says nothing that is not known"


@pytest.mark.parametrize(
    ("sql", "whole"),
    [
        (
            "SELECT sum(revenue) FROM sale",
            f'SELECT SUM(sale.amount) AS "revenue" FROM sale {COUNTS}',
        ),
        (
            (
                "SELECT City, revenue FROM sale s JOIN customer c ON s.customer_id = c.customer_id "
                "ORDER BY revenue DESC LIMIT 1"
            ),
            (
                'SELECT City, SUM(s.amount) AS "revenue" FROM sale AS s JOIN customer AS c ON '
                "s.customer_id = c.customer_id WHERE s.status <> 'open' GROUP BY City ORDER BY "
                "SUM(s.amount) DESC LIMIT 1"
            ),
        ),
        (
            "SELECT revenue * 100 FROM sale WHERE status = 'open'",
            "SELECT SUM(sale.amount) * 100 FROM sale WHERE status = 'open'",
        ),
        (
            (
                "SELECT c.City FROM customer c LEFT JOIN sale ON sale.customer_id = c.customer_id "
                "GROUP BY c.City HAVING revenue > 5"
            ),
            (
                "SELECT c.City FROM customer AS c LEFT JOIN (SELECT * FROM sale WHERE status <> "
                "'open') AS sale ON sale.customer_id = c.customer_id GROUP BY c.City HAVING "
                "SUM(sale.amount) > 5"
            ),
        ),
        (
            'SELECT "paid share" FROM sale',
            (
                "SELECT COUNT(CASE WHEN sale.status = 'paid' THEN sale.sale_id END) * 1.0 / "
                "COUNT(CASE WHEN sale.status = 'paid' THEN 1 END) AS \"paid share\" FROM sale "
                f"{COUNTS}"
            ),
        ),
        (
            "SELECT reach FROM sale",
            (
                'SELECT COUNT(DISTINCT "customer"."City") AS "reach" FROM (SELECT * FROM sale '
                "WHERE status <> 'open') AS sale LEFT JOIN customer AS \"customer\" ON "
                'sale.customer_id = "customer".customer_id'
            ),
        ),
        ("SELECT City FROM customer", "SELECT City FROM customer"),
        ("no statement (", "no statement ("),
    ],
)
def test_a_statement_made_whole(sql: str, whole: str) -> None:
    assert complete_statement(sql, SCHEMA, DESCRIPTION) == whole


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT City FROM sale WHERE revenue > 3",
        "SELECT avg(revenue) FROM sale",
        "SELECT count(*) FROM sale GROUP BY revenue",
    ],
)
def test_a_metric_where_none_can_stand(sql: str) -> None:
    with pytest.raises(Misnamed, match="revenue is a metric"):
        complete_statement(sql, SCHEMA, DESCRIPTION)


def test_no_join_leads_there() -> None:
    lone = parse_description("metrics: {m: {sql: 'SUM(sale.amount)', table: pet}}")
    assert list_measures(lone, SHOP) == []


def test_what_was_applied_is_read_from_the_statement() -> None:
    def applied(sql: str) -> list[tuple[str, str]]:
        return [(each.kind, each.name) for each in list_applied(sql, SCHEMA, DESCRIPTION)]

    both = [("metric", "revenue"), ("filter", "sale")]
    for sql in (
        "SELECT revenue FROM sale",
        "SELECT revenue FROM customer LEFT JOIN sale ON sale.customer_id = customer.customer_id",
    ):
        assert applied(complete_statement(sql, SCHEMA, DESCRIPTION)) == both
    assert applied("SELECT sum(x.AMOUNT) FROM sale x WHERE STATUS <> 'open'") == both
    assert applied("SELECT sum(amount) FROM sale WHERE status = 'paid'") == both[:1]
    assert applied("SELECT avg(amount) FROM sale") == []


def test_a_metric_that_is_named() -> None:
    measures = list_measures(DESCRIPTION, SCHEMA)

    def named(question: str) -> list[str]:
        return [each.name for each in find_named(question, measures)]

    assert named("What are the revenues by city?") == ["revenue"]
    assert named("各城市的营业额") == ["revenue"]
    assert named("What share is paid?") == []
    assert named("What is the paid share of sales?") == ["paid share"]


def test_figures_of_a_named_metric_are_left_to_it() -> None:
    measures = list_measures(DESCRIPTION, SCHEMA)

    def shown(question: str) -> list[str]:
        return [each.name for each in add_metrics(SCHEMA, measures, question).tables[1].columns]

    assert shown("revenue by city") == [
        "sale_id",
        "customer_id",
        "product_id",
        "status",
        "revenue",
        "paid share",
        "reach",
    ]
    assert "amount" in shown("sales by city")
    assert "amount" in shown("revenue of sales whose amount is over 5")


def test_what_people_call_a_stored_value() -> None:
    [found] = find_stored_values("How many orders are settled?", SCHEMA)
    assert (found.table, found.column, found.value) == ("sale", "status", "paid")


def test_a_small_model_can_name_a_metric_and_not_its_figures() -> None:
    """Under the grammar of a question that names one."""
    question = "What is the revenue of each city?"
    shown = add_metrics(SCHEMA, list_measures(DESCRIPTION, SCHEMA), question)
    grammar = Lark(build_grammar(shown, question))
    join = "FROM customer JOIN sale ON customer.customer_id = sale.customer_id"
    assert grammar.accepts(f"SELECT customer.City, sum(sale.revenue) {join} GROUP BY customer.City")
    assert not grammar.accepts(
        f"SELECT customer.City, sum(sale.amount) {join} GROUP BY customer.City"
    )

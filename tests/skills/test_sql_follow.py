"""A confirmed statement put to questions like its own."""

from __future__ import annotations

import pytest
from tests.skills.made_schema import SHOP

from citewell.sql.follow_confirmed import adapt_statement, extract_pattern, find_confirmed
from citewell.store.confirmed.types import Confirmed, Known, Rule

PARIS = "How many customers live in Paris?"
SQL = "SELECT count(*) FROM customer WHERE City = 'Paris'"


def item(
    question: str = PARIS, sql: str = SQL, item_id: str = "qa_confirmed_1", **more: object
) -> Confirmed:
    values = {"trace_id": "tr_1", "agent": "data", "lang": "en", "state": "active"} | more
    return Confirmed(item_id=item_id, question=question, logic=sql, **values)


def test_the_same_question_gets_the_statement_as_it_stands() -> None:
    """As who found it says, unless a stored value is another."""
    known = Known(item(), 0.99, same=True)
    assert find_confirmed("What is the number of customers in Paris?", SHOP, [known]) == (
        SQL,
        known,
        "reused",
    )
    assert find_confirmed("What is the number of customers in Lyon?", SHOP, [known]) is None


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        (
            "How many customers live in Beijing?",
            "SELECT count(*) FROM customer WHERE City = 'Beijing'",
        ),
        ("How many customers live in 上海?", "SELECT count(*) FROM customer WHERE City = '上海'"),
    ],
)
def test_another_stored_value_takes_the_place_of_the_first(question: str, sql: str) -> None:
    found = find_confirmed(question, SHOP, [Known(item(), 0.9)])
    assert found is not None
    assert (found[0], found[2]) == (sql, "adapted")


def test_figures_are_parameters_too_and_swap_at_once() -> None:
    before, sql = (
        "Which sales are between 10 and 20?",
        "SELECT sale_id FROM sale WHERE amount BETWEEN 10 AND 20",
    )
    assert adapt_statement("Which sales are between 20 and 10?", before, sql, SHOP) == sql.replace(
        "10 AND 20", "20 AND 10"
    )
    assert adapt_statement(
        "Which sales are between 1.5 and 300?", before, sql, SHOP
    ) == sql.replace("10 AND 20", "1.5 AND 300")


@pytest.mark.parametrize(
    "question",
    [
        "How many customers live in Rome?",  # not stored: no parameter
        "How many customers live outside Paris?",
        "How many products are made in Lyon?",
        "Which customers live in Beijing?",
        "How many customers live in Drover 2?",  # a value of another column
        "",
    ],
)
def test_anything_else_is_not_followed(question: str) -> None:
    assert find_confirmed(question, SHOP, [Known(item(), 0.93)]) is None


def test_a_parameter_that_is_no_literal_of_the_statement_is_not_adapted() -> None:
    assert (
        adapt_statement(
            "Top 5 customers?",
            "Top 3 customers?",
            "SELECT Name FROM customer ORDER BY amount3 LIMIT ?",
            SHOP,
        )
        is None
    )


def test_quotes_in_values_cannot_leave_their_literal() -> None:
    before, sql = "sales above 5", "SELECT 'it''s' FROM sale WHERE amount > 5"
    assert (
        adapt_statement("sales above 7", before, sql, SHOP)
        == "SELECT 'it''s' FROM sale WHERE amount > 7"
    )


def test_items_that_disagree_and_items_in_conflict_and_rules_in_words_are_not_followed() -> None:
    other = item(sql="SELECT 1", item_id="qa_confirmed_2")
    assert (
        find_confirmed(PARIS, SHOP, [Known(item(), 1.0, same=True), Known(other, 1.0, same=True)])
        is None
    )
    assert (
        find_confirmed(PARIS, SHOP, [Known(item(conflicts=["qa_confirmed_2"]), 1.0, same=True)])
        is None
    )
    rule = Rule(
        rule_id="r",
        trace_id="t",
        user_id="u",
        agent="data",
        question=PARIS,
        lang="en",
        correction="c",
        logic="",
        state="active",
    )
    assert find_confirmed(PARIS, SHOP, [Known(rule, 1.0, same=True)]) is None


def test_the_pattern_of_a_chinese_question() -> None:
    one, other = (
        extract_pattern("上海有多少客户的消费超过100元？", SHOP),
        extract_pattern("Beijing有多少客户的消费超过50元？", SHOP),
    )
    assert one.rest == other.rest
    assert [value for _, value in one.parameters] == ["上海", "100"]

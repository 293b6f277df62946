"""Which conditions of the statement before hold on in a follow-up's."""

from __future__ import annotations

import pytest

from citewell.sql.engines.engine import Column, Schema, Table
from citewell.sql.plan_types import Previous
from citewell.sql.rewrite.keep_conditions import keep_conditions

ORDERS = Table(
    "orders",
    (
        Column("City", "TEXT", "text", values=("Lyon", "Oslo", "Paris")),
        Column("Status", "TEXT", "text"),
        Column("day", "DATE", "date"),
        Column("shop_id", "INT", "number"),
    ),
)
SHOPS = Table("shops", (Column("shop_id", "INT", "number"), Column("Region", "TEXT", "text")))
SCHEMA = Schema("duckdb", (ORDERS, SHOPS))
LYON = "FROM orders WHERE Status = 'returned' AND City = 'Lyon'"
BEFORE = f"SELECT count(*) {LYON}"
JOINED = "SELECT COUNT(*) FROM orders JOIN shops ON orders.shop_id = shops.shop_id WHERE"
BOTH = "AND orders.Status = 'returned' AND orders.City = 'Lyon'"


@pytest.mark.parametrize(
    ("follow_up", "sql", "whole"),
    [
        (
            "by month?",
            "SELECT month(day), count(*) FROM orders GROUP BY month(day)",
            f"SELECT MONTH(day), COUNT(*) {LYON} GROUP BY MONTH(day)",
        ),
        (
            "by city?",
            "SELECT City, count(*) FROM orders GROUP BY City",
            "SELECT City, COUNT(*) FROM orders WHERE Status = 'returned' GROUP BY City",
        ),
        (
            "only in Europe",
            f"{JOINED} shops.Region = 'EU' OR shops.Region = 'EEA'",
            f"{JOINED} (shops.Region = 'EU' OR shops.Region = 'EEA') {BOTH}",
        ),
    ],
)
def test_what_the_follow_up_does_not_change_holds_on(follow_up: str, sql: str, whole: str) -> None:
    assert keep_conditions(sql, Previous("", BEFORE, follow_up), SCHEMA) == whole


@pytest.mark.parametrize(
    ("follow_up", "sql"),
    [
        ("and delivered in Paris?", BEFORE.replace("returned", "x").replace("Lyon", "Paris")),
        ("in all cities, whatever the status?", "SELECT count(*) FROM orders"),
        ("how many shops?", "SELECT count(*) FROM shops"),
        ("", "SELECT City FROM orders INTERSECT SELECT City FROM orders"),
        ("", "SELECT FROM"),
    ],
)
def test_a_statement_that_says_it_itself_is_left_alone(follow_up: str, sql: str) -> None:
    assert keep_conditions(sql, Previous("", BEFORE, follow_up), SCHEMA) == sql


MONTHS = "SELECT MONTH(day), COUNT(*) FROM orders WHERE {} GROUP BY MONTH(day)"
ASKED = "How many orders were returned in Oslo? And in Lyon?"


@pytest.mark.parametrize(
    ("follow_up", "conditions"),
    [
        ("by month?", "Status = 'returned' AND City = 'Lyon'"),
        ("by month, all cities?", "Status = 'returned'"),
        ("Oslo by month?", "City = 'Oslo' AND Status = 'returned'"),
    ],
)
def test_a_value_said_before_the_last_statement_does_not_come_back(
    follow_up: str, conditions: str
) -> None:
    found = keep_conditions(
        MONTHS.format("City = 'Oslo'"), Previous(ASKED, BEFORE, follow_up), SCHEMA
    )
    assert found == MONTHS.format(conditions)

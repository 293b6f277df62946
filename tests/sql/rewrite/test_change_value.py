"""Follow-ups that only name other stored values."""

from __future__ import annotations

import pytest

from citewell.sql.engines.engine import Column, Schema, Table
from citewell.sql.rewrite.change_value import change_value

ORDERS = Table(
    "orders",
    (
        Column("City", "TEXT", "text", values=("Lyon", "Hamburg", "成都")),
        Column("Status", "TEXT", "text", values=("returned", "paid")),
        Column("Function", "TEXT", "text", values=("IT", "HR")),
        Column("amount", "INT", "number"),
    ),
)
SHOPS = Table("shops", (Column("Town", "TEXT", "text", values=("Lyon", "Paris")),))
SCHEMA = Schema("duckdb", (ORDERS, SHOPS))
LYON = "SELECT COUNT(*) FROM orders WHERE City = 'Lyon' AND Status = 'paid'"
ALL = "SELECT City, SUM(amount) FROM orders WHERE \"Function\" = 'IT' GROUP BY City"


@pytest.mark.parametrize(
    ("sql", "follow_up", "changed"),
    [
        (LYON, "And in Hamburg?", LYON.replace("Lyon", "Hamburg")),
        (LYON, "成都呢？", LYON.replace("Lyon", "成都")),
        (LYON, "what about returned?", LYON.replace("paid", "returned")),
        (LYON, "only Lyon and Hamburg", LYON.replace("= 'Lyon'", "IN ('Hamburg', 'Lyon')")),
        (ALL, "HR?", ALL.replace("IT", "HR")),
        (ALL, "只看成都", ALL.replace(" GROUP", " AND \"City\" = '成都' GROUP")),
    ],
)
def test_the_last_statement_is_put_about_other_values(
    sql: str, follow_up: str, changed: str
) -> None:
    assert change_value(sql, follow_up, SCHEMA) == changed


@pytest.mark.parametrize(
    ("sql", "follow_up"),
    [
        (LYON, "And the cheapest in Hamburg?"),
        (LYON, "not in Hamburg"),
        (LYON, "除了成都"),
        (LYON, "And in 2023?"),
        (LYON, "And in Paris?"),
        ("SELECT AVG(CASE WHEN Status = 'paid' THEN 1 ELSE 0 END) FROM orders", "And returned?"),
        ("SELECT City FROM orders WHERE amount = (SELECT MAX(amount) FROM orders)", "only HR"),
        ("SELECT orders.City FROM orders, shops", "only Lyon"),
    ],
)
def test_what_says_more_or_is_not_plain_is_left_to_the_model(sql: str, follow_up: str) -> None:
    assert change_value(sql, follow_up, SCHEMA) == ""

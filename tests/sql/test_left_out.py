"""Which statements leave out groups that have none, and how these are counted."""

from __future__ import annotations

import sqlite3

import pytest

from citewell.sql.engines.engine import Column, ForeignKey, Schema, Table
from citewell.sql.left_out import find_left_out

MADE = """
CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE sale (shop_id INTEGER, day TEXT, price REAL);
INSERT INTO shop VALUES (1, 'A', 'Lyon'), (2, 'B', 'Lyon'), (3, 'C', 'Oslo'), (4, 'D', 'Oslo');
INSERT INTO sale VALUES (1, '2024-01-05', 2.5), (1, '2024-02-05', 3), (3, '2025-01-05', 3);
"""
SCHEMA = Schema(
    "sqlite",
    (
        Table(
            "shop",
            (
                Column("id", "INTEGER", "number"),
                Column("name", "TEXT", "text"),
                Column("city", "TEXT", "text"),
            ),
            primary_key=("id",),
        ),
        Table(
            "sale",
            (
                Column("shop_id", "INTEGER", "number"),
                Column("day", "TEXT", "date"),
                Column("price", "REAL", "number"),
            ),
            foreign_keys=(ForeignKey(("shop_id",), "shop", ("id",)),),
        ),
    ),
)
JOINED = "FROM shop AS s JOIN sale AS t ON t.shop_id = s.id"


@pytest.mark.parametrize(
    ("sql", "number"),
    [
        (f"SELECT s.name, count(*) {JOINED} GROUP BY s.id", 2),
        (f"SELECT s.name, count(*) {JOINED} GROUP BY s.id, s.name", 2),
        (f"SELECT name, count(t.day) {JOINED} GROUP BY name", 2),
        (f"SELECT t.shop_id, count(*) {JOINED} GROUP BY t.shop_id", 2),
        (f"SELECT s.city, count(*) {JOINED} GROUP BY s.city", 0),
        (f"SELECT s.name, count(*) {JOINED} WHERE t.day < '2025' GROUP BY s.id", 3),
        (f"SELECT s.name, count(*) {JOINED} WHERE s.city = 'Oslo' GROUP BY s.id", 1),
        (f"SELECT s.name {JOINED} GROUP BY s.id ORDER BY count(*) LIMIT 1", 2),
        (f"SELECT s.name {JOINED} GROUP BY s.id HAVING count(*) < 2", 2),
    ],
)
def test_those_that_have_none_are_counted(sql: str, number: int) -> None:
    found = find_left_out(sql, SCHEMA)
    assert found is not None
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(MADE)
        assert connection.execute(found[1]).fetchall() == [(number,)]
    connection.close()
    assert found[0] == "shop"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT s.name, count(*) {JOINED.replace('JOIN', 'LEFT JOIN')} GROUP BY s.id",
        f"SELECT s.name {JOINED} GROUP BY s.id ORDER BY count(*) DESC LIMIT 1",
        f"SELECT s.name {JOINED} GROUP BY s.id HAVING count(*) > 1",
        f"SELECT s.name, sum(t.price) {JOINED} GROUP BY s.id",
        f"SELECT s.city, t.day, count(*) {JOINED} GROUP BY s.city, t.day",
        f"SELECT s.city, s.name, count(*) {JOINED} GROUP BY s.city, s.name",
        f"SELECT upper(s.city), count(*) {JOINED} GROUP BY upper(s.city)",
        f"SELECT count(*) {JOINED}",
        "SELECT city, count(*) FROM shop GROUP BY city",
        "SELECT FROM",
    ],
)
def test_other_statements_leave_none_out(sql: str) -> None:
    assert find_left_out(sql, SCHEMA) is None

"""Texts that a statement makes longer and longer: refused before an engine sees them, since
PostgreSQL has no limit of memory.

They are not among the attacks of `attacks.toml`, which run on the engines with no guard before
them.
"""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from citewell.errors import StatementRefused
from citewell.sql.engines.engine import Dialect
from citewell.sql.guard.check import check_statement
from guard_sets import DIALECTS

DOUBLING = {
    "itself": "SELECT n + 1, concat(s, s) FROM r WHERE n < 30",
    "by name": "SELECT r.n + 1, concat(r.s, '-', r.s) FROM r WHERE r.n < 30",
    "another name": "SELECT q.n + 1, concat(q.s, q.s) FROM r AS q WHERE q.n < 30",
    "replaced": "SELECT n + 1, replace(s, 'x', 'xx') FROM r WHERE n < 30",
    "by itself": "SELECT n + 1, replace(s, 'x', s) FROM r WHERE n < 30",
    "repeated": "SELECT n + 1, repeat(s, 2) FROM r WHERE n < 30",
    "in a choice": "SELECT n + 1, CASE WHEN n > 2 THEN concat(s, s) ELSE s END FROM r WHERE n < 30",
    "in a subquery": "SELECT n + 1, (SELECT concat(s, s)) FROM r WHERE n < 30",
    "made before": "SELECT n + 1, s FROM (SELECT n, concat(s, s) AS s FROM r) AS q WHERE n < 30",
    "following rows": "SELECT orders.id, concat(s, s) FROM r JOIN orders ON orders.customer_id "
    "= r.n",
}
TEN = " || ".join(["s"] * 10)


def recursion(step: str, first: str = "SELECT 1, 'x'", columns: str = "n, s") -> str:
    return f"WITH RECURSIVE r({columns}) AS ({first} UNION ALL {step}) SELECT max(length(s)) FROM r"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("step", DOUBLING)
def test_doubling_in_each_round(step: str, dialect: Dialect) -> None:
    with pytest.raises(StatementRefused) as caught:
        check_statement(recursion(DOUBLING[step]), dialect)
    assert caught.value.hint


@pytest.mark.parametrize(
    "sql",
    [
        recursion(
            "SELECT n + 1, concat(s, t), s FROM r WHERE n < 60", "SELECT 1, 'x', 'y'", "n, s, t"
        ),  # Fibonacci's way
        recursion(
            "SELECT n + 1, t, concat(s, s) FROM r WHERE n < 60", "SELECT 1, 'x', 'y'", "n, s, t"
        ),
        recursion("SELECT n + 1, s || s FROM r WHERE n < 30"),
        recursion("SELECT n + 1, quote_literal(s) FROM r WHERE n < 60"),
        recursion("SELECT n + 1, array_to_string(ARRAY[s, s], '') FROM r WHERE n < 60"),
        recursion("SELECT n + 1, format('%s%s', s, s) FROM r WHERE n < 60"),
        recursion("SELECT n + 1, q.t FROM r, LATERAL (SELECT s || s AS t) AS q WHERE n < 60"),
        recursion("SELECT n + 1, s || 'x' FROM r WHERE n < 1000000"),
        recursion("SELECT n - 1, s || 'x' FROM r WHERE n > 1", "SELECT 1000000, 'x'"),
        "WITH a AS (SELECT 'xxxxxxxxxx' AS s), "
        + ", ".join(f"{b} AS (SELECT {TEN} AS s FROM {a})" for a, b in pairwise("abcdefgh"))
        + " SELECT length(s) FROM h",
        "SELECT length(s) FROM "
        + "(SELECT s || s AS s FROM " * 30
        + "(SELECT 'x' AS s) AS t"
        + ") AS t" * 30,
    ],
    ids=[
        "pair",
        "ring",
        "bars",
        "quotes",
        "array",
        "format",
        "lateral",
        "long",
        "down",
        "derived",
        "nested",
    ],
)
def test_other_ways_on_postgres(sql: str) -> None:
    with pytest.raises(StatementRefused) as caught:
        check_statement(sql, "postgres")
    assert caught.value.hint


@pytest.mark.parametrize(
    "sql",
    [
        recursion("SELECT n + 1, concat(s, 'x') FROM r WHERE n < 1000"),
        recursion(
            "SELECT p.id, concat(r.s, ' > ', p.name) FROM people AS p JOIN r ON p.boss = r.n",
            "SELECT id, name FROM people",
        ),
        recursion("SELECT b, a + b, s FROM r WHERE a < 1000", "SELECT 0, 1, 'x'", "a, b, s"),
        recursion(
            "SELECT n + 1, t, s FROM r WHERE n < 100000", "SELECT 1, 'x', 'y'", "n, s, t"
        ),  # they change places
        recursion(
            "SELECT n + 1, upper(s) FROM r WHERE n < 1000000", "SELECT 1, 'a text of some length'"
        ),
        recursion(
            "SELECT n + 1, concat(name, ' ', name) FROM r JOIN people ON people.id = n WHERE n < "
            "10000"
        ),
        (
            "WITH a AS (SELECT name FROM people), b AS (SELECT concat(name, name, name) AS s "
            "FROM a) SELECT concat(s, s, s) FROM b"
        ),
        "SELECT "
        + " + ".join(["n"] * 40)
        + " FROM (SELECT "
        + " + ".join(["id"] * 40)
        + " AS n FROM people) AS t",
    ],
    ids=["adds", "path", "numbers", "swap", "same", "rows", "derived", "sums"],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_passes(sql: str, dialect: Dialect) -> None:
    assert check_statement(sql, dialect)


def test_long_chains_pass() -> None:
    """Of texts, of conditions, of sums: hundreds stand in one row."""
    texts, sums = " || ".join(["name"] * 400), " + ".join(["id", "- id"] * 200).replace("+ -", "-")
    check_statement(
        f"SELECT {texts}, {sums} FROM people WHERE {' OR '.join(f'id = {n}' for n in range(300))}",
        "postgres",
    )


def test_it_takes_no_time() -> None:
    """Many derived tables, many columns."""
    columns = ", ".join(f"id AS c{n}" for n in range(100))
    names = [f"t{n}" for n in range(60)]
    sql = f"WITH t0 AS (SELECT {columns} FROM orders), "
    sql += ", ".join(f"{b} AS (SELECT * FROM {a})" for a, b in pairwise(names))
    at = time.process_time()
    check_statement(f"{sql} SELECT * FROM t59", "postgres")
    assert time.process_time() - at < 3

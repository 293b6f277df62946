"""Tables beside those of the source: refused where they are named with their schema or database."""

from __future__ import annotations

import pytest

from citewell.errors import StatementRefused
from citewell.sql.engines.engine import Dialect
from citewell.sql.guard.check import check_statement
from citewell.sql.guard.scope import check_scope

TABLES = {"orders", "people", "sales.Plans", "order items"}


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", "SELECT o.id FROM orders o JOIN people p ON o.id = p.id"),
        ("postgres", "SELECT * FROM public.orders"),
        ("postgres", 'SELECT * FROM sales."Plans" WHERE id = 1.5'),
        ("postgres", "WITH secret AS (SELECT id FROM sales.plans) SELECT secret.id FROM secret"),
        ("postgres", "SELECT n.n FROM generate_series(1, 3) AS n(n)"),
        ("postgres", "EXPLAIN SELECT o.id FROM public.orders o"),
        ("mysql", "SELECT o.id FROM `order items` o WHERE o.a = 'other.t'"),
        ("mysql", "DESCRIBE orders"),
        ("sqlite", "SELECT main.orders.id FROM main.orders"),
        ("duckdb", "SELECT o.id FROM main.orders o, unnest([1.5]) u(x)"),
        ("duckdb", "SELECT t.id FROM t"),  # whether it is there, the engine knows
    ],
)
def test_tables_of_the_source(dialect: Dialect, sql: str) -> None:
    check_scope(check_statement(sql, dialect), dialect, TABLES)


@pytest.mark.parametrize(
    ("dialect", "sql", "named"),
    [
        ("mysql", "SELECT * FROM other.orders", "other.orders"),
        (
            "mysql",
            "SELECT * FROM orders WHERE id IN (SELECT t.id FROM `other`.`t` AS t)",
            "other.t",
        ),
        (
            "mysql",
            "WITH orders AS (SELECT * FROM other.orders) SELECT * FROM orders",
            "other.orders",
        ),
        ("mysql", "SELECT 1 UNION SELECT pay FROM hr.pay", "hr.pay"),
        ("mysql", "EXPLAIN SELECT * FROM other.orders", "other.orders"),
        ("postgres", "SELECT * FROM private.people", "private.people"),
        ("postgres", "SELECT * FROM information_schema.tables", "information_schema.tables"),
        ("postgres", "SELECT (SELECT max(x.a) FROM hr.x) FROM orders", "hr.x"),
        ("postgres", "SELECT * FROM otherdb.sales.plans", "otherdb.sales.plans"),
        ("duckdb", "SELECT * FROM information_schema.columns", "information_schema.columns"),
        ("duckdb", "FROM main.secret", "main.secret"),
        ("sqlite", "SELECT * FROM temp.orders", "temp.orders"),
    ],
)
def test_tables_of_others(dialect: Dialect, sql: str, named: str) -> None:
    """Each passes the guard, which does not know the source."""
    with pytest.raises(StatementRefused, match=f"^{named} is no table of this source") as refused:
        check_scope(check_statement(sql, dialect), dialect, TABLES)
    assert "order items, orders, people" in refused.value.hint

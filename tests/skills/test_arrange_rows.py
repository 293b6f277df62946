"""Rows as people read them: months, days, money, headings, the order of time."""

from __future__ import annotations

import pytest

from citewell.sql.arrange_rows import arrange_rows
from citewell.sql.engines.engine import Column, Kind, Rows, Schema, Table

SCHEMA = Schema(
    "duckdb",
    (
        Table(
            "orders",
            (Column("Date", "DATE", "date"), Column("Price", "INT", "number", comment="in €")),
        ),
    ),
)
TRUNCATED = "date_trunc('month', \"Date\")"
MONTHS = ("2025-05-01 00:00:00", "2025-03-01 00:00:00", "2025-04-01 00:00:00")


def rows(first: str, *values: str) -> Rows:
    kinds: tuple[Kind, Kind] = ("date", "number")
    return Rows((first, 'sum("Price")'), kinds, tuple((each, 5) for each in values))


def test_months_and_money_as_such_in_the_order_of_time() -> None:
    found = arrange_rows(rows(TRUNCATED, *MONTHS), "SELECT ...", SCHEMA, "en")
    assert found.columns == ("month", "total price (€)")
    assert [row[0] for row in found.rows] == ["2025-03", "2025-04", "2025-05"]
    assert arrange_rows(rows(TRUNCATED, *MONTHS), "", SCHEMA, "zh").columns[0] == "月份"


def test_the_order_that_a_statement_asks_for_stays() -> None:
    found = arrange_rows(rows(TRUNCATED, *MONTHS), "SELECT ... ORDER BY 2 DESC", SCHEMA, "en")
    assert [row[0] for row in found.rows] == ["2025-05", "2025-03", "2025-04"]


def test_a_day_stays_a_day_and_a_clock_that_tells_something_stays() -> None:
    days = arrange_rows(rows("Date", "2025-05-01 00:00:00"), "", SCHEMA, "en")
    assert days.rows[0][0] == "2025-05-01"
    times = ("2025-05-01 00:00:00", "2025-05-02 08:30:00")
    kept = arrange_rows(rows("Date", *times), "", SCHEMA, "en")
    assert [row[0] for row in kept.rows] == list(times)


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("strftime(\"Date\", '%Y-%m')", "month"),
        ('"year"("Date")', "year"),
        ("to_char(day, 'YYYY-MM')", "month"),
        ("count_star()", "count"),
        ('((sum("Price") * 100.0) / (SELECT sum("Price") FROM orders))', "share (%)"),
        ('sum((Quantity * "Price"))', "total quantity × price (€)"),
        ("Region", "Region"),
    ],
)
def test_what_has_no_name_is_called_by_what_it_is(name: str, heading: str) -> None:
    found = arrange_rows(Rows((name,), ("number",), ((1,), (2,))), "", SCHEMA, "en")
    assert found.columns == (heading,)


def test_no_rows() -> None:
    assert arrange_rows(Rows(("Price",), ("number",), ()), "", SCHEMA, "en").rows == ()


def test_the_currency_of_a_table_is_that_of_its_fractions() -> None:
    columns = (Column("Year", "BIGINT", "number"), Column("Cost", "DECIMAL(18,2)", "number"))
    table = Table("costs", columns, comment="Operating costs, first half of 2025, in EUR")
    found = arrange_rows(
        Rows(("Year", "sum(Cost)"), ("number", "number"), ((2025, 1.5),)),
        "",
        Schema("duckdb", (table,)),
        "en",
    )
    assert found.columns == ("Year", "total cost (EUR)")

"""Which chart is drawn of which rows, and when none is."""

from __future__ import annotations

from typing import Any

import pytest

from citewell.skills.answer.chart import choose_chart
from citewell.sql.engines.engine import Rows


def rows(columns: list[str], values: list[list[Any]], *, truncated: bool = False) -> Rows:
    kinds: list[Any] = []
    for at in range(len(columns)):
        there = [row[at] for row in values if row[at] is not None]
        kinds.append(
            "number" if there and all(isinstance(v, int | float) for v in there) else "text"
        )
    return Rows(tuple(columns), tuple(kinds), tuple(map(tuple, values)), truncated)


def kind(given: Rows, question: str = "How much is it?") -> str:
    chart = choose_chart(given, question, "en")
    return chart.kind if chart else ""


CITIES = [["Berlin", 3], ["Hamburg", 2], ["Kiel", 1]]
SHARES = [["Berlin", 50.0], ["Hamburg", 30.0], ["Kiel", 20.0]]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (rows(["city", "n"], CITIES), "bar"),
        (rows(["n", "city"], [[n, city] for city, n in CITIES]), "bar"),
        (rows(["city", "n"], [[f"c{i}", i] for i in range(31)]), ""),
        (rows(["city", "n"], [[f"c{i}", i] for i in range(30)]), "bar"),
        (rows(["city", "n"], CITIES[:1]), ""),
        (rows(["city", "n"], [["Berlin", 1], ["Berlin", 2]]), ""),
        (rows(["city", "n"], [["a", 0], ["b", 0]]), ""),
        (rows(["city", "n"], [["a", None], ["b", 1], ["c", None]]), ""),
        (rows(["year", "cost"], [[2021, 1], [2022, 2], [2023, 3]]), "line"),
        (rows(["year", "cost"], [[2021, 1], [2022, 2]]), "bar"),
        (rows(["month", "cost"], [[f"2023-{m:02d}", m] for m in range(1, 13)]), "line"),
        (rows(["日期", "金额"], [[f"2023年{m}月", m] for m in range(1, 4)]), "line"),
        (rows(["weekday", "n"], [["Mon", 1], ["Tue", 2], ["Wed", 3]]), "bar"),
        (rows(["day", "n"], [[f"2023-01-01 {i}", 1] for i in range(501)]), ""),
        (rows(["city", "share_pct"], SHARES), "pie"),
        (rows(["city", "share_pct"], [*SHARES, ["Ulm", 50.0]]), "bar"),
        (rows(["city", "share_pct"], SHARES, truncated=True), "bar"),
        (rows(["city", "growth_pct"], [["a", 150.0], ["b", -50.0]]), "bar"),
        (rows(["name", "customer_id"], [["a", 1], ["b", 2]]), ""),
        (rows(["name", "birth_year"], [["a", 1990], ["b", 1991]]), ""),
        (rows(["customer_id", "spent"], [[1, 10.5], [2, 20.5]]), "bar"),
        (rows(["name", "city"], [["a", "x"], ["b", "y"]]), ""),
        (rows(["height", "weight"], [[i, i * 2.5] for i in range(1, 20)]), "scatter"),
        (rows(["height", "weight"], [[1, 2.5], [2, 3.5]]), ""),
        (rows(list("abcdefg"), [["x", *range(6)], ["y", *range(6)]]), ""),
        (rows(["name"], [["a"], ["b"]]), ""),
        (rows(["a", "n"], []), ""),
    ],
)
def test_the_kind_by_what_the_columns_are(given: Rows, wanted: str) -> None:
    assert kind(given) == wanted


def test_shares_are_slices_where_the_question_asks_for_them() -> None:
    given = rows(["city", "round(100.0 * count(*) / 4)"], SHARES)
    assert kind(given, "What share has each city?") == "pie"
    assert kind(given, "各城市的占比是多少？") == "pie"
    assert kind(given, "How many?") == "bar"


def test_only_quantities_of_one_size_share_an_axis() -> None:
    chart = choose_chart(
        rows(
            ["city", "orders", "returns", "revenue_eur"],
            [["a", 10, 3, 90_000], ["b", 20, 4, 50_000]],
        ),
        "",
        "en",
    )
    assert chart is not None
    assert chart.y == ["orders", "returns"]
    assert chart.title == "orders, returns by city"
    zh = choose_chart(rows(["部门", "费用（万元）"], [["市场部", 1], ["财务部", 2]]), "", "zh")
    assert zh is not None
    assert zh.title == "各部门的费用（万元）"

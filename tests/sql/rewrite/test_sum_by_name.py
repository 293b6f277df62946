"""The sum beside one row's figure: which statements, which questions, in all four dialects."""

from __future__ import annotations

import pytest

from citewell.sql.engines import ENGINES
from citewell.sql.guard.check import check_statement
from citewell.sql.rewrite.sum_by_name import is_additive, sum_by_name


@pytest.mark.parametrize("dialect", list(ENGINES))
def test_a_sum_passes_the_guard(dialect: str) -> None:
    sql = (
        "SELECT T1.Service, T1.Cost_EUR FROM costs AS T1 WHERE T1.Year = 2023 ORDER BY "
        "T1.Cost_EUR DESC LIMIT 1"
    )
    found = sum_by_name("Which service cost the most in 2023?", sql, dialect)  # type: ignore[arg-type]
    assert found is not None
    assert (found.name, found.figure) == ("Service", "Cost_EUR")
    assert "ORDER BY SUM(T1.Cost_EUR) DESC" in found.sql
    assert "T1.Year = 2023" in found.sql
    assert check_statement(found.sql, dialect) == found.sql  # type: ignore[arg-type]


def test_the_lowest_of_each_is_a_single_row_too() -> None:
    sql = "SELECT Service, min(Cost) FROM costs GROUP BY Service ORDER BY min(Cost) LIMIT 1"
    found = sum_by_name("Which service is the cheapest?", sql, "duckdb")
    assert found is not None
    assert found.sql.endswith("GROUP BY Service ORDER BY SUM(Cost) LIMIT 1")
    other = sql.replace("GROUP BY Service", "GROUP BY Service, Year")
    assert sum_by_name("Which service is the cheapest?", other, "duckdb") is None


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        (
            "Which single service cost the most?",
            "SELECT Service FROM costs ORDER BY Cost_EUR DESC LIMIT 1",
        ),
        ("哪一单笔费用最高", "SELECT 服务 FROM 费用 ORDER BY 金额 DESC LIMIT 1"),
        (
            "What is the major of the oldest, the most aged student?",
            "SELECT Major FROM student ORDER BY Age DESC LIMIT 1",
        ),
        (
            "Which film has the highest rating?",
            "SELECT Title FROM film ORDER BY rating DESC LIMIT 1",
        ),
        (
            "Which three services cost the most?",
            "SELECT Service FROM costs ORDER BY Cost_EUR DESC LIMIT 3",
        ),
        (
            "Which service cost the most?",
            "SELECT Service FROM costs GROUP BY Service ORDER BY sum(Cost_EUR) DESC LIMIT 1",
        ),
        (
            "Which service cost the most?",
            "SELECT Service, Year FROM costs ORDER BY Cost_EUR DESC LIMIT 1",
        ),
        ("Which service cost the most?", "SELECT Service FROM costs"),
        ("Which service cost the most?", "SELECT Service FROM"),
    ],
)
def test_what_is_not_summed_up(question: str, sql: str) -> None:
    assert sum_by_name(question, sql, "duckdb") is None


@pytest.mark.parametrize(
    ("column", "adds"),
    [
        ("Cost_EUR", True),
        ("totalSales", True),
        ("费用（万元）", True),
        ("age", False),
        ("price", False),
        ("评分", False),
    ],
)
def test_what_adds_up(column: str, adds: bool) -> None:
    assert is_additive(column) is adds

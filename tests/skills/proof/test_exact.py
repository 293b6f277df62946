"""What code settles without a model: whole sentences quoted, and arithmetic."""

from __future__ import annotations

import pytest
from tests.skills.evidence_units import units_of

from citewell.skills.proof.exact import check_equation, evaluate, is_quoted, missing_operands


@pytest.mark.parametrize(
    "equation",
    [
        "30 * 34 = 1020",
        "30 × 34 = 1,020",
        "30 * 34 * (1 - 0.08) = 938.4",
        "30 * 34 * (1 - 8%) = 938.40",
        "100 / 3 = 33.3",
        "12 - 20 = -8",
        "54.67 − 54.18 = 0.49",
        "€48 + €31 = €79",
        "1040 + 450 ≈ 1490",
    ],
)
def test_equations_that_hold(equation: str) -> None:
    """In the signs that people and models write, rounded to the digits given."""
    assert check_equation(equation) == ""


@pytest.mark.parametrize(
    ("equation", "says"),
    [
        ("30 * 34 = 1010", "1,020"),
        ("100 / 3 = 33.4", "33.3"),
        ("about forty", "no equation"),
        ("1 = 1 = 1", "no equation"),
        ("1 / 0 = 2", "divides by zero"),
        ("__import__('os') = 1", "cannot be computed"),
        ("9 ** 9 ** 9 = 1", "cannot be computed"),
        ("1 +" + " 1 +" * 400 + " 1 = 2", "too long"),
        ("(" * 250 + " = 1", "cannot be computed"),
    ],
)
def test_equations_that_do_not(equation: str, says: str) -> None:
    """Wrong sums, and what is no arithmetic at all."""
    assert says in check_equation(equation)


def test_only_figures_are_evaluated() -> None:
    """Names, calls and truth values are no arithmetic."""
    for text in ("a + 1", "len('x')", "True + 1", "[1][0]"):
        with pytest.raises(ValueError, match="arithmetic"):
            evaluate(text)


def test_operands_stand_in_evidence_or_question() -> None:
    """Figures in words and percentages count; an invented one does not."""
    units = units_of("The Plus plan costs 34 euros a month.", "Fleets of thirty or more get 8 % off.")
    assert missing_operands("30 * 34 * (1 - 0.08) = 938.4", units, "What do 30 bikes cost?") == []
    assert missing_operands("30 * 34 * 0.92 = 938.4", units, "What do 30 bikes cost?") == []
    assert missing_operands("30 * 35 = 1050", units, "What do 30 bikes cost?") == ["35"]


def test_only_a_whole_sentence_is_a_quotation() -> None:
    """A part of it may say the opposite."""
    units = units_of("It must not be taken on a plane.", "Ferries are fine.")
    assert is_quoted("it must not be  taken on a plane", units) == units[0]
    assert is_quoted("be taken on a plane", units) is None
    assert is_quoted("", units) is None

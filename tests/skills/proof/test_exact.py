"""What code settles without a model: whole sentences quoted, and arithmetic."""

from __future__ import annotations

import pytest
from tests.skills.evidence_units import units_of

from citewell.skills.proof.exact import check_equation, evaluate, find_quoted_unit


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
        "3 * 476 = 1,428 USD",
        "6元 * 400 = 2400元",
        "(75 - 52) / 75 = 30.7%",
        "2 * 3 = 6 = 12 / 2; 1 + 1 = 2",
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
        ("(75 - 52) / 75 = 70%", "0.306"),
        ("2 * 3 = 6 = 7", "6 = 6 ≠ 7"),
        ("550元 - 400元 = 150元; 3 * 2 = 7", "= 6 ≠ 7"),
    ],
)
def test_equations_that_do_not(equation: str, says: str) -> None:
    """Wrong sums are told with the right figure."""
    assert says in check_equation(equation)


@pytest.mark.parametrize(
    "text",
    [
        "about forty",
        "1 / 0 = 2",
        "__import__('os') = 1",
        "9 ** 9 ** 9 = 1",
        "1 +" + " 1 +" * 400 + " 1 = 2",
        "(" * 250 + " = 1",
    ],
)
def test_what_is_no_arithmetic_is_left_to_the_judge(text: str) -> None:
    """Nothing of it is run, and nothing is refuted by it."""
    assert check_equation(text) == ""


def test_only_figures_are_evaluated() -> None:
    """Names, calls and truth values are no arithmetic."""
    for text in ("a + 1", "len('x')", "True + 1", "[1][0]"):
        with pytest.raises(ValueError, match="arithmetic"):
            evaluate(text)


def test_only_a_whole_sentence_is_a_quotation() -> None:
    """A part of it may say the opposite."""
    units = units_of("It must not be taken on a plane.", "Ferries are fine.")
    assert find_quoted_unit("it must not be  taken on a plane", units) == units[0]
    assert find_quoted_unit("be taken on a plane", units) is None
    assert find_quoted_unit("", units) is None


def test_marks_of_a_list_are_no_part_of_a_quotation() -> None:
    units = units_of("- The disk is **encrypted**.", "- Nobody works as administrator.")
    assert find_quoted_unit("The disk is encrypted.", units) == units[0]

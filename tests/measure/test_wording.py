"""Answers against gold answers, worked out by hand."""

from __future__ import annotations

import pytest

from citewell.measure.wording import (
    compute_f1,
    compute_recall,
    contains_answer,
    has_verbatim_answer,
    is_answer_given,
    is_right,
    normalize_words,
    score_exact_match,
    tokenize_text,
)


def test_words_are_compared_as_squad_does() -> None:
    """Case, punctuation and articles aside; Chinese by character."""
    assert normalize_words("The U.S. Army's 30-day  rule!") == ["us", "armys", "30day", "rule"]
    assert normalize_words("《红楼梦》ＡＢ 12章") == ["红", "楼", "梦", "ab", "12", "章"]


def test_exact_and_f1_by_hand() -> None:
    """Said: five words; gold: two, both there. P = 2/5, R = 1, F1 = 2 * 0.4 / 1.4."""
    assert score_exact_match("The Dodge D-50.", "dodge d50") == 1
    assert score_exact_match("Dodge", "Dodge D-50") == 0
    assert compute_f1("it was renamed Dodge D-50", "Dodge D-50") == pytest.approx(4 / 7)
    assert compute_f1("cat", "dog") == 0
    assert (
        compute_f1("", "A") == score_exact_match("", "The") == 0
    )  # a refusal is no answer, though articles do not count
    assert compute_f1("the", "dog") == 0


def test_f1_of_chinese_counts_characters() -> None:
    """十五天 in 签收后十五天内: 3 shared of 7 said and 3 gold: 2 * 3 / 10. A doubled character
    counts once only.
    """
    assert compute_f1("签收后十五天内", "十五天") == pytest.approx(0.6)
    assert compute_f1("天天", "天") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("said", "gold", "there"),
    [
        ("It takes 125 kg.", "125kg", True),
        ("founded in 2023", "2", False),  # a figure is whole or not there
        ("costs 1,800 yuan", "1800", True),
        ("version 2.5", "2", False),
        ("自签收之日起 15 天内", "15天", True),
        ("the warranty period", "warrant", False),
        ("a rate of 6.4%", "6.4 %", True),
        ("minus: -5 degrees", "5 degrees", False),
        ("it was −5 °C", "-5 °C", True),
        ("written in C", "C++", False),
        ("written in C++.", "C++", True),
        ("about 10² times", "102", False),
        ("between 3-5 days", "5 days", True),
        ("anything", "", False),
    ],
)
def test_contains_goes_by_whole_words_and_figures(said: str, gold: str, there: bool) -> None:
    """Letter case, spaces and commas of thousands aside."""
    assert contains_answer(said, gold) is there


def test_tokens_keep_what_means_something() -> None:
    """Signs of money and measure stay, other punctuation goes."""
    assert tokenize_text("€0.27, or 1,234,567 km (−5 °C)") == [
        "€",
        "0.27",
        "or",
        "1234567",
        "km",
        "-5",
        "°",
        "c",
    ]


def test_long_answers_are_right_by_most_of_their_words_and_all_figures() -> None:
    """Four in five words are enough for a long answer, but a wrong year is not."""
    gold = "It was founded in 1857 by the city council"
    assert compute_recall("the council of the city founded it in 1857", gold) == pytest.approx(
        6 / 8
    )
    assert not is_answer_given("the council of the city founded it in 1857", gold)
    assert is_answer_given("by the city council it was founded in 1857", gold)
    assert not is_answer_given("by the city council it was founded in 1858 x", gold)
    assert not is_answer_given("almost Dodge", "Dodge D-50")


def test_parts_are_all_needed_each_in_any_wording() -> None:
    """One part missing is wrong, whatever the answers say."""
    parts = [["131万", "1313851"], ["187万"]]
    assert is_right("共 1,313,851 人，另有187万人", [], parts)
    assert not is_right("共131万人", ["131万"], parts)
    assert has_verbatim_answer("共131万人", ["131万", "none"])
    assert not has_verbatim_answer("", [])

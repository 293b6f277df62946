"""Which questions ask the same, and which answers say the same."""

from __future__ import annotations

import pytest

from citewell.errors import ModelUnavailable
from citewell.models.scripted_reader import ScriptedReader
from citewell.skills.answer.duplicate_question import ASKED, find_same_questions, has_same_facts

PRICE = "How much is the Pro plan?"


def reader(probability: float = 1.0) -> ScriptedReader:
    made = ScriptedReader()
    made.compare_with(lambda *_: probability)
    return made


async def test_the_reader_decides_from_its_threshold_on() -> None:
    """One that has no threshold is not asked, and equal words need none."""
    others = ["how much is the PRO plan", "What does the Pro plan cost?", "专业版多少钱？"]
    assert await find_same_questions(PRICE, others, reader(0.5)) == [True, True, True]
    assert await find_same_questions(PRICE, others, reader(0.49)) == [True, False, False]
    assert await find_same_questions(PRICE, others, None) == [True, False, False]
    closed = reader()
    closed.same_threshold = None
    assert await find_same_questions(PRICE, others, closed) == [True, False, False]
    assert closed.pairs == []
    asked = reader()
    await find_same_questions(PRICE, others, asked)
    assert asked.pairs == [(PRICE, others[1]), (PRICE, others[2])]
    assert await find_same_questions(PRICE, [], asked) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What was sold in 2023?", "What was sold in 2024?"),
        ("我的套餐（专业版）多少钱？", "我的套餐（基础版）多少钱？"),
        ("What does my plan (Pro) cost?", "What does my plan cost?"),
        ("Who signed on 3 May 2024?", "Who signed on 4 May 2024?"),
    ],
)
async def test_other_figures_are_other_questions(one: str, other: str) -> None:
    """Whatever the reader says, who is not asked."""
    asked = reader()
    assert await find_same_questions(one, [other], asked) == [False]
    assert asked.pairs == []


async def test_a_reader_that_fails_and_one_that_would_be_asked_too_much() -> None:
    """In doubt they do not; of many, the first are asked about."""

    def fails(*_: str) -> float:
        raise ModelUnavailable("gone")

    broken = ScriptedReader()
    broken.compare_with(fails)
    assert await find_same_questions(PRICE, [PRICE, "What does it cost?"], broken) == [True, False]
    many = [f"What does plan {letter} cost?" for letter in "abcdefghij"]
    assert await find_same_questions(
        "What does a plan cost?", [*many, "what does a plan cost"], reader()
    ) == ([True] * ASKED + [False] * (len(many) - ASKED) + [True])


def test_evidence_for_another_question() -> None:
    """Figures, denials and names must not differ; across languages names cannot be compared."""
    assert has_same_facts("When was pier 3 built?", "In which year was pier 3 built?")
    assert not has_same_facts("When was pier 3 built?", "When was pier 4 built?")
    assert not has_same_facts("Which goods can be returned?", "Which goods cannot be returned?")
    assert not has_same_facts("Where does Wainfell ship to?", "Where does Drover ship to?")
    assert has_same_facts("Where does Drover ship to?", "德罗弗送货到哪里？")

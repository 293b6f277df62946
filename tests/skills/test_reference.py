"""What a question leans on: pronouns, ellipses, and IT, which is a department."""

from __future__ import annotations

import pytest

from citewell.models.scripted import ScriptedLLM
from citewell.skills.dialogue.reference import find_antecedents, is_follow_up, rewrite_question
from citewell.types import Message


@pytest.mark.parametrize(
    ("question", "leans"),
    [
        ("IT cost 有哪些服务", False),
        ("Which services belong to IT cost in 2023?", False),
        ("How much does IT cost the company?", False),
        ("List the IT services", False),
        ("What did HR and IT spend on licences?", False),
        ("IT 部门的费用是多少", False),
        ("what about IT", True),  # the ellipsis, not the pronoun
        ("Is it in the IT budget of 2023?", True),
        ("What did IT spend on its laptops in 2023?", True),
        ("How much does it cost in Berlin?", True),
        ("It costs how much in Berlin?", True),
        ("HOW MUCH DOES IT COST IN BERLIN?", True),
        ("IT?", True),
        ("它的费用在2023年是多少", True),
    ],
)
def test_it_is_a_department(question: str, leans: bool) -> None:
    assert is_follow_up(question) is leans


@pytest.mark.parametrize(
    ("question", "leans"),
    [
        ("How long is the notice period during probation and after it?", False),
        ("Does the Drover come in blue, and what does it weigh?", False),
        ("年假有几天，它可以结转吗？", False),
        ("What is the weight of its successor?", True),  # no clause before it names anything
        ("Yes, but is it free?", True),
        ("它可以结转吗，要多久？", True),
    ],
)
def test_a_pronoun_that_stands_for_what_the_question_names(question: str, leans: bool) -> None:
    assert is_follow_up(question) is leans


def test_it_as_a_name_is_no_choice_between_two() -> None:
    before = [Message(role="user", content="A100 and B200: which is lighter?")]
    assert find_antecedents("How much does it cost?", before) == ["A100", "B200"]
    assert find_antecedents("How much does IT cost?", before) == []


async def test_a_rewrite_with_it_as_a_name_stands() -> None:
    """IT is no pronoun that the rewrite would have to put a name for."""
    history = [
        Message(role="user", content="Which services does HR have?"),
        Message(role="assistant", content="Training."),
    ]
    llm = ScriptedLLM()
    llm.enqueue("How much do IT laptops cost?")
    assert (
        await rewrite_question("how about IT laptops?", history, llm)
        == "How much do IT laptops cost?"
    )

"""Which questions go on from the one before."""

from __future__ import annotations

import pytest

from citewell.agents.data.data_question import should_use_history
from citewell.types import Message

SAID = [
    Message(role="user", content="What did the services of HR cost?"),
    Message(role="assistant", content="The sum is 5,000."),
]


@pytest.mark.parametrize(
    "question",
    [
        "And the cheapest?",
        "Only the three most expensive",
        "How many are there?",
        "How much did each of them cost?",
        "Which supplier provides it?",
        "Lyon, please",
        "一共有几个？",
        "其中退货的有几笔？",
        "只要信息技术部的",
        "第二贵的呢？",
    ],
)
def test_what_names_nothing_or_leaves_rows_out_goes_on_from_the_last_question(
    question: str,
) -> None:
    assert should_use_history(question, SAID)
    assert not should_use_history(question, [])


@pytest.mark.parametrize(
    "question",
    [
        "Show names of teachers and the courses they teach.",
        "Sort all employees by their age.",
        "List each language and the number of channels using it.",
        "每个老师的名字是什么？他们教什么课程？",
        "Which city has the most orders?",
    ],
)
def test_a_pronoun_for_what_the_question_names_itself_makes_no_follow_up(question: str) -> None:
    assert not should_use_history(question, SAID)

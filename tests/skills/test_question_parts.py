"""Which questions ask several things."""

from __future__ import annotations

import pytest

from citewell.skills.answer.question_parts import split_question


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "How much is the fee, and when is it owed?",
            ["How much is the fee", "when is it owed?"],
        ),
        ("How long is it and who may claim it?", ["How long is it", "who may claim it?"]),
        (
            "What does it cost and may I pay later? In which room?",
            ["What does it cost", "may I pay later", "In which room?"],
        ),
        (
            "费用是多少，怎么支付呢？还有其他费用需要支付吗？",
            ["费用是多少", "怎么支付呢", "其他费用需要支付吗？"],
        ),
        ("谁来打分以及奖品在哪里领？", ["谁来打分", "奖品在哪里领？"]),
        ("一周有几次课？缺课怎么补？", ["一周有几次课", "缺课怎么补？"]),
        ("Is swimming allowed? Who has the key?", ["Is swimming allowed", "Who has the key?"]),
    ],
)
def test_each_part_asks_something(question: str, parts: list[str]) -> None:
    assert split_question(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "How much is the fee?",
        "Rent, and fees?",
        "When the ice fails, who pays?",
        "What are the height and weight?",
        "Where and when is the party?",
        "Who keeps sticks and umbrellas while we fly?",
        "沙暴困住了，走不了的话房钱怎么减？",
        "要出国几个月，放着不骑怎么保养？",
    ],
)
def test_one_thing_asked_is_not_parted(question: str) -> None:
    """A condition, a list of things and a word that asks alone are no parts."""
    assert split_question(question) == []

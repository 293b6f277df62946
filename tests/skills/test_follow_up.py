"""A follow-up in full words: what it names stands in for what was named before, and its answer is
not the last one over again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tests.skills.evidence_units import passage_of

from citewell.models.base import Vector
from citewell.models.reader_base import Reading
from citewell.models.scripted import ScriptedEmbedder
from citewell.models.scripted_reader import ScriptedReader
from citewell.retrieve.confidence import Logistic
from citewell.skills.answer.decision import get_decision_model
from citewell.skills.answer.find_answer import find_answer
from citewell.skills.dialogue.follow_up import FollowUp, word_follow_up
from citewell.skills.dialogue.reference import join_earlier_questions
from citewell.types import Message

PICK = get_decision_model("pick")
DECISION = Logistic(bias=0.0, weights={"answerable": 1.0})
SICK, UNPAID = "病假期间按基本工资的80%发放。", "事假为无薪假。"
LEAVE = passage_of(SICK, UNPAID)
KINDS = (
    {"早高峰", "晚高峰", "平峰"},
    {"季节", "早春"},
    {"Plus", "Premier"},
    {"Toronto", "Rotterdam"},
)


class _KindEmbedder(ScriptedEmbedder):
    """Words of one kind mean the same, all other texts something else."""

    async def passages(self, texts: Sequence[str]) -> Vector:
        rows = [[float(text in kind) for kind in KINDS] for text in texts]
        return np.asarray(rows, np.float32)


def _talk(*questions: str) -> list[Message]:
    return [Message(role="user", content=question) for question in questions]


@pytest.mark.parametrize(
    ("before", "question", "first", "focus"),
    [
        ("早高峰骑行量占多少？", "那晚高峰呢？", "晚高峰骑行量占多少？", "晚高峰"),
        ("哪个季节骑得最多？", "早春呢？", "早春骑得最多？", "早春"),
        ("What is the Plus plan?", "What about Premier?", "What is the Premier plan?", "Premier"),
        ("Is it open in Toronto?", "And in Rotterdam?", "Is it open in Rotterdam?", "in Rotterdam"),
        ("有停车场吗？", "要收费吗？", "有停车场要收费吗？", ""),
        ("重度放牧会降低土壤碳吗？", "为什么？", "重度放牧会降低土壤碳为什么？", ""),
    ],
)
async def test_what_is_named_stands_in_for_what_is_most_like_it(
    before: str, question: str, first: str, focus: str
) -> None:
    worded = await word_follow_up(question, _talk(before), _KindEmbedder())
    assert worded is not None
    assert (worded.wordings[0], worded.focus) == (first, focus)


async def test_a_chain_of_follow_ups_is_worded_one_after_the_other() -> None:
    asked = _talk("早高峰骑行量占多少？", "晚高峰呢？")
    worded = await word_follow_up("平峰呢？", asked, _KindEmbedder())
    assert worded is not None
    assert worded.wordings == ("平峰骑行量占多少？", "平峰晚高峰骑行量占多少？")


async def test_a_short_question_of_its_own_ends_the_chain() -> None:
    """What is asked after it leans on it, not on what was asked before it."""
    asked = _talk("哪个季节骑得最多？", "可以带狗吗？")
    worded = await word_follow_up("要收费吗？", asked, _KindEmbedder())
    assert worded is not None
    assert worded.wordings == ("可以带狗要收费吗？", "要收费吗？")
    assert join_earlier_questions("要收费吗？", asked) == "可以带狗吗？ 要收费吗？"
    again = _talk("哪个季节骑得最多？", "为什么？")
    assert join_earlier_questions("早春呢？", again) == "哪个季节骑得最多？ 为什么？ 早春呢？"


@pytest.mark.parametrize("question", ["年休假一共有多少天？", "要收费吗？在哪里停车？"])
async def test_other_questions_have_no_wordings(question: str) -> None:
    """Those that are complete, and those that ask several things."""
    assert await word_follow_up(question, _talk("有停车场吗？"), _KindEmbedder()) is None
    assert await word_follow_up(question, [], _KindEmbedder()) is None


def _read_at(*sentences: tuple[str, str, float]) -> ScriptedReader:
    """Reads, where a question has these words, this sentence with this probability."""
    reader = ScriptedReader()

    def read(question: str, text: str) -> Reading:
        sentence, sure = next((s, p) for words, s, p in sentences if words in question)
        start = text.index(sentence)
        return Reading(start, start + len(sentence), sure, 1.0)

    reader.read_with(read)
    return reader


async def test_the_wording_whose_answer_names_what_is_asked_for_counts() -> None:
    reader = _read_at(("事假病假", SICK, 0.8), ("事假工资", UNPAID, 0.6))
    follow_up = FollowUp(("事假工资怎么发？", "事假病假工资怎么发？"), "事假", SICK)
    found = await find_answer("那事假呢？", [LEAVE], reader, None, PICK, DECISION, follow_up)
    assert found.draft.text == UNPAID
    assert [question for question, _ in reader.questions] == list(follow_up.wordings)


@pytest.mark.parametrize(
    ("focus", "said", "answers"),
    [
        ("陪产假", SICK, False),
        ("陪产假期", SICK, False),  # one word in common is not the first
        ("病假工资", SICK, True),  # named by the first word
        ("", SICK, True),  # asks something itself
        ("陪产假", "", True),  # not said yet
    ],
)
async def test_the_last_answer_is_none_to_what_it_does_not_name(
    focus: str, said: str, answers: bool
) -> None:
    worded = FollowUp((f"{focus or '事假'}怎么发？",), focus, said)
    reader = _read_at(("", SICK, 0.9))
    found = await find_answer("呢？", [LEAVE], reader, None, PICK, DECISION, worded)
    assert (found.draft.text == SICK, found.draft.status == "not_told") == (answers, not answers)


async def test_where_the_last_answer_came_again_what_names_it_is_read() -> None:
    reader = ScriptedReader()
    reader.read_with(lambda _, text: Reading(0, 3, 0.4 if text == UNPAID else 0.9, 1.0))
    worded = FollowUp(("事假工资怎么发？", "事假病假工资怎么发？"), "事假", SICK)
    found = await find_answer("那事假呢？", [LEAVE], reader, None, PICK, DECISION, worded)
    (sentence,) = found.draft.sentences
    assert (sentence.text, sentence.evidence, sentence.span) == (UNPAID, ["1.2"], [0, 3])
    assert reader.questions[-1] == ("事假工资怎么发？", (UNPAID,))


async def test_a_row_in_another_language_may_answer_again() -> None:
    row = "Annual leave: 27 days in Rotterdam, 20 in Toronto."
    worded = FollowUp(("多伦多有几天年假？",), "多伦多", row)
    reader, leave = _read_at(("", row, 0.9)), passage_of(row)
    found = await find_answer("多伦多呢？", [leave], reader, None, PICK, DECISION, worded)
    assert found.draft.text == row

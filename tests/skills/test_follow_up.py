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


async def test_the_last_answer_is_none_to_what_it_does_not_name() -> None:
    """But it is where the follow-up asks something itself, or the sentence was not said yet."""
    reader, models = _read_at(("", SICK, 0.9)), (PICK, DECISION)
    wording = ("陪产假工资怎么发？",)
    said = FollowUp(wording, "陪产假", SICK)
    found = await find_answer("陪产假呢？", [LEAVE], reader, None, *models, said)
    assert found.draft.status == "not_told"
    for other in (FollowUp(wording, "", SICK), FollowUp(wording, "陪产假", "事假多少天？")):
        found = await find_answer("陪产假呢？", [LEAVE], reader, None, *models, other)
        assert found.draft.text == SICK

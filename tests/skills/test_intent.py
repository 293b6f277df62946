"""What a question wants: a question is never taken for small talk, and small talk is never searched
for.

The one rule: follow-ups stand here as people write them, short and without a subject.
"""

from __future__ import annotations

import pytest

from citewell.models.scripted import ScriptedEmbedder
from citewell.skills.dialogue.intent import classify_intent

FOLLOW_UPS = (
    "How high is the limit for Graz?",
    "How heavy may it be?",
    "and how wide is it",
    "How late is too late?",
    "How is it charged?",
    "那它呢？",
    "那成都呢",
    "另一个型号呢？",
    "它有多高？",
    "那最多能装多重？",
    "充满要多快？",
)
TALK = ("how are you?", "How are you today", "How is it going?", "Hello!", "你好", "你呢？", "谢谢")


@pytest.mark.parametrize("question", FOLLOW_UPS)
async def test_follow_ups_ask_for_facts(question: str) -> None:
    found = await classify_intent(question, ScriptedEmbedder())
    assert (found.label, found.confidence) == ("fact", 0.9)


@pytest.mark.parametrize("question", TALK)
async def test_small_talk_is_no_question_for_facts(question: str) -> None:
    found = await classify_intent(question, ScriptedEmbedder())
    assert found.label != "fact" or found.confidence < 0.9

"""The chat model as a reranker."""

from __future__ import annotations

import pytest

from citewell.config import Settings
from citewell.errors import TransientError
from citewell.models.providers import build_reranker
from citewell.models.rerank_llm import LLMReranker
from citewell.models.scripted import ScriptedLLM


async def test_scores_are_log_odds_in_order() -> None:
    """One question a passage, each with its figure."""
    llm = ScriptedLLM()
    llm.enqueue_yes_no(-2.0, 1.5, 0.25)
    assert await LLMReranker(llm).scores("Which town?", ["a", "b", "c"]) == [-2.0, 1.5, 0.25]
    assert [call.messages[-1].content.split("\n")[1] for call in llm.calls] == [
        "[1] a",
        "[1] b",
        "[1] c",
    ]


async def test_stops_at_a_plain_yes() -> None:
    """What comes after a passage that plainly answers is not looked at, and says so with None."""
    llm = ScriptedLLM()
    llm.enqueue_yes_no(-1.0, 4.0)
    assert await LLMReranker(llm).scores("Which town?", ["a", "b", "c", "d"]) == [
        -1.0,
        4.0,
        None,
        None,
    ]
    assert len(llm.calls) == 2


@pytest.mark.parametrize(
    ("question", "words"),
    [("Which town?", "Question: Which town?"), ("哪座城市？", "问题： 哪座城市？")],
)
async def test_a_prompt_in_the_language_of_the_question(question: str, words: str) -> None:
    """The passage stands first, so that what follows it is the question alone."""
    llm = ScriptedLLM()
    await LLMReranker(llm).scores(question, ["Guide › Towns\nLeeds is one."])
    sent = "\n".join(message.content for message in llm.calls[0].messages)
    assert sent.index("Leeds is one.") < sent.index(words)


async def test_errors_of_the_model_are_raised() -> None:
    """The caller decides what a failure costs."""
    llm = ScriptedLLM()
    llm.enqueue_yes_no(TransientError("busy"))
    with pytest.raises(TransientError):
        await LLMReranker(llm).scores("Which town?", ["a"])


async def test_closing_leaves_the_model_alone(settings: Settings) -> None:
    """The model is the app's. Without one, or unless the settings ask for it, there is no
    reranker.
    """
    llm = ScriptedLLM()
    wanted = settings.model_copy(update={"reranker": "llm"})
    reranker = build_reranker(wanted, llm)
    assert isinstance(reranker, LLMReranker)
    await reranker.close()
    assert not llm.closed
    assert build_reranker(wanted, None) is None
    assert build_reranker(settings, llm) is None

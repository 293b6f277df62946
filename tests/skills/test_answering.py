"""The one way from evidence to answer: which passages a connected model reads, and what is asked of
it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from tests.agents.replies import draft, untold
from tests.skills.evidence_units import passage_of

from citewell.errors import PermanentError
from citewell.graph import enter_node
from citewell.models.scripted import ScriptedLLM
from citewell.skills.answer.answering import Drafted, draft_answer
from citewell.skills.answer.draft import Draft
from citewell.skills.evidence.passages import Passage

ENGLISH = passage_of("Rent is due by 30 April.", "A late fee of £10 is owed after that.")
CHINESE = passage_of("押金为两个月租金。", "退租后三十天内退还押金。", n=2)


async def drafted(llm: ScriptedLLM, question: str, found: Sequence[Passage] = ()) -> Drafted:
    enter_node("generate", lambda _: None)
    means: Any = SimpleNamespace(llm=llm, reader=None, judge=None, embedder=None, calibration={})

    async def more(lacking: Draft) -> list[Passage]:
        assert lacking.status in {"not_told", "partly"}
        return list(found)

    return await draft_answer(means, question, [ENGLISH, CHINESE], more=more)


@pytest.mark.parametrize(
    ("question", "own", "other"),
    [("What is the late fee?", "[1.1]", "[2.1]"), ("押金是多少？", "[2.1]", "[1.1]")],
)
async def test_the_other_language_is_not_read_where_the_first_answers(
    question: str, own: str, other: str
) -> None:
    llm = ScriptedLLM(draft("It is told."))
    found = await drafted(llm, question)
    sent = llm.calls[0].messages[-1].content
    assert (len(llm.calls), found.calls, own in sent, other in sent) == (1, 1, True, False)


@pytest.mark.parametrize("first", [untold("Not told."), draft("In part.", status="partly")])
async def test_what_the_first_language_lacks_is_looked_for_in_all(first: str) -> None:
    """And in what another search finds, which is numbered behind the rest."""
    llm = ScriptedLLM(
        first, draft({"text": "Two months' rent.", "kind": "fact", "evidence": ["2.1", "3.1"]})
    )
    found = await drafted(
        llm, "How much is the deposit?", [passage_of("The deposit is two months' rent.")]
    )
    assert (found.draft.text, found.calls, [p.n for p in found.passages]) == (
        "Two months' rent.",
        2,
        [1, 2, 3],
    )
    assert "[3.1] The deposit" in llm.calls[1].messages[-1].content


async def test_the_first_draft_stands_where_the_second_call_fails() -> None:
    llm = ScriptedLLM(draft("In part.", status="partly"))
    llm.enqueue(PermanentError("no"))
    found = await drafted(llm, "What are fee and deposit?")
    assert (found.draft.status, found.tier, found.warning) == ("partly", "connected", "")


async def test_nothing_is_read_twice() -> None:
    """One language, and nothing more found: the first draft is the last."""
    llm = ScriptedLLM(untold("Not told."))
    enter_node("generate", lambda _: None)
    means: Any = SimpleNamespace(llm=llm, reader=None, judge=None, embedder=None, calibration={})

    async def nothing(_: Draft) -> list[Passage]:
        return []

    assert (await draft_answer(means, "What is the fee?", [ENGLISH], more=nothing)).calls == 1

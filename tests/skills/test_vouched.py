"""Which confirmed answers bear on a question, and what a document says otherwise: without a store
or a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from citewell.skills.evidence.confirmed_evidence import (
    ID,
    ConfirmedEvidence,
    add_confirmed_evidence,
    adjust_confidence,
    build_followed,
    is_applicable,
)
from citewell.skills.evidence.numbered import Unit
from citewell.skills.evidence.passages import Passage
from citewell.skills.proof.judge import Claim, Judgement, JudgeVerdict
from citewell.store.confirmed.types import Confirmation, Confirmed, Known
from citewell.types import Hit


def known(question: str, answer: str = "", similarity: float = 0.9) -> Known:
    by = [Confirmation(user_id="ann", trace_id="tr_1", at=0.0)]
    item = Confirmed(
        item_id="qa_1",
        trace_id="tr_1",
        agent="qa",
        question=question,
        lang="en",
        answer=answer,
        state="active",
        confirmed_by=by,
    )
    return Known(item, similarity)


def hit(text: str, doc_id: str = "doc_1", chunk_id: int = 1) -> Hit:
    lang = "en" if text.isascii() else "zh"
    return Hit(
        chunk_id,
        doc_id,
        "c",
        "Returns",
        "uri",
        ("Policy",),
        None,
        0,
        len(text),
        text,
        lang,
        score=1.0,
    )


def passage(text: str) -> Passage:
    return Passage(1, hit(text), ((0, len(text)),), text)


def vouched(answer: str, question: str = "q", *, same: bool = True) -> ConfirmedEvidence:
    return ConfirmedEvidence(
        hit(answer, "doc_confirmed", ID),
        build_followed(known(question, answer)),
        same,
        "confirmed by ann on 1970-01-01",
    )


@pytest.mark.parametrize(
    ("asked", "theirs", "bears"),
    [
        ("When was pier 3 built?", "In which year was pier 3 built?", True),
        ("When was pier 4 built?", "When was pier 3 built?", False),
        ("What was sold in 2023?", "What was sold in 2024?", False),
        ("Which goods can be returned?", "Which goods cannot be returned?", False),
        ("How long is the warranty (Pro)?", "How long is the warranty (Basic)?", False),
        ("Where does Wainfell ship to?", "Where does Drover ship to?", False),
        ("Where does Wainfell ship to?", "To which countries does Wainfell ship?", True),
        (
            "How long may I return a bike in the EU?",
            "May a bike be returned in the European Union?",
            True,
        ),
        (
            "How long may I return a bike in the US?",
            "May a bike be returned in the European Union?",
            False,
        ),
        ("How long may I return a Drover in the EU?", "May a Drover be returned in the US?", False),
        ("保修期多长？", "How long is the warranty?", True),
        ("2023年卖了多少？", "2024年卖了多少？", False),
    ],
)
def test_what_bears_on_a_question(asked: str, theirs: str, bears: bool) -> None:
    """Likeness is not enough: another figure, year, name or a denial is another question."""
    assert is_applicable(asked, known(theirs)) is bears


class Says:
    """A judge of one verdict, which counts how often it is asked."""

    name = "says"

    def __init__(self, verdict: JudgeVerdict) -> None:
        self.verdict = verdict
        self.claims: list[list[str]] = []

    async def judge(
        self, question: str, claims: Sequence[Claim], units: Sequence[Unit]
    ) -> list[Judgement]:
        self.claims.append([claim.text for claim in claims])
        return [Judgement(self.verdict, 0.5, (units[0],)) for _ in claims]


NOTHING = passage("Nothing of it.")


@pytest.mark.parametrize(
    ("verdict", "shown"), [("entailed", True), ("not_stated", True), ("contradicted", False)]
)
async def test_what_a_document_contradicts_is_left_out(verdict: JudgeVerdict, shown: bool) -> None:
    """All that people confirmed is judged in one call; what stands in front is numbered with the
    documents.
    """
    judge = Says(verdict)
    both = [
        vouched("Bikes: 14 days."),
        replace(vouched("Parts: 9 days."), hit=hit("Parts: 9 days.", "doc_other", ID - 1)),
    ]
    passages, warnings = await add_confirmed_evidence(
        "Within how many days?", both, [NOTHING], judge
    )
    assert judge.claims == [["Bikes: 14 days.", "Parts: 9 days."]]
    assert [p.hit.doc_id for p in passages] == (
        [*(["doc_confirmed", "doc_other"] if shown else []), "doc_1"]
    )
    assert [p.n for p in passages] == list(range(1, len(passages) + 1))
    assert len(warnings) == (0 if shown else 2)
    assert all("Nothing of it." in warning for warning in warnings)


async def test_the_numbers_of_old_citations_are_left_out() -> None:
    """They name sources of another answer; what is left is verbatim."""
    answer = "Bikes may be returned.[1][2] Batteries may not.[3]"
    (front, _), _ = await add_confirmed_evidence("q", [vouched(answer)], [NOTHING], None)
    assert front.text == "Bikes may be returned. … Batteries may not."
    assert [answer[a:b] for a, b in front.spans] == ["Bikes may be returned.", "Batteries may not."]


async def test_a_long_answer_is_cut() -> None:
    """It is evidence beside the documents, not instead of them."""
    answer = " ".join(
        f"The rule number {n} of the long list is told in a sentence." for n in range(100)
    )
    (front, _), _ = await add_confirmed_evidence("q", [vouched(answer)], [NOTHING], None)
    assert 1 <= len(front.spans) < 20


async def test_without_a_judge_likeness_is_not_enough() -> None:
    shown, _ = await add_confirmed_evidence(
        "q", [vouched("Bikes may be returned.", same=False)], [NOTHING], None
    )
    assert [p.hit.doc_id for p in shown] == ["doc_1"]


@pytest.mark.parametrize(
    ("change", "shown", "said"),
    [({"stale": "gone"}, False, "gone"), ({"disputed": True}, True, "disagree")],
)
async def test_what_is_stale_or_disputed(change: dict[str, Any], shown: bool, said: str) -> None:
    """Stale: left out; disputed: a judge looks at it, and it is said that people disagree."""
    passages, warnings = await add_confirmed_evidence(
        "q", [replace(vouched("Bikes."), **change)], [NOTHING], Says("not_stated")
    )
    assert (len(passages) == 2) is shown
    assert said in warnings[0]


def test_how_sure_it_makes() -> None:
    """The very question as sure as it is alike; one like it, just enough to be looked at."""
    assert adjust_confidence([], 0.1, 0.3) == 0.1
    assert adjust_confidence([vouched("x")], 0.1, 0.3) == 0.9
    assert adjust_confidence([vouched("x", same=False)], 0.1, 0.3) == 0.3
    assert adjust_confidence([vouched("x", same=False)], 0.8, 0.3) == 0.8

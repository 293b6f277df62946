"""Which confirmed answers bear on a question, and what a document says otherwise: rules, without a store or a model."""

from __future__ import annotations

import pytest

from citewell.knowledge.confirmed_types import Confirmation, Confirmed, Known
from citewell.skills.evidence import Passage
from citewell.skills.vouched import ID, Vouched, bears_on, beside, followed_of, sureness
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
    return Hit(chunk_id, doc_id, "c", "Returns", "uri", ("Policy",), None, 0, len(text), text, lang, score=1.0)


def passage(text: str) -> Passage:
    return Passage(1, hit(text), ((0, len(text)),), text)


def vouched(answer: str, question: str = "q", *, same: bool = True) -> Vouched:
    return Vouched(
        hit(answer, "doc_confirmed", ID), followed_of(known(question, answer)), same, "confirmed by ann on 1970-01-01"
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
        ("How long may I return a bike in the EU?", "May a bike be returned in the European Union?", True),
        ("How long may I return a bike in the US?", "May a bike be returned in the European Union?", False),
        ("How long may I return a Drover in the EU?", "May a Drover be returned in the US?", False),
        ("保修期多长？", "How long is the warranty?", True),
        ("2023年卖了多少？", "2024年卖了多少？", False),
    ],
)
def test_what_bears_on_a_question(asked: str, theirs: str, bears: bool) -> None:
    """Likeness is not enough: another figure, year, name or a denial is another question."""
    assert bears_on(asked, known(theirs)) is bears


@pytest.mark.parametrize(
    ("answer", "document", "against"),
    [
        ("Bikes may be returned within 14 days.", "Bikes may be returned within 30 days.", True),
        ("Bikes may be returned within 14 days.", "Bikes may not be returned within 14 days.", True),
        ("Bikes may be returned within 14 days.", "Bikes may be returned within 14 days of delivery.", False),
        ("Bikes may be returned within 14 days.", "Batteries last for 500 charges.", False),
        (
            "Bikes may be returned within 14 days.",
            "Bikes may be returned within 14 days. Parts may be returned within 30 days.",
            False,
        ),
        ("自行车可在14天内退货。", "自行车可在30天内退货。", True),
        ("自行车可在14天内退货。", "Bikes may be returned within 30 days.", False),
    ],
)
def test_what_a_document_says_otherwise(answer: str, document: str, against: bool) -> None:
    """Another figure or a denial of the same thing; a document that proves it outweighs one beside it."""
    shown, warnings = beside("Within how many days?", [vouched(answer)], [passage(document)], trusted=True)
    assert bool(warnings) is against
    assert [p.hit.doc_id for p in shown] == (["doc_1"] if against else ["doc_confirmed", "doc_1"])
    assert [p.n for p in shown] == list(range(1, len(shown) + 1))


def test_the_numbers_of_old_citations_are_left_out() -> None:
    """They name sources of another answer; what is left is verbatim."""
    answer = "Bikes may be returned.[1][2] Batteries may not.[3]"
    (front, _), _ = beside("q", [vouched(answer)], [passage("Nothing of it.")], trusted=True)
    assert front.text == "Bikes may be returned. … Batteries may not."
    assert [answer[a:b] for a, b in front.spans] == ["Bikes may be returned.", "Batteries may not."]


def test_a_long_answer_is_cut() -> None:
    """It is evidence beside the documents, not instead of them."""
    answer = " ".join(f"The rule number {n} of the long list is told in a sentence." for n in range(100))
    (front, _), _ = beside("q", [vouched(answer)], [passage("Nothing of it.")], trusted=True)
    assert 1 <= len(front.spans) < 20


def test_without_a_model_likeness_is_not_enough() -> None:
    shown, _ = beside("q", [vouched("Bikes may be returned.", same=False)], [passage("Nothing of it.")], trusted=False)
    assert [p.hit.doc_id for p in shown] == ["doc_1"]


def test_how_sure_it_makes() -> None:
    """The very question as sure as it is alike; one like it, just enough to be looked at."""
    assert sureness([], 0.1, 0.3) == 0.1
    assert sureness([vouched("x")], 0.1, 0.3) == 0.9
    assert sureness([vouched("x", same=False)], 0.1, 0.3) == 0.3
    assert sureness([vouched("x", same=False)], 0.8, 0.3) == 0.8

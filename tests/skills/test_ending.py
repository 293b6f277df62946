"""How an answer ends."""

from __future__ import annotations

import pytest
from tests.skills.evidence_units import passage_of

from citewell.skills.answer.answering import Decided, Drafted
from citewell.skills.answer.draft import Draft, DraftSentence
from citewell.skills.answer.ending import end_answer
from citewell.skills.evidence.numbered import number_sentences
from citewell.skills.proof.judge import Judgement, JudgeVerdict
from citewell.skills.proof.prove import Proven, show_proof

PASSAGE = passage_of("Rent is due by 30 April.", "Dogs are allowed.")
UNITS = number_sentences([PASSAGE])


def end(
    *verdicts: JudgeVerdict,
    shown: bool = True,
    degraded: bool = False,
    failure: str = "",
    warning: str = "",
    **more: object,
) -> tuple[str, str]:
    """Status and text of a draft of sentences s0, s1 ..., judged so."""
    sentences = [DraftSentence(text=f"s{n}.") for n in range(len(verdicts))]
    draft = Draft.model_validate({"status": "answered", "sentences": sentences, **more})
    judged = [Judgement(v, 0.5, (UNITS[0],) if v == "entailed" else ()) for v in verdicts]
    proven = Proven(draft, judged, failure)
    drafted, decided = (
        Drafted("q", [PASSAGE], draft, "connected", warning=warning),
        Decided(proven, 0.5, shown, {}),
    )
    ended = end_answer(drafted, decided, show_proof(proven), [PASSAGE.hit], "en", degraded=degraded)
    assert {n for s in ended.proof.sentences for n in s.citations} == {
        c.n for c in ended.proof.citations
    }
    return ended.status, ended.text


@pytest.mark.parametrize(
    ("given", "more", "status", "text"),
    [
        (["entailed", "entailed"], {}, "answered", "s0.[1] s1.[1]"),
        (
            ["entailed"],
            {"degraded": True},
            "fallback",
            "The chat model gave no usable answer; this is what the documents say: s0.[1]",
        ),
        (
            ["not_stated", "entailed"],
            {},
            "fallback",
            "s1.[1]\n\nThe documents do not prove this:\n- s0.",
        ),
        (
            ["not_stated"],
            {"shown": False},
            "refused",
            "I found no answer that the documents prove: one was drafted",
        ),
        (
            ["entailed", "contradicted"],
            {},
            "fallback",
            "s0.[1]\n\nA part of the answer could not be proved and is left out.",
        ),
        (
            ["entailed"],
            {"status": "partly"},
            "fallback",
            "s0.[1]\n\nI found no answer to a part of the question.",
        ),
        (
            ["not_stated"],
            {"shown": False, "failure": "busy"},
            "fallback",
            "This draft could not be checked",
        ),
        (["entailed"], {"shown": False, "status": "not_told"}, "refused", "s0."),
        (
            ["contradicted"],
            {"shown": False, "status": "not_told"},
            "refused",
            "I could not find the answer in the documents.",
        ),
        ([], {"shown": False, "status": "unclear", "question_back": "Which?"}, "clarify", "Which?"),
        ([], {"shown": False, "status": "unclear"}, "clarify", "I am not sure what you mean."),
        (
            ["not_stated"],
            {"shown": False, "warning": "busy"},
            "refused",
            "The chat model gave no usable answer, and no sentence",
        ),
    ],
)
def test_endings(
    given: list[JudgeVerdict], more: dict[str, object], status: str, text: str
) -> None:
    ended = end(*given, **more)  # type: ignore[arg-type]
    assert ended[0] == status
    assert ended[1].startswith(text)


def refused(lang: str, *reasons: str) -> str:
    """Text of an answer whose sentences are all denied, for these reasons."""
    draft = Draft(
        status="answered", sentences=[DraftSentence(text=f"s{n}.") for n in range(len(reasons))]
    )
    proven = Proven(draft, [Judgement("contradicted", 0.0, (), reason) for reason in reasons])
    drafted, decided = Drafted("q", [PASSAGE], draft, "connected"), Decided(proven, 0.1, False, {})
    return end_answer(drafted, decided, show_proof(proven), [PASSAGE.hit], lang).text


def test_a_refusal_says_why_a_draft_is_not_shown() -> None:
    """The code knew the sum, and the price was there: that nothing was found would be untrue. What
    is in English only does not stand in a Chinese answer.
    """
    assert refused("en", "8 * 63 = 504 ≠ 540", "8 * 63 = 504 ≠ 540") == (
        "I found no answer that the documents prove: one was drafted, and it is not shown (8 * "
        "63 = 504 ≠ 540). The nearest passages are in: Rules (page 1)."
    )
    assert refused("zh", "8 * 63 = 504 ≠ 540", "the check gave no verdict on it").startswith(
        "没有找到能由文档证实的答案：草稿未能证实，因此没有显示（8 * 63 = 504 ≠ 540）。"
    )


def test_a_part_that_is_said_to_be_missing_needs_no_word_of_ours() -> None:
    untold = {"text": "The bank is not told.", "kind": "not_told"}
    draft = Draft.model_validate(
        {"status": "partly", "sentences": [{"text": "The fee is 10."}, untold]}
    )
    proven = Proven(draft, [Judgement("entailed", 0.9, (UNITS[0],)), Judgement("entailed", 0.9)])
    drafted, decided = Drafted("q", [PASSAGE], draft, "connected"), Decided(proven, 0.9, True, {})
    ended = end_answer(drafted, decided, show_proof(proven), [PASSAGE.hit], "en")
    assert (ended.status, ended.text) == ("answered", "The fee is 10.[1] The bank is not told.")

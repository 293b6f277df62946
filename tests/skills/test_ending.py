"""How an answer ends."""

from __future__ import annotations

import pytest
from tests.skills.evidence_units import passage_of

from citewell.skills.answering import Decided, Drafted
from citewell.skills.draft import Draft, DraftSentence
from citewell.skills.ending import end_answer
from citewell.skills.numbered import number_sentences
from citewell.skills.proof.judge import Judgement, JudgeVerdict
from citewell.skills.proof.prove import Proven, show_proof

PASSAGE = passage_of("Rent is due by 30 April.", "Dogs are allowed.")
UNITS = number_sentences([PASSAGE])


def end(
    *verdicts: JudgeVerdict, shown: bool = True, degraded: bool = False, failure: str = "", warning: str = "", **more: object
) -> tuple[str, str]:
    """Status and text of a draft of sentences s0, s1 ..., judged so."""
    sentences = [DraftSentence(text=f"s{n}.") for n in range(len(verdicts))]
    draft = Draft.model_validate({"status": "answered", "sentences": sentences, **more})
    judged = [Judgement(v, 0.5, (UNITS[0],) if v == "entailed" else ()) for v in verdicts]
    proven = Proven(draft, judged, failure)
    drafted, decided = Drafted("q", [PASSAGE], draft, "connected", warning=warning), Decided(proven, 0.5, shown, {})
    ended = end_answer(drafted, decided, show_proof(proven), [PASSAGE.hit], "en", degraded=degraded)
    assert {n for s in ended.proof.sentences for n in s.citations} == {c.n for c in ended.proof.citations}
    return ended.status, ended.text


@pytest.mark.parametrize(
    ("given", "more", "status", "text"),
    [
        (["entailed", "entailed"], {}, "answered", "s0.[1] s1.[1]"),
        (["entailed"], {"degraded": True}, "fallback", "The chat model did not answer; this is what the documents say: s0.[1]"),
        (["not_stated", "entailed"], {}, "fallback", "s1.[1]\n\nThe documents do not prove this:\n- s0."),
        (["not_stated"], {"shown": False}, "refused", "I could not find the answer in the documents."),
        (["not_stated"], {"shown": False, "failure": "busy"}, "fallback", "This draft could not be checked"),
        (["entailed"], {"shown": False, "status": "not_told"}, "refused", "s0."),
        (["contradicted"], {"shown": False, "status": "not_told"}, "refused", "I could not find the answer in the documents."),
        ([], {"shown": False, "status": "unclear", "question_back": "Which?"}, "clarify", "Which?"),
        ([], {"shown": False, "status": "unclear"}, "clarify", "I am not sure what you mean."),
        (["not_stated"], {"shown": False, "warning": "busy"}, "refused", "The chat model did not answer, and no sentence"),
    ],
)
def test_endings(given: list[JudgeVerdict], more: dict[str, object], status: str, text: str) -> None:
    ended = end(*given, **more)  # type: ignore[arg-type]
    assert ended[0] == status
    assert ended[1].startswith(text)

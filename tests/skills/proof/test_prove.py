"""From a draft to what is shown: exact checks, the judge, one repair, verdicts and quotes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from tests.agents.replies import verdicts
from tests.skills.evidence_units import passage_of, units_of

from citewell.errors import TransientError
from citewell.models.scripted import ScriptedLLM
from citewell.skills.answer.draft import Draft, DraftSentence
from citewell.skills.evidence.numbered import Unit, number_sentences
from citewell.skills.proof.judge import Claim, Judgement, JudgeVerdict
from citewell.skills.proof.judge_llm import LLMJudge
from citewell.skills.proof.prove import NOT_SHOWN, Proven, judge_draft, repair_draft, show_proof

UNITS = units_of(
    "The battery must not be taken on a passenger aircraft.",
    "It may travel by car or ferry.",
    "Plus costs 34 euros a month.",
)
QUESTION = "Can I take the battery on a plane?"


class Says:
    """A judge that gives the verdicts it was made with, and records what it was asked."""

    name = "says"

    def __init__(self, *verdicts: JudgeVerdict) -> None:
        self.verdicts = list(verdicts)
        self.asked: list[Claim] = []

    async def judge(
        self, question: str, claims: Sequence[Claim], units: Sequence[Unit]
    ) -> list[Judgement]:
        self.asked += claims
        found = [self.verdicts.pop(0) for _ in claims]
        return [
            Judgement(
                v, float(v == "entailed"), (units[0],), "" if v == "entailed" else "wrong subject"
            )
            for v in found
        ]


def draft(*texts: str, evidence: Sequence[str] = ("1.1",)) -> Draft:
    return Draft(
        status="answered",
        sentences=[DraftSentence(text=text, evidence=list(evidence)) for text in texts],
    )


async def test_a_quoted_sentence_is_proved_where_nobody_judges() -> None:
    """The document's own sentence is proved by itself; where a judge is at hand it is asked whether
    it answers, too.
    """
    quoted = draft("It may travel by car or ferry.")
    proven = await judge_draft(quoted, QUESTION, UNITS, None)
    assert proven.proved
    assert show_proof(proven).citations[0].quote == "It may travel by car or ferry."
    assert not (await judge_draft(quoted, QUESTION, UNITS, Says("contradicted"))).proved
    failing = LLMJudge(ScriptedLLM(TransientError("busy")))
    assert (await judge_draft(quoted, QUESTION, UNITS, failing)).proved


async def test_the_clauses_of_a_sentence_are_one_quote() -> None:
    """Where each stands right behind the other; sentences apart are none."""
    text = "满1年的，年休假5天；满10年的，年休假10天。"
    whole = passage_of(text)
    first, second = (0, 11), (11, len(text))
    units = number_sentences([replace(whole, spans=(first, second))])
    proven = await judge_draft(draft(text, evidence=("1.1", "1.2")), "几天？", units, None)
    (citation,) = show_proof(proven).citations
    assert (citation.quote, citation.start, citation.end) == (text, 0, len(text))
    apart = units_of("It is open.", "It is free.")
    told = draft("It is open. It is free.", evidence=("1.1", "1.2"))
    assert not (await judge_draft(told, "Is it?", apart, None)).proved


async def test_a_natural_answer_is_ticked_and_a_false_one_is_not() -> None:
    """The judge decides, whatever words are shared."""
    proven = await judge_draft(
        draft("No, it isn't allowed on planes.", "Yes, it may go on a passenger aircraft."),
        QUESTION,
        UNITS,
        Says("entailed", "contradicted"),
    )
    shown = show_proof(proven).sentences
    assert [sentence.verdict for sentence in shown] == ["supported", "unsupported"]
    assert shown[1].problems == ["wrong subject"]
    assert (shown[0].citations, shown[1].citations) == ([1], [])


async def test_without_a_judge_nothing_worded_is_ticked() -> None:
    """Only quotations are proved."""
    proven = await judge_draft(
        draft("No, it isn't allowed.", "It may travel by car or ferry."), QUESTION, UNITS, None
    )
    assert [each.verdict for each in proven.judgements] == ["not_stated", "entailed"]


async def test_a_judge_that_fails_leaves_worded_sentences_unproved() -> None:
    """The reason is kept, and nothing is ticked."""
    llm = ScriptedLLM(TransientError("busy"))
    proven = await judge_draft(draft("No, it isn't allowed."), QUESTION, UNITS, LLMJudge(llm))
    assert (proven.proved, proven.failure) == (False, "busy")
    assert "could not be checked" in proven.judgements[0].reason


async def test_wrong_arithmetic_is_refuted_before_any_judge() -> None:
    """Code computes again; a right equation is still judged for what it is said of."""
    wrong = DraftSentence(
        text="Three cost 104 euros.",
        kind="calculation",
        evidence=["1.3"],
        calculation="3 * 34 = 104",
    )
    right = DraftSentence(
        text="Three cost 102 euros.",
        kind="calculation",
        evidence=["1.3"],
        calculation="3 * 34 = 102",
    )
    judge = Says("entailed")
    made = Draft(status="answered", sentences=[wrong, right])
    proven = await judge_draft(made, "What do 3 cost a month?", UNITS, judge)
    assert [each.verdict for each in proven.judgements] == ["contradicted", "entailed"]
    assert [claim.text for claim in judge.asked] == ["Three cost 102 euros."]
    assert show_proof(proven).sentences[1].calculation == "3 * 34 = 102"


async def test_that_something_is_not_told_is_ticked_without_a_quote() -> None:
    """Nothing can be quoted for it; the judge has looked."""
    untold = Draft(
        status="not_told",
        sentences=[DraftSentence(text="Trains are not mentioned.", kind="not_told")],
    )

    class Agrees(Says):
        async def judge(
            self, question: str, claims: Sequence[Claim], units: Sequence[Unit]
        ) -> list[Judgement]:
            return [Judgement("entailed", 0.97)]

    shown = show_proof(await judge_draft(untold, QUESTION, UNITS, Agrees())).sentences[0]
    assert (shown.verdict, shown.citations, shown.kind) == ("supported", [], "not_told")


async def test_a_doubt_leads_to_one_repair_that_names_the_reason() -> None:
    """What was proved is kept and not judged again; what was doubted is told with its reason."""
    llm = ScriptedLLM()
    sentences = [
        {"text": "It may go by car.", "kind": "fact", "evidence": ["1.2"]},
        {"text": "It must not fly.", "kind": "fact", "evidence": ["1.1"]},
    ]
    llm.enqueue(json.dumps({"status": "answered", "sentences": sentences}))
    judge = Says("entailed", "contradicted", "entailed")
    first = await judge_draft(
        draft("It may go by car.", "Yes, it may fly."), QUESTION, UNITS, judge
    )
    again = await repair_draft(llm, judge, QUESTION, UNITS, first)
    assert again.proved
    assert [claim.text for claim in judge.asked] == [
        "It may go by car.",
        "Yes, it may fly.",
        "It must not fly.",
    ]
    assert "wrong subject" in llm.calls[0].messages[-1].content


async def test_a_repair_that_is_no_better_leaves_the_first() -> None:
    """And so does a model that fails."""
    first: Proven = await judge_draft(
        draft("Yes, it may fly."), QUESTION, UNITS, Says("contradicted")
    )
    llm = ScriptedLLM(
        json.dumps({"status": "answered", "sentences": [{"text": "Yes, it flies."}]}),
        TransientError("busy"),
    )
    assert await repair_draft(llm, Says("contradicted"), QUESTION, UNITS, first) is first
    failed = await repair_draft(llm, Says(), QUESTION, UNITS, first)
    assert (failed.draft, failed.failure) == (first.draft, "busy")


async def test_what_nothing_is_named_for_is_not_proved() -> None:
    """Neither the draft nor the judge names a sentence: asked for in the repair round. That
    something is untold needs none.
    """
    untold = DraftSentence(text="The bank is not told.", kind="not_told")
    draft = Draft(status="partly", sentences=[DraftSentence(text="The fee is due."), untold])
    judge = LLMJudge(ScriptedLLM(verdicts("entailed", "entailed", evidence=[])))
    proven = await judge_draft(
        draft, "What is due, and to which bank?", units_of("A fee is due."), judge
    )
    assert [(each.verdict, each.reason) for each in proven.judgements] == [
        ("not_stated", NOT_SHOWN),
        ("entailed", ""),
    ]

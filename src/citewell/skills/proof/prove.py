"""From a draft to what is shown: each sentence judged, those that are proved numbered with their
quotes.

Arithmetic is computed again by code; the judge settles all else in one call, whole quotations too:
a sentence may be about another subject than the question. Without a judge only quoted sentences are
proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from citewell.errors import BudgetSpent, CitewellError
from citewell.messages import Text
from citewell.models.base import LLM
from citewell.skills.answer.cite import Proof, number_citations
from citewell.skills.answer.draft import Draft, DraftSentence, describe_doubts, write_draft
from citewell.skills.evidence.numbered import Unit, join_units, pick_units
from citewell.skills.proof.exact import check_equation, find_quoted_unit
from citewell.skills.proof.figure_check import check_result, check_rows
from citewell.skills.proof.judge import Claim, Judge, Judgement
from citewell.text.sentences import detect_language
from citewell.types import Kind, Message, Sentence, Verdict

NOT_SHOWN = Text("no sentence of the evidence was named that shows it")
UNSHOWN = 0.1  # the score of what a judge grants and nothing is named for
# a difference needs no equation to be right
_OWN_FIGURES: frozenset[Kind] = frozenset({"comparison", "not_told"})
UNCHECKED = Text("no judge is at hand that could check a sentence that is not quoted")


@dataclass(frozen=True, slots=True)
class Proven:
    """A draft with one judgement a sentence. `failure`: why the judge gave none, where it failed;
    `spent`: the limit of the question that a call was refused for.
    """

    draft: Draft
    judgements: list[Judgement]
    failure: str = ""
    spent: str = ""

    @property
    def proved(self) -> bool:
        """Whether every sentence is entailed, and there is one."""
        return bool(self.judgements) and all(each.verdict == "entailed" for each in self.judgements)

    @property
    def count(self) -> int:
        """Sentences that are entailed."""
        return sum(each.verdict == "entailed" for each in self.judgements)

    @property
    def scores(self) -> list[float]:
        """Of each sentence the probability that it is entailed."""
        return [each.score for each in self.judgements]


async def judge_draft(
    draft: Draft, question: str, units: Sequence[Unit], judge: Judge | None
) -> Proven:
    """Settle each sentence. A failing judge or spent budget leaves unquoted ones unproved."""
    claims = [Claim(s.text, s.kind, tuple(pick_units(s.evidence, units))) for s in draft.sentences]
    settled = [
        _settle_figures(s, claim, question, units)
        for s, claim in zip(draft.sentences, claims, strict=True)
    ]
    open_ones = [n for n, judgement in enumerate(settled) if judgement is None]
    failure = spent = ""
    judged: list[Judgement] = []
    if open_ones and judge is not None:
        try:
            judged = await judge.judge(question, [claims[n] for n in open_ones], units)
        except CitewellError as error:
            failure, spent = error.message, error.code if isinstance(error, BudgetSpent) else ""
    reason = Text("it could not be checked: {failure}", failure=failure) if failure else UNCHECKED
    judged = judged or [_settle_quotation(claims[n], units, reason) for n in open_ones]
    for n, judgement in zip(open_ones, judged, strict=True):
        settled[n] = _add_own_evidence(judgement, claims[n], draft.sentences[n])
    return Proven(draft, [each for each in settled if each is not None], failure, spent)


def put_first(proven: Proven, *computed: tuple[DraftSentence, Judgement]) -> Proven:
    """A judged draft behind sentences that code has computed and proved."""
    sentences = [*(sentence for sentence, _ in computed), *proven.draft.sentences]
    judgements = [*(judgement for _, judgement in computed), *proven.judgements]
    draft = proven.draft.model_copy(update={"sentences": sentences})
    return replace(proven, draft=draft, judgements=judgements)


def _settle_figures(
    sentence: DraftSentence, claim: Claim, question: str, units: Sequence[Unit]
) -> Judgement | None:
    """Wrong arithmetic refutes a sentence, and another figure than its own equation gives; a figure
    that no row of a database has is not stated. None where nothing is surely wrong.
    """
    equation, evidence = sentence.calculation, claim.evidence or tuple(units)
    wrong = (
        check_equation(equation) or check_result(sentence.text, equation, question, evidence)
        if equation
        else ""
    )
    if wrong:
        return Judgement("contradicted", 0.0, claim.evidence, wrong)
    lacking = (
        ""
        if sentence.kind in _OWN_FIGURES
        else check_rows(sentence.text, equation, question, units)
    )
    return Judgement("not_stated", 0.0, reason=lacking) if lacking else None


def _settle_quotation(claim: Claim, units: Sequence[Unit], reason: str) -> Judgement:
    """Where nobody judges, a sentence that is quoted whole is proved, and no other."""
    whole = [join_units(claim.evidence)] if _are_neighbours(claim.evidence) else []
    quoted = find_quoted_unit(claim.text, [*whole, *claim.evidence, *units])
    return (
        Judgement("entailed", 1.0, (quoted,))
        if quoted is not None
        else Judgement("not_stated", 0.0, reason=reason)
    )


def _are_neighbours(units: Sequence[Unit]) -> bool:
    """Whether they are several clauses, each right behind the other."""
    return len(units) > 1 and all(
        one.passage is other.passage and one.end == other.start for one, other in pairwise(units)
    )


def _add_own_evidence(judgement: Judgement, claim: Claim, sentence: DraftSentence) -> Judgement:
    """The sentences that the claim names bear it too, where the judge agrees with it. What no
    sentence is named for, by either, is not proved: nothing could be shown for it; that something
    is not told needs none.
    """
    evidence = judgement.evidence or (claim.evidence if judgement.verdict == "entailed" else ())
    if judgement.verdict == "entailed" and not evidence and sentence.kind != "not_told":
        return Judgement("not_stated", UNSHOWN, reason=NOT_SHOWN)
    return replace(judgement, evidence=evidence, calculation=sentence.calculation)


async def repair_draft(
    llm: LLM,
    judge: Judge | None,
    question: str,
    units: Sequence[Unit],
    first: Proven,
    *,
    history: Sequence[Message] = (),
) -> Proven:
    """One more draft that is told what was doubted and why, judged again; the better of the two.
    What was proved before is not judged again. A model that fails leaves the first.
    """
    lang = detect_language(question)
    reasons = [
        "" if each.verdict == "entailed" else each.reason or each.verdict
        for each in first.judgements
    ]
    try:
        doubts = describe_doubts(first.draft, reasons, lang)
        draft = await write_draft(llm, question, units, history=history, doubts=doubts)
    except BudgetSpent as error:
        return replace(first, spent=error.code)
    except CitewellError as error:
        return replace(first, failure=first.failure or error.message)
    known = {
        s.text: j
        for s, j in zip(first.draft.sentences, first.judgements, strict=True)
        if j.verdict == "entailed"
    }
    fresh = [s for s in draft.sentences if s.text not in known]
    again = await judge_draft(draft.model_copy(update={"sentences": fresh}), question, units, judge)
    by_text = known | {s.text: j for s, j in zip(fresh, again.judgements, strict=True)}
    second = Proven(draft, [by_text[s.text] for s in draft.sentences], again.failure, again.spent)
    doubted = len(second.judgements) - second.count, len(first.judgements) - first.count
    return (
        second
        if (second.proved or second.count > first.count or doubted[0] < doubted[1])
        and second.judgements
        else first
    )


def show_proof(proven: Proven, units: Sequence[Unit] = ()) -> Proof:
    """The sentences with outward verdicts and numbered quotes. Where the judge failed and nothing
    is proved, those of `units` that the draft names stand behind them, word for word.
    """
    bound = []
    for sentence, judgement in zip(proven.draft.sentences, proven.judgements, strict=True):
        verdict: Verdict = "supported" if judgement.verdict == "entailed" else "unsupported"
        problems = (
            [] if verdict == "supported" else [judgement.reason or Text("no sentence shows it")]
        )
        shown = Sentence(
            text=sentence.text.strip(),
            verdict=verdict,
            problems=problems,
            kind=sentence.kind,
            calculation=sentence.calculation,
            span=sentence.span,
        )
        bound.append(
            (shown, judgement.evidence if verdict != "unsupported" else (), judgement.score)
        )
    if proven.failure and not proven.count and proven.draft.status not in {"not_told", "unclear"}:
        named = pick_units(
            [name for sentence in proven.draft.sentences for name in sentence.evidence], units
        )
        bound += [
            (Sentence(text=" ".join(unit.text.split()), verdict="supported"), (unit,), 1.0)
            for unit in named
        ]
    return number_citations(bound)

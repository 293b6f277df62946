"""How a question to a paper ends: what the audit left of the draft, with what failed marked, or a
plain no.

The one rule: a sentence that the paper does not prove is never shown without saying so.
"""

from __future__ import annotations

from citewell.agents.paper_ask import Deps, PaperState
from citewell.graph import note
from citewell.skills.answer.answering import Decided, Drafted
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.decision import answer_signals, model_of, tier_of
from citewell.skills.answer.ending import end_answer
from citewell.skills.answer.format import with_markers
from citewell.skills.answer.wording import say
from citewell.skills.paper.references import missing_said

SURE = 0.95  # of what the paper's structure answers: its right answers of our two samples, 28 of 30


def settle(state: PaperState, deps: Deps) -> None:
    """Write the end of the run into the state."""
    if state.intent == "smalltalk":
        state.final_answer, state.status = say("smalltalk_paper", state.lang), "clarify"
        return
    if state.agents == ["structure"] and state.proof.sentences:
        state.status, state.confidence = "answered", SURE
        state.final_answer = with_markers(state.proof.sentences, state.lang)
    elif (
        state.drafted is None
        or state.decided is None
        or not (state.proof.sentences or _asks_back(state.decided))
    ):
        _refuse(state, deps)
    else:
        _end(state, state.drafted, state.decided, deps)
    note(status=state.status, stop_reason=state.stop_reason)


def _asks_back(decided: Decided) -> bool:
    return decided.proven.draft.status == "unclear"


def _end(state: PaperState, drafted: Drafted, decided: Decided, deps: Deps) -> None:
    end = end_answer(drafted, decided, state.proof, state.hits, state.lang, degraded=state.degraded)
    state.confidence, state.warnings = decided.probability, [*state.warnings, *end.warnings]
    state.proof = end.proof
    if end.status == "refused" and not end.proof.sentences:
        _refuse(state, deps)
        return
    state.status, state.final_answer = end.status, end.text
    if end.status == "fallback":
        state.stop_reason = state.stop_reason or ("model_failed" if state.degraded else "unsettled")


def _refuse(state: PaperState, deps: Deps) -> None:
    state.status = "refused"
    if not state.confidence:
        model = model_of(tier_of(deps.llm, deps.reader), deps.calibration)
        state.confidence = round(model(answer_signals(state.retrieval_confidence, state.lang)), 4)
    state.proof = Proof([], [])
    joint = "、" if state.lang == "zh" else ", "
    parts = []
    if state.pointed.missing:
        parts.append(missing_said(state.pointed, deps.book, state.lang))
    else:
        parts.append(say("refused_paper", state.lang))
        if places := list(dict.fromkeys(_places(state))):
            parts.append(say("nearest_paper", state.lang, places=joint.join(places[:3])))
    if state.stop_reason.startswith("budget"):
        parts.append(say(state.stop_reason, state.lang))
    state.stop_reason = state.stop_reason or "unsettled"
    state.final_answer = _joined(state.lang, *parts)


def _places(state: PaperState) -> list[str]:
    """Where what was read for this question stands."""
    hits = [
        passage.hit for draft in state.drafts for passage in draft.drafted.passages
    ] or state.hits
    names = []
    for hit in hits:
        page = f" ({say('page', state.lang, page=str(hit.page))})" if hit.page else ""
        names.append((hit.heading_path[-1] if hit.heading_path else hit.title) + page)
    return names


def _joined(lang: str, *parts: str) -> str:
    return ("" if lang == "zh" else " ").join(part for part in parts if part)

"""How a question to a paper ends: what the audit left of the draft, with what failed marked, or a plain no.

The one rule: a sentence that the paper does not prove is never shown without saying so.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.agents.paper_ask import Deps, PaperState
from citewell.flow import note
from citewell.skills.cite import Proof
from citewell.skills.confidence import answer_confidence, share
from citewell.skills.pointed import missing_said
from citewell.skills.wording import say
from citewell.types import Sentence

LEAST = 0.5  # share of a draft that must be proved (partly counts half): below it the draft is withheld


def settle(state: PaperState, deps: Deps) -> None:
    """Write the end of the run into the state."""
    if state.intent == "smalltalk":
        state.final_answer, state.status = say("smalltalk_paper", state.lang), "clarify"
        return
    proved = share([sentence.verdict for sentence in state.proof.sentences])
    if not state.proof.sentences or proved < LEAST:
        _refuse(state, deps)
    else:
        _show(state, deps)
    note(status=state.status, stop_reason=state.stop_reason)


def _show(state: PaperState, deps: Deps) -> None:
    log_odds = max((d.evidence_log_odds for d in state.drafts if d.evidence_log_odds is not None), default=None)
    state.confidence = answer_confidence(state.retrieval_confidence, log_odds, state.proof.sentences, deps.calibration)
    text = marked(state.proof.sentences, state.lang)
    failed = sum(sentence.verdict == "unsupported" for sentence in state.proof.sentences)
    if failed:
        state.warnings.append(f"not supported by the paper, and marked so: {failed} of {len(state.proof.sentences)} sentences")
    drafted = [draft.generation for draft in state.drafts if draft.generation != "unknown"]
    # words of the paper stand in for an answer that nobody worded, or no sentence of it is proved in whole
    unsure = bool(drafted) and all(how == "extracted" for how in drafted) and (deps.llm is not None or not _sure(state, deps))
    if unsure or not any(sentence.verdict == "supported" for sentence in state.proof.sentences):
        state.status, state.stop_reason = "fallback", state.stop_reason or ("model_failed" if state.degraded else "unsettled")
        caution = say("extract" if state.degraded else "uncertain_paper", state.lang)
        state.final_answer = _joined(state.lang, caution, text)
        return
    state.status, state.final_answer = "answered", text


def _sure(state: PaperState, deps: Deps) -> bool:
    return state.retrieval_confidence >= deps.thresholds.retrieval_threshold


def marked(sentences: Sequence[Sentence], lang: str) -> str:
    """The sentences with `[n]` behind each, and the mark behind those that failed the audit."""
    mark = say("unsupported_mark", lang)
    joint = "" if lang == "zh" else " "
    parts = []
    for sentence in sentences:
        numbers = "".join(f"[{n}]" for n in sentence.citations)
        parts.append(sentence.text + (numbers if sentence.verdict != "unsupported" else f"{joint}{mark}"))
    return joint.join(parts)


def _refuse(state: PaperState, deps: Deps) -> None:
    state.status = "refused"
    log_odds = max((d.evidence_log_odds for d in state.drafts if d.evidence_log_odds is not None), default=None)
    state.confidence = answer_confidence(state.retrieval_confidence, log_odds, [], deps.calibration)
    if state.proof.sentences:
        state.warnings.append("the draft was withheld: the paper does not prove it")
    state.proof = Proof([], [])
    joint = "、" if state.lang == "zh" else ", "
    parts = []
    if state.pointed.missing:
        parts.append(missing_said(state.pointed, deps.book, state.lang))
    elif state.absent:
        parts.append(say("never_mentions", state.lang, names=joint.join(state.absent)))
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
    hits = [passage.hit for draft in state.drafts for passage in draft.passages] or state.hits
    names = []
    for hit in hits:
        page = f" ({say('page', state.lang, page=str(hit.page))})" if hit.page else ""
        names.append((hit.heading_path[-1] if hit.heading_path else hit.title) + page)
    return names


def _joined(lang: str, *parts: str) -> str:
    return ("" if lang == "zh" else " ").join(part for part in parts if part)

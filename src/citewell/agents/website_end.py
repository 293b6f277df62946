"""How a question to a site ends: a proved answer, the nearest with a caution, or a plain refusal.

The one rule: a refusal says how far the site was read, what ended it and what could not be read.
"""

from __future__ import annotations

from citewell.agents.website_state import Deps, WebsiteState
from citewell.flow import note
from citewell.skills.cite import Proof, left_out, proved
from citewell.skills.confidence import answer_confidence, share
from citewell.skills.format import with_markers
from citewell.skills.grade import REJECTED, SETTLES_THRESHOLD
from citewell.skills.wording import nearest, pages, say

NAMED = 3  # pages that could not be read, named in an answer; the warnings name all


async def settle(state: WebsiteState, deps: Deps) -> None:
    """Write the end of the run into the state."""
    if state.intent == "smalltalk":
        state.final_answer = say("smalltalk_site", state.lang, site=deps.site.name)
        state.status, state.generation = "clarify", "said"
        return
    supported = share([sentence.verdict for sentence in state.proof.sentences])
    if supported and (state.settled is None or state.settled >= REJECTED):
        _show(state, deps)
    else:
        _refuse(state, deps)
    note(status=state.status, stop_reason=state.stop_reason)


def _show(state: WebsiteState, deps: Deps) -> None:
    kept = proved(state.proof)
    state.warnings += left_out(state.proof, kept)
    state.confidence = answer_confidence(
        state.retrieval_confidence, state.evidence_log_odds, state.proof.sentences, deps.calibration
    )
    state.proof = kept
    text = with_markers(kept.sentences, state.lang)
    unsettled = state.settled is not None and state.settled < SETTLES_THRESHOLD
    unsettled = unsettled or state.stop_reason.startswith("budget")  # nobody could grade it any more
    unsettled = unsettled or (state.generation == "extracted" and deps.llm is not None and not state.degraded)
    if not unsettled and not state.degraded:
        state.status, state.final_answer = "answered", text
        return
    state.status = "fallback"
    state.stop_reason = state.stop_reason or ("unsettled" if unsettled else "model_failed")
    caution = say("extract" if state.degraded else "uncertain_site", state.lang)
    state.final_answer = _joined(state, caution, text, _unread(state))


def _refuse(state: WebsiteState, deps: Deps) -> None:
    state.status = "refused"
    state.confidence = answer_confidence(state.retrieval_confidence, state.evidence_log_odds, [], deps.calibration)
    proofs = state.proof.citations
    if proofs:
        state.warnings.append("the draft was withheld: what it says stands on the site, but does not settle the question")
    elif state.proof.sentences:
        state.warnings.append("the draft was withheld: none of its sentences stands on the site")
    state.proof = Proof([], [])
    read = sum(bool(page.doc_id) for page in deps.site.pages.values())
    said = {"site": deps.site.name, "pages": pages(read, state.lang)}
    if state.stop_reason in {"off_site", "unreachable"}:
        state.final_answer = _joined(state, say(state.stop_reason, state.lang, **said), _unread(state))
        return
    state.stop_reason = state.stop_reason or "unsettled"
    near = proofs or state.documents
    where = nearest(near, state.lang) if near else ""
    parts = (say("site_refused", state.lang, **said), where, say(state.stop_reason, state.lang), _unread(state))
    state.final_answer = _joined(state, *parts)


def _unread(state: WebsiteState) -> str:
    """What could not be read, by address and reason. Reasons are in English: a Chinese answer leaves them to the warnings."""
    named = list(dict.fromkeys(state.problems.values()))[:NAMED]
    if state.lang == "zh":
        named = [problem.partition(": ")[0] for problem in named]
    joint = "、" if state.lang == "zh" else "; "
    return say("unread", state.lang, problems=joint.join(named)) if named else ""


def _joined(state: WebsiteState, *parts: str) -> str:
    return ("" if state.lang == "zh" else " ").join(part for part in parts if part)

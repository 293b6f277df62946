"""How a question to a site ends: a proved answer, the nearest with a caution, or a plain refusal.

The one rule: a refusal says how far the site was read, what ended it and what could not be read.
"""

from __future__ import annotations

from citewell.agents.website_state import Deps, WebsiteState
from citewell.errors import Conflict, NotFound
from citewell.graph import note
from citewell.skills.answer.answering import Decided, decide_answer, prove_answer
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.decision import answer_signals, model_of, tier_of
from citewell.skills.answer.ending import Ending, end_answer
from citewell.skills.answer.wording import nearest, pages, say
from citewell.skills.memory.recollect import with_origin
from citewell.skills.proof.prove import show_proof

NAMED = 3  # pages that could not be read, named in an answer; the warnings name all


async def prove_draft(state: WebsiteState, deps: Deps) -> Decided | None:
    """The draft judged; None where there is none, or where a page changed under its quotes
    meanwhile. That nothing is told is judged too, where a connected model says so and the site is
    not about something else.
    """
    silent = state.told == "nothing"
    if state.drafted is None or (
        silent and (state.drafted.tier != "connected" or state.stop_reason == "off_site")
    ):
        return None
    proven = await prove_answer(deps, state.drafted, history=state.conversation_history)
    if silent and proven.draft.status != "not_told":
        state.stop_reason = ""  # the repaired draft tells it after all
    state.stop_reason = state.stop_reason or proven.spent
    decided = decide_answer(deps, state.drafted, proven, state.retrieval_confidence)
    proof = show_proof(decided.proven)
    try:
        state.proof = Proof(
            proof.sentences, await deps.locate(with_origin(proof.citations, state.fetched))
        )
    except (Conflict, NotFound) as error:
        state.warnings.append(f"an answer was dropped: {error.message}")
        return None
    return decided


async def settle(state: WebsiteState, deps: Deps, decided: Decided | None) -> None:
    """Write the end of the run into the state. `decided`: the judged draft; None where there is
    none.
    """
    if state.intent == "smalltalk":
        state.final_answer = say("smalltalk_site", state.lang, site=deps.site.name)
        state.status = "clarify"
        return
    if decided is None or state.drafted is None:
        _refuse(state, deps)
    else:
        end = end_answer(
            state.drafted,
            decided,
            state.proof,
            state.documents,
            state.lang,
            degraded=state.degraded,
        )
        state.confidence = decided.probability
        if end.status == "refused":
            state.warnings += end.warnings
            _refuse(state, deps, end)
        else:
            _show(state, end)
    note(status=state.status, stop_reason=state.stop_reason)


def _show(state: WebsiteState, end: Ending) -> None:
    state.status, state.proof, state.final_answer = end.status, end.proof, end.text
    state.warnings += end.warnings
    if end.status == "fallback":
        state.stop_reason = state.stop_reason or ("model_failed" if state.degraded else "unsettled")
        state.final_answer = _joined(state, end.text, _unread(state))


def _refuse(state: WebsiteState, deps: Deps, end: Ending | None = None) -> None:
    """In the model's own words for what is missing, where they are proved (`end`), else in ours."""
    state.status = "refused"
    if not state.confidence:
        model = model_of(tier_of(deps.llm, deps.reader), deps.calibration)
        state.confidence = round(model(answer_signals(state.retrieval_confidence, state.lang)), 4)
    state.proof = end.proof if end is not None else Proof([], [])
    read = sum(bool(page.doc_id) for page in deps.site.pages.values())
    said = {"site": deps.site.name, "pages": pages(read, state.lang)}
    if state.stop_reason in {"off_site", "unreachable"}:
        state.final_answer = _joined(
            state, say(state.stop_reason, state.lang, **said), _unread(state)
        )
        return
    state.stop_reason = state.stop_reason or "unsettled"
    if end is not None and end.proof.sentences:
        missing = _joined(state, end.text, say("site_read", state.lang, **said))
    else:
        missing = say("site_refused", state.lang, **said)
    where = nearest(state.documents, state.lang) if state.documents else ""
    state.final_answer = _joined(
        state, missing, where, say(state.stop_reason, state.lang), _unread(state)
    )


def _unread(state: WebsiteState) -> str:
    """What could not be read, by address and reason. Reasons are in English: a Chinese answer
    leaves them to the warnings.
    """
    named = list(dict.fromkeys(state.problems.values()))[:NAMED]
    if state.lang == "zh":
        named = [problem.partition(": ")[0] for problem in named]
    joint = "、" if state.lang == "zh" else "; "
    return say("unread", state.lang, problems=joint.join(named)) if named else ""


def _joined(state: WebsiteState, *parts: str) -> str:
    return ("" if state.lang == "zh" else " ").join(part for part in parts if part)

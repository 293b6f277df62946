"""How a question to a site ends: a proved answer, the nearest with a caution, or a plain refusal.

The one rule: a refusal says how far the site was read, what ended it and what could not be read.
"""

from __future__ import annotations

from citewell.agents.website_state import Deps, WebsiteState
from citewell.errors import Conflict, NotFound
from citewell.graph import record_detail
from citewell.skills.answer.answering import Decided, decide_answer, prove_answer
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.decision import collect_answer_signals, get_decision_model, get_tier
from citewell.skills.answer.ending import Ending, end_answer
from citewell.skills.answer.wording import format_message, format_nearest_sources, format_page_count
from citewell.skills.memory.recollect import mark_citation_origins
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
            proof.sentences,
            await deps.locate(mark_citation_origins(proof.citations, state.fetched)),
        )
    except (Conflict, NotFound) as error:
        state.warnings.append(f"an answer was dropped: {error.message}")
        return None
    return decided


async def finish_run(state: WebsiteState, deps: Deps, decided: Decided | None) -> None:
    """Write the end of the run into the state. `decided`: the judged draft; None where there is
    none.
    """
    if state.intent == "smalltalk":
        state.final_answer = format_message("smalltalk_site", state.lang, site=deps.site.name)
        state.status = "clarify"
        return
    if decided is None or state.drafted is None:
        _refuse_answer(state, deps)
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
            _refuse_answer(state, deps, end)
        else:
            _show_answer(state, end)
    record_detail(status=state.status, stop_reason=state.stop_reason)


def _show_answer(state: WebsiteState, end: Ending) -> None:
    state.status, state.proof, state.final_answer = end.status, end.proof, end.text
    state.warnings += end.warnings
    if end.status == "fallback":
        state.stop_reason = state.stop_reason or ("model_failed" if state.degraded else "unsettled")
        state.final_answer = _join_parts(state, end.text, _format_unread(state))


def _refuse_answer(state: WebsiteState, deps: Deps, end: Ending | None = None) -> None:
    """In the model's own words for what is missing, where they are proved (`end`), else in ours."""
    state.status = "refused"
    if not state.confidence:
        model = get_decision_model(get_tier(deps.llm, deps.reader), deps.calibration)
        state.confidence = round(
            model(collect_answer_signals(state.retrieval_confidence, state.lang)), 4
        )
    state.proof = end.proof if end is not None else Proof([], [])
    read = sum(bool(page.doc_id) for page in deps.site.pages.values())
    said = {"site": deps.site.name, "pages": format_page_count(read, state.lang)}
    if state.stop_reason in {"off_site", "unreachable"}:
        state.final_answer = _join_parts(
            state, format_message(state.stop_reason, state.lang, **said), _format_unread(state)
        )
        return
    state.stop_reason = state.stop_reason or "unsettled"
    if end is not None and end.proof.sentences:
        missing = _join_parts(state, end.text, format_message("site_read", state.lang, **said))
    else:
        missing = format_message("site_refused", state.lang, **said)
    where = format_nearest_sources(state.documents, state.lang) if state.documents else ""
    state.final_answer = _join_parts(
        state, missing, where, format_message(state.stop_reason, state.lang), _format_unread(state)
    )


def _format_unread(state: WebsiteState) -> str:
    """What could not be read, by address and reason. Reasons are in English: a Chinese answer
    leaves them to the warnings.
    """
    named = list(dict.fromkeys(state.problems.values()))[:NAMED]
    if state.lang == "zh":
        named = [problem.partition(": ")[0] for problem in named]
    joint = "、" if state.lang == "zh" else "; "
    return format_message("unread", state.lang, problems=joint.join(named)) if named else ""


def _join_parts(state: WebsiteState, *parts: str) -> str:
    return ("" if state.lang == "zh" else " ").join(part for part in parts if part)

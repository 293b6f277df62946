"""How the dual loop drafts and grades: are the passages good enough, does the draft settle the
question, and what comes next. What ends a loop is written to `stop_reason`, by the first that ends
it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from citewell.agents.dual_loop.dual_loop_state import Attempt, Deps, DualLoopState
from citewell.errors import CitewellError, Conflict, NotFound
from citewell.messages import Text
from citewell.models.base import is_connected
from citewell.skills.answer.answering import decide_answer, draft_answer, prove_answer
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.ending import Ending, end_answer
from citewell.skills.dialogue.route import get_next_search, is_same_query
from citewell.skills.evidence.confirmed_evidence import (
    add_confirmed_evidence,
    adjust_confidence,
    get_quoted_similarity,
    mark_confirmed_citations,
)
from citewell.skills.memory.recollect import mark_citation_origins
from citewell.skills.proof.prove import judge_draft, show_proof

MOST_CALLS = 4  # of the chat model for one question: drafts and their judgement
ROUND_CALLS = 2  # of one more draft with its judgement


async def add_confirmed(state: DualLoopState, deps: Deps) -> None:
    """What people confirmed stands in front, but what was graded before as holding no answer."""
    fresh = [each for each in state.vouched if each.hit.chunk_id not in state.rejected]
    if not fresh:
        return
    try:
        state.passages, against = await add_confirmed_evidence(
            state.standalone, fresh, state.passages, deps.judge
        )
    except CitewellError as error:
        state.warnings.append(
            Text("what people confirmed was not looked at: {message}", message=error.message)
        )
        return
    state.warnings += [warning for warning in against if warning not in state.warnings]
    shown = {passage.hit.chunk_id for passage in state.passages}
    used = [each for each in fresh if each.hit.chunk_id in shown]
    # not judged again after another search
    state.rejected += [each.hit.chunk_id for each in fresh if each not in used]
    least = deps.thresholds.retrieval_threshold
    state.retrieval_confidence = adjust_confidence(used, state.retrieval_confidence, least)


async def has_relevant_documents(state: DualLoopState, deps: Deps) -> bool:
    """A connected model may look at what the search doubts once no other search is left: it says
    itself what is missing.
    """
    if has_working_model(state, deps):
        sure = state.retrieval_confidence >= deps.thresholds.retrieval_threshold
        return sure or get_next_search(state.tried_routes, web=deps.has_web) is None
    state.drafted = await draft_answer(deps, state.standalone, state.passages, quoted_only=True)
    proven = await judge_draft(state.drafted.draft, state.standalone, state.drafted.units, None)
    return decide_answer(deps, state.drafted, proven, state.retrieval_confidence).shown


def has_working_model(state: DualLoopState, deps: Deps) -> bool:
    """Whether a connected model is at hand that works."""
    return is_connected(deps.llm) and not state.degraded


def decide_after_document_grading(
    state: DualLoopState, deps: Deps
) -> Literal["generate", "retry_retrieve", "fallback"]:
    """Good: write. Poor: the next search that has not been tried. None left, or the same evidence
    as before: an honest end.
    """
    _check_time(state, deps)
    if state.documents_are_relevant:
        if state.spans not in state.answered_from:
            return "generate"
        state.stop_reason = state.stop_reason or "same_evidence"
        return "fallback"
    route = (
        get_next_search(state.tried_routes, web=deps.has_web) if deps.settings.inner_loop else None
    )
    if route is not None and not state.stop_reason:
        state.route = route
        state.tried_routes.append(route)
        return "retry_retrieve"
    state.stop_reason = state.stop_reason or "routes_exhausted"
    return "fallback"


def _check_time(state: DualLoopState, deps: Deps) -> None:
    if deps.late():
        state.stop_reason = state.stop_reason or "budget_seconds"


async def draft_response(state: DualLoopState, deps: Deps) -> None:
    if state.drafted is None:
        quoted_only = bool(state.stop_reason)
        drafted = await draft_answer(
            deps, state.standalone, state.passages, history=state.history, quoted_only=quoted_only
        )
        state.model_calls += drafted.calls
        if drafted.failure.startswith("budget"):
            state.stop_reason = state.stop_reason or drafted.failure
        elif drafted.failure:
            state.degraded = True
        state.warnings += (
            [drafted.warning] if drafted.warning and drafted.warning not in state.warnings else []
        )
        state.drafted = drafted
    state.response, state.generation = state.drafted.draft.text, "drafted"


async def grade_draft(state: DualLoopState, deps: Deps) -> Attempt:
    """The draft judged; what is doubted is written once more where no other evidence can be looked
    for. That nothing is told is judged only where nothing else is left to try.
    """
    drafted = state.drafted
    assert drafted is not None, "a draft is graded"
    draft = drafted.draft
    state.search_for = (
        "" if draft.status in {"answered", "false_premise", "unclear"} else draft.search_for
    )
    if draft.status == "not_told" and can_search_again(state, deps):
        return Attempt(
            Ending("refused", "", Proof([], [])),
            0.0,
            state.retrieval_confidence,
            state.route,
            shown=False,
            proved=False,
        )
    state.model_calls += drafted.tier == "connected"
    repair = not can_search_again(state, deps) and state.model_calls + ROUND_CALLS <= MOST_CALLS
    proven = await prove_answer(deps, drafted, history=state.history, repair=repair)
    state.stop_reason = state.stop_reason or proven.spent
    recalled = (
        state.retrieval_confidence
        if state.route == "direct"
        else get_quoted_similarity(state.vouched, proven)
    )
    decided = decide_answer(deps, drafted, proven, state.retrieval_confidence, recalled=recalled)
    proof = show_proof(decided.proven)
    try:
        located = await deps.search.locate(
            mark_citation_origins(
                mark_confirmed_citations(proof.citations, state.vouched), state.fetched
            )
        )
        proof = Proof(proof.sentences, located)
    except (Conflict, NotFound) as error:
        state.warnings.append(Text("an answer was dropped: {message}", message=error.message))
        proof, decided = Proof([], []), replace(decided, shown=False)
    end = end_answer(drafted, decided, proof, state.nearest, state.lang, degraded=state.degraded)
    proved = decided.proven.proved and end.status == "answered"
    return Attempt(
        end, decided.probability, state.retrieval_confidence, state.route, decided.shown, proved
    )


def can_search_again(state: DualLoopState, deps: Deps) -> bool:
    """Whether other evidence may be looked for after this draft: the documents after a direct
    answer, or other words where the draft named some and corrections are left. One more draft and
    its judgement must fit the calls of a question.
    """
    if state.stop_reason or state.model_calls + ROUND_CALLS > MOST_CALLS:
        return False
    most = deps.settings.corrections if deps.settings.outer_loop else 0
    fresh = bool(state.search_for) and not any(
        is_same_query(state.search_for, earlier) for earlier in state.queries
    )
    return state.route == "direct" or (fresh and state.correction_attempts < most)


def decide_after_answer_grading(state: DualLoopState, deps: Deps) -> Literal["end", "retry"]:
    """Good: the end. Poor: other words, as often as is allowed and as the draft named some. After a
    poor direct answer the documents are asked, which is no correction.
    """
    if state.is_relevant:
        return "end"
    _check_time(state, deps)
    if can_search_again(state, deps):
        state.correction_attempts += state.route != "direct"
        return "retry"
    why = (
        "corrections_exhausted"
        if state.correction_attempts
        else "model_failed"
        if state.degraded
        else "unsettled"
    )
    state.stop_reason = state.stop_reason or why
    return "end"

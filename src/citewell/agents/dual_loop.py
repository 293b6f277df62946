"""The `dual_loop` agent of spec 001: memory, a route, then two loops: are the documents good
enough, does the answer settle it.

The one rule: each turn of a loop must bring something new (another route, other evidence, other
words), within a budget; what ended it is said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from citewell.agents.dual_loop_end import finish_run
from citewell.agents.dual_loop_keep import remember_run
from citewell.agents.dual_loop_state import Attempt, Deps, DualLoopState, Retrieved
from citewell.agents.dual_loop_talk import TALK, detect_intent, write_direct_reply
from citewell.errors import (
    CitewellError,
    ConfigError,
    Conflict,
    NotFound,
    PermanentError,
    TransientError,
)
from citewell.graph import END, Graph, node, record_detail
from citewell.models.base import is_connected
from citewell.skills.answer.answering import decide_answer, draft_answer, prove_answer
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.ending import Ending, end_answer
from citewell.skills.dialogue.reference import Readings, build_readings, is_follow_up
from citewell.skills.dialogue.route import (
    choose_search_route,
    get_next_search,
    is_same_query,
    is_web_request,
    strip_web_request,
)
from citewell.skills.dialogue.validate import find_question_error
from citewell.skills.evidence.confirmed_evidence import (
    ConfirmedEvidence,
    add_confirmed_evidence,
    adjust_confidence,
    get_quoted_similarity,
    mark_confirmed_citations,
)
from citewell.skills.evidence.passages import describe_hit, pack_passages, select_passages
from citewell.skills.memory.recall import extract_message_facts, personalize_question
from citewell.skills.memory.recollect import (
    build_conversation_hits,
    build_memory_hits,
    mark_citation_origins,
)
from citewell.skills.memory.remember import extract_question_part, is_conversation_question
from citewell.skills.proof.prove import judge_draft, show_proof
from citewell.text.entities import extract_search_names
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language

MOST_CALLS = 4  # of the chat model for one question: drafts and their judgement
ROUND_CALLS = 2  # of one more draft with its judgement
SHOWN = 3  # nearest passages that a refusal names
TOLD = {"item_id", "kind", "question", "similarity"}  # of what people confirmed, in a trace
RECALLED = 8  # memories or turns that a question about them is answered from


@node("retrieve_memory")
async def retrieve_memory(state: DualLoopState, deps: Deps) -> Literal["route_query"]:
    """Clean the question, refuse what cannot be asked, recall what is remembered of this user."""
    state.question = normalize_text(state.question)
    if found := find_question_error(
        state.question, deps.thresholds.question_max_chars, deps.sensitive
    ):
        raise found[1]
    state.lang = detect_language(state.question)
    if deps.recall is not None:
        try:
            state.memories = await deps.recall(state.question)
        except CitewellError as error:
            state.warnings.append(f"nothing was recalled: {error.message}")
    told = [
        {"memory_id": r.memory.memory_id, "text": r.memory.text, "score": r.score}
        for r in state.memories
    ]
    record_detail(trace_id=deps.trace_id, memories=told)
    return "route_query"


@node("route_query")
async def route_query(state: DualLoopState, deps: Deps) -> Literal["search", "direct"]:
    """Decide where to look first; nothing is searched here."""
    state.intent, reason = await detect_intent(state, deps)
    if state.intent in TALK:
        state.route, state.route_reason = "direct", reason
    else:
        settled = [recalled.memory.route for recalled in state.memories if recalled.same]
        chosen = choose_search_route(
            state.question,
            state.intent,
            preferred=deps.preferred,
            forced=deps.forced,
            settled_by=settled,
            web=deps.web,
        )
        state.route, state.route_reason = chosen.name, chosen.reason
    if is_web_request(state.question) and not deps.web:
        state.warnings.append(
            "the question asks for the web, and searching it is switched off (setting web.provider)"
        )
    state.tried_routes = [state.route]
    record_detail(route=state.route, reason=state.route_reason, intent=state.intent)
    return "direct" if state.route == "direct" else "search"


@node("rewrite_query")
async def rewrite_query(state: DualLoopState, deps: Deps) -> Literal["search", "same_question"]:
    """Make the question fit for search: at first in full words, after a poor answer in other
    words.
    """
    if state.route == "direct" or not state.queries:
        state.standalone, state.read = await _build_first_reading(state, deps)
        state.route = state.tried_routes[0]
        if state.route == "direct":  # its answer was poor, so the documents are asked after all
            state.route, state.intent = (
                get_next_search([], web=deps.web) or "direct_chunk_search",
                "fact",
            )
    else:
        query = state.search_for
        if not query or any(is_same_query(query, earlier) for earlier in state.queries):
            state.stop_reason = state.stop_reason or (
                "model_failed" if state.degraded else "same_question"
            )
            record_detail(query=query)
            await finish_run(state, deps)
            return "same_question"
        state.read = Readings(query, state.standalone, 1.0)
        state.outside = query if not (state.used_memories or state.used_told) else state.outside
        state.route = next(route for route in state.tried_routes if route != "direct")
    state.tried_routes, state.updated_query = [state.route], state.read.text
    state.queries.append(state.updated_query)
    state.forget_evidence()
    if not state.vouched:
        state.vouched = await _find_confirmed(state, deps)
    record_detail(
        query=state.updated_query, standalone=state.standalone, attempt=state.correction_attempts
    )
    record_detail(confirmed=[each.followed.model_dump(include=TOLD) for each in state.vouched])
    return "search"


async def _find_confirmed(state: DualLoopState, deps: Deps) -> list[ConfirmedEvidence]:
    """What people confirmed of such questions; without it, documents alone answer."""
    if deps.known is None:
        return []
    try:
        return await deps.known(state.standalone)
    except CitewellError as error:
        state.warnings.append(f"what people confirmed was not looked at: {error.message}")
        return []


async def _build_first_reading(state: DualLoopState, deps: Deps) -> tuple[str, Readings]:
    """The question in full words, with what is remembered put where the user means it, and what is
    searched for.
    """
    question = strip_web_request(extract_question_part(state.question))
    read = build_readings(question, state.history)
    state.joined = bool(state.history) and is_follow_up(question, state.history)
    state.outside = read.text if state.joined else question
    known = [*extract_message_facts(state.question), *state.memories]
    standalone, used = personalize_question(state.outside, known)
    if used:
        state.used_memories = [memory.memory_id for memory in used if memory.memory_id]
        state.used_told = [memory.subject for memory in used if not memory.memory_id]
        read = Readings(standalone, read.context or question, read.weight or 1.0)
    # it reads all that was said, with the conversation, in its answer call
    if is_connected(deps.llm):
        standalone, _ = personalize_question(state.question, known)
    return standalone, read


@node("retrieve_documents")
async def retrieve_documents(state: DualLoopState, deps: Deps) -> Literal["grade_documents"]:
    """Search by the route in hand; where the documents hold nothing at all, go on to the web at
    once.
    """
    found = await _retrieve_hits(state, deps)
    if not found.hits and deps.web and "web_search" not in state.tried_routes and not deps.late():
        state.route = "web_search"
        state.tried_routes.append(state.route)
        found = await _retrieve_hits(state, deps)
    fresh = [hit for hit in found.hits if hit.chunk_id not in state.rejected]
    state.documents, state.retrieval_confidence = fresh, found.confidence
    state.nearest = state.nearest or found.hits[:SHOWN]
    if len(fresh) < len(found.hits):  # the best were looked at before, and are not among these
        state.retrieval_confidence = deps.rate(state.read.text, fresh)
    state.fetched |= found.fetched
    state.warnings += [warning for warning in found.warnings if warning not in state.warnings]
    record_detail(
        route=state.route,
        confidence=state.retrieval_confidence,
        looked_at_before=len(found.hits) - len(fresh),
    )
    record_detail(evidence=[describe_hit(hit) for hit in fresh])
    return "grade_documents"


async def _retrieve_hits(state: DualLoopState, deps: Deps) -> Retrieved:
    """Raises StorageError. What fails of the web is a warning: the documents are there all the
    same.
    """
    try:
        found = await deps.retrieve(
            state.route, state.read, extract_search_names(state.standalone), state.outside
        )
    except (TransientError, PermanentError, ConfigError) as error:
        if state.route != "web_search":
            raise
        hint = f" ({error.hint})" if error.hint else ""
        return Retrieved(
            [], 0.0, warnings=(f"the web could not be searched: {error.message}{hint}",)
        )
    state.searched.append(state.route)
    return found


@node("grade_documents")
async def grade_documents(
    state: DualLoopState, deps: Deps
) -> Literal["generate", "retry_retrieve", "fallback"]:
    """Are the passages likely to hold the answer? By the search's calibrated confidence, and
    without a connected model by what the reader finds in them.
    """
    state.documents_are_relevant = False
    state.passages = await select_passages(state.standalone, state.documents, deps.llm, deps.widen)
    await _add_confirmed(state, deps)
    known = state.spans in state.answered_from  # graded good before, and no good answer came of it
    if state.passages and deps.settings.inner_loop and not known:
        state.documents_are_relevant = await _has_relevant_documents(state, deps)
    else:
        state.documents_are_relevant = bool(state.passages)
    # what only the search doubts nobody has looked at yet
    if not state.documents_are_relevant and not _has_working_model(state, deps):
        state.rejected += [p.hit.chunk_id for p in state.passages]
    record_detail(relevant=state.documents_are_relevant, passages=len(state.passages))
    decision = decide_after_document_grading(state, deps)
    if decision == "fallback":
        await finish_run(state, deps)
    return decision


async def _add_confirmed(state: DualLoopState, deps: Deps) -> None:
    """What people confirmed stands in front, but for what was graded before and does not hold the
    answer.
    """
    fresh = [each for each in state.vouched if each.hit.chunk_id not in state.rejected]
    if not fresh:
        return
    try:
        state.passages, against = await add_confirmed_evidence(
            state.standalone, fresh, state.passages, deps.judge
        )
    except CitewellError as error:
        state.warnings.append(f"what people confirmed was not looked at: {error.message}")
        return
    state.warnings += [warning for warning in against if warning not in state.warnings]
    shown = {passage.hit.chunk_id for passage in state.passages}
    used = [each for each in fresh if each.hit.chunk_id in shown]
    # not judged again after another search
    state.rejected += [each.hit.chunk_id for each in fresh if each not in used]
    least = deps.thresholds.retrieval_threshold
    state.retrieval_confidence = adjust_confidence(used, state.retrieval_confidence, least)


async def _has_relevant_documents(state: DualLoopState, deps: Deps) -> bool:
    """A connected model may look at what the search doubts once no other search is left: it says
    itself what is missing.
    """
    if _has_working_model(state, deps):
        sure = state.retrieval_confidence >= deps.thresholds.retrieval_threshold
        return sure or get_next_search(state.tried_routes, web=deps.web) is None
    state.drafted = await draft_answer(deps, state.standalone, state.passages, quoted_only=True)
    proven = await judge_draft(state.drafted.draft, state.standalone, state.drafted.units, None)
    return decide_answer(deps, state.drafted, proven, state.retrieval_confidence).shown


def _has_working_model(state: DualLoopState, deps: Deps) -> bool:
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
    route = get_next_search(state.tried_routes, web=deps.web) if deps.settings.inner_loop else None
    if route is not None and not state.stop_reason:
        state.route = route
        state.tried_routes.append(route)
        return "retry_retrieve"
    state.stop_reason = state.stop_reason or "routes_exhausted"
    return "fallback"


def _check_time(state: DualLoopState, deps: Deps) -> None:
    if deps.late():
        state.stop_reason = state.stop_reason or "budget_seconds"


@node("generate_response")
async def generate_response(state: DualLoopState, deps: Deps) -> Literal["grade_relevance"]:
    """Write the whole answer over numbered evidence in one call; without a connected model, the
    sentences that answer.
    """
    await _draft_response(state, deps)
    return "grade_relevance"


async def _draft_response(state: DualLoopState, deps: Deps) -> None:
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


@node("direct_response")
async def direct_response(state: DualLoopState, deps: Deps) -> Literal["grade_relevance"]:
    """Answer without a search: a greeting, something to remember, a question about what was said or
    remembered.
    """
    state.standalone = state.standalone or state.question
    state.passages = []
    state.generation = "direct"
    if state.intent == "memory":
        memories = [recalled.memory for recalled in state.memories]
        # what the user said comes before what was answered
        memories.sort(key=lambda memory: memory.kind != "fact")
        state.retrieval_confidence = max(
            (recalled.score for recalled in state.memories), default=0.0
        )
        hits = build_memory_hits(memories, state.lang)
        if is_conversation_question(state.question):
            hits += build_conversation_hits(state.history, deps.session_id, state.lang)
        state.passages = pack_passages(
            state.standalone, hits, deps.llm.evidence_tokens if deps.llm else 500, most=RECALLED
        )
        await _draft_response(state, deps)
    else:
        state.response = write_direct_reply(state, deps)
    record_detail(response=state.response)
    return "grade_relevance"


@node("grade_relevance")
async def grade_relevance(state: DualLoopState, deps: Deps) -> Literal["end", "retry"]:
    """Is every sentence proved by what it cites, and is the answer likely to settle the
    question?
    """
    if state.drafted is None:  # our own words: nothing to prove
        state.is_relevant = True
        await finish_run(state, deps)
        return "end"
    attempt = await _grade_draft(state, deps)
    state.attempts.append(attempt)
    state.answered_from.append(state.spans)
    state.is_relevant = (
        attempt.shown and attempt.proved and not (state.search_for and has_another_way(state, deps))
    )
    record_detail(relevant=state.is_relevant)
    decision = decide_after_answer_grading(state, deps)
    if decision == "end":
        await finish_run(state, deps)
    return decision


async def _grade_draft(state: DualLoopState, deps: Deps) -> Attempt:
    """The draft judged; what is doubted is written once more where no other evidence can be looked
    for. That nothing is told is judged only where nothing else is left to try.
    """
    drafted = state.drafted
    assert drafted is not None, "a draft is graded"
    draft = drafted.draft
    state.search_for = (
        "" if draft.status in {"answered", "false_premise", "unclear"} else draft.search_for
    )
    if draft.status == "not_told" and has_another_way(state, deps):
        return Attempt(
            Ending("refused", "", Proof([], [])),
            0.0,
            state.retrieval_confidence,
            state.route,
            shown=False,
            proved=False,
        )
    state.model_calls += drafted.tier == "connected"
    repair = not has_another_way(state, deps) and state.model_calls + ROUND_CALLS <= MOST_CALLS
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
        located = await deps.locate(
            mark_citation_origins(
                mark_confirmed_citations(proof.citations, state.vouched), state.fetched
            )
        )
        proof = Proof(proof.sentences, located)
    except (Conflict, NotFound) as error:
        state.warnings.append(f"an answer was dropped: {error.message}")
        proof, decided = Proof([], []), replace(decided, shown=False)
    end = end_answer(drafted, decided, proof, state.nearest, state.lang, degraded=state.degraded)
    proved = decided.proven.proved and end.status == "answered"
    return Attempt(
        end, decided.probability, state.retrieval_confidence, state.route, decided.shown, proved
    )


def has_another_way(state: DualLoopState, deps: Deps) -> bool:
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
    if has_another_way(state, deps):
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


@node("consolidate_memory")
async def consolidate_memory(state: DualLoopState, deps: Deps) -> Literal["default"]:
    """Remember what was settled, with a link to its trace, and what the user told of themself.
    Nothing after a poor grade.
    """
    if deps.remember is None or not state.is_relevant or state.status != "answered":
        record_detail(remembered=[])
        return "default"
    await remember_run(state, deps, deps.remember)
    record_detail(remembered=state.kept_memories)
    return "default"


GRAPH: Graph[DualLoopState] = Graph(
    "dual_loop",
    {
        retrieve_memory: {"route_query": route_query},
        route_query: {"search": rewrite_query, "direct": direct_response},
        rewrite_query: {"search": retrieve_documents, "same_question": consolidate_memory},
        retrieve_documents: {"grade_documents": grade_documents},
        grade_documents: {
            "generate": generate_response,
            "retry_retrieve": retrieve_documents,
            "fallback": END,
        },
        generate_response: {"grade_relevance": grade_relevance},
        direct_response: {"grade_relevance": grade_relevance},
        grade_relevance: {"end": consolidate_memory, "retry": rewrite_query},
        consolidate_memory: {"default": END},
    },
    step_limit=80,  # six rounds of three searches each need 57
)

"""The `dual_loop` agent of spec 001: memory, a route, then two loops: are the documents good
enough, does the answer settle it. Each turn of a loop must bring something new (another route,
other evidence, other words), within a budget; what ended it is said.
"""

from __future__ import annotations

from typing import Literal

from citewell.agents.deps import Retrieved
from citewell.agents.dual_loop.dual_loop_end import finish_run, remember_run
from citewell.agents.dual_loop.dual_loop_grade import (
    add_confirmed,
    can_search_again,
    decide_after_answer_grading,
    decide_after_document_grading,
    draft_response,
    grade_draft,
    has_relevant_documents,
    has_working_model,
)
from citewell.agents.dual_loop.dual_loop_search import retrieve_hits
from citewell.agents.dual_loop.dual_loop_state import Deps, DualLoopState
from citewell.agents.dual_loop.dual_loop_understand import (
    TALK,
    build_first_reading,
    detect_intent,
    write_direct_reply,
)
from citewell.errors import CitewellError
from citewell.graph import END, Graph, node, record_detail
from citewell.messages import Text
from citewell.skills.dialogue.reference import Readings
from citewell.skills.dialogue.route import (
    choose_search_route,
    get_next_search,
    is_same_query,
    is_web_request,
)
from citewell.skills.dialogue.validate import find_question_error
from citewell.skills.evidence.confirmed_evidence import look_up_confirmed
from citewell.skills.evidence.passages import describe_hit, pack_passages, select_passages
from citewell.skills.memory.memory_questions import is_conversation_question
from citewell.skills.memory.recollect import build_conversation_hits, build_memory_hits
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language

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
    if deps.memory is not None:
        try:
            state.memories = await deps.memory.recall(state.question)
        except CitewellError as error:
            state.warnings.append(Text("nothing was recalled: {message}", message=error.message))
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
            web=deps.has_web,
        )
        state.route, state.route_reason = chosen.name, chosen.reason
    if is_web_request(state.question) and not deps.web:
        state.warnings.append(
            Text(
                "the question asks for the web, and searching it is switched off (setting "
                "web.provider)"
            )
        )
    state.tried_routes = [state.route]
    record_detail(route=state.route, reason=state.route_reason, intent=state.intent)
    return "direct" if state.route == "direct" else "search"


@node("rewrite_query")
async def rewrite_query(state: DualLoopState, deps: Deps) -> Literal["search", "same_question"]:
    """Make the question fit for search: first in full words, after a poor answer in other words."""
    if state.route == "direct" or not state.queries:
        state.standalone, state.read = await build_first_reading(state, deps)
        state.route = state.tried_routes[0]
        if state.route == "direct":  # its answer was poor, so the documents are asked after all
            state.route, state.intent = (
                get_next_search([], web=deps.has_web) or "direct_chunk_search",
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
        state.vouched = await look_up_confirmed(
            deps.search.find_confirmed, state.standalone, state.warnings
        )
    record_detail(
        query=state.updated_query, standalone=state.standalone, attempt=state.correction_attempts
    )
    record_detail(confirmed=[each.followed.model_dump(include=TOLD) for each in state.vouched])
    return "search"


@node("retrieve_documents")
async def retrieve_documents(state: DualLoopState, deps: Deps) -> Literal["grade_documents"]:
    """Search by the route in hand; where the documents hold nothing at all, go on to the web."""
    found = await retrieve_hits(state, deps)
    if not found.hits and deps.web and "web_search" not in state.tried_routes and not deps.late():
        state.route = "web_search"
        state.tried_routes.append(state.route)
        found = await retrieve_hits(state, deps)
    fresh = [hit for hit in found.hits if hit.chunk_id not in state.rejected]
    state.documents, state.retrieval_confidence = fresh, found.confidence
    state.nearest = state.nearest or found.hits[:SHOWN]
    if len(fresh) < len(found.hits):  # the best were looked at before, and are not among these
        state.retrieval_confidence = deps.search.rate(state.read.text, fresh)
    if isinstance(found, Retrieved):
        state.fetched |= found.fetched
    state.warnings += [warning for warning in found.warnings if warning not in state.warnings]
    record_detail(
        route=state.route,
        confidence=state.retrieval_confidence,
        looked_at_before=len(found.hits) - len(fresh),
    )
    record_detail(evidence=[describe_hit(hit, state.read.text) for hit in fresh])
    return "grade_documents"


@node("grade_documents")
async def grade_documents(
    state: DualLoopState, deps: Deps
) -> Literal["generate", "retry_retrieve", "fallback"]:
    """Are the passages likely to hold the answer? By the search's calibrated confidence, and
    without a connected model by what the reader finds in them.
    """
    state.documents_are_relevant = False
    state.passages = await select_passages(
        state.standalone, state.documents, deps.llm, deps.search.widen
    )
    await add_confirmed(state, deps)
    known = state.spans in state.answered_from  # graded good before, and no good answer came of it
    if state.passages and deps.settings.inner_loop and not known:
        state.documents_are_relevant = await has_relevant_documents(state, deps)
    else:
        state.documents_are_relevant = bool(state.passages)
    # what only the search doubts nobody has looked at yet
    if not state.documents_are_relevant and not has_working_model(state, deps):
        state.rejected += [p.hit.chunk_id for p in state.passages]
    record_detail(relevant=state.documents_are_relevant, passages=len(state.passages))
    decision = decide_after_document_grading(state, deps)
    if decision == "fallback":
        await finish_run(state, deps)
    return decision


@node("generate_response")
async def generate_response(state: DualLoopState, deps: Deps) -> Literal["grade_relevance"]:
    """Write the whole answer over numbered evidence in one call; without a connected model, the
    sentences that answer.
    """
    await draft_response(state, deps)
    return "grade_relevance"


@node("direct_response")
async def direct_response(state: DualLoopState, deps: Deps) -> Literal["grade_relevance"]:
    """Answer without a search: a greeting, something to remember, or a question about the talk."""
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
        await draft_response(state, deps)
    else:
        state.response = write_direct_reply(state, deps)
    record_detail(response=state.response)
    return "grade_relevance"


@node("grade_relevance")
async def grade_relevance(state: DualLoopState, deps: Deps) -> Literal["end", "retry"]:
    """Is every sentence proved by what it cites, and does the answer settle the question?"""
    if state.drafted is None:  # our own words: nothing to prove
        state.is_relevant = True
        await finish_run(state, deps)
        return "end"
    attempt = await grade_draft(state, deps)
    state.attempts.append(attempt)
    state.answered_from.append(state.spans)
    state.is_relevant = (
        attempt.shown
        and attempt.proved
        and not (state.search_for and can_search_again(state, deps))
    )
    record_detail(relevant=state.is_relevant)
    decision = decide_after_answer_grading(state, deps)
    if decision == "end":
        await finish_run(state, deps)
    return decision


@node("consolidate_memory")
async def consolidate_memory(state: DualLoopState, deps: Deps) -> Literal["default"]:
    """Remember what was settled, with a link to its trace, and what the user told of themself.
    Nothing after a poor grade.
    """
    if (
        deps.memory is None
        or not deps.keeps_memories
        or not state.is_relevant
        or state.status != "answered"
    ):
        record_detail(remembered=[])
        return "default"
    await remember_run(state, deps, deps.memory.remember)
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

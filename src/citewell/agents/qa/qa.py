"""The `qa` agent of spec 000: one pass through validate, understand, remember, retrieve, generate,
store, refine. Every way to the end gives an answer, an honest refusal, a question back, or an error
that names its cause.
"""

from __future__ import annotations

from typing import Literal

from citewell.agents.qa.qa_end import finish_run, recover_answer
from citewell.agents.qa.qa_evidence import collect_evidence
from citewell.agents.qa.qa_overview import draft_overview, offer_questions, survey_documents
from citewell.agents.qa.qa_state import Deps, QAState, mark_not_understood
from citewell.errors import CitewellError, StorageError, TransientError
from citewell.graph import END, Graph, emit, node, record_detail
from citewell.messages import Text
from citewell.models.retry import compute_backoff
from citewell.skills.answer.answering import decide_answer, draft_answer, prove_answer
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.wording import format_message, format_refusal
from citewell.skills.dialogue.read_question import read_question
from citewell.skills.dialogue.reference import find_antecedents
from citewell.skills.dialogue.summarize import split_by_budget, summarize_messages
from citewell.skills.dialogue.validate import find_question_error
from citewell.skills.evidence.confirmed_evidence import (
    adjust_confidence,
    get_quoted_similarity,
    look_up_confirmed,
    mark_confirmed_citations,
)
from citewell.skills.evidence.passages import describe_hit
from citewell.skills.proof.prove import show_proof
from citewell.text.entities import extract_entities
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language
from citewell.types import Event, Message

SHOWN = {"item_id", "kind", "question", "similarity"}  # of what people confirmed, in a trace


@node("InputValidationNode")
async def input_validation(state: QAState, deps: Deps) -> Literal["default", "return_error"]:
    """Clean the question, refuse what cannot be asked, bring the history into one form."""
    question = normalize_text(state.raw_user_input)
    if found := find_question_error(question, deps.settings.question_max_chars, deps.sensitive):
        state.fail("InputValidationNode", *found)
        return "return_error"
    history = [
        Message(role=m.role, content=normalize_text(m.content))
        for m in state.raw_conversation_history
        if m.content.strip()
    ]
    turns = sum(m.role == "user" for m in history)
    state.validated_question = state.standalone_question = state.query_text = question
    state.structured_conversation_context = {
        "history": history,
        "turn_count": turns,
        "lang": detect_language(question),
    }
    record_detail(turns=turns, lang=detect_language(question))
    return "default"


@node("QuestionUnderstandingNode")
async def question_understanding(
    state: QAState, deps: Deps
) -> Literal["update_context", "retry", "clarify", "handle_failed_understanding"]:
    """Intent, entities, what is searched for and its vector."""
    name, settings = "QuestionUnderstandingNode", deps.settings
    question = state.validated_question
    history: list[Message] = state.structured_conversation_context["history"]
    options = find_antecedents(question, history)
    if options:
        lang = detect_language(question)
        state.final_answer = format_message(
            "which", lang, options=format_message("or", lang).join(options)
        )
        state.status, state.choices = "clarify", options
        record_detail(options=options)
        return "clarify"
    try:
        understood = await read_question(question, history, deps.llm, deps.embedder)
    except CitewellError as error:
        if isinstance(error, TransientError) and state.count_try(name, settings.max_retries):
            await deps.sleep(settings.understanding_wait)
            return "retry"
        state.warnings.append(
            Text("the question was taken word for word: {message}", message=error.message)
        )
        state.extracted_entities = [
            {"entity": e.entity, "type": e.type} for e in extract_entities(question)
        ]
        return mark_not_understood(state, error.message)
    state.question_intent, state.extracted_entities = understood["intent"], understood["entities"]
    state.standalone_question, state.query_text = understood["standalone"], understood["query"]
    state.optimized_query_vector, state.understanding_confidence = (
        understood["vector"],
        understood["confidence"],
    )
    state.query_context, state.overview_confidence = understood["context"], understood["overview"]
    state.foreign, state.follow_up = understood["foreign"], understood["follow_up"]
    record_detail(
        intent=state.question_intent, entities=[e["entity"] for e in state.extracted_entities]
    )
    record_detail(standalone=state.standalone_question, confidence=state.understanding_confidence)
    if state.question_intent == "offer" and deps.survey is not None:
        await offer_questions(state, deps.survey)
        return "clarify"
    if state.understanding_confidence >= settings.understanding_threshold:
        return "update_context"
    return mark_not_understood(state, "low confidence")


@node("ConversationMemoryNode")
async def conversation_memory(
    state: QAState, deps: Deps
) -> Literal["retrieve_documents", "refine_answer", "return_error"]:
    """Before retrieval: cut and summarise the history. After generation: store the answer."""
    try:
        if state.current_action == "store_answer":
            reply = Message(role="assistant", content=state.initial_answer)
            state.updated_conversation_history = [*state.updated_conversation_history, reply]
            return "refine_answer"
        history: list[Message] = state.structured_conversation_context["history"]
        older, kept = split_by_budget(history, deps.settings.history_tokens)
        summary = await summarize_messages(older, deps.llm)
        asked = Message(role="user", content=state.validated_question)
        state.updated_conversation_history, state.context_summary = [*kept, asked], summary
        record_detail(kept=len(kept), summarised=len(older))
    except CitewellError as error:
        state.fail("ConversationMemoryNode", "memory_error", error)
        return "return_error"
    return "retrieve_documents"


@node("DocumentRetrievalNode")
async def document_retrieval(
    state: QAState, deps: Deps
) -> Literal["generate_answer", "generate_fallback", "retry"]:
    """Search by meaning, words and entities; say how likely the answer is among what was found."""
    name, settings = "DocumentRetrievalNode", deps.settings
    entities = [
        e["entity"] for e in state.extracted_entities if e["type"] not in {"number", "date"}
    ]
    try:
        found = await survey_documents(state, deps) or await deps.search.find(
            state.query_text, state.optimized_query_vector, entities, state.query_context
        )
    except (TransientError, StorageError) as error:
        if state.count_try(name, settings.max_retries):
            await deps.sleep(compute_backoff(settings.retry_wait, state.retry_count[name]))
            return "retry"
        state.retrieval_status = "failed"
        state.fail(name, "retrieval_error", error)
        return "generate_fallback"
    state.vouched = await look_up_confirmed(
        deps.search.find_confirmed, state.standalone_question, state.warnings
    )
    state.retrieved_documents = found.hits
    state.retrieval_confidence = adjust_confidence(
        state.vouched, found.confidence, settings.retrieval_threshold
    )
    state.warnings += found.warnings
    state.retrieval_status = "success" if found.hits or state.vouched else "empty"
    record_detail(
        confidence=found.confidence,
        evidence=[describe_hit(hit, state.query_text) for hit in found.hits],
    )
    record_detail(confirmed=[each.followed.model_dump(include=SHOWN) for each in state.vouched])
    if (
        state.retrieval_status == "success"
        and state.retrieval_confidence >= settings.retrieval_threshold
    ):
        return "generate_answer"
    state.generation_pattern = "fallback"
    return "generate_fallback"


@node("AnswerGenerationNode")
async def answer_generation(state: QAState, deps: Deps) -> Literal["store_answer", "retry"]:
    """Write the whole answer over numbered evidence in one call; without a connected model, the
    sentences that answer.
    """
    name, settings = "AnswerGenerationNode", deps.settings
    lang = detect_language(state.validated_question)
    state.current_action = "store_answer"
    if state.retrieval_status == "failed":
        # no evidence because of an error: no answer, and no claim that there is none
        state.generation_status = "failed"
        return "store_answer"
    if state.question_intent == "smalltalk":
        state.initial_answer, state.generation_status = (
            format_message("smalltalk", lang),
            "smalltalk",
        )
        return "store_answer"
    state.passages = await collect_evidence(state, deps)
    state.citation_sources = [
        {"id": p.hit.doc_id, "content": p.text, "similarity_score": p.hit.score}
        for p in state.passages
    ]
    if not state.passages:
        state.initial_answer, state.generation_status = format_refusal([], lang), "refused"
        return "store_answer"
    history = state.updated_conversation_history[:-1]
    drafted = await draft_overview(state, deps) or await draft_answer(
        deps,
        state.standalone_question,
        state.passages,
        history=history,
        summary=state.context_summary,
        follow_up=state.follow_up,
        more=lambda lacking: deps.search.find_more(
            state.standalone_question, lacking.search_for, state.passages
        ),
    )
    state.passages = drafted.passages
    if drafted.transient and state.count_try(name, settings.max_retries):
        await deps.sleep(compute_backoff(settings.retry_wait, state.retry_count[name]))
        return "retry"
    state.drafted, state.initial_answer = drafted, drafted.draft.text
    state.warnings += [drafted.warning] if drafted.warning else []
    state.generation_status = "degraded" if drafted.warning else "success"
    return "store_answer"


@node("AnswerRefinementNode")
async def answer_refinement(
    state: QAState, deps: Deps
) -> Literal["return_result", "error_recovery"]:
    """Judge every sentence, repair once what is doubted, number citations, decide what is shown."""
    if state.generation_status == "failed":
        return "error_recovery"
    state.final_answer = state.initial_answer
    if state.generation_status == "smalltalk":
        state.status, state.answer_confidence = "clarify", 0.0
        return "return_result"
    if state.drafted is None:
        state.status, state.answer_confidence = "refused", 0.0
        return "return_result"
    drafted = state.drafted
    try:
        proven = await prove_answer(deps, drafted, history=state.updated_conversation_history[:-1])
        recalled = (
            state.overview_confidence
            if state.surveyed
            else get_quoted_similarity(state.vouched, proven)
        )
        decided = decide_answer(
            deps, drafted, proven, state.retrieval_confidence, recalled=recalled
        )
        proof = show_proof(decided.proven, drafted.units)
        state.proof = Proof(
            proof.sentences,
            await deps.search.locate(mark_confirmed_citations(proof.citations, state.vouched)),
        )
    except CitewellError as error:
        state.warnings.append(
            Text("the answer could not be proved: {message}", message=error.message)
        )
        recover_answer(state)
        return "error_recovery"
    finish_run(state, drafted, decided)
    for citation in state.proof.citations:
        emit(Event("citation", citation))
    return "return_result"


GRAPH: Graph[QAState] = Graph(
    "qa",
    {
        input_validation: {"default": question_understanding, "return_error": END},
        question_understanding: {
            "update_context": conversation_memory,
            "retry": question_understanding,
            "clarify": END,
            "handle_failed_understanding": conversation_memory,
        },
        conversation_memory: {
            "retrieve_documents": document_retrieval,
            "refine_answer": answer_refinement,
            "return_error": END,
        },
        document_retrieval: {
            "generate_answer": answer_generation,
            "generate_fallback": answer_generation,
            "retry": document_retrieval,
        },
        answer_generation: {"store_answer": conversation_memory, "retry": answer_generation},
        answer_refinement: {"return_result": END, "error_recovery": END},
    },
)

"""The `qa` agent of spec 000: one pass through validate, understand, remember, retrieve, generate, store, refine.

The one rule: every way to the end gives an answer, an honest refusal, a question back, or an error that names its cause.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any, Literal

from citewell.agents.qa_state import Deps, QAState
from citewell.errors import CitewellError, StorageError, TransientError
from citewell.flow import END, Graph, emit, node, note
from citewell.ingest.sentences import language
from citewell.models.base import LLM, Embedder
from citewell.retrieve.confidence import Logistic
from citewell.retrieve.query import Context
from citewell.skills import answer as answering
from citewell.skills.cite import Proof, left_out, prove, proved
from citewell.skills.clean import clean
from citewell.skills.confidence import answer_confidence
from citewell.skills.entities import entity_list
from citewell.skills.evidence import CONNECTED_TIER, Passage, packed, prefix, seen
from citewell.skills.format import format_citations, with_markers
from citewell.skills.grade import GATE_THRESHOLD, evidence_settles
from citewell.skills.intent import WIDE, classify_intent
from citewell.skills.reference import Readings, candidates, depends_on_history, readings
from citewell.skills.summarize import summarise, within_budget
from citewell.skills.understand import in_full
from citewell.skills.validate import objection
from citewell.skills.vouched import Vouched, beside, followed_in, marked, sureness
from citewell.skills.wording import refusal, say
from citewell.types import Event, Message, Sentence

UNDERSTOOD_ALONE, UNDERSTOOD_JOINED, UNDERSTOOD_REWRITTEN = 1.0, 0.6, 0.85
SHOWN = {"item_id", "kind", "question", "similarity"}  # of what people confirmed, in a trace
NOT_UNDERSTOOD = 0.8  # what is left of an answer's confidence where the question was taken word for word


@node("InputValidationNode")
async def input_validation(state: QAState, deps: Deps) -> Literal["default", "return_error"]:
    """Clean the question, refuse what cannot be asked, bring the history into one form."""
    question = clean(state.raw_user_input)
    if found := objection(question, deps.settings.question_max_chars, deps.sensitive):
        state.fail("InputValidationNode", *found)
        return "return_error"
    history = [Message(role=m.role, content=clean(m.content)) for m in state.raw_conversation_history if m.content.strip()]
    turns = sum(m.role == "user" for m in history)
    state.validated_question = state.standalone_question = state.query_text = question
    state.structured_conversation_context = {"history": history, "turn_count": turns, "lang": language(question)}
    note(turns=turns, lang=language(question))
    return "default"


@node("QuestionUnderstandingNode")
async def question_understanding(
    state: QAState, deps: Deps
) -> Literal["update_context", "retry", "clarify", "handle_failed_understanding"]:
    """Intent, entities, the question on its own, its vector. Scores at the first try, the model at the second."""
    name, settings = "QuestionUnderstandingNode", deps.settings
    question = state.validated_question
    history: list[Message] = state.structured_conversation_context["history"]
    options = candidates(question, history)
    if options:
        lang = language(question)
        state.final_answer = say("which", lang, options=say("or", lang).join(options))
        state.status, state.choices = "clarify", options
        note(options=options)
        return "clarify"
    try:
        understood = await _understand(question, history, deps, tried=state.retry_count.get(name, 0))
    except CitewellError as error:
        if isinstance(error, TransientError) and state.again(name, settings.max_retries):
            await deps.sleep(settings.understanding_wait)
            return "retry"
        state.warnings.append(f"the question was taken word for word: {error.message}")
        state.extracted_entities = [{"entity": e.entity, "type": e.type} for e in entity_list(question)]
        return _not_understood(state, error.message)
    state.question_intent, state.extracted_entities = understood["intent"], understood["entities"]
    state.standalone_question, state.query_text = understood["standalone"], understood["query"]
    state.optimized_query_vector, state.understanding_confidence = understood["vector"], understood["confidence"]
    state.query_context = understood["context"]
    note(intent=state.question_intent, entities=[e["entity"] for e in state.extracted_entities])
    note(standalone=state.standalone_question, confidence=state.understanding_confidence)
    if state.understanding_confidence >= settings.understanding_threshold:
        return "update_context"
    if state.understanding_confidence > settings.understanding_floor and state.again(name, settings.max_retries):
        return "retry"  # at once: nothing is waited for, the next try asks the model
    return _not_understood(state, "low confidence")


async def _understand(question: str, history: list[Message], deps: Deps, *, tried: int) -> dict[str, Any]:
    standalone, read, sure = question, readings(question, history), UNDERSTOOD_ALONE
    if history and depends_on_history(question, history):
        if deps.llm is None:
            standalone, sure = read.text, UNDERSTOOD_REWRITTEN
        elif tried:
            standalone = await in_full(question, history, deps.llm)
            sure = UNDERSTOOD_REWRITTEN
        else:
            standalone, sure = read.text, UNDERSTOOD_JOINED
    intent, vector, context = await asyncio.gather(
        classify_intent(question, deps.embedder), deps.embedder.query(read.text), _context(read, deps.embedder)
    )
    return {
        "intent": intent.label,
        "entities": [{"entity": e.entity, "type": e.type} for e in entity_list(standalone)],
        "standalone": standalone,
        "query": read.text,
        "vector": vector,
        "context": context,
        "confidence": round(min(sure, intent.confidence), 3),
    }


async def _context(read: Readings, embedder: Embedder) -> Context | None:
    return Context(read.context, await embedder.query(read.context), read.weight) if read.context else None


def _not_understood(state: QAState, why: str) -> Literal["handle_failed_understanding"]:
    """No dead end: go on with the question as it was typed, less sure of the answer."""
    state.standalone_question = state.standalone_question or state.validated_question
    state.node_execution_status["QuestionUnderstandingNode"] = "failed"
    note(failed=why)
    return "handle_failed_understanding"


@node("ConversationMemoryNode")
async def conversation_memory(state: QAState, deps: Deps) -> Literal["retrieve_documents", "refine_answer", "return_error"]:
    """Before retrieval: cut the history to its budget, summarise what is cut. After generation: store the answer."""
    try:
        if state.current_action == "store_answer":
            reply = Message(role="assistant", content=state.initial_answer)
            state.updated_conversation_history = [*state.updated_conversation_history, reply]
            return "refine_answer"
        history: list[Message] = state.structured_conversation_context["history"]
        older, kept = within_budget(history, deps.settings.history_tokens)
        summary = await summarise(older, deps.llm)
        asked = Message(role="user", content=state.validated_question)
        state.updated_conversation_history, state.context_summary = [*kept, asked], summary
        note(kept=len(kept), summarised=len(older))
    except CitewellError as error:
        state.fail("ConversationMemoryNode", "memory_error", error)
        return "return_error"
    return "retrieve_documents"


@node("DocumentRetrievalNode")
async def document_retrieval(state: QAState, deps: Deps) -> Literal["generate_answer", "generate_fallback", "retry"]:
    """Search by meaning, words and entities; say how likely it is that the answer is among what was found."""
    name, settings = "DocumentRetrievalNode", deps.settings
    entities = [e["entity"] for e in state.extracted_entities if e["type"] not in {"number", "date"}]
    try:
        found = await deps.search(state.query_text, state.optimized_query_vector, entities, state.query_context)
    except (TransientError, StorageError) as error:
        if state.again(name, settings.max_retries):
            await deps.sleep(_backoff(settings.retry_wait, state.retry_count[name]))
            return "retry"
        state.retrieval_status = "failed"
        state.fail(name, "retrieval_error", error)
        return "generate_fallback"
    state.vouched = await _vouched(state, deps)
    state.retrieved_documents = found.hits
    state.retrieval_confidence = sureness(state.vouched, found.confidence, settings.retrieval_threshold)
    state.warnings += found.warnings
    state.retrieval_status = "success" if found.hits or state.vouched else "empty"
    note(confidence=found.confidence, evidence=[seen(h) for h in found.hits])
    note(confirmed=[each.followed.model_dump(include=SHOWN) for each in state.vouched])
    if state.retrieval_status == "success" and state.retrieval_confidence >= settings.retrieval_threshold:
        return "generate_answer"
    state.generation_pattern = "fallback"
    return "generate_fallback"


async def _vouched(state: QAState, deps: Deps) -> list[Vouched]:
    """What people confirmed of such questions; without it, documents alone answer."""
    try:
        return await deps.known(state.standalone_question)
    except CitewellError as error:
        state.warnings.append(f"what people confirmed was not looked at: {error.message}")
        return []


def _backoff(wait: float, tried: int) -> float:
    """Doubles each time, with jitter of up to a half."""
    return wait * float(2 ** (tried - 1)) * (1 + random.random() / 2)  # noqa: S311 - jitter is not cryptography


@node("AnswerGenerationNode")
async def answer_generation(state: QAState, deps: Deps) -> Literal["store_answer", "retry"]:
    """Grade the evidence, then word the answer from it; refuse where it does not hold one; extract where no model answers."""
    name, settings = "AnswerGenerationNode", deps.settings
    lang = language(state.validated_question)
    state.current_action = "store_answer"
    if state.retrieval_status == "failed":
        state.generation_status = "failed"  # no evidence because of an error: no answer, and no claim that there is none
        return "store_answer"
    if state.question_intent == "smalltalk":
        state.initial_answer, state.generation_status = say("smalltalk", lang), "smalltalk"
        return "store_answer"
    wide = state.question_intent in WIDE
    passages = await packed(state.standalone_question, state.retrieved_documents, deps.llm, deps.widen, wide=wide)
    if state.vouched:
        passages, against = beside(state.standalone_question, state.vouched, passages, trusted=deps.llm is not None)
        state.warnings += [warning for warning in against if warning not in state.warnings]
    state.passages = passages
    state.citation_sources = [{"id": p.hit.doc_id, "content": p.text, "similarity_score": p.hit.score} for p in passages]
    if not passages:
        return _refuse(state, lang)
    if deps.llm is None:
        return await _extract(state, deps, lang, degraded=False)
    try:
        return await _generate(state, deps, deps.llm, passages, lang)
    except TransientError as error:
        if state.again(name, settings.max_retries):
            await deps.sleep(_backoff(settings.retry_wait, state.retry_count[name]))
            return "retry"
        state.warnings.append(f"the chat model did not answer, so the evidence itself is shown: {error.message}")
    except CitewellError as error:
        state.warnings.append(f"the chat model did not answer, so the evidence itself is shown: {error.message}")
    return await _extract(state, deps, lang, degraded=True)


async def _generate(
    state: QAState, deps: Deps, llm: LLM, passages: list[Passage], lang: str
) -> Literal["store_answer", "retry"]:
    tried = state.retry_count.get("AnswerGenerationNode", 0)
    said = state.updated_conversation_history[:-1] if llm.evidence_tokens >= CONNECTED_TIER else []
    shared, asked = prefix(state.standalone_question, passages, summary=state.context_summary if said else "", said=said)
    if state.evidence_log_odds is None:
        state.evidence_log_odds = await evidence_settles(llm, shared, asked, lang)
    note(evidence_log_odds=round(state.evidence_log_odds, 2), passages=len(passages))
    if state.evidence_log_odds < GATE_THRESHOLD:
        return _refuse(state, lang)
    sink = emit
    reply = await answering.generate(
        llm, shared, asked, lang, on_token=lambda t: sink(Event("token", t)), temperature=0.3 * tried
    )
    grade = answering.quality(reply.text, finished=reply.finished)
    note(quality=grade, draft=reply.text)
    if grade < deps.settings.quality_threshold:
        if state.again("AnswerGenerationNode", deps.settings.max_retries):
            return "retry"
        state.warnings.append("the chat model gave no usable answer, so the evidence itself is shown")
        return await _extract(state, deps, lang, degraded=True)
    if answering.says_unknown(reply.text):
        return _refuse(state, lang)
    state.initial_answer, state.generation_status = answering.tidy(reply.text), "success"
    return "store_answer"


async def _extract(state: QAState, deps: Deps, lang: str, *, degraded: bool) -> Literal["store_answer"]:
    """The evidence itself, or a refusal where even the search is not sure of it."""
    if state.retrieval_confidence < deps.settings.retrieval_threshold:
        return _refuse(state, lang)
    embedder = None if state.optimized_query_vector is None else deps.embedder
    extract = await answering.extract(state.standalone_question, state.passages, embedder)
    # a confirmed answer has numbers of its own citations in it
    state.initial_answer = answering.tidy(extract) if state.vouched else extract
    state.generation_status, state.extracted = "degraded" if degraded else "success", True
    return "store_answer"


def _refuse(state: QAState, lang: str) -> Literal["store_answer"]:
    state.initial_answer, state.generation_status = refusal(state.retrieved_documents, lang), "refused"
    return "store_answer"


@node("AnswerRefinementNode")
async def answer_refinement(state: QAState, deps: Deps) -> Literal["return_result", "error_recovery"]:
    """Prove every sentence, drop what is not proved, number the citations, say how sure the answer is."""
    if state.generation_status == "failed":
        return "error_recovery"
    state.final_answer = state.initial_answer
    if state.generation_status in {"refused", "smalltalk"}:
        state.status = "clarify" if state.generation_status == "smalltalk" else "refused"
        state.answer_confidence = _confidence(state, [], deps.calibration)
        return "return_result"
    try:
        proof = await prove(state.initial_answer, state.standalone_question, state.passages, deps.embedder)
        proof = Proof(proof.sentences, await deps.locate(marked(proof.citations, state.vouched)))
    except CitewellError as error:
        state.warnings.append(f"the answer could not be proved: {error.message}")
        _recover(state)
        return "error_recovery"
    _settle(state, proof, deps.calibration)
    for citation in state.proof.citations:
        emit(Event("citation", citation))
    return "return_result"


def _recover(state: QAState) -> None:
    """The draft unrefined, said to be so; without one the error itself is what the user is told."""
    state.node_execution_status["AnswerRefinementNode"] = "failed"
    lang = language(state.validated_question)
    state.status = "fallback"
    state.final_answer = f"{say('unchecked', lang)} {state.initial_answer}"
    unchecked = Sentence(text=state.initial_answer, verdict="unsupported", problems=["it could not be checked"])
    state.proof = Proof([unchecked], [])


def _confidence(state: QAState, sentences: list[Sentence], model: Logistic | None) -> float:
    """Lower where the question was not understood."""
    understood = state.node_execution_status.get("QuestionUnderstandingNode") != "failed"
    sure = answer_confidence(state.retrieval_confidence, state.evidence_log_odds, sentences, model)
    return sure if understood else round(sure * NOT_UNDERSTOOD, 4)


def _settle(state: QAState, proof: Proof, model: Logistic | None) -> None:
    lang = language(state.validated_question)
    kept = proved(proof)
    note(verdicts=[s.verdict for s in proof.sentences], problems=[p for s in proof.sentences for p in s.problems])
    state.answer_confidence = _confidence(state, proof.sentences, model)
    if not kept.sentences:
        state.status = "refused"
        state.final_answer = refusal(state.retrieved_documents, lang)
        if not state.extracted:
            state.warnings.append("the draft was withheld: none of its sentences stands in the sources")
        return
    if state.extracted and state.generation_status == "success":
        state.warnings.append("no chat model worded this: these are the documents' own sentences")
    if not state.extracted:
        state.warnings += left_out(proof, kept)
    state.proof, state.followed = kept, followed_in(kept.citations, state.vouched)
    state.formatted_citations = format_citations(state.proof.citations, lang)
    text = with_markers(state.proof.sentences, lang)
    caution = "extract" if state.generation_status == "degraded" else "uncertain"
    certain = state.generation_pattern == "standard" and state.generation_status == "success"
    state.final_answer = text if certain else f"{say(caution, lang)} {text}"
    state.status = "answered" if certain else "fallback"


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

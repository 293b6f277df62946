"""The `data` agent of spec 004: a question to guarded SQL, its rows, and a sentence that tells
them. Nothing is shown that no statement gave; a question that the tables cannot answer is refused
with what is missing.
"""

from __future__ import annotations

import secrets
from typing import Literal

from citewell.agents.data.data_end import (
    ask_for_clarification,
    finish_run,
    refuse_all,
    refuse_question,
)
from citewell.agents.data.data_question import build_source_query, make_standalone
from citewell.agents.data.data_run import run_candidates
from citewell.agents.data.data_state import DataState, Deps, Loaded
from citewell.agents.data.data_statement import (
    build_asked,
    get_chat_model,
    propose_statements,
    recall_confirmed,
    try_other_source,
)
from citewell.agents.data.data_translation import translate_question
from citewell.errors import (
    BudgetSpent,
    CitewellError,
    ModelUnavailable,
    NotFound,
    SourceUnavailable,
)
from citewell.graph import END, Graph, node, record_detail
from citewell.messages import Text
from citewell.skills.answer.data_wording import format_choices, format_message
from citewell.skills.dialogue.reference import find_antecedents
from citewell.skills.dialogue.validate import find_question_error
from citewell.sql import plan
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language
from citewell.types import Message


@node("Load Context")
async def load_context(
    state: DataState, deps: Deps
) -> Literal["analyze", "no_answer", "return_error"]:
    """The question on its own, the tables that it is put to, and what people have confirmed of
    questions like it.
    """
    state.trace_id = state.trace_id or "tr_" + secrets.token_hex(8)
    question = normalize_text(state.question)
    state.question, state.lang, state.standalone = question, detect_language(question), question
    if found := find_question_error(question, deps.question_max_chars, deps.sensitive):
        return _fail_node(state, "Load Context", found[1])
    history = [
        Message(role=m.role, content=normalize_text(m.content))
        for m in state.history
        if m.content.strip()
    ]
    if options := find_antecedents(question, history):
        ask_for_clarification(
            state,
            format_message(
                "which_reading", state.lang, options=format_choices(options, state.lang)
            ),
            options,
        )
        return "no_answer"
    state.standalone = await make_standalone(state, question, history, deps.llm)
    try:
        loaded = await deps.tables.load(
            state.source_name, build_source_query(question, state.standalone, history)
        )
    except NotFound as error:
        if state.source_name:
            return _fail_node(state, "Load Context", error)
        refuse_question(state, "no_source", format_message("no_source", state.lang))
        return "no_answer"
    except SourceUnavailable as error:
        return _fail_node(state, "Load Context", error)
    if not isinstance(loaded, Loaded):
        ask_for_clarification(
            state,
            format_message("which_source", state.lang, options=format_choices(loaded, state.lang)),
            loaded,
        )
        return "no_answer"
    state.source, state.source_name = loaded, loaded.name
    record_detail(source=loaded.name, standalone=state.standalone)
    await recall_confirmed(state, deps)
    return "analyze"


def _fail_node(state: DataState, node_name: str, error: CitewellError) -> Literal["return_error"]:
    state.error, state.execution_status = error, error.message
    state.node_execution_status[node_name] = "failed"
    return "return_error"


@node("Analyze Intent")
async def analyze_intent(
    state: DataState, deps: Deps
) -> Literal["write", "other_source", "no_answer"]:
    """What the question wants of which tables and columns; where they do not have it, the next best
    source is asked, or it is refused, as is a request to change them; asked back where it is open.
    """
    state.translation = await translate_question(state, get_chat_model(deps))
    analysis = await plan.analyze_question(build_asked(state), deps.llm, deps.embedder)
    state.intent_analysis = analysis
    odds = {} if analysis.log_odds is None else {"log_odds": round(analysis.log_odds, 2)}
    record_detail(
        intent_type=analysis.intent_type,
        parameters=analysis.parameters,
        reasoning=analysis.reasoning,
        **odds,
        **({"translation": state.translation} if state.translation else {}),
    )
    if analysis.changes:
        refuse_question(state, "read_only", format_message("read_only", state.lang))
        return "no_answer"
    if not analysis.answerable:
        record_detail(missing=list(analysis.missing))
        return await try_other_source(state, deps, analysis.missing)
    if len(analysis.choices) > 1:
        record_detail(choices=list(analysis.choices))
        ask_for_clarification(
            state,
            format_message(
                "which_reading", state.lang, options=format_choices(analysis.choices, state.lang)
            ),
            analysis.choices,
        )
        return "no_answer"
    return "write"


@node("Generate SQL")
async def generate_sql(
    state: DataState, deps: Deps
) -> Literal["execute", "repair", "other_source", "no_answer", "return_error"]:
    """Statements that the guard and the engine accept: a confirmed one, the model's, or the failed
    one written anew. Where the model says that the tables do not have it, the next best source is
    asked.
    """
    try:
        return await propose_statements(state, deps)
    except SourceUnavailable as error:
        return _fail_node(state, "Generate SQL", error)
    except BudgetSpent as error:
        reason, text = error.code, format_message(error.code, state.lang)
    except ModelUnavailable as error:
        record_detail(problem=error.explanation)
        reason, text = "no_model", format_message("no_model", state.lang)
    except CitewellError as error:
        state.node_execution_status["Generate SQL"] = "failed"
        state.warnings.append(
            Text("the chat model did not answer: {message}", message=error.message)
        )
        reason, text = "model_failed", format_message("model_failed", state.lang)
    if state.kept is None and state.lacking:
        refuse_all(state, state.lacking)
    elif state.kept is None:
        refuse_question(state, reason, text)
    return "no_answer"


@node("Execute")
async def execute(
    state: DataState, deps: Deps
) -> Literal["refine", "repair", "no_answer", "return_error"]:
    """Run what was written; where statements disagree, most decide; what fails is written anew."""
    try:
        return await run_candidates(state, deps)
    except SourceUnavailable as error:
        return _fail_node(state, "Execute", error)


@node("Refine Answer")
async def refine_answer(state: DataState, deps: Deps) -> Literal["return_result"]:
    """The rows in a sentence, with a chart where one helps, what was followed, and a confidence."""
    await finish_run(state, deps)
    record_detail(
        status=state.status,
        stop_reason=state.stop_reason,
        followed=[each.item_id for each in state.followed],
    )
    return "return_result"


GRAPH: Graph[DataState] = Graph(
    "data",
    {
        load_context: {"analyze": analyze_intent, "no_answer": refine_answer, "return_error": END},
        analyze_intent: {
            "write": generate_sql,
            "other_source": analyze_intent,
            "no_answer": refine_answer,
        },
        generate_sql: {
            "execute": execute,
            "repair": generate_sql,
            "other_source": analyze_intent,
            "no_answer": refine_answer,
            "return_error": END,
        },
        execute: {
            "refine": refine_answer,
            "repair": generate_sql,
            "no_answer": refine_answer,
            "return_error": END,
        },
        refine_answer: {"return_result": END},
    },
)

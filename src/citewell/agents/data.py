"""The `data` agent of spec 004: a question to guarded SQL, its rows, and a sentence that tells
them.

The one rule: nothing is shown that no statement gave; a question that the tables cannot answer is
refused with what is missing.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Literal

from citewell.agents.data_end import (
    ask_for_clarification,
    finish_run,
    refuse_all,
    refuse_lacking,
    refuse_question,
)
from citewell.agents.data_state import DataState, Deps, Loaded
from citewell.agents.data_statement import (
    build_asked,
    propose_statements,
    recall_confirmed,
    run_candidates,
)
from citewell.errors import BudgetSpent, CitewellError, NotFound, SourceUnavailable
from citewell.graph import END, Graph, node, record_detail
from citewell.models.base import LLM, is_connected
from citewell.skills.answer.data_wording import format_choices, format_message, is_source_question
from citewell.skills.answer.wording import is_clarifying_question
from citewell.skills.dialogue.intent import has_pattern
from citewell.skills.dialogue.reference import (
    find_antecedents,
    is_follow_up,
    join_earlier_questions,
)
from citewell.skills.dialogue.understand import rewrite_in_full
from citewell.skills.dialogue.validate import find_question_error
from citewell.sql import plan
from citewell.sql.question_words import extract_content_words
from citewell.sql.source_fit import is_figure_question
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
    state.standalone = await _make_standalone(state, question, history, deps.llm)
    try:
        loaded = await deps.load(
            state.source_name, _build_source_query(question, state.standalone, history)
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


async def _make_standalone(
    state: DataState, question: str, history: list[Message], llm: LLM | None
) -> str:
    """A follow-up in full words. What answers a question of ours is joined to what was asked before
    it; of a reply that only names a source, nothing is.
    """
    if not should_use_history(question, history):
        return question
    ours = _get_own_question(history)
    asked = max((at for at, message in enumerate(history) if message.role == "user"), default=-1)
    if asked >= 0 and _is_only_source_name(question, ours):
        return await _make_standalone(state, history[asked].content, history[:asked], None)
    if llm is None or ours:
        return join_earlier_questions(question, history)
    if is_connected(llm):
        state.is_joined = True
        return join_earlier_questions(question, history)
    try:
        return await rewrite_in_full(question, history, llm)
    except CitewellError as error:
        state.warnings.append(f"the question was joined to the one before it: {error.message}")
        return join_earlier_questions(question, history)


def should_use_history(question: str, history: Sequence[Message]) -> bool:
    """Whether a question is to be understood from what was said before: a whole new one is not,
    though we had asked back.
    """
    if not history or not is_follow_up(question, history):
        return False
    ours = _get_own_question(history)
    return not ours or is_follow_up(question) or not _is_new_question(question, ours)


def _get_own_question(history: Sequence[Message]) -> str:
    """Our own question back, where that is what was said last."""
    last = history[-1]
    return last.content if last.role == "assistant" and is_clarifying_question(last.content) else ""


def _is_new_question(question: str, ours: str) -> bool:
    """It asks something, and not in the words of our question back, as a reply that chooses
    does.
    """
    asks, mark = has_pattern(question), question.rstrip().endswith(("?", "？"))
    if is_source_question(ours):
        return asks or (
            (mark or is_figure_question(question)) and bool(_find_new_words(question, ours))
        )
    return (asks or mark or is_figure_question(question)) and _find_new_words(
        question, ours
    ) == _extract_words(question)


def _is_only_source_name(question: str, ours: str) -> bool:
    """A reply to our question which source is meant that says nothing else."""
    return (
        is_source_question(ours)
        and bool(_extract_words(question))
        and not _find_new_words(question, ours)
    )


def _extract_words(question: str) -> list[str]:
    """What names something, figures too."""
    return [*extract_content_words(question), *re.findall(r"\d+", question)]


def _find_new_words(question: str, ours: str) -> list[str]:
    """Its words that our question back did not say."""
    return [word for word in _extract_words(question) if word not in ours.casefold()]


def _build_source_query(question: str, standalone: str, history: list[Message]) -> str:
    """Where a source may be named: the reply to our question which one is, alone where what was
    asked named several.
    """
    ours = _get_own_question(history) if history else ""
    if not is_source_question(ours):
        return standalone
    several = _is_only_source_name(question, ours) and any(
        word in standalone.casefold() for word in _extract_words(question)
    )
    return question if several else f"{standalone} {question}"


def _fail_node(state: DataState, node_name: str, error: CitewellError) -> Literal["return_error"]:
    state.error, state.execution_status = error, error.message
    state.node_execution_status[node_name] = "failed"
    return "return_error"


@node("Analyze Intent")
async def analyze_intent(state: DataState, deps: Deps) -> Literal["write", "no_answer"]:
    """What the question wants of which tables and columns; refused where they do not have it, asked
    back where it is open.
    """
    asked = build_asked(state)
    try:
        analysis = await plan.analyze_question(asked, deps.llm, deps.embedder)
    except BudgetSpent as error:
        refuse_question(state, error.code, format_message(error.code, state.lang))
        return "no_answer"
    except CitewellError as error:
        state.degraded = True
        state.node_execution_status["Analyze Intent"] = "failed"
        state.warnings.append(
            f"the chat model did not answer, so only confirmed questions count: {error.message}"
        )
        analysis = await plan.analyze_question(asked, None, deps.embedder)
    state.intent_analysis = analysis
    odds = {} if analysis.log_odds is None else {"log_odds": round(analysis.log_odds, 2)}
    record_detail(
        intent_type=analysis.intent_type,
        parameters=analysis.parameters,
        reasoning=analysis.reasoning,
        **odds,
    )
    if not analysis.answerable:
        record_detail(missing=list(analysis.missing))
        refuse_lacking(state, analysis.missing)
        return "no_answer"
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
    except CitewellError as error:
        state.node_execution_status["Generate SQL"] = "failed"
        state.warnings.append(f"the chat model did not answer: {error.message}")
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
    """Run what was written; where statements disagree, most of them decide; what fails is written
    anew.
    """
    try:
        return await run_candidates(state, deps)
    except SourceUnavailable as error:
        return _fail_node(state, "Execute", error)


@node("Refine Answer")
async def refine_answer(state: DataState, deps: Deps) -> Literal["return_result"]:
    """The rows in a sentence, with a chart where one helps, what was followed, and how sure all
    this is.
    """
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
        analyze_intent: {"write": generate_sql, "no_answer": refine_answer},
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

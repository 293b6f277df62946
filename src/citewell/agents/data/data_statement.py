"""Statements of the `data` agent: written, checked, run, held against each other, mended. A
statement that the guard refuses or the engine fails counts as one try; what failed is written anew
at most `settings.repairs` times, and every try is kept with what was wrong with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

from citewell.agents.data.data_confidence import weigh_log_prob
from citewell.agents.data.data_end import build_lacking, refuse_all, refuse_question
from citewell.agents.data.data_state import DataState, Deps, Loaded
from citewell.errors import CitewellError, StatementFailed, StatementRefused
from citewell.graph import record_detail
from citewell.messages import Text
from citewell.models.base import LLM, is_connected
from citewell.skills.answer.data_wording import format_message
from citewell.skills.dialogue.understand import RECENT_MESSAGES
from citewell.sql import plan
from citewell.sql.engines.engine import Rows, Value
from citewell.sql.follow_confirmed import fold_sql
from citewell.sql.model_reply import NotInTables
from citewell.sql.plan_types import Analysis, Asked, Candidate, Described
from citewell.sql.semantics.metrics import add_metrics, find_named, list_measures
from citewell.types import Message

# Log-odds from which on a first statement is taken alone: that it is right (1.9 is 87 %), or, where
# it is not known how much it surprised the model, that the tables answer the question.
RIGHT, SURE = 1.9, 3.0
TEMPERATURES = (0.4, 0.7, 0.9, 1.0)  # of the second candidate and the following
FRESH = 0.7  # of a statement written instead of one that was repaired into itself
# codes of StatementFailed: perhaps of a busy machine, so the same statement has a second try
LIMITS = {"timeout", "memory"}
LIGHTER = Text(
    "write a lighter statement: read fewer tables, filter earlier, add LIMIT; the same "
    "again where none is lighter"
)


def build_asked(state: DataState) -> Asked:
    """What the jobs of `plan_sql` share."""
    assert state.source is not None
    source = state.source
    history: tuple[Message, ...] = ()
    if state.is_joined:
        history = (*state.history[-RECENT_MESSAGES:], Message(role="user", content=state.question))
    measures = list_measures(source.description, source.schema)
    wording = state.translation or state.standalone
    named = tuple(each.name for each in find_named(wording, measures))
    return Asked(
        state.standalone,
        state.lang,
        add_metrics(source.schema, measures, wording),
        source.glossary,
        tuple(state.known),
        history,
        state.previous,
        Described(source.schema, source.description, named),
        state.translation,
    )


async def recall_confirmed(state: DataState, deps: Deps) -> None:
    """What people confirmed of questions like it; nothing is lost without it."""
    try:
        state.known = await deps.tables.recall(state.standalone, state.source_name)
    except CitewellError as error:
        state.warnings.append(
            Text("confirmed answers could not be looked up: {message}", message=error.message)
        )
    record_detail(
        known=[
            {"item_id": _get_item_id(known.item), "similarity": round(known.similarity, 3)}
            for known in state.known
        ]
    )


def _get_item_id(item: object) -> str:
    return str(getattr(item, "item_id", "") or getattr(item, "rule_id", ""))


def get_chat_model(deps: Deps) -> LLM | None:
    """The model, as long as there is time."""
    return None if deps.late() else deps.llm


async def propose_statements(
    state: DataState, deps: Deps
) -> Literal["execute", "repair", "other_source", "no_answer"]:
    """Fill `state.candidates` with statements that may run. Raises what the model raises."""
    written = (
        await _rewrite_statement(state, deps)
        if state.problem
        else await _write_statements(state, deps)
    )
    if isinstance(written, NotInTables):
        return await try_other_source(state, deps, reason=written.reason)
    if not written and not state.problem:
        reason = "no_model" if deps.llm is None else "no_statement"
        refuse_question(state, reason, format_message(reason, state.lang, source=state.source_name))
        return "no_answer"
    allowed = [candidate for candidate in written if await _is_allowed(state, deps, candidate)]
    if allowed:
        state.candidates, state.problem = plan.order_candidates(allowed), ""
        state.generated_logic = state.candidates[0].sql
        record_detail(
            sql=state.generated_logic,
            candidates=len(written),
            how=state.candidates[0].how or "written",
        )
        return "execute"
    state.generated_logic = written[0].sql if written else state.generated_logic
    return decide_next_try(state, deps)


async def try_other_source(
    state: DataState, deps: Deps, missing: Sequence[str] = (), *, reason: str = ""
) -> Literal["other_source", "no_answer"]:
    """The next best source takes the place of the one in hand, once; else the question is refused,
    with the words that are missing or a model's reason.
    """
    if state.kept is not None:
        return "no_answer"
    state.lacking.append(build_lacking(state, missing, reason=reason))
    other = await _find_other_source(state, deps) if len(state.lacking) == 1 else None
    if other is None:
        refuse_all(state, state.lacking)
        return "no_answer"
    state.source, state.source_name = other, other.name
    state.candidates, state.generated_logic, state.problem = [], "", ""
    await recall_confirmed(state, deps)
    record_detail(other_source=other.name)
    return "other_source"


async def _find_other_source(state: DataState, deps: Deps) -> Loaded | None:
    if deps.late():
        return None
    try:
        return await deps.tables.choose_next_source(state.standalone, state.source_name)
    except CitewellError as error:  # of the source in hand it is known
        state.warnings.append(Text("other tables were not asked: {message}", message=error.message))
        return None


async def _write_statements(state: DataState, deps: Deps) -> list[Candidate] | NotInTables:
    """A confirmed statement, or as many of the model's as it takes to be sure (connected: one)."""
    assert state.intent_analysis is not None
    asked, analysis, llm = (build_asked(state), state.intent_analysis, get_chat_model(deps))
    first = await plan.write_candidate(asked, analysis, llm)
    if first is not None and first.question:
        first = await _recheck_confirmed(state, deps, analysis, first)
    if first is None or isinstance(first, NotInTables):
        return first or []
    found = [first]
    if llm is None or is_connected(llm) or _is_sure(asked, analysis, first):
        return found
    for temperature in TEMPERATURES[: deps.settings.candidates - 1]:
        if deps.late() or deps.hurried() or _has_duplicates(found):
            break
        try:
            other = await plan.write_candidate(asked, analysis, llm, temperature=temperature)
        except CitewellError as error:  # the first one is there
            state.warnings.append(
                Text("fewer statements were compared: {message}", message=error.message)
            )
            break
        found += [other] if isinstance(other, Candidate) else []
    return found


def _is_sure(asked: Asked, analysis: Analysis, first: Candidate) -> bool:
    """Whether a statement need not be held against others."""
    if first.log_prob is not None and not first.how:
        return weigh_log_prob(first.log_prob) >= RIGHT
    judged = analysis.log_odds is not None and analysis.log_odds >= SURE
    return judged or plan.is_sure(asked, analysis, first)


async def _recheck_confirmed(
    state: DataState, deps: Deps, analysis: Analysis, first: Candidate | NotInTables
) -> Candidate | NotInTables:
    """A follow-up that the model put in full words may be one that people have confirmed."""
    state.standalone, state.is_joined = first.question, False
    record_detail(standalone=state.standalone)
    await recall_confirmed(state, deps)
    confirmed = await plan.write_candidate(build_asked(state), analysis, None)
    return confirmed if isinstance(confirmed, Candidate) else first


def _has_duplicates(found: list[Candidate]) -> bool:
    """Two tries that wrote the same need no third."""
    texts = [fold_sql(candidate.sql) for candidate in found]
    return len(set(texts)) < len(texts)


async def _is_allowed(state: DataState, deps: Deps, candidate: Candidate) -> bool:
    """Whether guard and engine take it; else why not is noted. A repeated one is checked once."""
    assert state.source is not None
    problem = candidate.problem
    if candidate.unused and state.repairs == 0 and deps.llm is not None:
        problem = Text(
            "the question names the metric {name}: write its column, unless "
            "something else is meant",
            name=candidate.unused,
        )
    if problem:
        note_failure(state, candidate.sql, StatementRefused(problem))
        return False
    try:
        await deps.tables.check(state.source, candidate.sql)
    except (StatementRefused, StatementFailed) as error:
        note_failure(state, candidate.sql, error)
        return False
    return True


def note_failure(state: DataState, sql: str, error: CitewellError) -> None:
    if {"sql": sql, "problem": error.message} not in state.tried:
        state.tried.append({"sql": sql, "problem": error.message})
    state.problem = error.message
    if error.code in LIMITS:
        state.heavy.append((sql, error.code))
        state.problem = Text("{message}; {lighter}", message=error.message, lighter=LIGHTER)


def decide_next_try(state: DataState, deps: Deps) -> Literal["repair", "no_answer"]:
    """Whether the statement in hand is written anew."""
    state.execution_status = state.tried[-1]["problem"] if state.tried else state.problem
    if deps.late():
        return _give_up(state, "budget_seconds", format_message("budget_seconds", state.lang))
    at_end = deps.llm is None or state.repairs >= deps.settings.repairs
    if len(state.heavy) > 1 or (
        at_end and state.heavy and state.heavy[-1][0] == state.tried[-1]["sql"]
    ):
        return _give_up(state, "repairs_exhausted", format_message(state.heavy[-1][1], state.lang))
    if at_end:
        text = format_message("repairs_exhausted", state.lang, source=state.source_name)
        return _give_up(state, "repairs_exhausted", text)
    return "repair"


def _give_up(state: DataState, reason: str, text: str) -> Literal["no_answer"]:
    """What an earlier statement gave is better than nothing."""
    if state.kept is None:
        refuse_question(state, reason, text)
    return "no_answer"


async def _rewrite_statement(state: DataState, deps: Deps) -> list[Candidate] | NotInTables:
    """The statement written anew; one tried already is run again only where it took too much."""
    assert state.intent_analysis is not None
    assert deps.llm is not None, "next_try asks for a repair only where a model can write it"
    asked, analysis = build_asked(state), state.intent_analysis
    state.repairs += 1
    before = {fold_sql(each["sql"]) for each in state.tried} - {
        fold_sql(sql) for sql, _ in state.heavy
    }
    other = await plan.repair_candidate(
        asked, analysis, deps.llm, state.generated_logic, state.problem
    )
    if other is None or (isinstance(other, Candidate) and fold_sql(other.sql) in before):
        other = await plan.write_candidate(asked, analysis, deps.llm, temperature=FRESH)
    record_detail(repairs=state.repairs, problem=state.problem)
    if isinstance(other, NotInTables):
        return other
    return [] if other is None or fold_sql(other.sql) in before else [other]


def normalize_rows(rows: Rows) -> Hashable:
    """Rows as they are compared: in any order of rows and columns, figures to six digits."""
    return tuple(sorted(tuple(sorted(_format_value(value) for value in row)) for row in rows.rows))


def _format_value(value: Value) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return repr(value)
    return f"{float(value):.6g}"

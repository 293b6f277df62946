"""Statements of the `data` agent: written, checked, run, held against each other, mended.

The one rule: a statement that the guard refuses or the engine fails counts as one try; what failed
is written anew at most `settings.repairs` times, and every try is kept with what was wrong with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Literal

from citewell.agents.data_empty import handle_empty_result
from citewell.agents.data_end import build_lacking, refuse_all, refuse_question
from citewell.agents.data_lists import deduplicate_rows, describe_summed_leader
from citewell.agents.data_state import DataState, Deps, Loaded, Result
from citewell.errors import CitewellError, StatementFailed, StatementRefused
from citewell.graph import record_detail
from citewell.models.base import LLM, is_connected
from citewell.skills.answer.data_wording import format_message
from citewell.skills.answer.tell_rows import is_empty_result
from citewell.skills.dialogue.understand import RECENT_MESSAGES
from citewell.sql import plan
from citewell.sql.engines.engine import Rows, Value
from citewell.sql.model_reply import NotInTables
from citewell.sql.plan_types import Analysis, Asked, Candidate
from citewell.types import Message

# A first statement is taken alone where the model is so sure that the tables answer the question
# (log-odds; 3 is 95 %).
SURE = 3.0
TEMPERATURES = (0.4, 0.7, 0.9, 1.0)  # of the second candidate and the following
FRESH = 0.7  # of a statement written instead of one that was repaired into itself
# codes of StatementFailed: perhaps of a busy machine, so the same statement has a second try
LIMITS = {"timeout", "memory"}
LIGHTER = (
    "write a lighter statement: read fewer tables, filter earlier, add LIMIT; the same again "
    "where none is lighter"
)


def build_asked(state: DataState) -> Asked:
    """What the jobs of `plan_sql` share."""
    assert state.source is not None
    source = state.source
    history: tuple[Message, ...] = ()
    if state.is_joined:
        history = (*state.history[-RECENT_MESSAGES:], Message(role="user", content=state.question))
    return Asked(
        state.standalone, state.lang, source.schema, source.glossary, tuple(state.known), history
    )


async def recall_confirmed(state: DataState, deps: Deps) -> None:
    """What people confirmed of questions like it; nothing is lost without it."""
    try:
        state.known = await deps.recall(state.standalone, state.source_name)
    except CitewellError as error:
        state.warnings.append(f"confirmed answers could not be looked up: {error.message}")
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
        return await _try_other_source(state, deps, written.reason)
    if not written and not state.problem:
        reason = (
            "model_failed" if state.degraded else "no_model" if deps.llm is None else "no_statement"
        )
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


async def _try_other_source(
    state: DataState, deps: Deps, reason: str
) -> Literal["other_source", "no_answer"]:
    """The next best source takes the place of the one in hand, once; else the question is
    refused.
    """
    if state.kept is not None:
        return "no_answer"
    state.lacking.append(build_lacking(state, reason=reason))
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
        return await deps.other(state.standalone, state.source_name)
    except CitewellError as error:  # of the source in hand it is known
        state.warnings.append(f"other tables were not asked: {error.message}")
        return None


async def _write_statements(state: DataState, deps: Deps) -> list[Candidate] | NotInTables:
    """A confirmed statement, or as many of the model's as it takes to be sure: of a connected one
    the first.
    """
    assert state.intent_analysis is not None
    asked, analysis, llm = (
        build_asked(state),
        state.intent_analysis,
        None if state.degraded else get_chat_model(deps),
    )
    first = await plan.write_candidate(asked, analysis, llm)
    if first is not None and first.question:
        first = await _recheck_confirmed(state, deps, analysis, first)
    if first is None or isinstance(first, NotInTables):
        return first or []
    found = [first]
    judged = analysis.log_odds is not None and analysis.log_odds >= SURE
    if llm is None or judged or is_connected(llm) or plan.is_sure(asked, analysis, first):
        return found
    for temperature in TEMPERATURES[: deps.settings.candidates - 1]:
        if deps.late() or deps.hurried() or _has_duplicates(found):
            break
        try:
            other = await plan.write_candidate(asked, analysis, llm, temperature=temperature)
        except CitewellError as error:  # the first one is there
            state.warnings.append(f"fewer statements were compared: {error.message}")
            break
        found += [other] if isinstance(other, Candidate) else []
    return found


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
    texts = [_normalize_sql(candidate.sql) for candidate in found]
    return len(set(texts)) < len(texts)


def _normalize_sql(sql: str) -> str:
    return " ".join(sql.split()).rstrip("; ").casefold()


async def _is_allowed(state: DataState, deps: Deps, candidate: Candidate) -> bool:
    """Whether guard and engine take it; else it is noted why not. One that was written twice is
    checked once.
    """
    assert state.source is not None
    try:
        await deps.check(state.source, candidate.sql)
    except (StatementRefused, StatementFailed) as error:
        _note_failure(state, candidate.sql, error)
        return False
    return True


def _note_failure(state: DataState, sql: str, error: CitewellError) -> None:
    if {"sql": sql, "problem": error.message} not in state.tried:
        state.tried.append({"sql": sql, "problem": error.message})
    state.problem = error.message
    if error.code in LIMITS:
        state.heavy.append((sql, error.code))
        state.problem = f"{error.message}; {LIGHTER}"


def decide_next_try(state: DataState, deps: Deps) -> Literal["repair", "no_answer"]:
    """Whether the statement in hand is written anew."""
    state.execution_status = state.tried[-1]["problem"] if state.tried else state.problem
    if deps.late():
        return _give_up(state, "budget_seconds", format_message("budget_seconds", state.lang))
    at_end = deps.llm is None or state.degraded or state.repairs >= deps.settings.repairs
    if len(state.heavy) > 1 or (
        at_end and state.heavy and state.heavy[-1][0] == state.tried[-1]["sql"]
    ):
        return _give_up(state, "repairs_exhausted", format_message(state.heavy[-1][1], state.lang))
    if at_end:
        values = {"source": state.source_name, "problem": state.execution_status}
        return _give_up(
            state, "repairs_exhausted", format_message("repairs_exhausted", state.lang, **values)
        )
    return "repair"


def _give_up(state: DataState, reason: str, text: str) -> Literal["no_answer"]:
    """What an earlier statement gave is better than nothing."""
    if state.kept is None:
        refuse_question(state, reason, text)
    return "no_answer"


async def _rewrite_statement(state: DataState, deps: Deps) -> list[Candidate] | NotInTables:
    """The statement in hand written anew; one that was tried already is run again only where it
    took too much.
    """
    assert state.intent_analysis is not None
    assert deps.llm is not None, "next_try asks for a repair only where a model can write it"
    asked, analysis = build_asked(state), state.intent_analysis
    state.repairs += 1
    before = {_normalize_sql(each["sql"]) for each in state.tried} - {
        _normalize_sql(sql) for sql, _ in state.heavy
    }
    other = await plan.repair_candidate(
        asked, analysis, deps.llm, state.generated_logic, state.problem
    )
    if other is None or (isinstance(other, Candidate) and _normalize_sql(other.sql) in before):
        other = await plan.write_candidate(asked, analysis, deps.llm, temperature=FRESH)
    record_detail(repairs=state.repairs, problem=state.problem)
    if isinstance(other, NotInTables):
        return other
    return [] if other is None or _normalize_sql(other.sql) in before else [other]


async def run_candidates(state: DataState, deps: Deps) -> Literal["refine", "repair", "no_answer"]:
    """Run the candidates and keep what most of them give. Raises SourceUnavailable."""
    results = await _run_all(state, deps)
    if not results:
        return decide_next_try(state, deps)
    best = await deduplicate_rows(state, deps, _pick_majority(state, results))
    state.candidates, state.generated_logic = [best.candidate], best.candidate.sql
    state.rows, state.execution_status, state.problem = best.rows, "success", ""
    record_detail(
        sql=best.candidate.sql,
        rows=len(best.rows.rows),
        truncated=best.rows.truncated,
        agreed=list(state.agreed),
    )
    if not is_empty_result(best.rows):
        state.kept, state.remarks = None, await describe_summed_leader(state, deps, best)
        return "refine"
    return await handle_empty_result(state, deps, best)


async def _run_all(state: DataState, deps: Deps) -> list[Result]:
    assert state.source is not None
    results: list[Result] = []
    for candidate in state.candidates:
        if results and deps.late():
            break
        same = next(
            (
                each
                for each in results
                if _normalize_sql(each.candidate.sql) == _normalize_sql(candidate.sql)
            ),
            None,
        )
        if same is not None:
            results.append(Result(candidate, same.rows))
            continue
        try:
            results.append(Result(candidate, await deps.query(state.source, candidate.sql)))
        except (StatementRefused, StatementFailed) as error:
            _note_failure(state, candidate.sql, error)
    return results


def _pick_majority(state: DataState, results: list[Result]) -> Result:
    """The first of those that agree with most others, one with rows before one without; one that
    people confirmed is not outvoted.
    """
    groups: dict[Hashable, list[Result]] = defaultdict(list)
    for result in results:
        groups[normalize_rows(result.rows)].append(result)
    most = max(groups.values(), key=lambda group: (len(group), not is_empty_result(group[0].rows)))
    if results[0].candidate.how in {"reused", "adapted"}:
        most = groups[normalize_rows(results[0].rows)]
    state.agreed = (len(most), len(results))
    if len(groups) > 1:
        key = "agreed" if len(most) > 1 else "split"
        state.warnings.append(format_message(key, "en", k=str(len(most)), n=str(len(results))))
        others = [group[0] for group in groups.values() if group is not most]
        state.tried += [
            {"sql": each.candidate.sql, "problem": "gives another result"} for each in others
        ]
    return most[0]


def normalize_rows(rows: Rows) -> Hashable:
    """Rows as they are compared: whatever the order of rows and columns, figures to six places that
    count.
    """
    return tuple(sorted(tuple(sorted(_format_value(value) for value in row)) for row in rows.rows))


def _format_value(value: Value) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return repr(value)
    return f"{float(value):.6g}"

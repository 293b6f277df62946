"""The statements of a question run, and the rows that most of them agree on."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable
from typing import Literal

from citewell.agents.data.data_rows import (
    correct_leader_by_sums,
    handle_empty_result,
    note_left_out,
)
from citewell.agents.data.data_state import DataState, Deps, Result
from citewell.agents.data.data_statement import decide_next_try, normalize_rows, note_failure
from citewell.errors import StatementFailed, StatementRefused
from citewell.graph import record_detail
from citewell.messages import Text
from citewell.skills.answer.data_wording import make_text
from citewell.skills.answer.tell_rows import is_empty_result
from citewell.sql.follow_confirmed import fold_sql


async def run_candidates(state: DataState, deps: Deps) -> Literal["refine", "repair", "no_answer"]:
    """Run the candidates and keep what most of them give. Raises SourceUnavailable."""
    results = await _run_all(state, deps)
    if not results:
        return decide_next_try(state, deps)
    best = _pick_majority(state, results)
    if not is_empty_result(best.rows):
        state.kept, state.remarks = None, []
        best = await correct_leader_by_sums(state, deps, best)
        await note_left_out(state, deps, best)
    state.candidates, state.generated_logic = [best.candidate], best.candidate.sql
    state.rows, state.execution_status, state.problem = best.rows, "success", ""
    record_detail(
        sql=best.candidate.sql,
        rows=len(best.rows.rows),
        truncated=best.rows.truncated,
        agreed=list(state.agreed),
    )
    if is_empty_result(best.rows):
        return await handle_empty_result(state, deps, best)
    return "refine"


async def _run_all(state: DataState, deps: Deps) -> list[Result]:
    assert state.source is not None
    results: list[Result] = []
    for candidate in state.candidates:
        if results and deps.late():
            break
        same = next(
            (each for each in results if fold_sql(each.candidate.sql) == fold_sql(candidate.sql)),
            None,
        )
        if same is not None:
            results.append(Result(candidate, same.rows))
            continue
        try:
            results.append(Result(candidate, await deps.tables.query(state.source, candidate.sql)))
        except (StatementRefused, StatementFailed) as error:
            note_failure(state, candidate.sql, error)
    return results


def _pick_majority(state: DataState, results: list[Result]) -> Result:
    """The first of those that agree with most others, one with rows before one without, then the
    one that surprised the model least; one that people confirmed is not outvoted.
    """
    groups: dict[Hashable, list[Result]] = defaultdict(list)
    for result in results:
        groups[normalize_rows(result.rows)].append(result)
    most = max(groups.values(), key=_rank_group)
    if results[0].candidate.how in {"reused", "adapted"}:
        most = groups[normalize_rows(results[0].rows)]
    state.agreed = (len(most), len(results))
    if len(groups) > 1:
        key = "agreed" if len(most) > 1 else "split"
        state.warnings.append(make_text(key, k=str(len(most)), n=str(len(results))))
        others = [group[0] for group in groups.values() if group is not most]
        state.tried += [
            {"sql": each.candidate.sql, "problem": Text("gives another result")} for each in others
        ]
    return most[0]


def _rank_group(group: list[Result]) -> tuple[int, bool, float]:
    known = [each.candidate.log_prob for each in group if each.candidate.log_prob is not None]
    return len(group), not is_empty_result(group[0].rows), max(known, default=-math.inf)

"""What the `data` agent does about rows that are right and say too much or too little: doubles in a
list, rows not summed up.

The one rule: a statement that people have confirmed is left alone; what is run besides goes through
the guard, and where it fails, the first rows stand.
"""

from __future__ import annotations

from dataclasses import replace

from citewell.agents.data_state import DataState, Deps, Result
from citewell.errors import StatementFailed, StatementRefused
from citewell.graph import record_detail
from citewell.skills.answer.data_wording import format_message
from citewell.sql.cell_text import format_cell
from citewell.sql.column_label import label_column
from citewell.sql.engines.engine import Rows
from citewell.sql.mend_lists import add_distinct, sum_by_name

CONFIRMED = {"reused", "adapted"}


async def deduplicate_rows(state: DataState, deps: Deps, result: Result) -> Result:
    """A plain list with many doubles, each of them once; else the result as it is."""
    assert state.source is not None
    if result.candidate.how in CONFIRMED or deps.late():
        return result
    sql = add_distinct(
        state.standalone, result.candidate.sql, state.source.schema.dialect, result.rows
    )
    rows = await _run_query(state, deps, sql) if sql else None
    if rows is None or not rows.rows:
        return result
    many, few = len(result.rows.rows), len(set(result.rows.rows))
    problem = f"{many} rows of which {few} differ: each is shown once"
    state.tried.append({"sql": result.candidate.sql, "problem": problem})
    record_detail(doubles=problem)
    return Result(replace(result.candidate, sql=sql), rows)


async def describe_summed_leader(state: DataState, deps: Deps, result: Result) -> list[str]:
    """What is said where one row's figure decided who has the most, and the sum of the rows names
    another one.
    """
    assert state.source is not None
    if result.candidate.how in CONFIRMED or len(result.rows.rows) != 1 or deps.late():
        return []
    other = sum_by_name(state.standalone, result.candidate.sql, state.source.schema.dialect)
    rows = await _run_query(state, deps, other.sql) if other is not None else None
    if (
        other is None
        or rows is None
        or len(rows.rows) != 1
        or rows.rows[0][0] in {None, *result.rows.rows[0]}
    ):
        return []
    name, total = rows.rows[0]
    state.tried.append({"sql": other.sql, "problem": "sums up the rows, and names another one"})
    record_detail(summed=[name, total])
    figure, named = (
        label_column(other.figure, "number", [total], state.lang),
        label_column(other.name, "text", [name], state.lang),
    )
    values = {
        "name": format_cell(name, named, state.lang),
        "total": format_cell(total, figure, state.lang),
    }
    return [format_message("summed", state.lang, figure=figure.words, each=named.words, **values)]


async def _run_query(state: DataState, deps: Deps, sql: str) -> Rows | None:
    assert state.source is not None
    try:
        return await deps.query(state.source, sql)
    except (StatementRefused, StatementFailed) as error:
        record_detail(besides=error.message)
        return None

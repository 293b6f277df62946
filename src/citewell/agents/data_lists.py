"""What the `data` agent does about rows that are right and say too much or too little: doubles in a
list, rows not summed up.

The one rule: a statement that people have confirmed is left alone; what is run besides goes through
the guard, and where it fails, the first rows stand.
"""

from __future__ import annotations

from dataclasses import replace

from citewell.agents.data_state import DataState, Deps, Result
from citewell.errors import StatementFailed, StatementRefused
from citewell.graph import note
from citewell.skills.answer.data_wording import say
from citewell.sql.cell_text import cell
from citewell.sql.column_label import label
from citewell.sql.engines.engine import Rows
from citewell.sql.mend_lists import said_once, summed

CONFIRMED = {"reused", "adapted"}


async def once(state: DataState, deps: Deps, result: Result) -> Result:
    """A plain list with many doubles, each of them once; else the result as it is."""
    assert state.source is not None
    if result.candidate.how in CONFIRMED or deps.late():
        return result
    sql = said_once(
        state.standalone, result.candidate.sql, state.source.schema.dialect, result.rows
    )
    rows = await _ran(state, deps, sql) if sql else None
    if rows is None or not rows.rows:
        return result
    many, few = len(result.rows.rows), len(set(result.rows.rows))
    problem = f"{many} rows of which {few} differ: each is shown once"
    state.tried.append({"sql": result.candidate.sql, "problem": problem})
    note(doubles=problem)
    return Result(replace(result.candidate, sql=sql), rows)


async def leader(state: DataState, deps: Deps, result: Result) -> list[str]:
    """What is said where one row's figure decided who has the most, and the sum of the rows names
    another one.
    """
    assert state.source is not None
    if result.candidate.how in CONFIRMED or len(result.rows.rows) != 1 or deps.late():
        return []
    other = summed(state.standalone, result.candidate.sql, state.source.schema.dialect)
    rows = await _ran(state, deps, other.sql) if other is not None else None
    if (
        other is None
        or rows is None
        or len(rows.rows) != 1
        or rows.rows[0][0] in {None, *result.rows.rows[0]}
    ):
        return []
    name, total = rows.rows[0]
    state.tried.append({"sql": other.sql, "problem": "sums up the rows, and names another one"})
    note(summed=[name, total])
    figure, named = (
        label(other.figure, "number", [total], state.lang),
        label(other.name, "text", [name], state.lang),
    )
    values = {"name": cell(name, named, state.lang), "total": cell(total, figure, state.lang)}
    return [say("summed", state.lang, figure=figure.words, each=named.words, **values)]


async def _ran(state: DataState, deps: Deps, sql: str) -> Rows | None:
    assert state.source is not None
    try:
        return await deps.query(state.source, sql)
    except (StatementRefused, StatementFailed) as error:
        note(besides=error.message)
        return None

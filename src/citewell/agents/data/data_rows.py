"""What the `data` agent does about rows that are none, left out or not summed up. Where the stored
value that is meant is plain, it is taken and said; else an empty result stands as what it is. A
statement that people have confirmed is left alone; what is run besides goes through the guard, and
where it fails, the first rows stand.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from citewell.agents.data.data_state import DataState, Deps, Loaded, Result
from citewell.errors import StatementFailed, StatementRefused
from citewell.graph import record_detail
from citewell.messages import Text
from citewell.skills.answer.data_wording import format_message, quote_words
from citewell.skills.answer.tell_rows import is_empty_result
from citewell.sql.cell_text import format_cell
from citewell.sql.column_label import label_column
from citewell.sql.engines.engine import Rows
from citewell.sql.left_out import find_left_out
from citewell.sql.rewrite.sum_by_name import sum_by_name
from citewell.sql.stored_values import (
    Absent,
    Filter,
    build_lookup,
    extract_filters,
    find_absent,
    replace_literal,
)

LOOKED_UP = 3  # columns whose values are read from the tables
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


async def handle_empty_result(
    state: DataState, deps: Deps, result: Result
) -> Literal["refine", "repair"]:
    """Try another spelling of a value, have the statement rewritten, or keep the empty result."""
    assert state.source is not None
    missing = await _find_absent_values(state.source, deps, result.candidate.sql)
    record_detail(
        absent=[
            {"column": each.column, "value": each.value, "nearest": list(each.nearest)}
            for each in missing
        ]
    )
    if (
        all(each.same for each in missing)
        and missing
        and (better := await _retry_with_spelling(state, deps, result, missing)) is not None
    ):
        _take_result(state, better, missing, result)
        return "refine"
    if state.kept is None and _can_be_misnamed(state, missing) and _can_repair(state, deps):
        state.kept, state.remarks = result, [_format_remark(each, state.lang) for each in missing]
        state.problem = Text("; ").join(_describe_problem(each) for each in missing)
        state.tried.append({"sql": result.candidate.sql, "problem": state.problem})
        return "repair"
    if state.kept is None:
        state.kept, state.remarks = result, [_format_remark(each, state.lang) for each in missing]
    return "refine"


async def _find_absent_values(source: Loaded, deps: Deps, sql: str) -> list[Absent]:
    """Values that a statement filters by and that are not stored."""
    found: list[Absent] = []
    read = 0
    for each in extract_filters(sql, source.schema):
        stored = each.all_values
        if stored is None:
            if read >= LOOKED_UP or deps.late():
                continue
            read += 1
            stored = await _read_stored_values(source, deps, each)
        if stored is not None and (gone := find_absent(each, stored)) is not None:
            found.append(gone)
    return found


async def _read_stored_values(source: Loaded, deps: Deps, wanted: Filter) -> list[str] | None:
    """All values of a column, read through the guard; None where too many or not readable."""
    try:
        rows = await deps.tables.query(source, build_lookup(wanted, source.schema.dialect))
    except (StatementFailed, StatementRefused):
        return None
    values = [str(row[0]) for row in rows.rows if row and row[0] is not None]
    return None if rows.truncated and wanted.value not in values else values


async def _retry_with_spelling(
    state: DataState, deps: Deps, result: Result, missing: list[Absent]
) -> Result | None:
    """The same statement with the stored spellings; None where it finds nothing either."""
    assert state.source is not None
    sql = result.candidate.sql
    for each in missing:
        sql = replace_literal(sql, state.source.schema.dialect, each.value, each.same)
    try:
        rows = await deps.tables.query(state.source, sql)
    except (StatementRefused, StatementFailed):
        return None
    how = "adapted" if result.candidate.how == "reused" else result.candidate.how
    return (
        None if is_empty_result(rows) else Result(replace(result.candidate, sql=sql, how=how), rows)
    )


def _take_result(state: DataState, better: Result, missing: list[Absent], before: Result) -> None:
    state.tried.append(
        {
            "sql": before.candidate.sql,
            "problem": "; ".join(_describe_problem(each) for each in missing),
        }
    )
    state.candidates, state.generated_logic, state.rows = (
        [better.candidate],
        better.candidate.sql,
        better.rows,
    )
    state.kept = None
    state.remarks = [
        format_message("taken", state.lang, value=each.value, column=each.column, same=each.same)
        for each in missing
    ]
    record_detail(sql=better.candidate.sql, rows=len(better.rows.rows))


def _can_be_misnamed(state: DataState, missing: list[Absent]) -> bool:
    """A value in the user's own words that is not there is an answer; one that the model chose, or
    one in another script than what is stored, may be a stored one under another name.
    """
    said = _get_user_words(state)
    return any(
        each.value.casefold() not in said or (bool(_HAN.search(each.value)) and not each.nearest)
        for each in missing
    )


def _get_user_words(state: DataState) -> str:
    """The user's own words."""
    return f"{state.question} {state.standalone}".casefold()


def _can_repair(state: DataState, deps: Deps) -> bool:
    return deps.llm is not None and not deps.late() and state.repairs < deps.settings.repairs


def _describe_problem(gone: Absent) -> str:
    near = Text("; stored are: {nearest}", nearest=", ".join(gone.nearest)) if gone.nearest else ""
    return Text(
        "no rows: {column} has no value {value!r}{near}",
        column=gone.column,
        value=gone.value,
        near=near,
    )


def _format_remark(gone: Absent, lang: str) -> str:
    key = "nearest" if gone.nearest else "absent"
    return format_message(
        key, lang, column=gone.column, value=gone.value, nearest=quote_words(gone.nearest, lang)
    )


CONFIRMED = {"reused", "adapted"}


async def correct_leader_by_sums(state: DataState, deps: Deps, result: Result) -> Result:
    """Where one row's figure decided who has the most, and the sum of all rows of each names
    another one: that one, and how the question was read is said.
    """
    assert state.source is not None
    if result.candidate.how in CONFIRMED or len(result.rows.rows) != 1 or deps.late():
        return result
    sql = result.candidate.sql
    other = sum_by_name(state.standalone, sql, state.source.schema.dialect)
    rows = await _run_query(state, deps, other.sql) if other is not None else None
    row = result.rows.rows[0]
    if other is None or rows is None or len(rows.rows) != 1 or rows.rows[0][0] in {None, *row}:
        return result
    state.tried.append({"sql": sql, "problem": Text("reads single rows, not their sums")})
    figure = label_column(other.figure, "number", [], state.lang)
    named = label_column(other.name, "text", [], state.lang)
    at = [name.casefold() for name in result.rows.columns].index(other.name.casefold())
    words = {"figure": figure.words, "each": named.words}
    words["name"] = format_cell(row[at], named, state.lang)
    state.remarks = [format_message("summed", state.lang, **words)]
    return Result(replace(result.candidate, sql=other.sql), rows)


async def note_left_out(state: DataState, deps: Deps, result: Result) -> None:
    """Where a join leaves groups that have none out of counts: how many these are."""
    assert state.source is not None
    if result.candidate.how in CONFIRMED or deps.late():
        return
    found = find_left_out(result.candidate.sql, state.source.schema)
    rows = await _run_query(state, deps, found[1]) if found is not None else None
    if found is not None and rows is not None and rows.rows and rows.rows[0][0]:
        number, table = str(rows.rows[0][0]), found[0]
        state.remarks.append(format_message("left_out", state.lang, n=number, table=table))


async def _run_query(state: DataState, deps: Deps, sql: str) -> Rows | None:
    assert state.source is not None
    try:
        return await deps.tables.query(state.source, sql)
    except (StatementRefused, StatementFailed) as error:
        record_detail(besides=error.message)
        return None

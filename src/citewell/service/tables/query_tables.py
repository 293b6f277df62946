"""Statements that people write: run, saved, written to a file. Guard, limits and permissions are
those of the agent's own statements; what a person may not ask in words they may not ask in SQL.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal
from weakref import WeakKeyDictionary, WeakValueDictionary

import anyio
import anyio.to_thread

from citewell.errors import InvalidInput
from citewell.messages import AnyText, Text
from citewell.runtime.app import App
from citewell.service.tables.kept_schema import get_table_names, load_schema
from citewell.service.tables.open_source import open_source
from citewell.skills.answer.chart import choose_chart
from citewell.sql import run_statement as tables
from citewell.sql.arrange_rows import arrange_rows
from citewell.sql.column_label import list_looks
from citewell.sql.engines.engine import Limits, Writing
from citewell.store.boards.saved_questions import SavedQuestion
from citewell.types import Chart, Shown, TableData

Form = Literal["csv", "xlsx"]
EXPORT_CHARACTERS: Final = 50_000_000
_AT_ONCE: Final = 2  # statements of one person: the others' questions wait for no board
_turns: WeakKeyDictionary[App, WeakValueDictionary[str, anyio.Semaphore]] = WeakKeyDictionary()


class Result(Shown):
    """`at`: when it was read; `problem`: why that is older than the file or the server."""

    data: TableData
    at: float
    seconds: float
    problem: AnyText = ""


class ResultFile(Shown):
    """A file in a folder of its own, which whoever asked for it deletes."""

    path: Path
    rows: int
    truncated: bool


async def query_tables(app: App, source: str, sql: str, lang: str = "en") -> Result:
    """What a statement gives, with the chart that fits. Raises NotFound, SourceUnavailable,
    StatementRefused, StatementFailed.
    """
    sql = sql.strip()
    async with _take_turn(app), open_source(app, source) as (found, engine):
        limits = _get_limits(app, app.settings.data.max_rows)
        raw = await tables.run_query(engine, sql, limits, get_table_names(found))
    rows = arrange_rows(raw, sql, load_schema(found), lang)
    data = TableData(
        source=found.name,
        dialect=found.dialect,
        sql=sql,
        columns=list(rows.columns),
        rows=[list(row) for row in rows.rows],
        row_count=len(rows.rows),
        truncated=rows.truncated,
        chart=choose_chart(rows, "", lang),
        looks=list_looks(rows, lang),
    )
    return Result(data=data, at=time.time(), seconds=raw.seconds, problem=found.problem)


async def run_saved_question(app: App, saved: SavedQuestion) -> Result:
    """Its statement now, drawn as it was saved where the columns are still there."""
    result = await query_tables(app, saved.source, saved.sql, saved.lang)
    fits = saved.chart is not None and is_drawable(saved.chart, result.data.columns)
    chosen = saved.chart if fits else None
    return result.model_copy(update={"data": result.data.model_copy(update={"chosen": chosen})})


def is_drawable(chart: Chart, columns: list[str]) -> bool:
    """Whether all that it draws is there."""
    named = [name for name in (chart.x, chart.series, *chart.y) if name]
    return chart.kind == "table" or bool(chart.x and chart.y and set(named) <= set(columns))


def check_chart(chart: Chart, columns: list[str]) -> None:
    """Raises InvalidInput."""
    if not is_drawable(chart, columns):
        raise InvalidInput(
            Text("the chart names columns that the rows do not have"),
            hint=Text("they have: {columns}", columns=", ".join(columns)),
        )


async def export_tables(
    app: App, source: str, sql: str, form: Form, lang: str = "en"
) -> ResultFile:
    """Rows within `data.export_rows`, written by the engine's worker. Raises as `query_tables`."""
    folder = Path(await anyio.to_thread.run_sync(tempfile.mkdtemp, "", "citewell-"))
    path = folder / f"result.{form}"
    try:
        async with _take_turn(app), open_source(app, source) as (found, engine):
            limits = _get_limits(app, app.settings.data.export_rows, EXPORT_CHARACTERS)
            how = Writing(form, load_schema(found), sql, lang)
            names = get_table_names(found)
            written = await tables.export_query(engine, sql.strip(), limits, str(path), how, names)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await delete_result(path)
        raise
    return ResultFile(path=path, rows=written.rows, truncated=written.truncated)


async def delete_result(path: Path) -> None:
    """With its folder."""
    await anyio.to_thread.run_sync(shutil.rmtree, path.parent, True)


def explain_cut(rows: int) -> str:
    """Of a file that does not hold all."""
    return Text("there are more rows; the file holds the first {rows:,}", rows=rows)


def _get_limits(app: App, rows: int, characters: int | None = None) -> Limits:
    settings = app.settings.data
    limits = Limits(settings.statement_seconds, rows, memory_mib=settings.memory_mib)
    return (
        limits
        if characters is None
        else Limits(limits.seconds, rows, characters, limits.memory_mib)
    )


@asynccontextmanager
async def _take_turn(app: App) -> AsyncIterator[None]:
    who = app.viewer.user_id if app.viewer else ""
    turns = _turns.setdefault(app.root, WeakValueDictionary())
    async with turns.setdefault(who, anyio.Semaphore(_AT_ONCE)):
        yield

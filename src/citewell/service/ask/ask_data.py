"""The `data` agent on an open App: which tables are asked, guarded statements, what people have
confirmed.

The one rule: a source is opened once a question and closed with it; a session keeps which one it
asks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress

import anyio

from citewell.agents import data
from citewell.agents.data_state import DataState, Deps, Loaded
from citewell.errors import CitewellError, NotFound, SourceUnavailable
from citewell.service.ask.ask_qa import get_judge
from citewell.service.ask.run import Run
from citewell.service.knowledge.catch_up import run_pending_jobs
from citewell.service.knowledge.find_knowledge import find_similar_items
from citewell.service.tables.choose_source import (
    DATA,
    get_terms,
    pick_other,
    pick_sources,
    should_keep_source,
)
from citewell.service.tables.kept_schema import get_table_names, load_schema
from citewell.service.tables.open_source import Opened, open_source
from citewell.skills.dialogue.sensitive import load_word_list
from citewell.sql import run_statement as tables
from citewell.sql.engines.engine import Engine, Limits, Rows
from citewell.store.confirmed.types import Known
from citewell.types import Answer, Event, Step, TableData

CATCH_UP_SECONDS = (
    5.0  # for votes given just before, which take some 0.1 s each: in their time they count already
)
LEAST_SECONDS = 2.0  # a statement that begins in time gets at least so long


async def run_data(run: Run) -> AsyncIterator[Event]:
    """Raises NotFound for a source that is named and not there, SourceUnavailable where it cannot
    be reached, InvalidInput.
    """
    if run.again is None and run.options.knowledge is not False:
        with suppress(CitewellError):  # they wait, and are told of where they are looked at
            await run_pending_jobs(run.app, CATCH_UP_SECONDS)
    name = run.options.source or await _get_session_source(run)
    state = DataState(
        question=run.request.question,
        trace_id=run.trace_id,
        source_name=name,
        history=run.history,
        warnings=run.warnings,
    )
    async with AsyncExitStack() as stack:
        async for event in data.GRAPH.run(
            state, _build_deps(run, Tables(run, stack)), n=len(run.steps), done=run.count
        ):
            yield Event("step", event) if isinstance(event, Step) else event
    if state.error is not None:
        raise state.error
    if state.source is not None:
        run.session_data = {DATA: {"source": state.source.name}}
        # a replay asks the same tables
        run.options = run.options.model_copy(update={"source": state.source.name})
    yield Event("answer", _build_answer(run, state))


async def _get_session_source(run: Run) -> str:
    """The source that the session asked before, as long as there is one of that name and the
    question is put to it.
    """
    if not run.session_id:
        return ""
    name = str(((await run.app.sessions.data(run.session_id)).get(DATA) or {}).get("source", ""))
    if name and name not in {source.name for source in await run.app.sources.list()}:
        run.warnings.append(f"the tables {name} that this session asked are gone")
        return ""
    return name if name and await should_keep_source(run, run.request.question, name) else ""


class Tables:
    """The sources of one question, opened when they are asked."""

    def __init__(self, run: Run, stack: AsyncExitStack) -> None:
        self._run, self._stack = run, stack
        self._engines: dict[str, Engine] = {}
        self._names: dict[str, frozenset[str]] = {}

    async def load(self, name: str, question: str) -> Loaded | list[str]:
        """The source named, or the one that the question is about; several names where they are
        equally likely.
        """
        app = self._run.app
        if not name:
            likely = await pick_sources(app, question)
            if not likely:
                raise NotFound("there are no tables", hint="citewell data add FILE adds some")
            if len(likely) > 1:
                return likely
            name = likely[0]
        return await self._load_source(name)

    async def other(self, question: str, asked: str) -> Loaded | None:
        """The next best source; None where the user chose the one asked."""
        name = "" if self._run.options.source else await pick_other(self._run.app, question, asked)
        return await self._load_source(name) if name else None

    async def _load_source(self, name: str) -> Loaded:
        source, engine = await self._open_source(name)
        self._engines[source.name], self._names[source.name] = engine, get_table_names(source)
        if source.problem:
            self._run.warnings.append(f"{source.name}: {source.problem}")
        return Loaded(source.name, load_schema(source), get_terms(source))

    async def _open_source(self, name: str) -> Opened:
        """Read anew where that is needed, within the question's time."""
        with anyio.move_on_after(self._run.seconds_left):
            return await self._stack.enter_async_context(open_source(self._run.app, name))
        hint = f"citewell data refresh {name}, then ask again; or allow more with data.max_seconds"
        raise SourceUnavailable(
            f"{name}: reading it anew takes longer than the time of this question", hint=hint
        )

    async def query(self, loaded: Loaded, sql: str) -> Rows:
        """Guarded and run, within what is left of the question's time."""
        return await tables.run_query(
            self._get_engine(loaded), sql, self._get_limits(), self._names[loaded.name]
        )

    async def check(self, loaded: Loaded, sql: str) -> None:
        """Guarded and planned."""
        await tables.explain_query(
            self._get_engine(loaded), sql, self._get_limits(), self._names[loaded.name]
        )

    def _get_engine(self, loaded: Loaded) -> Engine:
        return self._engines[loaded.name]

    def _get_limits(self) -> Limits:
        settings, left = self._run.app.settings.data, self._run.seconds_left
        seconds = (
            settings.statement_seconds
            if left is None
            else min(settings.statement_seconds, max(LEAST_SECONDS, left))
        )
        return Limits(seconds=seconds, rows=settings.max_rows, memory_mib=settings.memory_mib)


def _build_deps(run: Run, asked: Tables) -> Deps:
    app = run.app

    async def recall(question: str, source: str) -> list[Known]:
        if run.options.knowledge is False:
            return []
        return await find_similar_items(app, question, agent="data", source=source)

    return Deps(
        settings=app.settings.data,
        llm=run.meter,
        embedder=app.embedder,
        load=asked.load,
        query=asked.query,
        check=asked.check,
        recall=recall,
        late=lambda: run.seconds_left == 0.0,
        hurried=lambda: run.seconds_left is not None and run.seconds_left < run.seconds,
        question_max_chars=app.settings.qa.question_max_chars,
        sensitive=load_word_list(app.settings.qa.sensitive_words),
        judge=get_judge(run),
        other=asked.other,
    )


def _build_answer(run: Run, state: DataState) -> Answer:
    answer = run.answer(state, state.source.name if state.source else "")
    stopped = state.stop_reason or (run.meter.spent if run.meter else "")
    return answer.model_copy(
        update={
            "stop_reason": stopped,
            "data": _build_table_data(state),
            "followed": state.followed,
            "choices": state.choices,
            "confidence": state.confidence,
        }
    )


def _build_table_data(state: DataState) -> dict[str, object] | None:
    """None where no statement was ever written. A refusal shows what was tried."""
    if state.source is None or not (state.generated_logic or state.tried):
        return None
    rows = state.rows if state.status == "answered" else None
    shown = TableData(
        source=state.source.name,
        dialect=state.source.schema.dialect,
        sql=state.generated_logic,
        columns=list(rows.columns) if rows else [],
        rows=[list(row) for row in rows.rows] if rows else [],
        row_count=len(rows.rows) if rows else 0,
        truncated=rows.truncated if rows else False,
        chart=state.chart,
        tried=state.tried,
    )
    return shown.model_dump(mode="json")

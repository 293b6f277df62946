"""The `data` agent on an open App: which tables are asked, guarded statements, what people have
confirmed. A source is opened once a question and closed with it; a session keeps which one it asks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from typing import Any

import anyio

from citewell.agents.data import data
from citewell.agents.data.data_state import DataState, Deps, Loaded
from citewell.errors import CitewellError, NotFound, SourceUnavailable
from citewell.messages import Text, dump_model
from citewell.service.ask.ask_qa import get_models
from citewell.service.ask.run import Run
from citewell.service.knowledge.feedback_job import run_pending_jobs
from citewell.service.knowledge.find_knowledge import find_similar_items
from citewell.service.tables.choose_source import DATA, pick_other, pick_sources, should_keep_source
from citewell.service.tables.kept_schema import (
    get_table_names,
    get_terms,
    load_described,
    load_schema,
)
from citewell.service.tables.open_source import Opened, open_source
from citewell.skills.answer.data_wording import format_message
from citewell.sql import run_statement as tables
from citewell.sql.column_label import list_looks
from citewell.sql.engines.engine import Engine, Limits, Rows
from citewell.sql.plan import is_answerable
from citewell.sql.schema_link import link_question
from citewell.sql.semantics.check_description import check_names
from citewell.sql.semantics.described_schema import describe_schema
from citewell.sql.semantics.description import Lines, parse_description
from citewell.store.confirmed.types import Known
from citewell.types import Answer, Elsewhere, Event, Step, TableData

# for votes given just before, which take some 0.1 s each: in their time they count already
CATCH_UP_SECONDS = 5.0
MOST_PROBLEMS = 3  # of a description that no longer fits its tables, told at each question
FAILED = frozenset({"no_statement", "repairs_exhausted"})  # of a statement: it ends the question
LEAST_SECONDS = 2.0  # a statement that begins in time gets at least so long


async def run_data(run: Run) -> AsyncIterator[Event]:
    """Raises NotFound (a named source), SourceUnavailable, InvalidInput."""
    if run.again is None and run.options.knowledge is not False:
        with suppress(CitewellError):  # they wait, and are told of where they are looked at
            await run_pending_jobs(run.app, CATCH_UP_SECONDS)
    kept = await _load_session(run)
    name = run.options.source or await _get_session_source(run, str(kept.get("source", "")))
    state = DataState(
        question=run.request.question,
        trace_id=run.trace_id,
        source_name=name,
        history=run.history,
        warnings=run.warnings,
    )
    if name and name == kept.get("source") and kept.get("sql"):
        state.last = str(kept["question"]), str(kept["sql"]), float(kept.get("confidence", 1.0))
    async with AsyncExitStack() as stack:
        async for event in data.GRAPH.run(
            state, _build_deps(run, Tables(run, stack)), n=len(run.steps), done=run.count
        ):
            yield Event("step", event) if isinstance(event, Step) else event
    if state.error is not None:
        raise state.error
    other = await _propose_other_source(run, state) if run.options.source else ""
    if state.source is not None:
        last = (
            (state.standalone, state.generated_logic, state.confidence)
            if state.status == "answered"
            else state.last
            if state.source.name == name
            else None
        )
        asked = dict(zip(("question", "sql", "confidence"), last or (), strict=False))
        run.session_data = {DATA: {"source": state.source.name, **asked}}
        # a replay asks the same tables
        run.options = run.options.model_copy(update={"source": state.source.name})
    answer = _build_answer(run, state)
    elsewhere = Elsewhere(agent=DATA, source=other) if other else None
    yield Event("answer", answer.model_copy(update={"elsewhere": elsewhere}))


async def _propose_other_source(run: Run, state: DataState) -> str:
    """The tables that may have what those do not that the user chose, told at the end of the
    answer; empty where there are none. Where a statement was tried and failed, they must be the
    likelier ones.
    """
    if state.stop_reason not in {"not_in_data", *FAILED}:
        return ""
    name = await pick_other(run.app, state.standalone, state.source_name)
    if not name:
        return ""
    if state.stop_reason in FAILED and name not in await pick_sources(run.app, state.standalone):
        return ""
    source = await run.app.sources.get(name)
    terms = [term.term for term in get_terms(source)]
    linked = await link_question(state.standalone, load_described(source), run.app.embedder, terms)
    if not is_answerable(linked):
        return ""
    joint = "" if state.lang == "zh" else " "
    state.final_answer += joint + format_message("ask_other", state.lang, source=name)
    return name


async def _load_session(run: Run) -> dict[str, Any]:
    """What the session keeps of its tables: `source`, and of an answer `question` and `sql`."""
    if not run.session_id:
        return {}
    return (await run.app.sessions.data(run.session_id)).get(DATA) or {}


async def _get_session_source(run: Run, name: str) -> str:
    """The session's source, while one of that name is there and the question is put to it."""
    if name and name not in {source.name for source in await run.app.sources.list()}:
        run.warnings.append(Text("the tables {name} that this session asked are gone", name=name))
        return ""
    return name if name and await should_keep_source(run, run.request.question, name) else ""


class Tables:
    """The sources of one question, opened when they are asked."""

    def __init__(self, run: Run, stack: AsyncExitStack) -> None:
        self._run, self._stack = run, stack
        self._engines: dict[str, Engine] = {}
        self._names: dict[str, frozenset[str]] = {}

    async def load(self, name: str, question: str) -> Loaded | list[str]:
        """The source named, or the one meant; several names where they are equally likely."""
        app = self._run.app
        if not name:
            likely = await pick_sources(app, question)
            if not likely:
                raise NotFound(
                    Text("there are no tables"), hint=Text("citewell data add FILE adds some")
                )
            if len(likely) > 1:
                return likely
            name = likely[0]
        return await self._load_source(name)

    async def choose_next_source(self, question: str, asked: str) -> Loaded | None:
        """The next best source; None where the user chose the one asked."""
        name = "" if self._run.options.source else await pick_other(self._run.app, question, asked)
        return await self._load_source(name) if name else None

    async def _load_source(self, name: str) -> Loaded:
        source, engine = await self._open_source(name)
        self._engines[source.name], self._names[source.name] = engine, get_table_names(source)
        if source.problem:
            self._run.warnings.append(
                Text("{name}: {problem}", name=source.name, problem=source.problem)
            )
        description = parse_description(source.description)
        schema = load_schema(source)
        for problem in check_names(description, Lines(None), schema)[:MOST_PROBLEMS]:
            self._run.warnings.append(
                Text("the description of {name}: {problem}", name=name, problem=problem.message)
            )
        schema = describe_schema(schema, description)
        return Loaded(source.name, schema, get_terms(source), description)

    async def _open_source(self, name: str) -> Opened:
        """Read anew where that is needed, within the question's time."""
        with anyio.move_on_after(self._run.seconds_left):
            return await self._stack.enter_async_context(open_source(self._run.app, name))
        hint = Text(
            "citewell data refresh {name}, then ask again; or allow more with data.max_seconds",
            name=name,
        )
        raise SourceUnavailable(
            Text("{name}: reading it anew takes longer than the time of this question", name=name),
            hint=hint,
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

    async def recall(self, question: str, source: str) -> list[Known]:
        run = self._run
        if run.options.knowledge is False:
            return []
        return await find_similar_items(run.app, question, agent="data", source=source)

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
    return Deps(
        **get_models(run),
        settings=run.app.settings.data,
        tables=asked,
        late=lambda: run.seconds_left == 0.0,
        hurried=lambda: run.seconds_left is not None and run.seconds_left < run.seconds,
        question_max_chars=run.app.settings.qa.question_max_chars,
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
        looks=list_looks(rows, state.lang) if rows else [],
        tried=state.tried,
    )
    return dump_model(shown)

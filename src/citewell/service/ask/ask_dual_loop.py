"""The `dual_loop` agent on an open App: its searches, the web, the memory of its user, and its
state after every step.

The one rule: nothing is remembered of a question that is not kept, and nothing kept is another
user's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from pydantic import TypeAdapter

from citewell.agents import dual_loop
from citewell.agents.dual_loop_state import Deps, DualLoopState, Retrieved
from citewell.config import DualLoopSettings
from citewell.errors import CitewellError
from citewell.models.base import Vector
from citewell.retrieve.baselines import BASELINES
from citewell.retrieve.confidence import compute_confidence
from citewell.retrieve.query import Context
from citewell.runtime.app import App
from citewell.service.ask.ask_qa import get_hit_limit, get_judge, make_widener
from citewell.service.ask.find_confirmed import make_confirmed_search
from citewell.service.ask.locate import make_locator
from citewell.service.ask.options import SearchOptions, get_strategy, is_narrowed
from citewell.service.ask.run import Run
from citewell.service.ask.search import find_hits
from citewell.service.sessions import memories as memory
from citewell.service.sites.search_web import open_web
from citewell.skills.dialogue.reference import Readings, find_antecedents
from citewell.skills.dialogue.route import RouteName
from citewell.skills.dialogue.sensitive import load_word_list
from citewell.skills.memory.recall import Recalled
from citewell.store.index.base import Filter
from citewell.store.memory_judgement import Kept, Told
from citewell.text.sentences import detect_language
from citewell.types import Event, Hit, Step

STATE = TypeAdapter(DualLoopState)


async def run_dual_loop(run: Run) -> AsyncIterator[Event]:
    state = (
        STATE.validate_python(run.state)
        if run.state
        else DualLoopState(run.request.question, run.history)
    )
    state.warnings += [warning for warning in run.warnings if warning not in state.warnings]
    done = run.make_step_recorder(lambda: STATE.dump_python(state, mode="json"))
    async for event in dual_loop.GRAPH.run(
        state, _build_deps(run), start=run.goes_on, n=len(run.steps), done=done
    ):
        yield Event("step", event) if isinstance(event, Step) else event
    run.recalled = [
        *(recalled.memory.memory_id for recalled in state.memories),
        *state.kept_memories,
    ]
    choices = find_antecedents(state.question, state.history) if state.intent == "which" else []
    told = {"followed": state.followed, "choices": choices}
    yield Event("answer", run.answer(state, state.route).model_copy(update=told))


def _build_deps(run: Run) -> Deps:
    app, settings = run.app, run.app.settings
    recalls = (
        settings.memory.enabled
        and run.options.memory is not False
        and (run.request.keep or run.again is not None)
    )
    remembers = recalls and run.request.keep

    async def recall(question: str) -> list[Recalled]:
        found = await memory.find_memories(
            app, run.request.user_id, question, collection=run.collection
        )
        return (
            found
            if run.again is None
            else [each for each in found if each.memory.created_at <= run.again.at]
        )

    async def remember(told: Told) -> Kept:
        return await memory.store_memory(app, run.request.user_id, told)

    def rate(text: str, hits: Sequence[Hit]) -> float:
        return compute_confidence(text, hits, app.calibration.retrieval)

    return Deps(
        settings=get_loop_settings(run),
        thresholds=settings.qa,
        llm=run.meter,
        embedder=app.embedder,
        retrieve=_Searches(run),
        rate=rate,
        locate=make_locator(app),
        widen=make_widener(app),
        preferred=get_strategy(run.options, app),
        forced=run.options.strategy is not None,
        late=lambda: run.seconds_left == 0.0,
        web=can_search_web(run),
        session_id=run.session_id,
        trace_id=run.trace_id,
        collection=run.collection,
        recall=recall if recalls else None,
        remember=remember if remembers else None,
        sensitive=load_word_list(settings.qa.sensitive_words),
        reader=app.reader,
        judge=get_judge(run),
        calibration=app.calibration.answer,
        known=make_confirmed_search(run),
    )


def get_loop_settings(run: Run) -> DualLoopSettings:
    """The settings, with what this request says otherwise."""
    said = run.options.model_dump(
        include={"corrections", "inner_loop", "outer_loop"}, exclude_none=True
    )
    return run.app.settings.dual_loop.model_copy(update=said)


def can_search_web(run: Run) -> bool:
    """Whether the web may be searched: a provider is configured, and the request neither says no
    nor names documents.
    """
    return (
        run.app.settings.web.provider != "none"
        and run.options.web is not False
        and not is_narrowed(run.options)
    )


class _Searches:
    """Each route as one search. Raises StorageError, and for the web what its provider raises."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._app: App = run.app

    async def __call__(
        self, route: RouteName, read: Readings, entities: Sequence[str], outside: str
    ) -> Retrieved:
        fetched: dict[str, float] = {}
        warnings: list[str] = []
        options: SearchOptions = self._run.options
        where = self._run.where
        if route == "web_search":
            found_pages = await open_web(self._app).search(
                outside, detect_language(outside), self._run.seconds_left
            )
            fetched, warnings = found_pages.pages, found_pages.warnings
            if not fetched:
                return Retrieved([], 0.0, warnings=tuple(warnings))
            where = Filter(collections=(self._app.settings.web.collection,), doc_ids=tuple(fetched))
            route = "direct_chunk_search"
        named = get_strategy(options, self._app)
        strategy = named if named in BASELINES and route == "direct_chunk_search" else route
        options = options.model_copy(update={"strategy": strategy})
        (vector, context), failed = await self._embed_readings(read)
        found = await find_hits(
            self._app,
            options,
            read.text,
            vector,
            entities,
            where,
            get_hit_limit(self._run),
            context,
        )
        return Retrieved(
            found.hits, found.confidence, fetched, (*warnings, *failed, *found.warnings)
        )

    async def _embed_readings(
        self, read: Readings
    ) -> tuple[tuple[Vector | None, Context | None], list[str]]:
        """The vectors of a question; without them words alone still find."""
        try:
            vector = await self._app.embedder.query(read.text)
            if not read.context:
                return (vector, None), []
            return (
                vector,
                Context(read.context, await self._app.embedder.query(read.context), read.weight),
            ), []
        except CitewellError as error:
            context = Context(read.context, None, read.weight) if read.context else None
            return (None, context), [f"searched by words only: {error.message}"]

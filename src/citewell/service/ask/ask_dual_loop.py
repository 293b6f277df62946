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
from citewell.retrieve.confidence import confidence
from citewell.retrieve.query import Context
from citewell.runtime.app import App
from citewell.service.ask.ask_qa import hits_of, judge_of, widener
from citewell.service.ask.find_confirmed import vouching
from citewell.service.ask.locate import locator
from citewell.service.ask.options import SearchOptions, narrowed, strategy_of
from citewell.service.ask.run import Run
from citewell.service.ask.search import find
from citewell.service.sessions import memories as memory
from citewell.service.sites.search_web import open_web
from citewell.skills.dialogue.reference import Readings, candidates
from citewell.skills.dialogue.route import RouteName
from citewell.skills.dialogue.sensitive import word_list
from citewell.skills.memory.recall import Recalled
from citewell.store.index.base import Filter
from citewell.store.memory import Kept, Told
from citewell.text.sentences import language
from citewell.types import Event, Hit, Step

STATE = TypeAdapter(DualLoopState)


async def run_dual_loop(run: Run) -> AsyncIterator[Event]:
    state = (
        STATE.validate_python(run.state)
        if run.state
        else DualLoopState(run.request.question, run.history)
    )
    state.warnings += [warning for warning in run.warnings if warning not in state.warnings]
    done = run.keeping(lambda: STATE.dump_python(state, mode="json"))
    async for event in dual_loop.GRAPH.run(
        state, _deps(run), start=run.goes_on, n=len(run.steps), done=done
    ):
        yield Event("step", event) if isinstance(event, Step) else event
    run.recalled = [
        *(recalled.memory.memory_id for recalled in state.memories),
        *state.kept_memories,
    ]
    choices = candidates(state.question, state.history) if state.intent == "which" else []
    told = {"followed": state.followed, "choices": choices}
    yield Event("answer", run.answer(state, state.route).model_copy(update=told))


def _deps(run: Run) -> Deps:
    app, settings = run.app, run.app.settings
    recalls = (
        settings.memory.enabled
        and run.options.memory is not False
        and (run.request.keep or run.again is not None)
    )
    remembers = recalls and run.request.keep

    async def recall(question: str) -> list[Recalled]:
        found = await memory.recall(app, run.request.user_id, question, collection=run.collection)
        return (
            found
            if run.again is None
            else [each for each in found if each.memory.created_at <= run.again.at]
        )

    async def remember(told: Told) -> Kept:
        return await memory.remember(app, run.request.user_id, told)

    def rate(text: str, hits: Sequence[Hit]) -> float:
        return confidence(text, hits, app.calibration.retrieval)

    return Deps(
        settings=ways_of(run),
        thresholds=settings.qa,
        llm=run.meter,
        embedder=app.embedder,
        retrieve=_Searches(run),
        rate=rate,
        locate=locator(app),
        widen=widener(app),
        preferred=strategy_of(run.options, app),
        forced=run.options.strategy is not None,
        late=lambda: run.seconds_left == 0.0,
        web=searches_web(run),
        session_id=run.session_id,
        trace_id=run.trace_id,
        collection=run.collection,
        recall=recall if recalls else None,
        remember=remember if remembers else None,
        sensitive=word_list(settings.qa.sensitive_words),
        reader=app.reader,
        judge=judge_of(run),
        calibration=app.calibration.answer,
        known=vouching(run),
    )


def ways_of(run: Run) -> DualLoopSettings:
    """The settings, with what this request says otherwise."""
    said = run.options.model_dump(
        include={"corrections", "inner_loop", "outer_loop"}, exclude_none=True
    )
    return run.app.settings.dual_loop.model_copy(update=said)


def searches_web(run: Run) -> bool:
    """Whether the web may be searched: a provider is configured, and the request neither says no
    nor names documents.
    """
    return (
        run.app.settings.web.provider != "none"
        and run.options.web is not False
        and not narrowed(run.options)
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
                outside, language(outside), self._run.seconds_left
            )
            fetched, warnings = found_pages.pages, found_pages.warnings
            if not fetched:
                return Retrieved([], 0.0, warnings=tuple(warnings))
            where = Filter(collections=(self._app.settings.web.collection,), doc_ids=tuple(fetched))
            route = "direct_chunk_search"
        named = strategy_of(options, self._app)
        strategy = named if named in BASELINES and route == "direct_chunk_search" else route
        options = options.model_copy(update={"strategy": strategy})
        (vector, context), failed = await self._meaning(read)
        found = await find(
            self._app, options, read.text, vector, entities, where, hits_of(self._run), context
        )
        return Retrieved(
            found.hits, found.confidence, fetched, (*warnings, *failed, *found.warnings)
        )

    async def _meaning(
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

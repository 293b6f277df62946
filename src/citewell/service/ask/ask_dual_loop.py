"""The `dual_loop` agent on an open App: its searches, the web, the memory of its user, and its
state after every step. Nothing is remembered of a question that is not kept, and nothing kept is
another user's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from pydantic import TypeAdapter

from citewell.agents.deps import Retrieved
from citewell.agents.dual_loop import dual_loop
from citewell.agents.dual_loop.dual_loop_state import Deps, DualLoopState
from citewell.config import DualLoopSettings
from citewell.service.ask.ask_qa import DocumentSearch, find_readings, get_models
from citewell.service.ask.options import get_strategy, is_narrowed
from citewell.service.ask.run import Run
from citewell.service.sessions import memories as memory
from citewell.service.sites.search_web import open_web
from citewell.skills.dialogue.reference import Readings, find_antecedents
from citewell.skills.memory.recall import Recalled
from citewell.store.index.protocol import Filter
from citewell.store.memory_judgement import Kept, Told
from citewell.text.sentences import detect_language
from citewell.types import Event, Step

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
    settings = run.app.settings
    recalls = (
        settings.memory.enabled
        and run.options.memory is not False
        and (run.request.keep or run.again is not None)
    )
    return Deps(
        **get_models(run),
        settings=get_loop_settings(run),
        thresholds=settings.qa,
        search=DocumentSearch(run),
        web=_WebSearch(run) if can_search_web(run) else None,
        memory=_UserMemory(run) if recalls else None,
        preferred=get_strategy(run.options, run.app),
        forced=run.options.strategy is not None,
        late=lambda: run.seconds_left == 0.0,
        session_id=run.session_id,
        trace_id=run.trace_id,
        collection=run.collection,
    )


class _UserMemory:
    """Implements `Memory` for who asks."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def keeps(self) -> bool:
        return self._run.request.keep

    async def recall(self, question: str) -> list[Recalled]:
        run = self._run
        found = await memory.find_memories(
            run.app, run.request.user_id, question, collection=run.collection
        )
        if run.again is None:
            return found
        return [each for each in found if each.memory.created_at <= run.again.at]

    async def remember(self, told: Told) -> Kept:
        return await memory.store_memory(self._run.app, self._run.request.user_id, told)


def get_loop_settings(run: Run) -> DualLoopSettings:
    """The settings, with what this request says otherwise."""
    said = run.options.model_dump(
        include={"corrections", "inner_loop", "outer_loop"}, exclude_none=True
    )
    return run.app.settings.dual_loop.model_copy(update=said)


def can_search_web(run: Run) -> bool:
    """Whether the web may be searched: a provider is set; no refusal, no named documents."""
    return (
        run.app.settings.web.provider != "none"
        and run.options.web is not False
        and not is_narrowed(run.options)
    )


class _WebSearch:
    """Implements `Web`."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def find(self, words: str, read: Readings, entities: Sequence[str]) -> Retrieved:
        run = self._run
        pages = await open_web(run.app).search(words, detect_language(words), run.seconds_left)
        if not pages.pages:
            return Retrieved([], 0.0, tuple(pages.warnings))
        where = Filter(collections=(run.app.settings.web.collection,), doc_ids=tuple(pages.pages))
        found = await find_readings(run, "direct_chunk_search", read, entities, where)
        warnings = (*pages.warnings, *found.warnings)
        return Retrieved(found.hits, found.confidence, warnings, pages.pages)

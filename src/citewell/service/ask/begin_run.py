"""A run before its first step: what is asked, checked, with its agent and collection."""

from __future__ import annotations

import time

from citewell.errors import NotFound
from citewell.messages import Text
from citewell.models.base import CONNECTED_TIER, ROOMY, is_connected
from citewell.models.metered import Metered
from citewell.models.probe import Known
from citewell.runtime.app import App
from citewell.service.ask.agent_runners import AGENTS, AUTO
from citewell.service.ask.choose_agent import Asked, choose_agent
from citewell.service.ask.options import (
    AskOptions,
    build_filter,
    get_strategy,
    list_unused_warnings,
    parse_options,
)
from citewell.service.ask.run import AskRequest, Run, trim_history
from citewell.service.ask.search import warn_of_waiting
from citewell.service.sessions.sessions import get_own_session
from citewell.service.tables.choose_source import choose_table_source
from citewell.skills.dialogue.sensitive import load_word_list
from citewell.skills.dialogue.validate import find_question_error
from citewell.store.index.protocol import Filter
from citewell.text.normalize import normalize_text as cleaned
from citewell.text.sanitize import replace_unsafe_chars
from citewell.types import Step

BRINGS = {"website", "paper", "data"}  # agents that bring their own documents, or tables


async def begin_run(app: App, request: AskRequest) -> Run:
    """A run of a request, nothing done yet. Raises as `stream_answer` before its first step."""
    request = _clean_request(request)
    options = parse_options(request.options, AskOptions)
    get_strategy(options, app)
    history, session_id, session_agent = list(request.history or []), "", ""
    if request.session_id:
        session = await get_own_session(app, request.session_id, request.user_id)
        session_id, session_agent = session.session_id, session.agent
        history = history or await app.sessions.history(session_id)
    run = Run(
        app,
        request,
        request.agent,
        request.collection or "",
        session_id,
        history,
        None,
        options,
        Filter(),
        [],
    )
    if request.agent == AUTO:
        await _choose_agent(run, session_agent)
    if run.agent not in BRINGS:
        run.collection, run.warnings = await _resolve_collection(run)
        run.where = await build_filter(app, options, await _list_collections(run))
    run.warnings += list_unused_warnings(run.agent, options, app.settings)
    run.warnings += _warn_of_small_context(app, (await app.learn_models()).get("llm"))
    run.meter = Metered(app.llm, run.budget) if app.llm else None
    return run


def _warn_of_small_context(app: App, known: Known | None) -> list[str]:
    """Why a connected model does not write the answers."""
    if (
        known is None
        or known.context is None
        or is_connected(app.llm)
        or app.settings.llm_evidence < CONNECTED_TIER
    ):
        return []
    why = Text(
        "the chat model's server gives it {context} tokens of context; answers are "
        "written from {roomy} on",
        context=known.context,
        roomy=ROOMY,
    )
    return [why]


def _clean_request(request: AskRequest) -> AskRequest:
    """Without half characters, which no store and no model takes."""
    history = request.history and trim_history(
        [m.model_copy(update={"content": replace_unsafe_chars(m.content)}) for m in request.history]
    )
    return request.model_copy(
        update={"question": replace_unsafe_chars(request.question), "history": history}
    )


async def _resolve_collection(run: Run) -> tuple[str, list[str]]:
    """Which one is asked, and what is odd about it. A library without documents is no error to an
    agent that knows more.
    """
    app, request = run.app, run.request
    name = request.collection or app.settings.collection
    try:
        info = await app.collections.get(name)
    except NotFound:
        if request.collection or request.agent == "qa":
            raise
        others = ", ".join(each.name for each in await app.collections.list_all())
        there = f"there are: {others} (-c NAME)" if others else "`citewell add PATH` adds some"
        return name, [f"collection {name} has no documents; {there}"]
    return info.name, warn_of_waiting([(info.chunks, info.embedded)])


async def _list_collections(run: Run) -> list[str]:
    """All that are asked, each once. Raises NotFound."""
    more = [(await run.app.collections.get(name)).name for name in run.options.collections]
    return list(dict.fromkeys([run.collection, *more]))


async def _choose_agent(run: Run, session_agent: str) -> None:
    """Let `auto` decide; counts as the first step. Raises InvalidInput where no agent fits."""
    started, app, request = time.perf_counter(), run.app, run.request
    settings = app.settings.qa
    question = cleaned(request.question)  # patterns take long for much white space
    if found := find_question_error(
        question, settings.question_max_chars, load_word_list(settings.sensitive_words)
    ):
        raise found[1]
    remembers = app.settings.memory.enabled and bool(await app.memories.list(request.user_id))
    web = app.settings.web.provider != "none"
    surveyed = ("summary",) if is_connected(app.llm) else ("summary", "comparison")
    source, why = await choose_table_source(run, question, session_agent)
    choice = choose_agent(
        Asked(question, run.history, session_agent, source, why, remembers, web, surveyed), AGENTS
    )
    run.agent, run.agent_reason = choice.agent, choice.reason
    detail = {"agent": choice.agent, "reason": choice.reason}
    seconds = round(time.perf_counter() - started, 4)
    await run.count(
        Step(n=1, node="choose_agent", action=choice.agent, seconds=seconds, detail=detail)
    )

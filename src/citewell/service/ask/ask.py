"""Ask an agent: build what it needs, run its graph, keep the session and the trace, hand out one
`Answer`.

The one rule: an answer that was shown can be looked up again, step by step, under its `trace_id`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress

from sqlalchemy import Connection

from citewell.errors import CitewellError, Conflict, InvalidInput, NotFound
from citewell.models.base import CONNECTED_TIER, ROOMY, is_connected
from citewell.models.metered import Metered
from citewell.models.probe import Known
from citewell.runtime.app import App
from citewell.service.admin.forbidden_folders import redact_folders
from citewell.service.ask.ask_data import run_data
from citewell.service.ask.ask_dual_loop import run_dual_loop
from citewell.service.ask.ask_paper import run_paper
from citewell.service.ask.ask_qa import Runner, run_qa
from citewell.service.ask.ask_website import run_website
from citewell.service.ask.choose_agent import Asked, choose_agent
from citewell.service.ask.heartbeat import RunHeartbeat
from citewell.service.ask.observe_answer import note_agent_chosen, observe_answer
from citewell.service.ask.options import (
    AskOptions,
    build_filter,
    get_strategy,
    list_unused_warnings,
    parse_options,
)
from citewell.service.ask.run import AskRequest, Run, trim_history
from citewell.service.ask.search import warn_of_waiting
from citewell.service.ask.snapshot import build_snapshot, dump_request
from citewell.service.ask.stop_run import record_cut_off
from citewell.service.knowledge.find_knowledge import note_uses_in
from citewell.service.sessions.sessions import get_own_session
from citewell.service.tables.choose_source import choose_table_source
from citewell.skills.dialogue.sensitive import load_word_list
from citewell.skills.dialogue.validate import find_question_error
from citewell.store.index.base import Filter
from citewell.store.runs import Unfinished
from citewell.text.normalize import normalize_text as cleaned
from citewell.text.sanitize import replace_unsafe_chars
from citewell.types import Answer, Event, Message, Step, Trace

__all__ = [
    "AGENTS",
    "AUTO",
    "AskRequest",
    "ask",
    "list_agent_names",
    "request_stop",
    "stream_answer",
]

AUTO = "auto"
DELETED = "session_deleted"  # code of the error
BRINGS = {"website", "paper", "data"}  # agents that bring their own documents, or tables
AGENTS: dict[str, Runner] = {
    "qa": run_qa,
    "dual_loop": run_dual_loop,
    "website": run_website,
    "paper": run_paper,
    "data": run_data,
}


def list_agent_names() -> list[str]:
    """All that may stand for an agent in a request."""
    return [*AGENTS, AUTO]


async def ask(app: App, request: AskRequest) -> Answer:
    """The answer alone. Raises what `stream_answer` raises."""
    answer: Answer | None = None
    async for event in stream_answer(app, request):
        if isinstance(event.data, Answer):
            answer = event.data
    if answer is None:
        raise CitewellError(
            "the agent ended without an answer", hint="this is a fault of ours; the log has more"
        )
    return answer


@observe_answer
async def stream_answer(app: App, request: AskRequest) -> AsyncIterator[Event]:
    """Steps, draft tokens, citations and warnings as they come; the last event is the answer.

    Raises InvalidInput (empty, too long, refused word, unknown agent or option, wrong value of
    one), NotFound (collection, document, session, run to go on with), Conflict (a run that was gone
    on with elsewhere, is under way there or is given up; a session that was deleted meanwhile),
    Stopped (cut off by the end of the server), and what the stores and models raise where no answer
    could be had without them.
    """
    if not request.resume and request.agent not in list_agent_names():
        raise InvalidInput(
            f"unknown agent: {request.agent}",
            hint=f"known: {', '.join(list_agent_names())}",
            code="unknown_agent",
        )
    run = await _resume_run(app, request) if request.resume else await begin_run(app, request)
    note_agent_chosen(run)
    try:
        async with RunHeartbeat(run), aclosing(AGENTS[run.agent](run)) as events:  # type: ignore[type-var]  # generators, all of them
            unnamed = not run.steps
            for n, step in enumerate(run.steps):
                yield Event("step", step if n else _add_trace_id(step, run))
            async for event in events:
                if isinstance(event.data, Answer):
                    ended = _add_cut_warning(run, event.data)
                    answer = ended if run.repeats else await _store_answer(run, ended)
                    for warning in answer.warnings:
                        yield Event("warning", warning)
                    yield Event("answer", answer)
                elif unnamed and isinstance(event.data, Step):
                    unnamed = False
                    yield Event("step", _add_trace_id(event.data, run))
                else:
                    yield event
    except Conflict:
        await _check_session_exists(run)
        raise
    except asyncio.CancelledError:
        if app.root.stopping.cut.is_set():
            raise await asyncio.shield(asyncio.ensure_future(record_cut_off(app, run))) from None
        raise


def _add_cut_warning(run: Run, answer: Answer) -> Answer:
    """The answer with a warning where the chat model wrote more than it may: what it said beyond
    that is lost.
    """
    if not run.meter or not run.meter.cut:
        return answer
    warning = (
        "a reply of the chat model was longer than its limit of tokens: what was cut off is lost"
    )
    return answer.model_copy(update={"warnings": [*answer.warnings, warning]})


def _add_trace_id(step: Step, run: Run) -> Step:
    """The first step that is told: with the name of the run, so that its answer can be found if the
    line is lost.
    """
    return step.model_copy(update={"detail": {**step.detail, "trace_id": run.trace_id}})


async def _check_session_exists(run: Run) -> None:
    """A run that was ended with its session is told why. Raises Conflict."""
    if not run.session_id:
        return
    try:
        await run.app.sessions.get(run.session_id)
    except NotFound:
        why = f"session {run.session_id} was deleted while this was answered"
        raise Conflict(why, hint="nothing of the answer is kept", code=DELETED) from None


async def begin_run(app: App, request: AskRequest) -> Run:
    """A run of a request, of which nothing has been done yet. Raises what `stream_answer` raises
    before its first step.
    """
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
        run.where = await build_filter(app, options, [run.collection])
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
    why = (
        f"the chat model's server gives it {known.context} tokens of context; answers are "
        f"written from {ROOMY} on"
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
        info = await app.catalog.collection(name)
    except NotFound:
        if request.collection or request.agent == "qa":
            raise
        others = ", ".join(each.name for each in await app.catalog.collections())
        there = f"there are: {others} (-c NAME)" if others else "`citewell add PATH` adds some"
        return name, [f"collection {name} has no documents; {there}"]
    return info.name, warn_of_waiting([(info.chunks, info.embedded)])


async def _choose_agent(run: Run, session_agent: str) -> None:
    """Let `auto` decide, and count that as the first step. Raises InvalidInput for what no agent
    would take.
    """
    started, app, request = time.perf_counter(), run.app, run.request
    settings = app.settings.qa
    question = cleaned(request.question)  # patterns take long for much white space
    if found := find_question_error(
        question, settings.question_max_chars, load_word_list(settings.sensitive_words)
    ):
        raise found[1]
    remembers = app.settings.memory.enabled and bool(await app.memories.list(request.user_id))
    web = app.settings.web.provider != "none"
    source, why = await choose_table_source(run, question, session_agent)
    choice = choose_agent(
        Asked(question, run.history, session_agent, source, why, remembers, web), AGENTS
    )
    run.agent, run.agent_reason = choice.agent, choice.reason
    detail = {"agent": choice.agent, "reason": choice.reason}
    seconds = round(time.perf_counter() - started, 4)
    await run.count(
        Step(n=1, node="choose_agent", action=choice.agent, seconds=seconds, detail=detail)
    )


async def _resume_run(app: App, request: AskRequest) -> Run:
    """A run that did not end, from its last finished step."""
    saved, holder = await app.runs.take(request.resume or "", request.user_id)
    before = AskRequest(**saved.request)
    try:
        run = await begin_run(app, before.model_copy(update={"agent": saved.agent}))
    except NotFound:  # its session or its collection is gone: it can never end
        await app.runs.end(saved.trace_id, holder)
        raise
    except BaseException:  # what may pass: it waits for the next
        with suppress(CitewellError):
            await asyncio.shield(asyncio.ensure_future(app.runs.release(saved.trace_id, holder)))
        raise
    run.request, run.trace_id, run.holder = before, saved.trace_id, holder
    run.goes_on, run.state = saved.next, saved.state["agent"]
    run.restore(saved.state["run"])
    return run


def request_stop(app: App, trace_id: str, user_id: str = "local") -> None:
    """Have a run that explores answer from what it has. Raises NotFound where no such run of this
    user is under way here.
    """
    run = app.running.get(trace_id)
    if run is None or run.user_id != user_id:
        raise NotFound(
            f"no run {trace_id!r} is exploring here",
            hint="it may have ended; its first event names the trace_id",
        )
    run.stop.set()


async def list_unfinished_runs(app: App, user_id: str = "local") -> list[Unfinished]:
    """Runs that can be gone on with, the newest first. One that somebody is at work on is none."""
    return [run for run in await app.runs.list(user_id) if not run.alive]


async def _store_answer(run: Run, answer: Answer) -> Answer:
    """Store session and trace before the answer goes out; where the store refuses, the answer goes
    out and says so.
    """
    try:
        return await _commit_answer(run, answer)
    except CitewellError as error:
        if (
            run.ending is not None
            and isinstance(error, Conflict)
            and (before := await run.ending.before_us()) is not None
        ):
            return before
        if run.ending is not None and (run.ending.needed or isinstance(error, Conflict)):
            raise
        warning = (
            f"this answer could not be kept: {redact_folders(error.message, run.app.settings)}"
        )
        return answer.model_copy(
            update={"session_id": "", "trace_id": "", "warnings": [*answer.warnings, warning]}
        )


async def _commit_answer(run: Run, answer: Answer) -> Answer:
    """Session, trace and the end of the run in one transaction: whatever is killed, all of it is
    kept or the run goes on.
    """
    app, request = run.app, run.request

    def store(connection: Connection) -> Answer:
        if run.holder:  # whoever took the run over keeps its answer
            app.runs.end_in(connection, run.trace_id, run.holder)
        session_id = run.session_id
        if not session_id and request.keep and request.history is None:
            title = request.question.strip()[:80]
            session_id = app.sessions.create_in(
                connection, answer.agent, request.user_id, title
            ).session_id
        stored = answer.model_copy(update={"session_id": session_id})
        if remembered:
            app.traces.put_in(connection, build_trace(run, stored, session_id))
        if stored.followed:
            note_uses_in(connection, stored.trace_id, stored.followed, time.time())
        if run.ending is not None:
            ending, change = run.ending, run.ending.change
            app.sessions.advance_in(
                connection,
                session_id,
                before=ending.before,
                after=ending.after,
                said=ending.said,
                change=lambda data: change(data, stored),
            )
        elif session_id:
            said = [
                Message(role="user", content=request.question),
                Message(role="assistant", content=stored.answer),
            ]
            app.sessions.append_in(connection, session_id, said)
            app.sessions.set_data_in(connection, session_id, run.session_data)
        return stored

    remembered = await _has_all_memories(run)
    stored = await app.db.write(store)
    if remembered and not await _has_all_memories(run):
        await app.traces.delete(run.trace_id)
    return stored


async def _has_all_memories(run: Run) -> bool:
    """Whether all memories that the run saw or wrote are there: a trace of one that was forgotten
    would show it still.
    """
    ids = list(dict.fromkeys(run.recalled))
    return not ids or len(
        await run.app.memories.used(run.request.user_id, run.trace_id, ids)
    ) == len(ids)


def build_trace(run: Run, answer: Answer, session_id: str) -> Trace:
    """What is kept of a run, with its snapshot and the request that it can be asked by again."""
    at = time.time()
    trace = Trace(
        trace_id=answer.trace_id,
        user_id=run.request.user_id,
        agent=answer.agent,
        question=run.request.question,
        collection=run.collection,
        session_id=session_id,
        created_at=at,
        steps=run.steps,
        prompts=run.meter.prompts if run.meter else [],
        answer=answer,
        request=dump_request(run),
        expires_at=run.app.traces.until(at),
    )
    return trace.model_copy(update={"snapshot": build_snapshot(trace)})

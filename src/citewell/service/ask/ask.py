"""Ask an agent: build what it needs, run its graph, keep the session and the trace, hand out one
`Answer`. An answer that was shown can be looked up again, step by step, under its `trace_id`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress

from citewell.errors import CitewellError, Conflict, InvalidInput, NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.ask.agent_runners import AGENTS, list_agent_names
from citewell.service.ask.begin_run import begin_run
from citewell.service.ask.heartbeat import RunHeartbeat
from citewell.service.ask.keep_answer import store_answer
from citewell.service.ask.observe_answer import note_agent_chosen, observe_answer
from citewell.service.ask.propose_place import add_proposal
from citewell.service.ask.run import AskRequest, Run
from citewell.service.ask.stop_run import record_cut_off
from citewell.store.run_rows import Unfinished
from citewell.store.runs import Runs
from citewell.types import Answer, Event, Step

DELETED = "session_deleted"  # code of the error


async def ask(app: App, request: AskRequest) -> Answer:
    """The answer alone. Raises what `stream_answer` raises."""
    answer: Answer | None = None
    async for event in stream_answer(app, request):
        if isinstance(event.data, Answer):
            answer = event.data
    if answer is None:
        raise CitewellError(
            Text("the agent ended without an answer"),
            hint=Text("this is a fault of ours; the log has more"),
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
            Text("unknown agent: {agent}", agent=request.agent),
            hint=Text("known: {agent_names}", agent_names=", ".join(list_agent_names())),
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
                    ended = await add_proposal(run, _add_cut_warning(run, event.data))
                    answer = ended if run.repeats else await store_answer(run, ended)
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
    """The answer with a warning where the chat model's reply was cut at its limit."""
    if not run.meter or not run.meter.cut:
        return answer
    warning = Text(
        "a reply of the chat model was longer than its limit of tokens: what was cut off is lost"
    )
    return answer.model_copy(update={"warnings": [*answer.warnings, warning]})


def _add_trace_id(step: Step, run: Run) -> Step:
    """The first step told, with the run's name, so that its answer can be found again."""
    return step.model_copy(update={"detail": {**step.detail, "trace_id": run.trace_id}})


async def _check_session_exists(run: Run) -> None:
    """A run that was ended with its session is told why. Raises Conflict."""
    if not run.session_id:
        return
    try:
        await run.app.sessions.get(run.session_id)
    except NotFound:
        why = Text(
            "session {session_id} was deleted while this was answered", session_id=run.session_id
        )
        raise Conflict(why, hint=Text("nothing of the answer is kept"), code=DELETED) from None


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


async def request_stop(app: App, trace_id: str, user_id: str = "local") -> None:
    """Have a run that explores answer from what it has; on another server within seconds. Raises
    NotFound where no such run of this user is under way.
    """
    run = app.running.get(trace_id)
    if run is None and await app.runs.request_stop(trace_id, user_id):
        return
    if run is None or run.user_id != user_id:
        raise NotFound(
            Text("no run {trace_id!r} is exploring here", trace_id=trace_id),
            hint=Text("it may have ended; its first event names the trace_id"),
        )
    run.stop.set()


async def list_unfinished_runs(runs: Runs, user_id: str = "local") -> list[Unfinished]:
    """Runs that can be gone on with, the newest first. One that somebody is at work on is none."""
    return [run for run in await runs.list(user_id) if not run.alive]

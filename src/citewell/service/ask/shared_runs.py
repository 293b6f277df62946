"""A question that one server answers, heard and ended by way of another: its events go through the
database that both have. An answer never waits for this, and never fails by it: where the database
refuses, what was to be told is told with the next.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any, Protocol, cast

from pydantic import BaseModel

from citewell.errors import CitewellError, Stopped
from citewell.messages import Text, dump_model
from citewell.runtime.shutdown import make_stopped_error
from citewell.service.ask.run import AskRequest
from citewell.store.conversations.live_run_rows import CANCEL, LiveRunRows
from citewell.text.sanitize import replace_unsafe_chars
from citewell.types import Answer, Citation, Event, Step

OFTEN = 0.3  # seconds between two looks, and between two tellings
BEAT = 2.0  # seconds between two signs of life of a run that says nothing
ENDS = "ends"  # the kind of the last event of one that ended without an answer
SECONDS_TO_CANCEL = 10.0
MODELS: dict[str, type[BaseModel]] = {"step": Step, "citation": Citation, "answer": Answer}
log = logging.getLogger(__name__)


class Told(Protocol):
    """A run as its own server has it."""

    request: AskRequest
    trace_id: str
    events: list[Event]
    error: Exception | None
    ended: bool
    started_at: float
    task: asyncio.Task[None] | None


async def share_run(rows: LiveRunRows, run: Told) -> None:
    """Tell the other servers of a run until it has ended, and hear what its user wants of it."""
    told = n = 0
    silent, begun, over = 0.0, False, False
    while not over:
        await asyncio.sleep(OFTEN)
        over, news = run.ended, [encode_event(each) for each in run.events[told:]]
        silent += OFTEN
        if not news and not over and silent < BEAT:
            continue
        if not run.trace_id:  # nobody can ask for it yet
            continue
        try:
            if not begun:
                await rows.begin(run.trace_id, run.request.user_id, _describe_run(run))
                begun = True
            last = [encode_end(run.error)] if over and run.error else []
            wish = await rows.write_events(run.trace_id, n, news + last, ends=over)
        except CitewellError as error:
            log.warning("run %s is not shared for now: %s", run.trace_id, error.message)
            continue
        told, n, silent = told + len(news), n + bool(news), 0.0
        if wish == CANCEL and run.task is not None:
            run.task.cancel()


async def follow_remote_run(rows: LiveRunRows, trace_id: str) -> AsyncIterator[Event]:
    """A run's events on another server. Raises what it ended in; Stopped if its server is gone."""
    told = 0
    while True:
        heard = await rows.read_events(trace_id, told)
        told = heard.told
        for each in heard.events:
            if each["kind"] == ENDS:
                raise decode_end(each["data"])
            event = decode_event(each)
            yield event
            if event.kind == "answer":
                return
        if not heard.alive and not heard.events:
            raise make_stopped_error(trace_id)
        await asyncio.sleep(OFTEN)


async def cancel_run(rows: LiveRunRows, trace_id: str, user_id: str) -> bool:
    """End one on another server; False without one. Returns once ended, or unheard."""
    if not await rows.send_request(trace_id, user_id, CANCEL):
        return False
    async with asyncio.timeout(SECONDS_TO_CANCEL):
        while await rows.is_alive(trace_id, user_id):  # noqa: ASYNC110 - it ends elsewhere
            await asyncio.sleep(OFTEN)
    return True


def encode_event(event: Event) -> dict[str, Any]:
    data = event.data
    return {"kind": event.kind, "data": dump_model(data) if isinstance(data, BaseModel) else data}


def decode_event(kept: dict[str, Any]) -> Event:
    kind, data = kept["kind"], kept["data"]
    return Event(kind, cast("Any", MODELS[kind].model_validate(data) if kind in MODELS else data))


def encode_end(error: Exception) -> dict[str, Any]:
    """What is not an error of ours is told as a fault, without its words."""
    if not isinstance(error, CitewellError):
        error = CitewellError(
            Text("internal error: {what}", what=type(error).__name__),
            hint=Text("this is a fault of ours; the log has more"),
            code="internal",
        )
    resume = error.resume if isinstance(error, Stopped) else ""
    data = {"code": error.code, "message": error.message, "hint": error.hint, "resume": resume}
    return {"kind": ENDS, "data": data}


def decode_end(said: dict[str, Any]) -> CitewellError:
    if said["resume"]:
        return Stopped(said["message"], hint=said["hint"], resume=said["resume"])
    return CitewellError(said["message"], hint=said["hint"], code=said["code"])


def _describe_run(run: Told) -> dict[str, Any]:
    asked = run.request
    return {
        "question": replace_unsafe_chars(asked.question),
        "agent": asked.agent,
        "session_id": asked.session_id or "",
        "started_at": run.started_at,
    }

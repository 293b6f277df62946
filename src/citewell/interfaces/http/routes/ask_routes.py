"""`POST /api/ask`: a question to an Answer, whole or as events. A client that leaves stops the
work, unless it asked for a run that goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from typing import Annotated, Any, TypeVar, cast

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from citewell.interfaces.http.body import JSONRoute
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.errors import GONE, Refused
from citewell.interfaces.http.sse import TELLS, Pair, stream_events
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.runtime.shutdown import make_stopped_error
from citewell.service.admin.widget_scope import redact_event, restrict_request
from citewell.service.ask.ask import ask as answer_to
from citewell.service.ask.ask import request_stop, stream_answer
from citewell.service.ask.live_runs import get_live_runs
from citewell.service.ask.run import AskRequest
from citewell.types import Answer, Event

router = APIRouter(prefix="/api", tags=["ask"], route_class=JSONRoute)
EVENTS = (
    "`text/event-stream`: events `step`, `progress`, `token`, `citation`, `warning`, `answer`, "
    "`error`, each with JSON data"
)


class Stopping(BaseModel):
    trace_id: str


@router.post(
    "/ask",
    response_model=Answer,
    responses={200: {"content": {"text/event-stream": {}}, "description": EVENTS}},
)
async def ask(
    request: Request,
    body: AskRequest,
    app: Citewell,
    caller: Asking,
    detach: Annotated[
        bool, Query(description="events only: it is answered also where the client leaves")
    ] = False,
) -> Response:
    """Answer one question. With `Accept: text/event-stream` the steps and the draft come first, as
    they happen; `detach=true`: after the first of them the run goes on without its client, and
    `GET /api/runs/{trace_id}/events` hears it again.
    """
    body = body.model_copy(update={"user_id": caller.of(body)})
    if caller.bound is None and detach and wants_events(request):
        events = get_live_runs(app).ask(app, body)
        return stream_events(request, name_events(events, pass_event))
    if caller.bound is None:
        return await respond_with_answer(request, app, body)
    return await respond_with_answer(
        request, app, await restrict_request(app.collections, body, caller.bound), redact_event
    )


def pass_event(event: Event) -> Event:
    return event


async def respond_with_answer(
    request: Request, app: App, body: AskRequest, tell: Callable[[Event], Event] = pass_event
) -> Response:
    """An Answer, or events, as the request wants it. `tell`: what of each event goes out."""
    if wants_events(request):
        return stream_events(request, name_events(stream_answer(app, body), tell))
    answer = await run_while_connected(request, answer_to(app, body))
    return JSONResponse(to_event_data(tell(Event("answer", answer))))


def wants_events(request: Request) -> bool:
    return "text/event-stream" in request.headers.get("accept", "")


@router.post("/runs/{trace_id}/stop", status_code=202)
async def stop_run(trace_id: str, app: Citewell, caller: Asking) -> Stopping:
    """Have a website question that is still exploring answer from what it has; its first event
    names the `trace_id`.
    """
    await request_stop(app, trace_id, caller.user_id)
    return Stopping(trace_id=trace_id)


async def name_events(
    events: AsyncIterator[Event], tell: Callable[[Event], Event] = pass_event
) -> AsyncIterator[Pair]:
    """Each as its name and its JSON."""
    async with aclosing(cast("AsyncGenerator[Event, None]", events)) as told:
        async for event in told:
            yield event.kind, to_event_data(tell(event))


def to_event_data(event: Event) -> Any:
    """An event's data as JSON: words as `{"text"}`, so that every event carries an object."""
    if isinstance(event.data, BaseModel):
        return event.data.model_dump(mode="json")
    return {"text": event.data} if isinstance(event.data, str) else event.data


Done = TypeVar("Done")


async def run_while_connected(request: Request, doing: Coroutine[Any, Any, Done]) -> Done:
    """What the work comes to, unless the client leaves or a server that stops can wait no longer:
    then it is cancelled.
    """
    work = asyncio.create_task(doing)
    over = request.app.state.citewell.stopping.cut
    gone, stop = (
        asyncio.create_task(_wait_for_disconnect(request)),
        asyncio.create_task(over.wait()),
    )
    try:
        await asyncio.wait({work, gone, stop}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done() and gone.done():
            raise Refused(GONE, "gone", Text("the client has left"))
        if not work.done():
            work.cancel()
            await asyncio.wait({work}, timeout=TELLS)
        if not work.done() or work.cancelled():
            raise make_stopped_error()
        return work.result()
    finally:
        for task in (work, gone, stop):
            task.cancel()
        await asyncio.gather(work, gone, stop, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue

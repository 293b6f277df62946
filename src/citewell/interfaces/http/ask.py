"""`POST /api/ask`: a question to an Answer, whole or as events. A client that leaves stops the work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from citewell.errors import InvalidInput
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.errors import Refused
from citewell.interfaces.http.sse import STOPPING, Pair, event_stream
from citewell.service.app import App
from citewell.service.ask import AskRequest, stop, stream
from citewell.service.ask import ask as answer_to
from citewell.types import Answer, Event

router = APIRouter(prefix="/api", tags=["ask"])
GONE = 499  # nobody reads it: the client has left
EVENTS = (
    "`text/event-stream`: events `step`, `progress`, `token`, `citation`, `warning`, `answer`, `error`, each with JSON data"
)


class Stopping(BaseModel):
    trace_id: str


@router.post("/ask", response_model=Answer, responses={200: {"content": {"text/event-stream": {}}, "description": EVENTS}})
async def ask(request: Request, body: AskRequest, app: Citewell, caller: Asking) -> Response:
    """Answer one question. With `Accept: text/event-stream` the steps and the draft come first, as they happen."""
    return await answered(request, app, body.model_copy(update={"user_id": caller.of(body)}))


async def answered(request: Request, app: App, body: AskRequest) -> Response:
    """An Answer, or events, as the request wants it."""
    check_text(body)
    if "text/event-stream" in request.headers.get("accept", ""):
        return event_stream(request, _events(app, body))
    answer = await while_connected(request, answer_to(app, body))
    return JSONResponse(answer.model_dump(mode="json"))


def check_text(body: AskRequest) -> None:
    """JSON can spell half a character (a lone surrogate), which no reply could carry back. Raises InvalidInput."""
    try:
        body.model_dump_json()
    except PydanticSerializationError:
        raise InvalidInput("the request holds half a character (a lone surrogate)", hint="send valid UTF-8") from None


@router.post("/runs/{trace_id}/stop", status_code=202)
async def stop_run(trace_id: str, app: Citewell, caller: Asking) -> Stopping:
    """Have a website question that is still exploring answer from what it has; its first event names the `trace_id`."""
    stop(app, trace_id, caller.user_id)
    return Stopping(trace_id=trace_id)


async def _events(app: App, body: AskRequest) -> AsyncIterator[Pair]:
    async for event in stream(app, body):
        yield event.kind, shown(event)


def shown(event: Event) -> Any:
    """An event's data as JSON: words are wrapped as `{"text"}`, so that every event carries an object."""
    if isinstance(event.data, BaseModel):
        return event.data.model_dump(mode="json")
    return {"text": event.data} if isinstance(event.data, str) else event.data


Done = TypeVar("Done")


async def while_connected(request: Request, doing: Coroutine[Any, Any, Done]) -> Done:
    """What the work comes to, unless the client leaves or the server stops first: then it is cancelled."""
    work = asyncio.create_task(doing)
    gone, stop = asyncio.create_task(_left(request)), asyncio.create_task(request.app.state.stopping.wait())
    try:
        await asyncio.wait({work, gone, stop}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        if gone.done():
            raise Refused(GONE, "gone", "the client has left")
        raise Refused(503, **STOPPING["error"])
    finally:
        for task in (work, gone, stop):
            task.cancel()
        await asyncio.gather(work, gone, stop, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue

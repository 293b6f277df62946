"""`POST /v1/chat/completions`: a chat to an answer, whole or in chunks. A client that leaves stops the work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from citewell.interfaces.http.address import base_of
from citewell.interfaces.http.ask import check_text, while_connected
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.openai_errors import OpenAIRoute, data_line
from citewell.interfaces.http.openai_messages import ChatRequest, question_of
from citewell.interfaces.http.openai_reply import Reply
from citewell.interfaces.http.sse import Pair, event_stream
from citewell.service.app import App
from citewell.service.ask import AskRequest, stream
from citewell.service.ask import ask as answer_to
from citewell.service.usual import with_usual
from citewell.types import Answer, Event, Step

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)
FIRST = 2.0  # seconds that a stream waits for its first event: what fails so early has a status of its own
CHUNKS = "`text/event-stream` where `stream` is true: chunks as `data:` lines, the last one `[DONE]`"
DONE: Pair = ("", "[DONE]")
SCHEMA: dict[str, Any] = {"content": {"application/json": {}, "text/event-stream": {}}, "description": CHUNKS}


@router.post("/v1/chat/completions", response_class=Response, responses={200: SCHEMA}, operation_id="create_chat_completion")
async def chat_completions(request: Request, body: ChatRequest, app: Citewell, caller: Asking) -> Response:
    """Answer the last message of a chat, in the form of OpenAI's interface."""
    asked, warnings = question_of(body, caller.user_id)
    check_text(asked)
    asked, chosen = await with_usual(app, asked)
    warnings += chosen
    reply = Reply(body.model, base_of(request), body.citewell.sources)
    if not body.stream:
        answer = await while_connected(request, answer_to(app, asked))
        return JSONResponse(reply.whole(_warned(answer, warnings)))
    events = await _begun(app, asked)
    return event_stream(request, _chunks(events, reply, body, warnings), data_line)


async def _chunks(
    events: AsyncGenerator[Event, None], reply: Reply, body: ChatRequest, warnings: list[str]
) -> AsyncIterator[Pair]:
    yield "", reply.first()
    async with aclosing(events):
        async for event in events:
            if thought := _thought(event, body):
                yield "", reply.thought(thought)
            if isinstance(event.data, Answer):
                for chunk in reply.parts(_warned(event.data, warnings)):
                    yield "", chunk
                if body.stream_options and body.stream_options.include_usage:
                    yield "", reply.cost(event.data)
    yield DONE


def _thought(event: Event, body: ChatRequest) -> str:
    """What of an event is told before the answer, where that is wanted."""
    if event.kind == "token" and body.citewell.draft:
        return str(event.data)
    if isinstance(event.data, Step) and body.citewell.steps:
        return f"{event.data.node}: {event.data.action}\n"
    return ""


async def _begun(app: App, asked: AskRequest) -> AsyncGenerator[Event, None]:
    """The events, of which the first has come, or takes long. Raises what the question is refused with."""
    events = cast("AsyncGenerator[Event, None]", stream(app, asked))
    first = asyncio.ensure_future(anext(events))
    try:
        await asyncio.wait({first}, timeout=FIRST)
        if first.done():
            first.result()
    except BaseException:
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        raise
    return _from(first, events)


async def _from(first: asyncio.Future[Event], events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    try:
        async with aclosing(events):
            yield await first
            async for event in events:
                yield event
    finally:
        first.cancel()


def _warned(answer: Answer, warnings: list[str]) -> Answer:
    return answer.model_copy(update={"warnings": [*answer.warnings, *warnings]}) if warnings else answer

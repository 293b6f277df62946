"""`POST /v1/chat/completions`: a chat to an answer, whole or in chunks. A client that leaves stops
the work.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse

from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.openai.chat_tasks import answer_chat_task, parse_chat_task
from citewell.interfaces.http.openai.openai_errors import OpenAIRoute, format_data_line
from citewell.interfaces.http.openai.openai_messages import ChatRequest, to_ask_request
from citewell.interfaces.http.openai.openai_reply import Reply
from citewell.interfaces.http.routes.ask_routes import run_while_connected
from citewell.interfaces.http.security.address import get_base_url
from citewell.interfaces.http.sse import Pair, stream_events
from citewell.runtime.app import App
from citewell.service.ask.ask import ask as answer_to
from citewell.service.ask.ask import stream_answer
from citewell.service.ask.default_collection import add_default_collection, add_warnings
from citewell.service.ask.run import AskRequest
from citewell.types import Answer, Event, Step

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)
# seconds that a stream waits for its first event: what fails so early has a status of its own
FIRST = 2.0
CHUNKS = (
    "`text/event-stream` where `stream` is true: chunks as `data:` lines, the last one `[DONE]`"
)
DONE: Pair = ("", "[DONE]")
SCHEMA: dict[str, Any] = {
    "content": {"application/json": {}, "text/event-stream": {}},
    "description": CHUNKS,
}
Events = asyncio.Queue[Event | None]  # None: there are no more


async def _manage_tasks() -> AsyncIterator[set[asyncio.Task[None]]]:
    """Tasks that end with the reply, however it ends: also where its first byte was never sent."""
    tasks: set[asyncio.Task[None]] = set()
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


AtWork = Annotated[set[asyncio.Task[None]], Depends(_manage_tasks)]


@router.post(
    "/v1/chat/completions",
    response_class=Response,
    responses={200: SCHEMA},
    operation_id="create_chat_completion",
)
async def chat_completions(
    request: Request, body: ChatRequest, app: Citewell, caller: Asking, at_work: AtWork
) -> Response:
    """Answer the last message of a chat, in the form of OpenAI's interface."""
    asked, warnings = to_ask_request(body, caller.user_id)
    asked, chosen = await add_default_collection(app, asked)
    warnings += chosen
    reply = Reply(body.model, get_base_url(request), body.citewell.sources)
    if task := parse_chat_task(asked.question):
        text = await answer_chat_task(app, task, asked)
        if not body.stream:
            return JSONResponse(reply.build_text_completion(text))
        return stream_events(request, _stream_text(text, reply), format_data_line)
    if not body.stream:
        answer = await run_while_connected(request, answer_to(app, asked))
        return JSONResponse(reply.build_completion(add_warnings(answer, warnings)))
    events = await start_events(app, asked, at_work)
    return stream_events(request, _stream_chunks(events, reply, body, warnings), format_data_line)


async def _stream_text(text: str, reply: Reply) -> AsyncIterator[Pair]:
    for chunk in (reply.build_first_chunk(), *reply.build_text_chunks(text)):
        yield "", chunk
    yield DONE


async def _stream_chunks(
    events: AsyncGenerator[Event, None], reply: Reply, body: ChatRequest, warnings: list[str]
) -> AsyncIterator[Pair]:
    yield "", reply.build_first_chunk()
    async with aclosing(events):
        async for event in events:
            if thought := _extract_thought(event, body):
                yield "", reply.to_thought_chunk(thought)
            if isinstance(event.data, Answer):
                for chunk in reply.build_chunks(add_warnings(event.data, warnings)):
                    yield "", chunk
                if body.stream_options and body.stream_options.include_usage:
                    yield "", reply.build_usage_chunk(event.data)
    yield DONE


def _extract_thought(event: Event, body: ChatRequest) -> str:
    """What of an event is told before the answer, where that is wanted."""
    if event.kind == "token" and body.citewell.draft:
        return str(event.data)
    if isinstance(event.data, Step) and body.citewell.steps:
        return f"{event.data.node}: {event.data.action}\n"
    return ""


async def start_events(
    app: App, asked: AskRequest, at_work: set[asyncio.Task[None]]
) -> AsyncGenerator[Event, None]:
    """The events, of which the first has come, or takes long. Raises what the question is refused
    with.

    One task does all of the work: what is done in it knows of which answer it is a part
    (`citewell.instrumentation`).
    """
    queue: Events = asyncio.Queue()
    work = asyncio.create_task(
        _fill_queue(queue, cast("AsyncGenerator[Event, None]", stream_answer(app, asked)))
    )
    first = asyncio.ensure_future(queue.get())
    at_work.add(work)
    try:
        await asyncio.wait({first}, timeout=FIRST)
        if first.done() and first.result() is None:
            await work
    except BaseException:
        first.cancel()
        raise
    return _drain_queue(first, queue, work)


async def _fill_queue(queue: Events, events: AsyncGenerator[Event, None]) -> None:
    try:
        async with aclosing(events):
            async for event in events:
                queue.put_nowait(event)
    finally:
        queue.put_nowait(None)


async def _drain_queue(
    first: asyncio.Future[Event | None], queue: Events, work: asyncio.Task[None]
) -> AsyncGenerator[Event, None]:
    """Ends the work where it is ended itself, and raises what that has to say: how to go on, where
    the server stops.
    """
    try:
        event = await first
        while event is not None:
            yield event
            event = await queue.get()
        await work
    except asyncio.CancelledError:
        work.cancel()
        await work
        raise
    finally:
        first.cancel()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)

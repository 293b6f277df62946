"""Server-sent events. The work behind a stream ends when its client leaves, or when a server that
stops has waited for it long enough.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from fastapi import Request
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event

from citewell.errors import CitewellError
from citewell.interfaces.http.errors import build_fault, get_redactor
from citewell.interfaces.problem import to_problem
from citewell.messages import show_texts
from citewell.runtime.shutdown import make_stopped_error

log = logging.getLogger(__name__)
TELLS = 3.0  # seconds that work which is cut off has to come to a safe point and say how to go on
KEEP_ALIVE = 15.0  # seconds of silence after which a comment is sent, so that proxies keep the line
Pair = tuple[str, Any]  # event name, JSON value


def format_event_line(event: str, value: Any) -> bytes:
    """An event as the page and our own clients read it."""
    return format_sse_event(event=event, data_str=json.dumps(show_texts(value), ensure_ascii=False))


def stream_events(
    request: Request,
    pairs: AsyncIterator[Pair],
    line: Callable[[str, Any], bytes] = format_event_line,
    *,
    follows: bool = False,
) -> EventSourceResponse:
    """Send `pairs` as they come, each written by `line`. What they raise becomes an `error` event.
    `follows`: they only tell of work that is done elsewhere, so a server that stops does not wait
    for them.
    """
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    stopping = request.app.state.citewell.stopping
    over = stopping.closing if follows else stopping.cut
    return EventSourceResponse(
        _stream_lines(pairs, over, line, get_redactor(request.app)), headers=headers
    )


async def _stream_lines(
    pairs: AsyncIterator[Pair],
    over: asyncio.Event,
    line: Callable[[str, Any], bytes],
    tell: Callable[[str], str],
) -> AsyncIterator[bytes]:
    queue: asyncio.Queue[Pair | None] = asyncio.Queue(maxsize=64)
    filling = asyncio.create_task(_fill_queue(queue, pairs, tell))
    tasks = [filling, asyncio.create_task(_stop_stream(queue, filling, over))]
    try:
        while True:
            try:
                async with asyncio.timeout(KEEP_ALIVE):
                    pair = await queue.get()
            except TimeoutError:
                yield KEEPALIVE_COMMENT
                continue
            if pair is None:
                return
            yield line(*pair)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _fill_queue(
    queue: asyncio.Queue[Pair | None], pairs: AsyncIterator[Pair], tell: Callable[[str], str]
) -> None:
    try:
        async with aclosing(pairs) as source:  # type: ignore[type-var]  # an async generator wherever it is one
            async for pair in source:
                await queue.put(pair)
    except CitewellError as error:
        await queue.put(("error", to_problem(error, tell)))
    except Exception as error:
        log.exception("stream")
        await queue.put(("error", build_fault(type(error).__name__)))
    await queue.put(None)


async def _stop_stream(
    queue: asyncio.Queue[Pair | None], filling: asyncio.Task[None], over: asyncio.Event
) -> None:
    """Cut it off; what it says of that is the last event, else that the server stops."""
    await over.wait()
    filling.cancel()
    await asyncio.wait({filling}, timeout=TELLS)
    if not filling.done() or filling.cancelled():
        await queue.put(("error", to_problem(make_stopped_error())))
        await queue.put(None)

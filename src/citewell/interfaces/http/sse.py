"""Server-sent events. The one rule: the work behind a stream ends when its client leaves or the server stops."""

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
from citewell.interfaces.problem import problem, problem_of

log = logging.getLogger(__name__)
STOPPING = problem("stopping", "the server is stopping", "ask again when it is back")
KEEP_ALIVE = 15.0  # seconds of silence after which a comment is sent, so that proxies keep the line
Pair = tuple[str, Any]  # event name, JSON value


def line_of(event: str, value: Any) -> bytes:
    """An event as the page and our own clients read it."""
    return format_sse_event(event=event, data_str=json.dumps(value, ensure_ascii=False))


def event_stream(
    request: Request, pairs: AsyncIterator[Pair], line: Callable[[str, Any], bytes] = line_of
) -> EventSourceResponse:
    """Send `pairs` as they come, each written by `line`. What they raise becomes an `error` event."""
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return EventSourceResponse(_lines(pairs, request.app.state.stopping, line), headers=headers)


async def _lines(
    pairs: AsyncIterator[Pair], stopping: asyncio.Event, line: Callable[[str, Any], bytes]
) -> AsyncIterator[bytes]:
    queue: asyncio.Queue[Pair | None] = asyncio.Queue(maxsize=64)
    tasks = [asyncio.create_task(_fill(queue, pairs)), asyncio.create_task(_stop(queue, stopping))]
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


async def _fill(queue: asyncio.Queue[Pair | None], pairs: AsyncIterator[Pair]) -> None:
    try:
        async with aclosing(pairs) as source:  # type: ignore[type-var]  # an async generator wherever it is one
            async for pair in source:
                await queue.put(pair)
    except CitewellError as error:
        await queue.put(("error", problem_of(error)))
    except Exception as error:
        log.exception("stream")
        await queue.put(
            ("error", problem("internal", f"internal error: {type(error).__name__}", "the server's log says where"))
        )
    await queue.put(None)


async def _stop(queue: asyncio.Queue[Pair | None], stopping: asyncio.Event) -> None:
    await stopping.wait()
    await queue.put(("error", STOPPING))
    await queue.put(None)

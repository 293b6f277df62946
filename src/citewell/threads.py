"""Blocking work in a thread that is waited for. Who is cancelled meanwhile learns of it when the
work is over, so that locks around it hold for as long as it runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")


async def run_in_thread(fn: Callable[[], T]) -> T:
    """What `fn` returns or raises. How many run at once is for the caller to bound.

    `anyio.to_thread.run_sync` alone shields from anyio's own cancellation only:
    `asyncio.Task.cancel` leaves its thread behind.
    """
    done: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            done.append(fn())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            failed.append(error)

    cancelled: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):
        working = asyncio.ensure_future(
            anyio.to_thread.run_sync(work, limiter=anyio.CapacityLimiter(1))
        )
        while not working.done():
            try:
                await asyncio.wait({working})
            except asyncio.CancelledError as error:
                cancelled = error
    if cancelled is not None:
        raise cancelled
    if failed:
        raise failed[0]
    working.result()  # raises where the loop itself ended it
    return done[0]

"""Work in a thread, and who waits for it."""

from __future__ import annotations

import asyncio
import threading

import anyio
import pytest

from citewell.threads import run_in_thread


async def test_what_it_returns_and_raises() -> None:
    assert await run_in_thread(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await run_in_thread(lambda: 1 // 0)


@pytest.mark.parametrize("how", ["task", "scope"])
async def test_who_is_cancelled_waits_for_the_thread(how: str) -> None:
    """By asyncio or by anyio, and more than once."""
    begun, go, done = threading.Event(), threading.Event(), threading.Event()
    scope = anyio.CancelScope()

    def work() -> None:
        begun.set()
        go.wait(60)
        done.set()

    async def waiting() -> None:
        with scope:
            await run_in_thread(work)
            await anyio.lowlevel.checkpoint()
            pytest.fail("it was cancelled")
        raise asyncio.CancelledError

    task = asyncio.create_task(waiting())
    await asyncio.to_thread(begun.wait, 60)
    for _ in range(2):
        task.cancel() if how == "task" else scope.cancel()
        await asyncio.sleep(0.05)
    assert not task.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done.is_set()

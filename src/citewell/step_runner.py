"""Steps of an agent that is no graph: each is timed, noted and told as a node's of `graph.py` are.

    async def work(stage: Stage) -> None:
        async with stage.step("control_route") as taken:
            ...
            taken.action = "methods"

    async for event in played(work, done=run.count): ...

The one rule: who stops listening stops the work.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from citewell.graph import END, Done, enter_node
from citewell.instrumentation import observe_operation
from citewell.types import Step

_OVER = object()


@dataclass(slots=True)
class Taken:
    """The way on that a step chose."""

    action: str = "done"


class Stage:
    """Numbers the steps. `done` is awaited after each, before anybody hears of it."""

    def __init__(self, sink: Callable[[Any], None], done: Done) -> None:
        self._sink = sink
        self._done = done
        self._n = 0

    @asynccontextmanager
    async def step(self, name: str) -> AsyncIterator[Taken]:
        """What runs inside may `emit` and `note`. A step that raises is not counted."""
        detail = enter_node(name, self._sink)
        taken, started = Taken(), time.perf_counter()
        with observe_operation("node", name) as this:
            yield taken
            this.facts.update(action=taken.action, status="completed")
        self._n += 1
        seconds = round(time.perf_counter() - started, 4)
        step = Step(n=self._n, node=name, action=taken.action, seconds=seconds, detail=detail)
        await self._done(step, END)
        self._sink(step)


async def stream_steps(
    work: Callable[[Stage], Awaitable[None]], *, done: Done
) -> AsyncGenerator[Any, None]:
    """Run `work` and yield its steps and what is emitted in between. Raises what it raises."""
    events: asyncio.Queue[Any] = asyncio.Queue()

    async def act() -> None:
        try:
            await work(Stage(events.put_nowait, done))
        finally:
            events.put_nowait(_OVER)

    task = asyncio.create_task(act())
    try:
        while (event := await events.get()) is not _OVER:
            yield event
        await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})  # what it ends in is not to hide what is raised here
            if not task.cancelled():
                task.exception()

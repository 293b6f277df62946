"""Steps without a graph: timed, noted, kept before they are told, ended with whoever listens."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from citewell.errors import StorageError
from citewell.graph import emit, get_current_node, record_detail
from citewell.step_runner import Stage, stream_steps
from citewell.types import Step


async def test_steps_are_numbered_noted_and_kept_before_they_are_told() -> None:
    kept: list[str] = []

    async def done(step: Step, after: str) -> None:
        kept.append(step.node)

    async def work(stage: Stage) -> None:
        async with stage.step("control_route") as taken:
            record_detail(question="why")
            emit("a token")
            taken.action = "methods"
        async with stage.step("section_methods"):
            assert get_current_node() == "section_methods"

    seen: list[Any] = []
    async for event in stream_steps(work, done=done):
        if isinstance(event, Step):
            assert event.node in kept
        seen.append(event)
    token, first, second = seen
    assert token == "a token"
    assert (first.n, first.node, first.action, first.detail) == (
        1,
        "control_route",
        "methods",
        {"question": "why"},
    )
    assert (second.n, second.action, second.detail) == (2, "done", {})


async def test_steps_at_once_keep_their_notes_apart() -> None:
    async def one(stage: Stage, name: str) -> None:
        async with stage.step(name):
            await asyncio.sleep(0)
            record_detail(name=name)

    async def work(stage: Stage) -> None:
        await asyncio.gather(*(one(stage, name) for name in ("a", "b", "c")))

    steps = [event async for event in stream_steps(work, done=_nothing)]
    assert {step.node: step.detail for step in steps} == {
        name: {"name": name} for name in ("a", "b", "c")
    }


async def test_what_the_work_raises_is_raised_and_its_step_not_counted() -> None:
    async def work(stage: Stage) -> None:
        async with stage.step("a"):
            pass
        async with stage.step("b"):
            raise ValueError("broken")

    seen: list[Any] = []

    async def listen() -> None:
        async for event in stream_steps(work, done=_nothing):
            seen.append(event)  # noqa: PERF401  # what was heard before it broke

    with pytest.raises(ValueError, match="broken"):
        await listen()
    assert [step.node for step in seen] == ["a"]


async def test_who_stops_listening_stops_the_work() -> None:
    ended = asyncio.Event()

    async def work(stage: Stage) -> None:
        try:
            async with stage.step("a"):
                emit("first")
                await asyncio.sleep(60)
        finally:
            ended.set()

    async with aclosing(stream_steps(work, done=_nothing)) as events:
        async for _ in events:
            break
    assert ended.is_set()


async def _nothing(step: Step, after: str) -> None:
    pass


async def test_a_cancellation_is_not_hidden_by_what_the_work_ends_in() -> None:
    begun = asyncio.Event()

    async def work(_: Stage) -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise StorageError("the database is closed") from None

    async def read() -> None:
        async for _ in stream_steps(work, done=_nothing):
            pass

    reading = asyncio.create_task(read())
    await begun.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading

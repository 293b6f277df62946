"""Who looks on hears of what is done, in its place; and whatever a watch does, the work goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from citewell.errors import TransientError
from citewell.instrumentation import (
    Operation,
    adopt_operation,
    attach_watches,
    get_current_operation,
    observe_operation,
)
from citewell.models.scripted import ScriptedLLM
from citewell.types import Message


class Seen:
    """Keeps what it heard."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.over: list[Operation] = []

    def note_begin(self, doing: Operation) -> None:
        self.begun.append(doing.name)

    def note_end(self, doing: Operation) -> None:
        self.over.append(doing)


class Broken(Seen):
    def note_begin(self, doing: Operation) -> None:
        raise ZeroDivisionError("began")

    def note_end(self, doing: Operation) -> None:
        raise ZeroDivisionError("ended")


@pytest.fixture(autouse=True)
async def nobody_left() -> AsyncIterator[None]:
    yield
    assert get_current_operation() is None


async def test_a_call_of_a_model_knows_what_it_is_part_of() -> None:
    seen = Seen()
    attach_watches(seen)
    with (
        observe_operation("answer", "qa", ids={"trace_id": "tr_1"}),
        observe_operation("node", "Retrieve"),
    ):
        await asyncio.create_task(
            ScriptedLLM("Yes it is.").chat([Message(role="user", content="one two")], max_tokens=9)
        )
    call, node, answer = seen.over
    assert seen.begun == ["qa", "Retrieve", "chat"]
    assert (call.above, node.above, answer.above) == (node, answer, None)
    assert (call.agent, call.ids) == ("qa", {"trace_id": "tr_1"})
    assert call.facts == {
        "model": "scripted",
        "max_tokens": 9,
        "prompt": 2,
        "cached": 0,
        "completion": 4,
    }
    assert 0 < call.seconds <= answer.seconds


async def test_how_it_ended() -> None:
    seen = Seen()
    attach_watches(seen)
    with pytest.raises(TransientError):
        await ScriptedLLM(TransientError("busy")).chat([])
    with pytest.raises(ZeroDivisionError), observe_operation("node", "n"):
        raise ZeroDivisionError
    with pytest.raises(asyncio.CancelledError), observe_operation("node", "n"):
        raise asyncio.CancelledError
    assert [each.outcome for each in seen.over] == ["transient", "internal", "cancelled"]
    assert all(
        each.error is None for each in seen.over
    )  # no frame and no local is kept alive by it


async def test_ids_are_known_above_and_below() -> None:
    with observe_operation("request", "http", ids={"request_id": "r"}) as request:
        with observe_operation("answer", "qa") as answer:
            answer.mark(trace_id="tr_1")
            answer.hide("a question")
            with observe_operation("node", "n") as node:
                assert (node.ids, node.hidden) == (
                    {"request_id": "r", "trace_id": "tr_1"},
                    ("a question",),
                )
        assert (request.ids, request.hidden) == (
            {"request_id": "r", "trace_id": "tr_1"},
            ("a question",),
        )


async def test_two_tasks_do_not_mix() -> None:
    async def one(name: str) -> str:
        with observe_operation("answer", name):
            await asyncio.sleep(0)
            with observe_operation("node", "n") as node:
                await asyncio.sleep(0)
                return node.agent

    assert list(await asyncio.gather(one("qa"), one("data"))) == ["qa", "data"]


async def test_a_task_of_elsewhere_goes_on_under_a_request() -> None:
    """A session's tools run in a task that another request began."""
    seen = Seen()
    ready: asyncio.Future[Operation] = asyncio.get_running_loop().create_future()

    async def tool() -> None:
        adopt_operation(await ready)
        with observe_operation("answer", "qa"):
            pass

    task = asyncio.create_task(tool())
    attach_watches(seen)
    with observe_operation("request", "http", ids={"request_id": "second"}) as request:
        ready.set_result(request)
        await task
    assert [each.ids for each in seen.over] == [{"request_id": "second"}] * 2


async def test_a_broken_watch_costs_nothing_but_a_line(caplog: pytest.LogCaptureFixture) -> None:
    seen = Seen()
    attach_watches(Broken(), seen)
    with caplog.at_level(logging.ERROR), observe_operation("job", "upload"):
        pass
    assert [each.name for each in seen.over] == ["upload"]
    assert [record.exc_info is not None for record in caplog.records] == [True, True]

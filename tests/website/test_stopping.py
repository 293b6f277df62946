"""A run that is cancelled, told to stop, or killed: nothing is left open, and what was read is
kept.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

import pytest

from citewell.agents.website.website import GRAPH
from citewell.graph import get_node_name
from citewell.service.ask.ask import ask, list_unfinished_runs, request_stop, stream_answer
from citewell.service.ask.run import AskRequest
from citewell.types import Answer, Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.website.conftest import Desk, Web

QUESTION = "Within how many days may domestic orders be returned?"
FACT = "Domestic orders may be returned within 14 days of delivery."


def slow(shop: Web, *paths: str, seconds: float = 20.0) -> None:
    for path in paths:
        shop.stored(path).slow = seconds


async def until(said: Callable[[], bool], seconds: float = 120.0) -> None:
    async with asyncio.timeout(seconds):
        while not said():  # noqa: ASYNC110  # the server cannot tell what a test waits for
            await asyncio.sleep(0.005)


async def test_cancelled_in_the_middle_of_a_round(desk: Desk, shop: Web) -> None:
    """Both connections are closed at once, no task goes on, and the pages of the rounds before are
    kept.
    """
    slow(shop, "/help/returns", "/help/international")
    before = asyncio.all_tasks()
    task = asyncio.create_task(desk.ask(QUESTION))
    await until(lambda: shop.now["all"] == 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: shop.left == 2 and not shop.now["all"], 1.0)
    await asyncio.sleep(0)
    going_on = {
        str(getattr(left.get_coro(), "__qualname__", left)) for left in asyncio.all_tasks() - before
    }
    assert going_on <= {"Web.handle", "_Connections._close_idle"}
    assert desk.app.running == {}
    kept = {page.uri for page in await desk.app.snapshots.of(f"127.0.0.1:{shop.port}")}
    assert {shop.at("/"), shop.at("/help")} <= kept
    slow(shop, "/help/returns", "/help/international", seconds=0.0)
    asked = shop.paths()
    desk.knows(FACT)
    assert (await desk.ask(QUESTION)).status == "answered"
    assert not {"/", "/help"} & set(shop.paths()[len(asked) :])


async def test_a_reader_who_goes_away(desk: Desk, shop: Web) -> None:
    """The stream is closed after the first page of a round: the others are not waited for."""
    slow(shop, "/help/returns")
    async with aclosing(stream_answer(desk.app, desk.request(QUESTION))) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event.data, dict) and event.data.get("url") == shop.at(
                "/help/international"
            ):
                break
    await until(lambda: not shop.now["all"], 1.0)
    assert desk.app.running == {}


async def stop_soon(desk: Desk, trace_id: str) -> None:
    await asyncio.sleep(0.3)
    await request_stop(desk.app, trace_id)


@pytest.mark.parametrize("there", [True, False])
async def test_told_to_stop(
    desk: Desk, shop: Web, make_page: Callable[..., bytes], there: bool
) -> None:
    """While pages hang: an answer from what is there, or a refusal that says why; quickly either
    way.
    """
    slow(shop, "/help/returns", "/help/international")
    if there:
        prose = [
            FACT,
            "The days begin with the day after the parcel came.",
            "Nobody has to say why something is returned.",
        ]
        links = {
            "/help/returns": f"{QUESTION} All about it",
            "/help/international": f"{QUESTION} From abroad",
        }
        shop.page("/help", make_page("/help", "Help centre", prose, links))
        desk.llm.reply_with(
            lambda messages: FACT if desk.web.left and FACT in str(messages) else "I don't know."
        )
    answer: Answer | None = None
    stopped = 0.0
    async for event in stream_answer(desk.app, desk.request(QUESTION)):
        if shop.now["all"] == 2 and not stopped:
            raise AssertionError("an event came while both pages hang")
        if (
            isinstance(event.data, Step)
            and event.data.action == "explore"
            and "/help/returns" in str(event.data.detail["explore"])
        ):
            (trace_id,) = desk.app.running
            stopping = asyncio.create_task(stop_soon(desk, trace_id))
            stopped = time.monotonic() + 0.3
        if isinstance(event.data, Answer):
            answer = event.data
    assert time.monotonic() - stopped < 1.5
    await stopping
    assert answer is not None
    await until(lambda: not shop.now["all"], 1.0)
    assert shop.left == 2
    assert answer.stop_reason == "stopped" or (
        there and not answer.stop_reason
    )  # an answer that is settled needs no excuse
    assert any("/help/returns" in warning for warning in answer.warnings)
    assert answer.status == ("answered" if there else "refused")
    assert there or "asked to" in answer.answer


async def test_told_to_stop_while_the_sitemap_hangs(desk: Desk, shop: Web) -> None:
    """It is not waited for either."""
    shop.page("/sitemap.xml", b"<urlset/>", kind="application/xml", slow=20.0)
    task = asyncio.create_task(desk.ask(QUESTION))
    await until(lambda: any(asked.path == "/sitemap.xml" for asked in shop.asked))
    (trace_id,) = desk.app.running
    await request_stop(desk.app, trace_id)
    started = time.monotonic()
    try:
        async with asyncio.timeout(2.0):
            answer = await task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    assert time.monotonic() - started < 2.0
    assert answer.stop_reason == "stopped"


async def test_a_sitemap_that_hangs_leaves_time(desk: Desk, shop: Web) -> None:
    """Few seconds are enough for a hint: the run goes on without it."""
    shop.page("/sitemap.xml", b"<urlset/>", kind="application/xml", slow=30.0)
    desk.knows(FACT)
    started = time.monotonic()
    answer = await desk.ask(QUESTION, max_seconds=4.0)
    assert time.monotonic() - started < 6.0
    assert (answer.status, answer.stop_reason) == ("answered", "")


async def left_after(desk: Desk, node: str, round_: int) -> str:
    """Run until a node is done for that time, then leave. The trace_id."""
    seen = 0
    async with aclosing(stream_answer(desk.app, desk.request(QUESTION))) as events:  # type: ignore[type-var]
        async for event in events:
            seen += isinstance(event.data, Step) and event.data.node == node
            if seen > round_:
                break
    (run,) = await list_unfinished_runs(desk.app.runs)
    return run.trace_id


@pytest.mark.parametrize(
    ("node", "round_"),
    [("CrawlAndExtract", 0), ("AgentDecision", 0), ("CrawlAndExtract", 1), ("AgentDecision", 2)],
)
async def test_a_run_that_was_killed_goes_on(
    desk: Desk, shop: Web, open_desk: Callable[..., Any], node: str, round_: int
) -> None:
    """From its last node, in a new process: the same answer, and no page is asked for twice."""
    desk.knows(FACT)
    trace_id = await left_after(desk, node, round_)
    read = shop.paths()
    async with open_desk() as later:
        later.knows(FACT)
        answer = await ask(later.app, AskRequest(resume=trace_id))
        trace = await later.app.traces.get(answer.trace_id)
        assert await list_unfinished_runs(later.app.runs) == []
    assert (answer.status, answer.answer, answer.trace_id) == ("answered", FACT + "[1]", trace_id)
    assert len(shop.paths()) == len(set(shop.paths())) >= len(read)
    assert [step.n for step in trace.steps] == list(range(1, len(trace.steps) + 1))
    assert {step.node for step in trace.steps} == {get_node_name(node) for node in GRAPH.table}


async def test_a_run_that_was_killed_in_the_middle_of_a_round(
    desk: Desk, shop: Web, open_desk: Callable[..., Any]
) -> None:
    """The round begins again, and what came of it is not asked for a second time."""
    slow(shop, "/help/returns")
    desk.knows(FACT)
    task = asyncio.create_task(desk.ask(QUESTION))
    site = f"127.0.0.1:{shop.port}"
    await until(lambda: "/help/returns" in shop.paths() and shop.now["all"] == 1)
    async with asyncio.timeout(120):
        while await desk.app.snapshots.get(site, shop.at("/help/international")) is None:  # noqa: ASYNC110  # as above
            await asyncio.sleep(0.01)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    (run,) = await list_unfinished_runs(desk.app.runs)
    kept = [
        page.uri.removeprefix(shop.at()) for page in await desk.app.snapshots.of(site, links=False)
    ]
    slow(shop, "/help/returns", seconds=0.0)
    async with open_desk() as later:
        later.knows(FACT)
        answer = await ask(later.app, AskRequest(resume=run.trace_id))
    assert (answer.status, answer.answer) == ("answered", FACT + "[1]")
    assert len(kept) >= 3
    assert {path for path in kept if shop.paths().count(path) > 1} == set()
    assert shop.paths().count("/help/returns") == 2

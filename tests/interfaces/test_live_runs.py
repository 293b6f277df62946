"""A question asked with `detach` is answered whoever listens: it is found again, heard from its
beginning, cancelled by its user, and cut off with the server.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.interfaces.test_http_ask import SSE, events

if TYPE_CHECKING:
    from tests.interfaces.conftest import FakeAgent, Served

ASK = "/api/ask?detach=true"
WHEN = {"question": "When?"}


async def ask_and_leave(client: httpx.AsyncClient, agent: FakeAgent) -> None:
    agent.hang = True
    asking = asyncio.create_task(client.post(ASK, json=WHEN, headers=SSE))
    async with asyncio.timeout(120):
        while not (await client.get("/api/runs")).json()["live"]:
            await agent.started.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)


async def test_it_goes_on_and_is_heard_from_its_beginning(
    client: httpx.AsyncClient, agent: FakeAgent
) -> None:
    await ask_and_leave(client, agent)
    [live] = (await client.get("/api/runs")).json()["live"]
    assert (live["trace_id"], live["question"]) == ("tr_1", "When?")
    async with (
        asyncio.timeout(120),
        client.stream("GET", "/api/runs/tr_1/events") as following,
    ):
        agent.go_on.set()
        came = events((await following.aread()).decode())
    assert [name for name, _ in came] == ["step", "token", "token", "citation", "warning", "answer"]
    assert not agent.cancelled.is_set()
    assert (await client.get("/api/runs")).json()["live"] == []
    assert (await client.get("/api/runs/tr_1/events")).status_code == 404


async def test_only_its_user_finds_or_cancels_it(
    client: httpx.AsyncClient, agent: FakeAgent
) -> None:
    await ask_and_leave(client, agent)
    assert (await client.get("/api/runs?user_id=other")).json()["live"] == []
    for method, what in (("GET", "events"), ("POST", "cancel")):
        path = f"/api/runs/tr_1/{what}?user_id=other"
        assert (await client.request(method, path)).status_code == 404
    assert (await client.post("/api/runs/tr_1/cancel")).status_code == 204
    assert agent.cancelled.is_set()
    assert (await client.get("/api/runs")).json()["live"] == []


async def test_what_fails_is_told_to_who_listens(
    client: httpx.AsyncClient, agent: FakeAgent
) -> None:
    agent.error = ZeroDivisionError("secret")  # type: ignore[assignment]
    name, data = events((await client.post(ASK, json=WHEN, headers=SSE)).text)[-1]
    assert (name, data["error"]["code"]) == ("error", "internal")


async def test_beyond_a_number_a_question_ends_with_its_line(
    client: httpx.AsyncClient, agent: FakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citewell.service.ask.live_runs.MOST", 0)
    agent.hang = True
    asking: asyncio.Task[Any] = asyncio.create_task(client.post(ASK, json=WHEN, headers=SSE))
    async with asyncio.timeout(120):
        await agent.started.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await agent.cancelled.wait()


async def test_a_stopping_server_cuts_it_off(served: Served, agent: FakeAgent) -> None:
    agent.hang = True
    stream = asyncio.create_task(served.client.post(ASK, json=WHEN, headers=SSE))
    async with asyncio.timeout(120):
        await agent.started.wait()
        served.stop()
        assert events((await stream).text)[-1][0] == "error"
        await agent.cancelled.wait()

"""`POST /api/ask`: whole, as events, and when the client or the server goes away."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import httpx

from citewell.errors import InvalidInput, ModelUnavailable

if TYPE_CHECKING:
    from tests.interfaces.conftest import FakeAgent, Served

SSE = {"Accept": "text/event-stream"}


def events(text: str) -> list[tuple[str, Any]]:
    """(name, data) of a stream's text; comments left out."""
    found = []
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


async def test_answer_is_one_json_object(client: httpx.AsyncClient, agent: FakeAgent) -> None:
    """The request reaches the agent whole, the Answer comes back whole."""
    body = {
        "question": "何时建成？",
        "agent": "qa",
        "collection": "docs",
        "session_id": "ses_1",
        "options": {"a": 1},
    }
    reply = await client.post("/api/ask", json=body)
    assert reply.status_code == 200
    assert reply.json() == agent.answer.model_dump(mode="json")
    assert agent.asked[0].model_dump(include=set(body)) == body


async def test_answer_as_events(client: httpx.AsyncClient, agent: FakeAgent) -> None:
    """Steps, tokens, citations and warnings come before the answer, each as an object."""
    reply = await client.post("/api/ask", json={"question": "When?"}, headers=SSE)
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["cache-control"] == "no-cache"
    came = events(reply.text)
    assert [name for name, _ in came] == ["step", "token", "token", "citation", "warning", "answer"]
    assert came[0][1]["node"] == "InputValidationNode"
    assert came[1][1] == {"text": "It was "}
    assert came[-1][1] == agent.answer.model_dump(mode="json")


async def test_errors_on_both_channels(client: httpx.AsyncClient, agent: FakeAgent) -> None:
    """An error of the agent is a status with the error shape, or an `error` event with the same
    shape.
    """
    agent.error = ModelUnavailable("no model", hint="pull one")
    shape = {"error": {"code": "model_unavailable", "message": "no model", "hint": "pull one"}}
    whole = await client.post("/api/ask", json={"question": "When?"})
    assert (whole.status_code, whole.json()) == (503, shape)
    stream = await client.post("/api/ask", json={"question": "When?"}, headers=SSE)
    assert stream.status_code == 200
    assert events(stream.text)[-1] == ("error", shape)


async def test_unforeseen_error_ends_a_stream_with_the_shape(
    client: httpx.AsyncClient, agent: FakeAgent
) -> None:
    """Even a fault of ours ends the stream with an `error` event, without its inside."""
    agent.error = ZeroDivisionError("secret")  # type: ignore[assignment]
    name, data = events(
        (await client.post("/api/ask", json={"question": "When?"}, headers=SSE)).text
    )[-1]
    assert (name, data["error"]["code"]) == ("error", "internal")
    assert "secret" not in json.dumps(data)


async def test_wrong_requests_are_4xx(client: httpx.AsyncClient, agent: FakeAgent) -> None:
    """Wrong types, unknown fields, no JSON, half a character: told by field, never asked, never a
    500.
    """
    for body in (
        {"question": 3},
        {},
        {"question": "a", "agent": ["qa"]},
        {"question": "a", "colection": "x"},
        ["a"],
    ):
        reply = await client.post("/api/ask", json=body)
        assert reply.status_code == 422, body
        assert reply.json()["error"]["code"] == "invalid_input"
        assert reply.json()["error"]["detail"][0]["field"]
    half = await client.post(
        "/api/ask", content=b'{"question": "\\ud800"}', headers={"Content-Type": "application/json"}
    )
    assert (half.status_code, half.json()["error"]["code"]) == (400, "invalid_json")
    bad = await client.post(
        "/api/ask", content=b'{"question": ', headers={"Content-Type": "application/json"}
    )
    assert (bad.status_code, bad.json()["error"]["code"]) == (400, "invalid_json")
    for content_type in ("text/plain", "application/x-www-form-urlencoded"):
        reply = await client.post(
            "/api/ask", content=b'{"question": "a"}', headers={"Content-Type": content_type}
        )
        assert reply.status_code == 422
    assert agent.asked == []


async def test_refused_question_is_422(client: httpx.AsyncClient, agent: FakeAgent) -> None:
    """What the agent says about the words of a question is the client's to correct."""
    agent.error = InvalidInput("unknown agent: x", hint="known: qa", code="unknown_agent")
    reply = await client.post("/api/ask", json={"question": "a", "agent": "x"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "unknown_agent")


async def test_unknown_agent_and_collection(client: httpx.AsyncClient) -> None:
    """Without a double: an agent or a collection that is not there is a clear 4xx."""
    agent = await client.post("/api/ask", json={"question": "a", "agent": "nobody"})
    assert (agent.status_code, agent.json()["error"]["code"]) == (422, "unknown_agent")
    collection = await client.post("/api/ask", json={"question": "a", "collection": "nowhere"})
    assert collection.status_code == 404


async def test_leaving_client_stops_the_work(client: httpx.AsyncClient, agent: FakeAgent) -> None:
    """Work behind a JSON answer and behind a stream is cancelled when its client closes the
    line.
    """
    agent.hang = True
    for headers in ({}, SSE):
        agent.started.clear()
        agent.cancelled.clear()
        asking = asyncio.create_task(
            client.post("/api/ask", json={"question": "When?"}, headers=headers)
        )
        await asyncio.wait_for(agent.started.wait(), 120)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await asyncio.wait_for(agent.cancelled.wait(), 120)


async def test_stopping_server_ends_streams_at_once(served: Served, agent: FakeAgent) -> None:
    """An open stream gets a last event, a waiting client a 503, well before the grace time."""
    agent.hang = True
    stream = asyncio.create_task(
        served.client.post("/api/ask", json={"question": "When?"}, headers=SSE)
    )
    whole = asyncio.create_task(served.client.post("/api/ask", json={"question": "When?"}))
    while len(agent.asked) < 2:  # noqa: ASYNC110  # two runs of one double
        await asyncio.sleep(0.01)
    async with asyncio.timeout(120):
        served.stop()
        assert events((await stream).text)[-1][1]["error"]["code"] == "stopping"
        assert (await whole).status_code == 503


async def test_silence_is_bridged(
    client: httpx.AsyncClient, agent: FakeAgent, monkeypatch: Any
) -> None:
    """While nothing happens, comments keep the line open."""
    monkeypatch.setattr("citewell.interfaces.http.sse.KEEP_ALIVE", 0.05)
    agent.hang = True
    async with client.stream("POST", "/api/ask", json={"question": "When?"}, headers=SSE) as reply:
        async with asyncio.timeout(120):
            async for line in reply.aiter_lines():
                if line.startswith(":"):
                    break

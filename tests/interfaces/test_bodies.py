"""Bodies that want to cost more than they are: what is told of them is short, others are served
meanwhile, each try counts.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.routing import APIRoute
from tests.interfaces.auth import code_of, people, with_users
from tests.interfaces.serving import PATIENCE

from citewell.config import Settings
from citewell.interfaces.http import ROUTERS
from citewell.interfaces.http.body import MOST_VALUES, JSONRoute
from citewell.interfaces.http.security.guard import LARGEST_BODY, LARGEST_OPEN
from citewell.runtime.app import App

if TYPE_CHECKING:
    from tests.interfaces.conftest import Served

SHORT = 8_192  # bytes of an error
UNKNOWN = {f"k{n}": 1 for n in range(75_000)}  # 0.97 MB
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return with_users(settings, tries_a_minute=5)


@asynccontextmanager
async def loop_is_free(most: float) -> AsyncIterator[None]:
    """The server runs in the loop of the test: nothing holds it longer than `most` seconds, those
    of other programs aside.
    """
    held = 0.0

    async def tick() -> None:
        nonlocal held
        while True:
            at = time.thread_time()
            await asyncio.sleep(0.005)
            held = max(held, time.thread_time() - at)

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()
    assert held < most, held


async def test_sign_in_takes_little_and_counts_every_try(served: Served, app: App) -> None:
    """Whatever is wrong with it: too large, no JSON, other keys, a token that is nobody's. Then
    429, and who has a good token is let in all the same.
    """
    client = served.client
    large = json.dumps({"token": "cw_x"} | UNKNOWN).encode()
    assert len(large) < LARGEST_BODY
    async with people(app, str(client.base_url), ann="reader") as signed, loop_is_free(1.0):
        reply = await client.post("/api/sign-in", content=large, headers=JSON)
        assert (reply.status_code, code_of(reply)) == (413, "too_large")
        bad: list[Any] = [
            b"{",
            b'{"token": 1}',
            json.dumps({f"k{n}": 1 for n in range(300)}).encode(),
            b'{"token": "cw_x"}',
        ]
        seen = [await client.post("/api/sign-in", content=body, headers=JSON) for body in bad]
        assert [each.status_code for each in seen] == [400, 422, 422, 401]
        piecewise = await client.post(
            "/api/sign-in", content=_pieces(large), headers=JSON
        )  # of no declared length
        assert piecewise.status_code == 413
        over = await client.post("/api/sign-in", content=b"{", headers=JSON)
        assert (over.status_code, code_of(over)) == (429, "too_many_requests")
        assert int(over.headers["Retry-After"]) > 0
        assert all(len(each.content) < SHORT for each in (reply, *seen, piecewise, over))
        token = signed["ann"].headers["Authorization"].removeprefix("Bearer ")
        assert (await client.post("/api/sign-in", json={"token": token})).status_code == 200
        told = (await client.get("/metrics")).text
        assert 'citewell_rate_limited_total{limit="tries"} 1.0' in told


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    yield data[: LARGEST_OPEN // 2]
    yield data[LARGEST_OPEN // 2 :]


WRONG: dict[str, tuple[str, str, Any]] = {
    "unknown keys": (
        "POST",
        "/api/ask",
        {"question": "When?"} | {f"k{n}": 1 for n in range(20_000)},
    ),
    "a long key": ("POST", "/api/ask", {"question": "When?", "k" * 900_000: 1}),
    "wrong items": ("POST", "/api/search", {"query": "When?", "doc_ids": [1] * 20_000}),
    "wrong texts": ("POST", "/v1/embeddings", {"model": "m", "input": [{}] * 8_000}),
    "wrong messages": (
        "POST",
        "/v1/chat/completions",
        {"model": "m", "messages": [{"role": 1, "x": {}}] * 2_000},
    ),
    "a long word": ("POST", "/api/users", {"user_id": "a", "role": "r" * 900_000}),
    "a long name": ("GET", "/api/collections/" + "n" * 30_000, None),
    "too many values": ("POST", "/api/ask", {"question": "When?"} | UNKNOWN),
    "too many items": ("POST", "/api/collections/x/documents", {"url": [0] * 400_000}),
    "a long description": ("PUT", "/api/data/sources/x/description", {"text": "x" * 300_000}),
}


async def test_errors_are_short(served: Served, app: App) -> None:
    """Also to who is signed in; others do not wait for it."""
    async with people(app, str(served.client.base_url), ann="admin") as signed:
        for wrong, (method, path, body) in WRONG.items():
            data = b"" if body is None else json.dumps(body).encode()
            async with loop_is_free(1.0):
                reply = await signed["ann"].request(method, path, content=data, headers=JSON)
            assert reply.status_code in {400, 404, 413, 422}, (wrong, reply.text[:300])
            assert len(reply.content) < SHORT, wrong
            assert reply.json()["error"]["message"]
            if wrong == "unknown keys":
                assert len(reply.json()["error"]["detail"]) == 10
                assert "and 19,990 more" in reply.json()["error"]["message"]


async def test_tools_are_told_shortly(served: Served, app: App) -> None:
    arguments = {"question": 1, "options": {f"k{n}": 1 for n in range(5_000)}} | {
        f"k{n}": {} for n in range(5_000)
    }
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "ask", "arguments": arguments},
    }
    accept = JSON | {"Accept": "application/json, text/event-stream"}
    begin = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    async with people(app, str(served.client.base_url), ann="reader") as signed:
        client = signed["ann"]
        opened = await client.post(
            "/mcp",
            json={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": begin},
            headers=accept,
            timeout=PATIENCE,
        )
        session = accept | {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        async with loop_is_free(1.0):
            for data in (
                json.dumps(call),
                json.dumps({f"k{n}": 1 for n in range(20_000)}),
                json.dumps([1] * 20_000),
            ):
                reply = await client.post("/mcp", content=data.encode(), headers=session)
                assert len(reply.content) < SHORT, reply.text[:500]


HALF = (
    ("POST", "/api/knowledge/check", b'{"source": "\\ud800"}'),
    ("PUT", "/api/data/sources/x/description", b'{"text": "\\ud800"}'),
    ("POST", "/api/ask", b'{"question": "\\udfff?"}'),
    ("POST", "/api/data/sources", b'{"url": "postgresql://\\ud83d/x"}'),
)


async def test_half_a_character_is_no_text(served: Served, app: App) -> None:
    """What follows would choke on it where it is written down, or sent: it is refused where it
    comes in.
    """
    async with people(app, str(served.client.base_url), ann="admin") as signed:
        for method, path, data in HALF:
            reply = await signed["ann"].request(method, path, content=data, headers=JSON)
            assert (reply.status_code, code_of(reply)) == (400, "invalid_json"), path
            whole = data.replace(b"\\ud83d", b"x")
            taken = await signed["ann"].request(method, path, content=whole, headers=JSON)
            assert taken.status_code < 500, path


def test_every_body_is_read_so() -> None:
    """A new route with a body has to be of the class that bounds it."""
    routes = [each for router in ROUTERS for each in router.routes if isinstance(each, APIRoute)]
    assert [
        each.path for each in routes if each.body_field and not isinstance(each, JSONRoute)
    ] == []
    assert sum(1 for each in routes if each.body_field) > 20


def test_most_values_are_enough() -> None:
    """For the largest body that is taken: 200 claims with 100 passages."""
    assert MOST_VALUES > 200 * (100 + 5) + 3

"""`/mcp` and `/v1` on a server with users: a token says who asks, and what is another's is not
there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import openai
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from tests.interfaces.auth import bearer, with_users
from tests.interfaces.test_mcp_http import BEGIN, JSON

from citewell.config import Settings
from citewell.interfaces.http.mcp.mcp_sessions import MOST_OF_A_USER
from citewell.runtime.app import App
from citewell.service.admin.users import add_user

if TYPE_CHECKING:
    from tests.interfaces.conftest import Served

NOTES = {
    "text": "# Northgate\n\nThe Northgate lighthouse was built in 1857.",
    "title": "Notes",
    "collection": "hers",
}
WHEN = "When was the Northgate lighthouse built?"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return with_users(
        Settings(
            home=tmp_path / "home", cache=tmp_path / "cache", embedder="scripted", reader="scripted"
        )
    )


@pytest.fixture
async def tokens(app: App) -> dict[str, str]:
    """A token of each."""
    roles = {"root": "admin", "eva": "editor", "rita": "reader"}
    return {name: (await add_user(app, name, role)).token for name, role in roles.items()}


@pytest.fixture
async def _hers(served: Served, tokens: dict[str, str]) -> None:
    """A collection that only one user sees."""
    body = {"name": "hers", "private": True}
    made = await served.client.post("/api/collections", json=body, headers=bearer(tokens["eva"]))
    assert made.status_code == 201


@asynccontextmanager
async def mcp(served: Served, token: str, mode: Any = "auto") -> AsyncIterator[Client]:
    async with (
        create_mcp_http_client(headers=bearer(token)) as http,
        Client(
            streamable_http_client(f"{served.client.base_url}/mcp", http_client=http), mode=mode
        ) as client,
    ):
        yield client


async def test_nobody_without_a_token(served: Served) -> None:
    """Neither protocol; the official client sees what it is."""
    for headers in ({}, bearer("cw_wrong")):
        reply = await served.client.post("/mcp", json=BEGIN, headers=JSON | headers)
        assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    async with openai.AsyncOpenAI(
        base_url=f"{served.client.base_url}/v1", api_key="wrong", max_retries=0
    ) as ai:
        with pytest.raises(openai.AuthenticationError):
            await ai.models.list()
        with pytest.raises(openai.AuthenticationError):
            await ai.chat.completions.create(
                model="citewell/qa", messages=[{"role": "user", "content": WHEN}]
            )


@pytest.mark.usefixtures("_hers")
async def test_tools_see_what_their_user_sees(served: Served, tokens: dict[str, str]) -> None:
    """An editor adds and asks; a reader may not add, and finds nothing of hers; nor may a reader
    vote on her answer.
    """
    async with mcp(served, tokens["eva"]) as eva:
        added = await eva.call_tool("add_document", NOTES)
        assert not added.is_error, added
        answer: Any = (
            await eva.call_tool("ask", {"question": WHEN, "collection": "hers", "agent": "qa"})
        ).structured_content
        assert answer["status"] == "answered"
    doc_id = answer["citations"][0]["doc_id"]
    async with mcp(served, tokens["rita"]) as rita:
        refused = await rita.call_tool("add_document", NOTES)
        assert refused.is_error
        assert refused.structured_content["error"]["code"] == "not_allowed"
        listed: Any = (await rita.call_tool("list_collections", {})).structured_content
        assert "hers" not in [each["name"] for each in listed["collections"]]
        for tool, arguments in (
            ("ask", {"question": WHEN, "collection": "hers"}),
            ("search", {"query": WHEN, "collection": "hers"}),
            ("get_document", {"doc_id": doc_id}),
            ("give_feedback", {"trace_id": answer["trace_id"], "is_correct": True}),
            ("ask", {"question": WHEN, "session_id": answer["session_id"]}),
        ):
            result = await rita.call_tool(tool, arguments)
            assert result.is_error, tool
            assert result.structured_content["error"]["code"] == "not_found", tool


async def test_one_users_sessions_leave_the_others_theirs(
    served: Served, tokens: dict[str, str]
) -> None:
    """However many one begins: the oldest that does nothing ends for a new one, and others begin as
    ever. One in use stays.
    """
    client = served.client
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}

    async def begun(name: str) -> dict[str, str]:
        reply = await client.post("/mcp", json=BEGIN, headers=JSON | bearer(tokens[name]))
        assert reply.status_code == 200, reply.text
        return JSON | bearer(tokens[name]) | {"Mcp-Session-Id": reply.headers["mcp-session-id"]}

    async def there(session: dict[str, str]) -> bool:
        return (await client.post("/mcp", json=listing, headers=session)).status_code == 200

    hers, first = await begun("eva"), await begun("rita")
    async with client.stream("GET", "/mcp", headers=first) as listening:
        assert listening.status_code == 200
        many = [await begun("rita") for _ in range(2 * MOST_OF_A_USER)]
        assert [await there(each) for each in many] == [False] * (MOST_OF_A_USER + 1) + [True] * (
            MOST_OF_A_USER - 1
        )
        assert await there(first)
        assert await there(hers)
        assert await there(await begun("root"))
    assert (await client.delete("/mcp", headers=many[-1])).status_code == 200
    await begun("rita")
    assert await there(many[-2])


async def test_no_more_sessions_than_may_be_in_use(
    served: Served, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where none of them does nothing, a new one is refused, to that user only, until one has
    ended.
    """
    monkeypatch.setattr("citewell.interfaces.http.mcp.mcp_sessions.MOST_OF_A_USER", 2)
    client = served.client

    async def begin(name: str) -> httpx.Response:
        return await client.post("/mcp", json=BEGIN, headers=JSON | bearer(tokens[name]))

    async with AsyncExitStack() as stack:
        for _ in range(2):
            said = {"Mcp-Session-Id": (await begin("rita")).headers["mcp-session-id"]}
            await stack.enter_async_context(
                client.stream("GET", "/mcp", headers=JSON | bearer(tokens["rita"]) | said)
            )
        refused = await begin("rita")
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_requests")
        assert refused.headers["retry-after"]
        assert (await begin("eva")).status_code == 200
    assert (await begin("rita")).status_code == 200


async def test_listening_ends_with_the_user(
    served: Served, app: App, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream that a client keeps open for news; what it asks next is told why."""
    monkeypatch.setattr("citewell.interfaces.http.mcp.mcp_gateway.LOOK", 0.2)
    client, said = served.client, JSON | bearer(tokens["rita"])
    said["Mcp-Session-Id"] = (await client.post("/mcp", json=BEGIN, headers=said)).headers[
        "mcp-session-id"
    ]
    async with asyncio.timeout(120), client.stream("GET", "/mcp", headers=said) as listening:
        assert listening.status_code == 200
        await app.users.remove("rita")
        await listening.aread()
    assert (await client.get("/mcp", headers=said)).status_code == 401


async def test_a_session_is_its_beginners(served: Served, tokens: dict[str, str]) -> None:
    """Another user's token does not open it, not even an admin's; its own does."""
    client = served.client
    begun = await client.post("/mcp", json=BEGIN, headers=JSON | bearer(tokens["eva"]))
    said = JSON | {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    for name, status in (("rita", 404), ("root", 404), ("eva", 200)):
        assert (
            await client.post("/mcp", json=listing, headers=said | bearer(tokens[name]))
        ).status_code == status
    assert (await client.delete("/mcp", headers=said | bearer(tokens["rita"]))).status_code == 404
    assert (await client.delete("/mcp", headers=said | bearer(tokens["eva"]))).status_code == 200


@pytest.mark.usefixtures("_hers")
async def test_a_token_is_an_api_key(served: Served, tokens: dict[str, str]) -> None:
    """For the official client; models and answers are of what its user sees."""
    base = f"{served.client.base_url}/v1"
    async with mcp(served, tokens["eva"]) as eva:
        await eva.call_tool("add_document", NOTES)
    messages: Any = [{"role": "user", "content": WHEN}]
    async with openai.AsyncOpenAI(base_url=base, api_key=tokens["eva"], max_retries=0) as ai:
        assert "citewell/qa:hers" in [model.id async for model in ai.models.list()]
        reply: Any = await ai.chat.completions.create(model="citewell/qa:hers", messages=messages)
        assert "1857.[[1]](" in reply.choices[0].message.content
    async with openai.AsyncOpenAI(base_url=base, api_key=tokens["rita"], max_retries=0) as ai:
        assert "citewell/qa:hers" not in [model.id async for model in ai.models.list()]
        with pytest.raises(openai.NotFoundError):
            await ai.chat.completions.create(model="citewell/qa:hers", messages=messages)
    async with httpx.AsyncClient(
        base_url=base, headers=bearer(tokens["rita"]), trust_env=False
    ) as other:
        body = {"model": "citewell/qa", "messages": messages}
        asked = await other.post("/chat/completions?user_id=eva", json=body)
        assert (asked.status_code, asked.json()["error"]["type"]) == (403, "permission_error")

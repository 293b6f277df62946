"""`/mcp` as the official client uses it, in both of the protocol's ages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, get_args

import httpx
import pytest
from mcp import Client, MCPError

from citewell.errors import ModelUnavailable
from citewell.interfaces.mcp.parameters import AgentName
from citewell.runtime.app import App
from citewell.service.ask.agent_runners import list_agent_names

if TYPE_CHECKING:
    from tests.interfaces.conftest import FakeAgent, Served

WHEN = "When was the Northgate lighthouse built?"
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
BEGIN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


BOTH = pytest.mark.parametrize("mcp", ["auto", "legacy"], indirect=True)


@pytest.fixture
async def mcp(served: Served, request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    mode = getattr(request, "param", "auto")
    async with held(Client(f"{served.client.base_url}/mcp", mode=mode)) as client:
        yield client


@asynccontextmanager
async def held(client: Client) -> AsyncIterator[Client]:
    """An open client, for fixtures: it has to be closed in the task that opened it."""
    opened, closing = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with client:
            opened.set()
            await closing.wait()

    holding = asyncio.create_task(hold())
    await asyncio.wait(
        {holding, asyncio.ensure_future(opened.wait())}, return_when=asyncio.FIRST_COMPLETED
    )
    try:
        yield client
    finally:
        closing.set()
        await holding


@pytest.fixture
def chat_agent(agent: FakeAgent, monkeypatch: pytest.MonkeyPatch) -> FakeAgent:
    monkeypatch.setattr("citewell.interfaces.mcp.tools.stream_answer", agent.stream)
    return agent


async def call(client: Client, tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
    """Structured content and text of a tool that succeeds."""
    result = await client.call_tool(tool, arguments)
    text = " ".join(part.text for part in result.content)  # type: ignore[union-attr]
    assert not result.is_error, text
    assert result.structured_content is not None
    return result.structured_content, text


async def refused(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The error of a tool that refuses; its text has message and hint."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.structured_content is not None
    error: dict[str, Any] = result.structured_content["error"]
    assert error["hint"]
    assert result.content[0].text == f"{error['message']}\nHint: {error['hint']}"  # type: ignore[union-attr]
    return error


async def test_tools_are_described(mcp: Client) -> None:
    """Each with a description, what it takes and what it gives; none over HTTP takes a path."""
    tools = {tool.name: tool for tool in (await mcp.list_tools()).tools}
    assert list(tools) == [
        "ask",
        "search",
        "check",
        "list_collections",
        "get_document",
        "add_document",
        "give_feedback",
    ]
    for tool in tools.values():
        assert len(tool.description or "") > 60
        assert tool.output_schema
        assert tool.output_schema["type"] == "object"
        properties = tool.input_schema["properties"]
        assert all(each.get("description") for each in properties.values()), properties
        assert "path" not in properties
    assert (
        sorted(tools["ask"].input_schema["properties"]["agent"]["enum"])
        == sorted(list_agent_names())
        == sorted(get_args(AgentName))
    )
    assert "citations" in (mcp.instructions or "")


@BOTH
async def test_ask_search_read_and_vote(mcp: Client, northgate: str, served: Served) -> None:
    """The client checks each result against its schema; ids lead from one tool to the next."""
    said: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        said.append((progress, message))

    result = await mcp.call_tool("ask", {"question": WHEN}, progress_callback=note)
    answer: Any = result.structured_content
    assert (answer["status"], answer["citations"][0]["doc_id"]) == ("answered", northgate)
    url = answer["citations"][0]["url"]
    assert url.startswith(f"{served.client.base_url}/#/source/{northgate}?")
    text = result.content[0].text  # type: ignore[union-attr]
    assert f"1857.[[1]]({url})" in text
    assert answer["trace_id"] in text
    assert [done for done, _ in said] == sorted({done for done, _ in said})
    assert any("DocumentRetrievalNode" in (message or "") for _, message in said)

    follow, _ = await call(
        mcp, "ask", question="When was it built?", session_id=answer["session_id"], agent="qa"
    )
    assert follow["session_id"] == answer["session_id"]

    found, text = await call(mcp, "search", query="keeper of the lighthouse", k=1)
    assert "Anna Berg" in found["passages"][0]["text"]
    assert northgate in text
    link = found["passages"][0]["url"]
    place = (
        await served.client.get(f"/api/documents/{northgate}/span?{link.partition('?')[2]}")
    ).json()
    assert not place["changed"]
    assert "Anna Berg" in place["citation"]["quote"]

    held, text = await call(
        mcp, "check", text="# Draft\n\nThe keeper was Anna Berg. Somebody painted that thing red."
    )
    assert [each["verdict"] for each in held["sentences"]] == ["entailed", "not_stated"]
    [number] = held["sentences"][0]["citations"]
    assert held["citations"][number - 1]["quote"] == "The keeper was Anna Berg."
    assert f"entailed (1.00): The keeper was Anna Berg.[{number}]" in text

    listed, text = await call(mcp, "list_collections")
    assert [each["name"] for each in listed["collections"]] == ["default"]
    assert "default" in text

    cited = answer["citations"][0]
    part, text = await call(
        mcp, "get_document", doc_id=northgate, offset=cited["start"], limit=len(cited["quote"])
    )
    assert part["text"] == cited["quote"]
    assert (part["end"], part["next_offset"]) == (cited["end"], cited["end"])
    assert f"offset={cited['end']}" in text
    rest, _ = await call(mcp, "get_document", doc_id=northgate, offset=part["next_offset"])
    assert (rest["next_offset"], rest["end"]) == (None, rest["total"])

    vote, _ = await call(
        mcp,
        "give_feedback",
        trace_id=answer["trace_id"],
        is_correct=False,
        correction="Built 1858.",
    )
    assert vote["feedback_id"].startswith("fb_")


async def test_where_nothing_is_named_the_fullest_collection_is_taken(
    mcp: Client, chat_agent: FakeAgent, app: App
) -> None:
    """While the usual one has no documents; and that is said."""
    for name, texts in {"one": ["a"], "samples": ["b", "c"]}.items():
        for text in texts:
            await call(
                mcp,
                "add_document",
                text=f"# {text}\n\nThe lamp {text} is red.",
                title=text,
                collection=name,
            )
    said = "no collection was named, so samples was taken"
    found, text = await call(mcp, "search", query="Which lamp is red?")
    assert said in found["warnings"]
    assert said in text
    answer, _ = await call(mcp, "ask", question="Which lamp is red?", agent="qa")
    assert said in answer["warnings"]
    assert chat_agent.asked[-1].collection == "samples"
    named, _ = await call(mcp, "search", query="Which lamp is red?", collection="one")
    assert said not in named["warnings"]


async def test_documents_are_added_and_found(mcp: Client, site_server: Any, served: Served) -> None:
    """As text or from an address; the server's worker does it while the tool waits."""
    added, _ = await call(
        mcp,
        "add_document",
        text="# Harbour\n\nThe harbour opens at six.",
        title="Harbour/rules",
        collection="h",
    )
    assert (added["state"], added["files"][0]["path"]) == ("done", "upload:Harbour rules.md")
    found, _ = await call(mcp, "search", query="harbour opens", collection="h")
    assert "opens at six" in found["passages"][0]["text"]
    error = await refused(mcp, "add_document", url=f"{site_server.url}/", collection="h")
    assert (
        "127.0.0.1" in error["message"]
    )  # an address of this machine: not for pages to be fetched from
    assert (await served.client.get("/api/collections/h")).json()["documents"] == 1


async def test_refusals_have_hints(mcp: Client, northgate: str) -> None:
    """Of the service, and of arguments that are wrong."""
    assert (await refused(mcp, "ask", question="  "))["code"] == "invalid_input"
    assert (await refused(mcp, "ask", question=WHEN, collection="nowhere"))["code"] == "not_found"
    assert "agent" in (await refused(mcp, "ask", question=WHEN, agent="nobody"))["message"]
    assert "k" in (await refused(mcp, "search", query="x", k=1000))["message"]
    assert (await refused(mcp, "get_document", doc_id="doc_none"))["code"] == "not_found"
    assert (
        "offset" in (await refused(mcp, "get_document", doc_id=northgate, offset=10_000))["message"]
    )
    assert (await refused(mcp, "give_feedback", trace_id="tr_none", is_correct=True))[
        "code"
    ] == "not_found"
    assert (
        "one thing"
        in (await refused(mcp, "add_document", text="a", url="http://x.example/"))["message"]
    )
    assert "title" in (await refused(mcp, "add_document", text="a"))["message"]
    assert (await refused(mcp, "add_document", url="nonsense"))["code"] == "bad_url"


async def test_faults_tell_nothing_of_their_inside(mcp: Client, chat_agent: FakeAgent) -> None:
    chat_agent.error = ModelUnavailable("no model", hint="pull one")
    assert (await refused(mcp, "ask", question=WHEN))["code"] == "model_unavailable"
    chat_agent.error = ZeroDivisionError("secret")  # type: ignore[assignment]
    result = await mcp.call_tool("ask", {"question": WHEN})
    assert result.is_error
    assert "secret" not in result.model_dump_json()


@BOTH
async def test_cancelling_stops_the_work(mcp: Client, chat_agent: FakeAgent) -> None:
    """In the old age of the protocol by a notification, in the new one by closing the line."""
    chat_agent.hang = True
    asking = asyncio.create_task(mcp.call_tool("ask", {"question": WHEN}))
    await asyncio.wait_for(chat_agent.started.wait(), 120)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await asyncio.wait_for(chat_agent.cancelled.wait(), 120)
    assert (await mcp.list_tools()).tools


async def test_documents_are_resources(mcp: Client, northgate: str) -> None:
    [template] = (await mcp.list_resource_templates()).resource_templates
    assert template.uri_template == "citewell://documents/{doc_id}"
    [content] = (await mcp.read_resource(f"citewell://documents/{northgate}")).contents
    assert "Anna Berg" in content.text  # type: ignore[union-attr]
    with pytest.raises(MCPError, match="doc_none"):
        await mcp.read_resource("citewell://documents/doc_none")


async def test_results_are_cut_to_a_sensible_length(mcp: Client, app: App) -> None:
    """Of a long document a part at a time, and never more than a tool may give."""
    await call(
        mcp, "add_document", text="# Long\n\n" + "The tide turns twice. " * 8_000, title="long"
    )
    found, _ = await call(mcp, "search", query="tide", k=20)
    assert all(len(passage["text"]) <= 1_500 for passage in found["passages"])
    doc_id = found["passages"][0]["doc_id"]
    assert len((await call(mcp, "get_document", doc_id=doc_id))[0]["text"]) == 8_000
    await refused(mcp, "get_document", doc_id=doc_id, limit=50_001)
    [content] = (await mcp.read_resource(f"citewell://documents/{doc_id}")).contents
    assert len(content.text) <= 200_000  # type: ignore[union-attr]


async def test_pages_of_other_sites_are_refused(client: httpx.AsyncClient) -> None:
    """A foreign Host and a foreign Origin, also of a request that only reads."""
    assert (
        await client.post("/mcp", json=BEGIN, headers=JSON | {"Host": "evil.example"})
    ).status_code == 421
    for method in ("POST", "GET", "DELETE"):
        reply = await client.request(
            method, "/mcp", headers=JSON | {"Origin": "http://evil.example"}
        )
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "wrong_origin")
    mine = str(client.base_url)
    assert (
        await client.post("/mcp", json=BEGIN, headers=JSON | {"Origin": mine})
    ).status_code == 200


async def test_sessions_end(client: httpx.AsyncClient) -> None:
    """A session of the old age is there until its client deletes it; an unknown one is 404."""
    begun = await client.post("/mcp", json=BEGIN, headers=JSON)
    said = JSON | {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    assert (await client.post("/mcp", json=ready, headers=said)).status_code == 202
    reply = await client.post("/mcp", json=listing, headers=said)
    data = next(line for line in reply.text.splitlines() if line.startswith("data: {"))
    assert len(json.loads(data.removeprefix("data: "))["result"]["tools"]) == 7
    assert (await client.delete("/mcp", headers=said)).status_code == 200
    assert (await client.post("/mcp", json=listing, headers=said)).status_code == 404


async def test_a_stopping_server_ends_what_is_open(served: Served, chat_agent: FakeAgent) -> None:
    """An open stream of a session and a question that hangs both end, well before the time that
    requests are given.
    """
    chat_agent.hang = True
    begun = await served.client.post("/mcp", json=BEGIN, headers=JSON)
    said = JSON | {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
    listening = asyncio.create_task(served.client.get("/mcp", headers=said))
    ask = {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "ask", "arguments": {"question": WHEN}},
    }
    asking = asyncio.create_task(served.client.post("/mcp", json=ask, headers=said))
    await asyncio.wait_for(chat_agent.started.wait(), 120)
    async with asyncio.timeout(120):
        served.stop()
        await asyncio.gather(listening, asking, return_exceptions=True)
        await chat_agent.cancelled.wait()

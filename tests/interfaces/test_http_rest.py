"""Sessions, traces, status and the description of the interface."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import httpx

from citewell import __version__
from citewell.runtime.app import App
from citewell.types import Message, Trace

if TYPE_CHECKING:
    from tests.interfaces.conftest import FakeAgent


async def test_sessions(client: httpx.AsyncClient, app: App) -> None:
    """List by user, read with history, rename, delete."""
    mine = await app.sessions.create("qa", title="first")
    await app.sessions.create("qa", user_id="other")
    await app.sessions.append(mine.session_id, [Message(role="user", content="何时？")])
    listed = (await client.get("/api/sessions")).json()["sessions"]
    assert [session["session_id"] for session in listed] == [mine.session_id]
    assert len((await client.get("/api/sessions?user_id=other")).json()["sessions"]) == 1
    path = f"/api/sessions/{mine.session_id}"
    assert (await client.get(path)).json()["history"] == [{"role": "user", "content": "何时？"}]
    assert (await client.patch(path, json={"title": " 灯塔 "})).json()["title"] == "灯塔"
    assert (await client.patch(path, json={"title": ""})).status_code == 422
    assert (await client.delete(path)).status_code == 204
    assert (await client.get(path)).status_code == 404


async def test_a_page_of_sessions(client: httpx.AsyncClient, app: App) -> None:
    """Pinned ones first, those in folders with the first page, and how many there are."""

    async def ask_for(**asked: str | int | bool) -> tuple[list[str], int]:
        told = (await client.get("/api/sessions", params=asked)).json()
        assert (told["archived"], told["agents"]) == (1, ["data", "qa"])
        return [each["title"] for each in told["sessions"]], told["total"]

    folder = (await client.post("/api/folders", json={"name": "Old"})).json()["folder_id"]
    made = [await app.sessions.create("qa", title=f"t{n}") for n in range(5)]
    await app.sessions.create("data", title="rows")
    await app.sessions.mark(made[0].session_id, pinned=True)
    await app.sessions.mark(made[1].session_id, folder=folder)
    await app.sessions.mark(made[2].session_id, archived=True)
    assert await ask_for(limit=2) == (["t0", "rows", "t1"], 5)
    assert await ask_for(limit=2, offset=2) == (["t4", "t3"], 5)
    assert await ask_for(limit=9, archived=False) == (["t0", "rows", "t4", "t3", "t1"], 4)
    assert await ask_for(limit=9, agent="data") == (["rows"], 1)
    assert await ask_for(limit=9, q="t2") == (["t2"], 1)
    assert len((await ask_for())[0]) == 6
    assert (await client.get("/api/sessions?limit=501")).status_code == 422


async def test_traces(client: httpx.AsyncClient, app: App, agent: FakeAgent) -> None:
    """The list says what was asked, one trace has its steps and answer."""
    trace = Trace(
        trace_id="tr_1",
        agent="qa",
        question="When?",
        collection="docs",
        session_id="ses_1",
        created_at=time.time(),
        steps=[],
        prompts=[],
        answer=agent.answer,
    )
    await app.traces.put(trace)
    [summary] = (await client.get("/api/traces")).json()["traces"]
    assert (summary["trace_id"], summary["question"], summary["status"]) == (
        "tr_1",
        "When?",
        "answered",
    )
    until = app.traces.compute_expiry(trace.created_at)
    assert (await client.get("/api/traces/tr_1")).json() == trace.model_dump(mode="json") | {
        "expires_at": until
    }


async def test_status(client: httpx.AsyncClient) -> None:
    """It lives, is ready, and says its version and where its description is."""
    assert (await client.get("/api/health")).json() == {"status": "live"}
    ready = await client.get("/api/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    assert (await client.get("/api/version")).json() == {"version": __version__}
    assert (await client.get("/")).json()["openapi"] == "/api/openapi.json"


async def test_description_names_every_route(client: httpx.AsyncClient) -> None:
    """OpenAPI has each path of this issue, and no page that loads scripts from elsewhere is
    served.
    """
    paths = set((await client.get("/api/openapi.json")).json()["paths"])
    assert paths >= {
        "/api/ask",
        "/api/collections",
        "/api/collections/{name}/documents",
        "/api/documents/{doc_id}/content",
        "/api/documents/{doc_id}/file",
        "/api/jobs/{job_id}/events",
        "/api/sessions/{session_id}",
        "/api/traces/{trace_id}",
        "/api/health",
        "/api/ready",
        "/api/version",
    }
    assert (await client.get("/docs")).status_code == 404


async def test_the_language_of_texts(client: httpx.AsyncClient) -> None:
    """As `Accept-Language` likes it best; every one for our page, which picks."""
    english, chinese = "no collection named x", "没有名为 x 的文档集"

    async def message(headers: dict[str, str]) -> Any:
        reply = await client.get("/api/collections/x", headers=headers)
        return reply.json()["error"]["message"]

    assert await message({}) == english
    assert await message({"Accept-Language": "zh-CN,zh;q=0.9"}) == chinese
    assert await message({"Citewell-Texts": "all"}) == {"texts": {"en": english, "zh": chinese}}

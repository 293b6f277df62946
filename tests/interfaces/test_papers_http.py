"""`/api/papers` on a real port: from the upload to the export, whose it is, what is refused,
events, leaving.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest
from tests.interfaces.jobs import wait_for_job

from citewell.config import IngestSettings, Settings
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App

if TYPE_CHECKING:
    from tests.conftest import SiteServer

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "papers"
ENGLISH = next(SAMPLES.glob("reserve-*.pdf"))
CHINESE = next(SAMPLES.glob("基于*.pdf"))
QUESTION = "Which data was the history network trained on?"
SSE = {"Accept": "text/event-stream"}


async def begun(client: httpx.AsyncClient, file: Path = ENGLISH, **said: str) -> dict[str, Any]:
    data = await anyio.Path(file).read_bytes()
    reply = await client.post("/api/papers", files={"file": (file.name, data)}, data=said)
    assert reply.status_code == 201, reply.text
    found: dict[str, Any] = reply.json()
    return found


async def read(client: httpx.AsyncClient, file: Path = ENGLISH, **said: str) -> str:
    """The path of a session whose report is there."""
    found = await begun(client, file, **said)
    job = await wait_for_job(client, found["job"]["job_id"])
    assert job["state"] == "done", job["error"]
    return f"/api/papers/{found['session']['session_id']}"


async def test_from_the_upload_to_the_export(client: httpx.AsyncClient) -> None:
    """Session and job at once; then report, route, answers, changes of the route, structure,
    Markdown; then it is deleted.
    """
    found = await begun(client, title="Bikes")
    session, job = found["session"], found["job"]
    assert (session["title"], session["current_state"], session["report"]) == (
        "Bikes",
        "GUIDE_PENDING_REPORT",
        None,
    )
    assert (job["kind"], job["state"]) == ("paper", "queued")
    assert "user_id" not in job["payload"]
    job = await wait_for_job(client, job["job_id"])
    assert (job["state"], job["result"]["problem"]) == ("done", ""), job["error"]
    assert job["result"]["embedded"] > 0
    path = f"/api/papers/{session['session_id']}"
    session = (await client.get(path)).json()
    assert (session["current_state"], session["unfinished"]) == ("GUIDE_PENDING_PLAN", [])
    assert session["report"]["citations"]
    planned = (await client.post(f"{path}/messages", json={"text": "training"})).json()
    assert (planned["data"]["event"], planned["data"]["current_state"]) == (
        "plan",
        "CONTROL_ROUTING",
    )
    steps = planned["data"]["plan"]["steps"]
    said = {"text": QUESTION, "message_id": "m1", "selection": {"text": "history network"}}
    first, second = [(await client.post(f"{path}/messages", json=said)).json() for _ in range(2)]
    assert (first["agent"], first["answer"], first["trace_id"]) == (
        "paper",
        second["answer"],
        second["trace_id"],
    )
    edits = {
        "edits": [
            {"do": "tick", "step_id": steps[0]["step_id"]},
            {"do": "remove", "step_id": steps[1]["step_id"]},
        ]
    }
    changed = (await client.patch(f"{path}/plan", json=edits)).json()
    assert [step["step_id"] for step in changed["plan"]["steps"]] == [
        step["step_id"] for n, step in enumerate(steps) if n != 1
    ]
    assert changed["plan"]["steps"][0]["done_at"]
    other = (await client.post(f"{path}/plan", json={"interest": "energy model"})).json()
    assert other["data"]["plan"]["interest"] == "energy model"
    session = (await client.get(path)).json()
    assert [answer["message_id"] for answer in session["answers"]] == ["m1"]
    shape = (await client.get(f"{path}/structure")).json()
    assert shape["authors"]
    assert {part["role"] for part in shape["parts"]} >= {
        "abstract",
        "introduction",
        "method",
        "results",
        "references",
    }
    assert all(part["first_page"] for part in shape["parts"])
    assert shape["floats"][0]["caption"].startswith(shape["floats"][0]["label"])
    assert shape["references"]
    exported = await client.get(f"{path}/export")
    assert exported.headers["content-type"] == "text/markdown; charset=utf-8"
    assert 'filename="Bikes.md"' in exported.headers["content-disposition"]
    assert QUESTION in exported.text
    assert (await client.get(f"{path}/export")).text == exported.text
    renamed = await client.patch(path, json={"title": "灯"})
    assert renamed.json()["title"] == "灯"
    [row] = (await client.get("/api/papers")).json()["papers"]
    assert (row["title"], row["questions"], row["steps"]) == (
        "灯",
        1,
        len(other["data"]["plan"]["steps"]),
    )
    assert (await client.delete(path)).status_code == 204
    assert (await client.get(path)).status_code == 404
    assert (await client.get(f"/api/documents/{session['paper']['doc_id']}")).status_code == 404
    assert (await client.get("/api/papers")).json() == {"papers": []}


async def test_a_chinese_paper(client: httpx.AsyncClient) -> None:
    """Report and route are in its language; asked for English, they are in English."""
    path = await read(client, CHINESE)
    session = (await client.get(path)).json()
    assert (session["report"]["lang"], session["paper"]["lang"]) == ("zh", "zh")
    answer = (await client.post(f"{path}/messages", json={"text": "训练"})).json()
    assert answer["data"]["plan"]["lang"] == "zh"
    exported = await client.get(f"{path}/export")
    assert "## 导读报告" in exported.text
    assert "filename*=UTF-8''%E5%9F%BA" in exported.headers["content-disposition"]
    session = (await client.get(await read(client, CHINESE, lang="en"))).json()
    assert session["report"]["lang"] == "en"


async def test_another_user_finds_nothing(client: httpx.AsyncClient) -> None:
    """Each route says 404, and nothing of it is changed; the paper itself is in a collection of its
    reader's own.
    """
    path = await read(client, user_id="ann")
    doc_id = (await client.get(f"{path}?user_id=ann")).json()["paper"]["doc_id"]
    for user in ("ben", "local"):
        query = f"?user_id={user}"
        for reply in (
            await client.get(path + query),
            await client.patch(path + query, json={"title": "Mine"}),
            await client.delete(path + query),
            await client.post(f"{path}/messages{query}", json={"text": QUESTION}),
            await client.post(f"{path}/messages{query}", json={"text": QUESTION}, headers=SSE),
            await client.post(f"{path}/plan{query}", json={"interest": ""}),
            await client.patch(
                f"{path}/plan{query}", json={"edits": [{"do": "tick", "step_id": "x"}]}
            ),
            await client.get(f"{path}/structure{query}"),
            await client.get(f"{path}/export{query}"),
        ):
            assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")
        assert (await client.get(f"/api/papers{query}")).json() == {"papers": []}
    session = (await client.get(f"{path}?user_id=ann")).json()
    assert (session["current_state"], session["title"][:9]) == ("GUIDE_PENDING_PLAN", "CargoCast")
    his = await read(client, user_id="ben")
    assert (await client.get(f"{his}?user_id=ben")).json()["paper"]["doc_id"] != doc_id


async def test_what_cannot_be_done_in_a_state(client: httpx.AsyncClient) -> None:
    """409 with what is expected; a route that is not there cannot be changed."""
    path = await read(client)
    tick = {"edits": [{"do": "tick", "step_id": "x"}]}
    reply = await client.patch(f"{path}/plan", json=tick)
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "illegal_event")
    assert "interest" in reply.json()["error"]["hint"]
    await client.post(f"{path}/plan", json={})
    assert (await client.patch(f"{path}/plan", json=tick)).status_code == 404
    for edit in ({"do": "fly"}, {"do": "move", "place": 0}, {"do": "tick", "n": 1}):
        assert (await client.patch(f"{path}/plan", json={"edits": [edit]})).status_code == 422
    assert (await client.patch(f"{path}/plan", json={"edits": []})).status_code == 422
    before = (await client.get(path)).json()["plan"]
    good = {"do": "tick", "step_id": before["steps"][0]["step_id"]}
    assert (
        await client.patch(f"{path}/plan", json={"edits": [good, *tick["edits"]]})
    ).status_code == 404
    assert (await client.get(path)).json()["plan"] == before, "all edits or none"


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"files": {"file": ("x.pdf", b"")}}, 422, "is empty"),
    ({"files": {"file": ("x.zip", b"PK\x05\x06" + b"\0" * 18)}}, 422, "x.zip"),
    ({"files": {"file": ("x.csv", b"a,b\n" + b"1,2\n" * 300)}}, 422, "a paper is a PDF"),
    ({"files": [("file", ("a.md", b"a")), ("file", ("b.md", b"b"))]}, 422, "2 files"),
    ({"files": {"file": ("x.md", b"words " * 300)}, "data": {"lang": "fr"}}, 422, "lang"),
    ({"files": {"file": ("x.md", b"words " * 300)}, "data": {"titel": "x"}}, 422, "titel"),
    ({"files": {"file": ("x.md", b"words " * 300)}, "data": {"user_id": " "}}, 422, "user"),
    ({"json": {"url": "ftp://127.0.0.1/x.pdf"}}, 422, "http"),
    ({"json": {"url": "http://127.0.0.1:9/x.pdf"}}, 422, "private"),
    ({"json": {}}, 422, "url"),
    ({"content": b"{", "headers": {"Content-Type": "application/json"}}, 400, "JSON"),
    ({"content": b"%PDF", "headers": {"Content-Type": "application/pdf"}}, 422, "multipart"),
]


async def test_what_is_refused(client: httpx.AsyncClient) -> None:
    """In words, in the one shape, and nothing is kept."""
    for parts, status, words in REFUSED:
        reply = await client.post("/api/papers", **parts)
        assert reply.status_code == status, reply.text
        assert words in json.dumps(reply.json()["error"])
        assert (await client.get("/api/papers")).json() == {"papers": []}
        assert (await client.get("/api/jobs")).json() == {"jobs": []}


class TestSmall:
    """A server that takes small files only."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"ingest": IngestSettings(max_bytes=10_000)})

    async def test_a_file_too_large(self, client: httpx.AsyncClient) -> None:
        for size in (20_000, 2_000_000):
            reply = await client.post("/api/papers", files={"file": ("x.md", b"a" * size)})
            assert (reply.status_code, reply.json()["error"]["code"]) == (413, "too_large")


class TestWeb:
    """A server that may fetch from this machine."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"allow_private_hosts": ("127.0.0.1",)})

    async def test_a_paper_by_its_address(
        self, client: httpx.AsyncClient, site_server: SiteServer
    ) -> None:
        site_server.page("/paper.pdf", ENGLISH.read_bytes(), kind="application/pdf")
        said = {"url": f"{site_server.url}/paper.pdf", "user_id": "ann", "lang": "en"}
        reply = await client.post("/api/papers", json=said)
        assert reply.status_code == 201, reply.text
        session = reply.json()["session"]
        assert (session["user_id"], session["paper"]["name"], session["paper"]["pages"]) == (
            "ann",
            "paper.pdf",
            6,
        )
        assert (await wait_for_job(client, reply.json()["job"]["job_id"]))["state"] == "done"
        missing = await client.post("/api/papers", json={"url": f"{site_server.url}/none.pdf"})
        assert missing.status_code in {422, 502}


async def test_events_and_a_client_that_leaves(
    client: httpx.AsyncClient, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps come as they happen and the answer last; who leaves stops the work, and nothing of it
    is kept.
    """
    path = await read(client)
    await client.post(f"{path}/plan", json={})
    reply = await client.post(f"{path}/messages", json={"text": QUESTION}, headers=SSE)
    kinds = [
        line.removeprefix("event: ")
        for line in reply.text.splitlines()
        if line.startswith("event: ")
    ]
    assert kinds[:2] == ["progress", "step"]
    assert kinds[-1] == "answer"
    before = (await client.get(path)).json()
    assert isinstance(app.llm, ScriptedLLM)
    monkeypatch.setattr(app.llm, "_take_line", _for_ever)
    leaving = asyncio.create_task(
        client.post(f"{path}/messages", json={"text": "How is it trained?"}, headers=SSE)
    )
    async with asyncio.timeout(120):
        while not (await client.get(path)).json()["under_way"]:  # noqa: ASYNC110  # the server tells nobody
            await asyncio.sleep(0.05)
        leaving.cancel()
        while (await client.get(path)).json()["under_way"]:  # noqa: ASYNC110  # the server tells nobody
            await asyncio.sleep(0.05)
    after = (await client.get(path)).json()
    assert after["answers"] == before["answers"]


async def _for_ever(*_: Any) -> str:
    await asyncio.sleep(600)
    return ""


async def test_a_session_deleted_while_its_report_is_made(
    client: httpx.AsyncClient, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its job is cancelled and ends; nothing of session, paper and run is left."""
    assert isinstance(app.llm, ScriptedLLM)
    monkeypatch.setattr(app.llm, "_take_line", _for_ever)
    found = await begun(client)
    path = f"/api/papers/{found['session']['session_id']}"
    async with asyncio.timeout(120):
        while not (await client.get(path)).json()["under_way"]:  # noqa: ASYNC110  # the server tells nobody
            await asyncio.sleep(0.05)
    assert (await client.delete(path)).status_code == 204
    job = await wait_for_job(client, found["job"]["job_id"])
    assert (job["state"], job["error"]) == ("cancelled", None)
    assert await app.runs.list("local") == []
    assert await app.catalog.documents("papers") == []


async def test_a_removed_paper(client: httpx.AsyncClient) -> None:
    """Asking says so with a code of its own; reading and exporting go on."""
    path = await read(client)
    doc_id = (await client.get(path)).json()["paper"]["doc_id"]
    await client.delete(f"/api/documents/{doc_id}")
    for reply in (
        await client.post(f"{path}/messages", json={"text": ""}),
        await client.post(f"{path}/plan", json={}),
        await client.get(f"{path}/structure"),
    ):
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "paper_removed")
    assert (await client.get(path)).json()["removed"] is True
    assert (await client.get(f"{path}/export")).status_code == 200
    assert (await client.delete(path)).status_code == 204


async def test_a_report_that_failed_can_be_asked_for(
    client: httpx.AsyncClient, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job says why; an empty message makes it then."""
    from citewell.service.ask import ask_paper

    whole = ask_paper.WORK["report"]

    async def broken(*_: Any) -> None:
        raise OSError("the disk of the test")

    monkeypatch.setitem(ask_paper.WORK, "report", broken)
    found = await begun(client)
    job = await wait_for_job(client, found["job"]["job_id"])
    assert (job["state"], job["error"]["code"]) == ("failed", "internal")
    monkeypatch.setitem(ask_paper.WORK, "report", whole)
    path = f"/api/papers/{found['session']['session_id']}"
    session = (await client.get(path)).json()
    assert (session["current_state"], session["unfinished"]) == ("GUIDE_PENDING_REPORT", [])
    reply = await client.post(f"{path}/messages", json={})
    assert reply.json()["data"]["event"] == "report"
    assert (await client.get(path)).json()["current_state"] == "GUIDE_PENDING_PLAN"


async def test_papers_are_compared(client: httpx.AsyncClient) -> None:
    session = (await begun(client))["session"]["session_id"]
    said = {"session_ids": [session], "questions": [QUESTION]}
    made = (await client.post("/api/comparisons", json=said)).json()
    assert made["papers"][0]["cells"][0]["citations"]
    text = await client.post("/api/comparisons?format=md", json=said)
    assert text.headers["content-type"].startswith("text/markdown")
    assert text.text.startswith(f"| Paper | {QUESTION} |")
    refused = await client.post("/api/comparisons", json=said | {"questions": []})
    assert (refused.status_code, "1 to 20 papers" in refused.text) == (422, True)

"""The dual loop over HTTP: its options, its steps as they come, a run that the client left and goes
on with, its memory.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.interfaces.serving import PATIENCE

from citewell.models.script_lines import Line
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.ask.ask import list_unfinished_runs
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending

QUESTION = "When was the lighthouse built?"
FACT = "The lighthouse was built in 1857."
DRAFT = "The lighthouse was built in the year 1857."  # no quotation, so a judge is asked
SSE = {"Accept": "text/event-stream"}


@pytest.fixture
async def filled(app: App, tmp_path: Path) -> ScriptedLLM:
    file = tmp_path / "lighthouse.md"
    file.write_text(f"# Lighthouse\n\n{FACT} Its lamp is electric.\n", "utf-8")
    await add_paths(app, [str(file)], "default")
    await embed_pending(app)
    assert isinstance(app.llm, ScriptedLLM)
    return app.llm


async def asked(client: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    reply = await client.post("/api/ask", json={"question": QUESTION, "agent": "dual_loop"} | body)
    assert reply.status_code == 200, reply.text
    answer: dict[str, Any] = reply.json()
    return answer


async def test_options_of_the_request(client: httpx.AsyncClient, filled: ScriptedLLM) -> None:
    """A budget ends it and says so; an unknown or wrong option is told by its name."""
    filled.enqueue(DRAFT)
    answer = await asked(client, options={"max_calls": 1, "memory": False, "web": False})
    assert (answer["stop_reason"], answer["status"]) == ("budget_calls", "fallback")
    for options, word in (
        ({"max_cals": 2}, "max_calls"),
        ({"max_calls": 0}, "max_calls"),
        ({"corrections": 9}, "corrections"),
    ):
        reply = await client.post(
            "/api/ask", json={"question": QUESTION, "agent": "dual_loop", "options": options}
        )
        assert reply.status_code == 422
        assert word in json.dumps(reply.json())


async def test_auto_says_whom_it_chose(client: httpx.AsyncClient, filled: ScriptedLLM) -> None:
    answer = await asked(client, question="Remember that my plan is Pro.", agent="auto")
    assert (answer["agent"], answer["agent_reason"]) == (
        "dual_loop",
        "there is something to remember",
    )
    listed = (await client.get("/api/memories", params={"user_id": "local"})).json()["memories"]
    assert [memory["text"] for memory in listed] == ["my plan is Pro"]
    assert (await client.get("/api/memories", params={"user_id": "ann"})).json()["memories"] == []


async def test_a_client_that_left_goes_on_later(
    app: App, client: httpx.AsyncClient, filled: ScriptedLLM
) -> None:
    """The first step tells the trace; the work behind the line is stopped; its finished steps are
    not done again.
    """
    filled.enqueue(Line(DRAFT, delay=60))
    trace_id = ""
    async with client.stream(
        "POST", "/api/ask", json={"question": QUESTION, "agent": "dual_loop"}, headers=SSE
    ) as reply:
        async for line in reply.aiter_lines():
            if line.startswith("data: ") and '"node"' in line:
                step = json.loads(line.removeprefix("data: "))
                trace_id = trace_id or step["detail"].get("trace_id", "")
                if step["node"] == "grade_documents":
                    break
    assert trace_id
    for _ in range(int(20 * PATIENCE)):
        if await list_unfinished_runs(app.runs):  # the server has seen that the client left
            break
        await asyncio.sleep(0.05)
    filled._chat.clear()  # whether or not the call that never ends had begun
    filled.enqueue(DRAFT)
    answer = await asked(client, resume=trace_id)
    assert (answer["answer"], answer["trace_id"], answer["usage"]["calls"]) == (
        DRAFT + "[1]",
        trace_id,
        2,
    )
    gone = await client.post("/api/ask", json={"resume": trace_id})
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "not_found")
    missing = await client.post("/api/ask", json={"agent": "dual_loop"})
    assert missing.status_code == 422

"""Traces on the command line and over HTTP: shown with snapshot and expiry, replayed, deleted; and
the health of knowledge.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.service.made_traces import data_trace

from citewell.interfaces.cli.ask.trace import show_trace
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.knowledge.give_feedback import get_feedback, submit_feedback
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending

Cli = Callable[..., Any]
QUESTION = "When was the lighthouse built?"
BUILT = "The lighthouse was built in 1857."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "library"
    path.mkdir()
    (path / "lighthouse.md").write_text(
        "# Lighthouse\n\nThe lighthouse was built in 1857. Its lamp is electric.\n", "utf-8"
    )
    (path / "tides.md").write_text(
        "# Tides\n\nThe tide is high at noon. Ships wait for it in the harbour.\n", "utf-8"
    )
    (path / "bells.md").write_text("# Bells\n\nThe bell of the harbour rings in fog.\n", "utf-8")
    return path


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """What the chat model of the command line replies."""

    def write(reply: str) -> None:
        (tmp_path / "replies.json").write_text(json.dumps([reply] * 3), "utf-8")

    monkeypatch.setenv("CITEWELL_SCRIPTED_REPLIES", str(tmp_path / "replies.json"))
    write(BUILT)
    return write


def test_the_command_line(cli: Cli, folder: Path, says: Callable[[str], None]) -> None:
    """A trace by its id alone, as ever; what is asked first stands first; a replay's exit code says
    whether it differs.
    """
    assert cli("add", str(folder)).code == 0
    trace_id = json.loads(cli("ask", QUESTION, "--json").out)["trace_id"]
    shown = cli("trace", trace_id).out
    places = [
        shown.index(words)
        for words in (
            QUESTION,
            "Intent fact",
            "Logic success",
            "cited: [1] Lighthouse",
            "Steps",
            "Sources",
        )
    ]
    assert places == sorted(places)
    assert "kept until 20" in shown
    assert cli("trace", "show", trace_id).out == shown
    assert trace_id in cli("trace").out
    assert json.loads(cli("trace", "--json").out)["traces"][0]["expires_at"] > 0
    same = cli("trace", "replay", trace_id, "--recorded")
    assert (same.code, same.out) == (0, "same: 7 steps and the answer come out as they were\n")
    (folder / "lighthouse.md").write_text(
        "# Lighthouse\n\nThe lighthouse was built in 1862. Its lamp is electric.\n", "utf-8"
    )
    assert cli("add", str(folder)).code == 0
    says(BUILT.replace("1857", "1862"))
    other = cli("trace", "replay", trace_id)
    assert other.code == 3
    assert "different: " in other.out
    assert "- citation: Lighthouse: The lighthouse was built in 1857." in other.out
    assert "+ citation: Lighthouse: The lighthouse was built in 1862." in other.out
    assert json.loads(cli("trace", "replay", trace_id, "--json").out)["same"] is False
    assert cli("trace", "delete", trace_id).out == f"deleted {trace_id}\n"
    gone = cli("trace", trace_id)
    assert (gone.code, f"no trace '{trace_id}'" in gone.err) == (1, True)


@pytest.mark.usefixtures("says")
def test_the_health_of_knowledge_on_the_command_line(
    cli: Cli, folder: Path, tmp_path: Path
) -> None:
    """Exit codes say whether something does not hold; the files go there and back."""
    cli("add", str(folder))
    trace_id = json.loads(cli("ask", QUESTION, "--json").out)["trace_id"]
    assert cli("feedback", trace_id, "--correct").code == 0
    followed = cli("ask", "In which year was the lighthouse built?")
    assert "follows what local confirmed on 20" in followed.out
    assert "confirmed by local on 20" in followed.out
    assert cli("knowledge", "check").code == 0
    assert cli("knowledge", "conflicts").out == "nobody disagrees\n"
    assert cli("knowledge", "gc", "--dry-run").out == "nothing to clean\n"
    out = str(tmp_path / "kept")
    assert f"written confirmed_qa/{trace_id}.md" in cli("knowledge", "export", out).out
    assert cli("knowledge", "import", out).out.endswith("1 unchanged\n")
    (tmp_path / "kept" / "confirmed_qa" / f"{trace_id}.md").write_text(
        "---\nx: !!python/object:os.system\n---\n", "utf-8"
    )
    refused = cli("knowledge", "import", out)
    assert refused.code == 1
    assert "tag or an alias" in refused.out
    (folder / "lighthouse.md").write_text(
        "# Lighthouse\n\nThe lighthouse was built in 1862.\n", "utf-8"
    )
    cli("add", str(folder))
    bad = cli("knowledge", "check")
    assert bad.code == 3
    assert "Lighthouse does not say any more: “The lighthouse was built in 1857.”" in bad.out
    assert cli("knowledge", "import", str(tmp_path / "nowhere")).code == 1


@pytest.fixture
async def asked(app: App, folder: Path) -> str:
    """A trace on a library of one document."""
    await add_paths(app, [str(folder)], "default")
    await embed_pending(app)
    assert isinstance(app.llm, ScriptedLLM)
    app.llm.reply_with(lambda _: BUILT)
    return (await ask(app, AskRequest(question=QUESTION))).trace_id


async def test_over_http(app: App, client: httpx.AsyncClient, asked: str) -> None:
    """With its snapshot; replayed by POST, with or without a body; deleted; another user's is not
    found.
    """
    trace = (await client.get(f"/api/traces/{asked}")).json()
    assert trace["snapshot"]["execution_status"] == "success"
    assert trace["expires_at"] > trace["created_at"]
    assert (await client.get("/api/traces")).json()["traces"][0]["expires_at"] == trace[
        "expires_at"
    ]
    for body in (None, {"recorded": True}):
        replayed = (await client.post(f"/api/traces/{asked}/replay", json=body)).json()
        assert (replayed["same"], replayed["differences"]) == (True, [])
    assert (await client.post(f"/api/traces/{asked}/replay", json={"sleep": 1})).status_code == 422
    for verb, path in (("GET", ""), ("POST", "/replay"), ("DELETE", "")):
        assert (
            await client.request(verb, f"/api/traces/{asked}{path}?user_id=bob")
        ).status_code == 404
    assert (await client.delete(f"/api/traces/{asked}")).status_code == 204
    assert (await client.get(f"/api/traces/{asked}")).status_code == 404


async def test_the_health_of_knowledge_over_http(
    app: App, client: httpx.AsyncClient, asked: str
) -> None:
    given = await submit_feedback(app, asked, True)
    async with asyncio.timeout(120):
        while (vote := await get_feedback(app, given.feedback_id)).state == "waiting":  # noqa: ASYNC110  # a row
            await asyncio.sleep(0.05)
    assert vote.state == "done", vote.outcome
    checked = (await client.post("/api/knowledge/check")).json()["checked"]
    assert [each["outcome"] for one in checked for each in one["looked"]] == ["ok"]
    assert (await client.get("/api/knowledge/conflicts")).json() == {"conflicts": []}
    assert (await client.post("/api/knowledge/gc")).json()["dry_run"] is True
    assert (await client.post("/api/knowledge/gc", json={"dry_run": False})).json()["stale"] == []
    answer = (
        await client.post("/api/ask", json={"question": "In which year was the lighthouse built?"})
    ).json()
    assert [each["how"] for each in answer["followed"]] == ["evidence"]
    assert "confirmed" in {each["origin"] for each in answer["citations"]}


def test_a_refusal_of_tables_searched_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Tables are not searched: no statement ran; said in the language of the question."""
    for question, said in (("Who won?", "no statement was run"), ("谁赢了比赛？", "没有执行语句")):
        trace = data_trace("tr_1", question)
        assert trace.snapshot is not None
        snapshot = trace.snapshot.model_copy(update={"generated_logic": "", "user_query": question})
        show_trace(trace.model_copy(update={"snapshot": snapshot}))
        assert said in capsys.readouterr().out

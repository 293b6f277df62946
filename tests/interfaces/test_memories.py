"""Memories on the command line and over HTTP: list, show, edit, forget, each user their own."""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx
import pytest

from citewell.config import Settings
from citewell.runtime.app import App
from citewell.service.sessions.memories import store_memory
from citewell.skills.memory.remember import extract_stated_facts
from citewell.store.memory_judgement import Told
from citewell.store.memory_rows import Memory
from citewell.types import Trace

if TYPE_CHECKING:
    from tests.interfaces.conftest import FakeAgent, Result

    Cli = Callable[..., Result]


async def tell(app: App, user: str, said: str) -> Memory:
    [fact] = extract_stated_facts(said)
    kept = await store_memory(app, user, Told("fact", fact.subject, fact.text))
    assert kept.memory is not None
    return kept.memory


async def settle(app: App, user: str, question: str, answer: str, *sources: str) -> Memory:
    told = Told(
        "question", question, answer, "docs", "direct_chunk_search", "tr_9", ("doc_1",), sources
    )
    kept = await store_memory(app, user, told)
    assert kept.memory is not None
    return kept.memory


def filled(settings: Settings) -> dict[str, Memory]:
    """Memories of two users in the home of the command line."""

    async def fill() -> dict[str, Memory]:
        async with App(settings) as app:
            await tell(app, "local", "my plan is Pro")
            plan = await tell(app, "local", "my plan is [bold]Basic[/bold]\x1b[31m")
            answer = await settle(app, "local", "退款要多久？", "30天。", plan.memory_id)
            return {
                "plan": plan,
                "answer": answer,
                "other": await tell(app, "han", "my plan is Pro"),
            }

    return asyncio.run(fill())


def test_cli_list_and_show(cli: Cli, settings: Settings) -> None:
    """Kind, times, words, days; one with its trace and history; nothing that a terminal would
    obey.
    """
    known = filled(settings)
    listed = cli("memory", "list")
    assert listed.code == 0, listed.err
    assert known["other"].memory_id not in listed.out
    day = time.strftime("%Y-%m-%d", time.localtime(known["plan"].expires_at))
    assert f"fact, told once, last {time.strftime('%Y-%m-%d')}, kept until {day}" in listed.out
    assert "my plan is [bold]Basic[/bold]\n" in listed.out
    assert "退款要多久？\n  → 30天。" in listed.out
    assert "\x1b" not in listed.out
    assert "my plan is Pro" not in listed.out
    assert "my plan is Pro" in cli("memory", "list", "--history").out
    shown = cli("memory", "show", known["plan"].memory_id).out
    assert f"before, {time.strftime('%Y-%m-%d')}: my plan is Pro" in shown
    shown = cli("memory", "show", known["answer"].memory_id).out
    assert "trace: tr_9" in shown
    assert "documents: doc_1" in shown
    assert f"derived from: {known['plan'].memory_id}" in shown
    assert "nothing is remembered of nobody" in cli("memory", "list", "--user", "nobody").out


def test_cli_json(cli: Cli, settings: Settings) -> None:
    """One object each, with the names of the API."""
    known = filled(settings)
    memories = json.loads(cli("memory", "list", "--json").out)["memories"]
    assert [each["memory_id"] for each in memories] == [
        known["answer"].memory_id,
        known["plan"].memory_id,
    ]
    shown = json.loads(cli("memory", "show", known["plan"].memory_id, "--json").out)
    assert [each["text"] for each in shown["history"]] == ["my plan is Pro"]
    edited = json.loads(
        cli("memory", "edit", known["plan"].memory_id, "我的套餐是专业版", "--json").out
    )
    assert (edited["memory_id"], edited["text"], edited["subject"]) == (
        known["plan"].memory_id,
        "我的套餐是专业版",
        "套餐",
    )
    gone = json.loads(cli("memory", "forget", known["plan"].memory_id, "--json").out)
    assert (
        len(gone["memory_ids"]) == 4
    )  # the fact, two older versions, and what rests on one of them
    assert gone["traces"] == 0


def test_cli_edit_and_forget(cli: Cli, settings: Settings) -> None:
    """The new words, the old ones in the history; forgotten with what was derived."""
    known = filled(settings)
    plan, answer = known["plan"].memory_id, known["answer"].memory_id
    assert "my plan is Team" in cli("memory", "edit", plan, "my plan is Team").out
    forgotten = cli("memory", "forget", plan)
    assert forgotten.code == 0
    assert f"forgotten {answer}" in forgotten.out
    assert "4 memories forgotten, and 0 traces" in forgotten.out
    assert cli("memory", "show", plan).code == 1


def test_cli_refuses(cli: Cli, settings: Settings) -> None:
    """Another user's, an unknown one, a proved answer, a secret: one line each; ids or --all, not
    both and not neither.
    """
    known = filled(settings)
    plan, other = known["plan"].memory_id, known["other"].memory_id
    for arguments in (
        ("show", other),
        ("edit", other, "my plan is Team"),
        ("forget", other),
        ("forget", plan, "mem_x"),
    ):
        refused = cli("memory", *arguments)
        assert refused.code == 1, arguments
        assert "error: no memory" in refused.err
    assert "not reworded" in cli("memory", "edit", known["answer"].memory_id, "31天").err
    assert "secret" in cli("memory", "edit", plan, "my PIN is 1234").err
    assert cli("memory", "forget").code == 2
    assert cli("memory", "forget", plan, "--all").code == 2
    assert len(json.loads(cli("memory", "list", "--json").out)["memories"]) == 2
    assert other in cli("memory", "list", "--user", "han").out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_cli_forgets_all_when_told_so(
    cli: Cli, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked first; without a terminal only with --yes; the other user keeps theirs."""
    known = filled(settings)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert "--yes" in cli("memory", "forget", "--all").err
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    refused = cli("memory", "forget", "--all")
    assert (refused.code, "nothing forgotten" in refused.err) == (1, True)
    assert "Forget all 2 memories of local?" in refused.err
    assert len(json.loads(cli("memory", "list", "--json").out)["memories"]) == 2
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    assert cli("memory", "forget", "--all").code == 0
    assert json.loads(cli("memory", "list", "--json", "--history").out)["memories"] == []
    assert known["other"].memory_id in cli("memory", "list", "--user", "han").out
    assert (
        json.loads(cli("memory", "forget", "--all", "--yes", "--user", "han", "--json").out)[
            "traces"
        ]
        == 0
    )


async def test_http(client: httpx.AsyncClient, app: App, agent: FakeAgent) -> None:
    """List, read, edit, forget: with the traces that used what is forgotten."""
    await tell(app, "local", "my plan is Pro")
    plan = await tell(app, "local", "my plan is Basic")
    answer = await settle(app, "local", "退款要多久？", "30天。", plan.memory_id)
    await app.traces.put(_trace(agent))
    await app.memories.note_uses("local", "tr_1", [answer.memory_id])
    listed = (await client.get("/api/memories")).json()["memories"]
    assert listed == [answer.model_dump(mode="json"), plan.model_dump(mode="json")]
    assert len((await client.get("/api/memories?history=true")).json()["memories"]) == 3
    path = f"/api/memories/{plan.memory_id}"
    shown = (await client.get(path)).json()
    assert ([each["text"] for each in shown["history"]], shown["text"]) == (
        ["my plan is Pro"],
        "my plan is Basic",
    )
    edited = (await client.patch(path, json={"text": "my plan is Team"})).json()
    assert (edited["memory_id"], edited["text"]) == (plan.memory_id, "my plan is Team")
    assert (await client.patch(path, json={"text": ""})).status_code == 422
    assert (await client.patch(path, json={"text": "my password is abc"})).status_code == 422
    assert (await client.patch(path, json={"words": "x"})).status_code == 422
    assert (
        await client.patch(f"/api/memories/{answer.memory_id}", json={"text": "x"})
    ).status_code == 422
    gone = (await client.delete(path)).json()
    assert answer.memory_id in gone["memory_ids"]
    assert (len(gone["memory_ids"]), gone["traces"]) == (4, 1)
    assert (await client.get("/api/traces/tr_1")).status_code == 404
    assert (await client.get(path)).status_code == 404
    assert (await client.delete(path)).json()["error"]["code"] == "not_found"


async def test_http_users_do_not_mix(client: httpx.AsyncClient, app: App) -> None:
    """Every verb with another user's id; and all is forgotten only of the one who is named."""
    mine, theirs = await tell(app, "li", "my plan is Pro"), await tell(app, "han", "my plan is Pro")
    path = f"/api/memories/{theirs.memory_id}?user_id=li"
    assert (await client.get(path)).status_code == 404
    assert (await client.patch(path, json={"text": "my plan is Team"})).status_code == 404
    assert (await client.delete(path)).status_code == 404
    [listed] = (await client.get("/api/memories?user_id=li&history=true")).json()["memories"]
    assert listed["memory_id"] == mine.memory_id
    assert (await client.delete("/api/memories")).status_code == 422
    assert (await client.delete("/api/memories?user_id=")).status_code == 422
    assert (await client.delete("/api/memories?user_id=li")).json()["memory_ids"] == [
        mine.memory_id
    ]
    [left] = (await client.get("/api/memories?user_id=han")).json()["memories"]
    assert left == theirs.model_dump(mode="json")
    assert (await client.get("/api/memories?user_id=li")).json() == {"memories": []}


def _trace(agent: FakeAgent) -> Trace:
    return Trace(
        trace_id="tr_1",
        agent="dual_loop",
        question="?",
        collection="docs",
        session_id="",
        created_at=time.time(),
        steps=[],
        prompts=[],
        answer=agent.answer,
    )

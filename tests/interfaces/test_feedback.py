"""Feedback on the command line, over HTTP and from Python; and a process that is killed between its
reply and its job.
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.interfaces.jobs import wait_for_job
from tests.servers.forked import Forked, run_forked
from tests.service.made_traces import QUESTION, SQL, data_trace, text_trace

from citewell import tools
from citewell.config import Settings
from citewell.runtime.app import App
from citewell.types import Trace

if TYPE_CHECKING:
    from tests.interfaces.conftest import Result

    Cli = Callable[..., Result]

HOSTILE = "Which [bold]services\x1b[31m?\n# x"
# the command line, killed (or stopped) as soon as the item's row, or its file, would be written
DRIVER = """
import os, signal, sys
from citewell.interfaces.cli import main
from citewell.service.jobs import worker
from citewell.service.knowledge import feedback_job
from citewell.store.confirmed import item_folder
from citewell.service.knowledge.give_feedback import KIND

whole, write = feedback_job.settle_item, item_folder.write_file
async def settle(app, item_id):
    if {point!r} == "row":
        os.kill(os.getpid(), signal.SIGKILL)
    return await whole(app, item_id)
def written(path, words):
    write(path, words)
    if {point!r} == "file":
        os.kill(os.getpid(), signal.SIGKILL)
async def learn(app, job, holder):
    os.kill(os.getpid(), signal.SIGKILL)
feedback_job.settle_item, item_folder.write_file = settle, written
if {point!r} == "reply":
    feedback_job.WORK[KIND] = worker.WORK[KIND] = learn
main()
"""


def kept(settings: Settings, *traces: Trace) -> None:
    async def keep() -> None:
        async with App(settings) as app:
            for trace in traces:
                await app.traces.put(trace)

    asyncio.run(keep())


def shown(cli: Cli, *arguments: str) -> Any:
    done = cli(*arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_cli_confirm_list_show_undo(cli: Cli, settings: Settings) -> None:
    """The reply, what came of it, who stands by it; and all of it undone."""
    kept(settings, data_trace(), text_trace("qa", "tr_2", HOSTILE))
    done = cli("feedback", "tr_1", "--correct")
    assert done.code == 0, done.err
    assert "noted: this answer becomes knowledge" in done.out
    assert "it is knowledge now: qa_confirmed_tr_1" in done.out
    assert "nothing has changed" in cli("feedback", "tr_1", "--correct").out
    assert cli("feedback", "tr_2", "--correct").code == 0
    listed = cli("knowledge", "list")
    assert "qa_confirmed_tr_1 active data, source costs, confirmed by local" in listed.out
    assert SQL in listed.out
    assert "\x1b" not in listed.out
    assert "Which [bold]services[31m? # x" in listed.out
    assert "qa_confirmed_tr_2" not in cli("knowledge", "list", "--source", "costs").out
    one = cli("knowledge", "show", "qa_confirmed_tr_1")
    assert "document: knowledge/confirmed_qa/tr_1.md" in one.out
    assert "confirmed by local" in one.out
    found = shown(cli, "knowledge", "show", "qa_confirmed_tr_1")
    assert [each["action"] for each in found["history"]] == ["confirmed", "active"]
    undone = cli("knowledge", "undo", "qa_confirmed_tr_1", "--reason", "moved", "--user", "ann")
    assert "undone (moved)" in undone.out
    assert not (settings.home / "knowledge/confirmed_qa/tr_1.md").exists()
    assert [
        each["state"] for each in shown(cli, "knowledge", "list", "--state", "undone")["confirmed"]
    ] == ["undone"]


def test_cli_corrections(cli: Cli, settings: Settings) -> None:
    kept(settings, data_trace(), data_trace("tr_2", user_id="ann"))
    given = shown(cli, "feedback", "tr_1", "--wrong", "--correction", "IT also has Backup.")
    assert (given["state"], given["outcome"]) == ("done", "rule")
    assert shown(cli, "feedback", "tr_2", "--wrong", "--user", "ann")["outcome"] == "kept"
    assert f"{given['item_id']} waiting" in cli("knowledge", "rules").out
    assert "active" in cli("knowledge", "approve", given["item_id"]).out
    assert "IT also has Backup." in cli("knowledge", "show", given["item_id"]).out
    assert "rejected (no) " in cli("knowledge", "reject", given["item_id"], "--reason", "no").out
    assert "undone" in cli("knowledge", "undo", given["item_id"]).out
    assert (
        "2 × Which services belong to the IT cost?\n  data, 2 people, 1 with a correction"
        in cli("knowledge", "wrong").out
    )


def test_cli_refusals(cli: Cli, settings: Settings) -> None:
    """One line and a hint, exit 1; a usage error is 2."""
    kept(settings, data_trace())
    for arguments, said in (
        (("feedback", "tr_x", "--correct"), "no trace 'tr_x' of local"),
        (("feedback", "tr_1", "--wrong", "--correction", "x" * 4001), "4,000 are allowed"),
        (("knowledge", "show", "qa_confirmed_none"), "no confirmed answer"),
        (("knowledge", "list", "--state", "good"), "unknown state: good"),
        (("knowledge", "approve", "rule_none"), "no correction"),
        (("add", str(settings.home), "-c", "confirmed_qa"), "kept for confirmed answers"),
    ):
        refused = cli(*arguments)
        assert (refused.code, said in refused.err) == (1, True), refused.err
        assert "Traceback" not in refused.err
    assert cli("feedback", "tr_1").code == 2


def test_cli_right_and_wrong_at_once(cli: Cli, settings: Settings) -> None:
    """Neither is taken: what was confirmed stays confirmed."""
    kept(settings, data_trace())
    cli("feedback", "tr_1", "--correct")
    for both in (("--correct", "--wrong"), ("--wrong", "--correct")):
        refused = cli("feedback", "tr_1", *both)
        assert (refused.code, "not both" in refused.err) == (2, True)
    assert [each["state"] for each in shown(cli, "knowledge", "list")["confirmed"]] == ["active"]


def test_cli_statement_that_changes_something(cli: Cli, settings: Settings) -> None:
    """It is told at once, shown in the list, and nobody can approve it; undoing twice says so."""
    kept(settings, data_trace())
    done = cli("feedback", "tr_1", "--wrong", "--correction", "DROP TABLE costs")
    assert done.code == 0
    assert "its statement is not used: only a statement that reads can be right" in done.err
    [rule] = shown(cli, "knowledge", "rules")["rules"]
    assert f"{rule['rule_id']} waiting (its statement is not used" in cli("knowledge", "rules").out
    refused = cli("knowledge", "approve", rule["rule_id"])
    assert (refused.code, f"citewell knowledge reject {rule['rule_id']}" in refused.err) == (
        1,
        True,
    )
    assert "already" not in cli("knowledge", "undo", rule["rule_id"]).out
    assert "already undone" in cli("knowledge", "undo", rule["rule_id"]).out


def test_cli_says_what_the_disk_refuses(cli: Cli, settings: Settings) -> None:
    kept(settings, data_trace())
    (settings.home / "knowledge").write_text("in the way")
    refused = cli("feedback", "tr_1", "--correct")
    assert refused.code == 1
    assert "cannot be written" in refused.err
    (settings.home / "knowledge").unlink()
    assert "active" in cli("knowledge", "list").out


@pytest.mark.parametrize("point", ["reply", "row", "file"])
def test_killed_between_reply_and_job(
    point: str, cli: Cli, settings: Settings, environ: dict[str, str]
) -> None:
    """The reply was given, so nothing is lost: the next command finds the job and does it, once."""
    kept(settings, data_trace())
    command = [sys.executable, "-c", DRIVER.format(point=point), "feedback", "tr_1", "--correct"]
    killed = run_forked(command, environ)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert b"noted: this answer becomes knowledge" in killed.stdout
    path = settings.home / "knowledge/confirmed_qa/tr_1.md"
    assert path.exists() == (point == "file")
    [item] = shown(cli, "knowledge", "list")["confirmed"]
    assert (item["state"], len(item["confirmed_by"])) == ("active", 1)
    assert path.exists()
    assert [job.state for job in jobs_of(settings)] == ["done"]


def jobs_of(settings: Settings) -> list[Any]:
    async def listed() -> list[Any]:
        async with App(settings) as app:
            return list(await app.jobs.list())

    return asyncio.run(listed())


def test_two_processes_at_once(settings: Settings, environ: dict[str, str], cli: Cli) -> None:
    """Two people confirm the same chain at the same moment: one item with both."""
    users = ("ann", "bob", "eve")
    kept(settings, *(data_trace(f"tr_{user}", user_id=user) for user in users))
    environ["CITEWELL_FEEDBACK__CONFIRMATIONS"] = "3"
    processes = [
        Forked(
            [
                sys.executable,
                "-m",
                "citewell",
                "feedback",
                f"tr_{user}",
                "--correct",
                "--user",
                user,
            ],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for user in users
    ]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    [item] = shown(cli, "knowledge", "list")["confirmed"]
    assert (item["state"], {each["user_id"] for each in item["confirmed_by"]}) == (
        "active",
        set(users),
    )
    assert len(list((settings.home / "knowledge/confirmed_qa").iterdir())) == 1


async def test_http_feedback_to_knowledge(app: App, client: httpx.AsyncClient) -> None:
    """202 with the job; then the item, its document, its undoing."""
    await app.traces.put(data_trace())
    reply = await client.post("/api/feedback", json={"trace_id": "tr_1", "is_correct": True})
    given = reply.json()
    assert (reply.status_code, given["state"]) == (202, "waiting")
    await wait_for_job(client, given["job_id"])
    vote = (await client.get(f"/api/feedback/{given['feedback_id']}")).json()
    assert (vote["state"], vote["outcome"], vote["question"]) == ("done", "active", QUESTION)
    assert [
        each["trace_id"] for each in (await client.get("/api/feedback")).json()["feedback"]
    ] == ["tr_1"]
    again = await client.post(
        "/api/feedback", json={"trace_id": "tr_1", "is_correct": True, "user_correction": ""}
    )
    assert (again.status_code, again.json()["job_id"]) == (202, "")
    path = "/api/knowledge/confirmed/qa_confirmed_tr_1"
    [item] = (await client.get("/api/knowledge/confirmed", params={"source": "costs"})).json()[
        "confirmed"
    ]
    assert item["state"] == "active"
    document = await client.get(f"{path}/document")
    assert document.headers["content-type"] == "text/markdown; charset=utf-8"
    assert document.text == (app.settings.home / item["path"]).read_text("utf-8")
    confirmed = (await client.post(f"{path}/confirm", json={"user_id": "ann"})).json()
    assert [each["user_id"] for each in confirmed["confirmed_by"]] == ["local", "ann"]
    undone = (
        await client.request("DELETE", path, params={"user_id": "ann", "reason": "moved"})
    ).json()
    assert (undone["state"], undone["reason"]) == ("undone", "moved")
    assert (await client.get(f"{path}/document")).status_code == 404
    assert (await client.get(path)).json()["history"][-1]["user_id"] == "ann"


async def test_http_rules_and_refusals(app: App, client: httpx.AsyncClient) -> None:
    await app.traces.put(data_trace())
    body = {"trace_id": "tr_1", "is_correct": False, "user_correction": "IT also has Backup."}
    given = (await client.post("/api/feedback", json=body)).json()
    await wait_for_job(client, given["job_id"])
    [rule] = (await client.get("/api/knowledge/rules", params={"state": "waiting"})).json()["rules"]
    path = f"/api/knowledge/rules/{rule['rule_id']}"
    assert (await client.post(path, json={"state": "active", "reason": "so it is"})).json()[
        "state"
    ] == "active"
    assert [each["action"] for each in (await client.get(path)).json()["history"]] == [
        "proposed",
        "active",
    ]
    assert (await client.get("/api/feedback/wrong")).json()["wrong"][0]["corrected"] == 1
    for status, method, where, sent in (
        (404, "POST", "/api/feedback", {"trace_id": "tr_x", "is_correct": True}),
        (404, "POST", "/api/feedback", {"trace_id": "tr_1", "is_correct": True, "user_id": "ann"}),
        (422, "POST", "/api/feedback", {"trace_id": "tr_1"}),
        (422, "POST", "/api/feedback", {"trace_id": "tr_1", "is_correct": True, "more": 1}),
        (
            422,
            "POST",
            "/api/feedback",
            {"trace_id": "tr_1", "is_correct": False, "user_correction": "x" * 5000},
        ),
        (422, "POST", path, {"state": "waiting"}),
        (404, "POST", "/api/knowledge/rules/rule_x", {"state": "active"}),
        (404, "GET", "/api/knowledge/confirmed/x", None),
        (404, "GET", f"/api/feedback/{given['feedback_id']}?user_id=ann", None),
        (422, "GET", "/api/knowledge/confirmed?state=good", None),
    ):
        reply = await client.request(method, where, json=sent)
        assert reply.status_code == status, (where, reply.text)
        assert reply.json()["error"]["message"]


async def test_python_as_the_spec_has_it(app: App, settings: Settings) -> None:
    """`FeedbackManager.handle_feedback` of spec 004, in its words."""
    await app.traces.put(data_trace())
    await app.traces.put(data_trace("tr_2", "Else?", user_id="ann"))
    async with tools.bound(settings):
        manager = tools.FeedbackManager()
        assert await manager.handle_feedback("tr_1", True) == "Knowledge captured"
        assert await manager.handle_feedback("tr_1", True) == "Knowledge captured"
        assert await manager.handle_feedback("tr_2", True) == "Trace not found"
        assert (
            await tools.FeedbackManager("ann").handle_feedback("tr_2", False, "No.")
            == "Correction waits for review"
        )
        assert await manager.handle_feedback("tr_1", False) == "Kept for analysis"

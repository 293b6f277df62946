"""`citewell paper` and `citewell serve` as their own processes, killed in each state: all that was
asked is done, once.

The one rule: a test waits until all of the work is done and only the commit is left, which is the
worst moment, and then kills.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.interfaces.serving import build_environment, is_sound, read_rows, run_statement
from tests.servers.forked import Forked, run_forked

from citewell.config import Settings

PAPER = next((Path(__file__).resolve().parents[2] / "samples" / "papers").glob("reserve-*.pdf"))
QUESTION = "Which data was the history network trained on?"

# the command line; what an event does stops short of its commit, and says so
DRIVER = """
import asyncio, pathlib, sys
from citewell.interfaces.cli import main
from citewell.models.scripted import ScriptedLLM
from citewell.service.ask import ask_paper

event, wait = {event!r}, {wait}
whole = ask_paper.WORK.get(event)
async def stopped(talk, stage):
    await whole(talk, stage)
    pathlib.Path({mark!r}).touch()
    for _ in range(600):  # until it is told to go on, or killed
        await asyncio.sleep(0.1)
        if pathlib.Path({mark!r} + ".go").exists():
            break
if event:
    ask_paper.WORK[event] = stopped
chat = ScriptedLLM.chat
async def slow(self, *arguments, **named):
    await asyncio.sleep(wait)
    return await chat(self, *arguments, **named)
ScriptedLLM.chat = slow
main()
"""


class Bench:
    """Commands in the test's own home, and what they leave in the database."""

    def __init__(self, settings: Settings, environ: dict[str, str], folder: Path) -> None:
        self.settings, self.environ, self.mark = settings, environ, folder / "mark"

    def command(self, *arguments: str, event: str = "", wait: float = 0.0) -> list[str]:
        return [
            sys.executable,
            "-c",
            DRIVER.format(event=event, wait=wait, mark=str(self.mark)),
            *arguments,
        ]

    def done(self, *arguments: str) -> Any:
        """What a command that ends well prints."""
        command = [*self.command(*arguments), "--json"]
        ended = run_forked(command, self.environ, text=True)
        assert ended.returncode in {0, 3}, ended.stderr
        return json.loads(ended.stdout)

    @contextmanager
    def running(
        self, *arguments: str, event: str = "", wait: float = 0.0
    ) -> Iterator[subprocess.Popen[bytes]]:
        self.mark.unlink(missing_ok=True)
        command = self.command(*arguments, event=event, wait=wait)
        with Forked(
            command, env=self.environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def killed(self, *arguments: str, event: str, how: signal.Signals) -> None:
        with self.running(*arguments, event=event) as process:
            until(lambda: self.mark.exists() or process.poll() is not None)
            assert process.poll() is None, process.stderr and process.stderr.read().decode()
            process.send_signal(how)
            assert process.wait(120) == (130 if how is signal.SIGINT else -signal.SIGKILL)

    def session(self) -> dict[str, Any]:
        """The only one, as it is kept."""
        kept = "SELECT session_id, current_state, session_data FROM sessions"
        [row] = run_statement(self.settings, kept)
        # one that was killed before its first step has nothing in hand: it is in no list, and
        # goes with its days
        runs = run_statement(self.settings, "SELECT next FROM runs WHERE next <> ''")
        return {
            "session_id": row[0],
            "state": row[1],
            "runs": [run[0] for run in runs],
            **json.loads(row[2]),
        }


def bench_of(settings: Settings, folder: Path) -> Bench:
    return Bench(settings, build_environment(settings), folder)


@pytest.fixture
def bench(settings: Settings, tmp_path: Path) -> Bench:
    return bench_of(settings, tmp_path)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A home with a session that has its report and its route."""
    folder = tmp_path_factory.mktemp("begun")
    made = bench_of(Settings(home=folder / "home", cache=folder / "cache"), folder)
    made.done("paper", str(PAPER), "--interest", "")
    return made


@pytest.fixture
def session_id(bench: Bench, request: pytest.FixtureRequest) -> str:
    """Such a session in the test's own home, which is a copy where its database is a file."""
    if bench.settings.database_url.get_secret_value():
        return str(bench.done("paper", str(PAPER), "--interest", "")["session_id"])
    begun: Bench = request.getfixturevalue("begun")
    shutil.copytree(begun.settings.home, bench.settings.home, dirs_exist_ok=True)
    return str(bench.session()["session_id"])


def until(seen: Callable[[], Any]) -> None:
    end = time.monotonic() + 120
    while not seen():
        assert time.monotonic() < end, "it never came so far"
        time.sleep(0.02)


def said(session: dict[str, Any]) -> list[str]:
    return [message["role"] for message in session["chat_history"]]


STOPS = pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])


@STOPS
def test_killed_before_the_report_is_kept(bench: Bench, how: signal.Signals) -> None:
    """The session is in its first state without a word; the next command makes the report, once.
    Killed before the first route is kept, there is none.
    """
    bench.killed("paper", str(PAPER), event="report", how=how)
    before = bench.session()
    assert (before["state"], before["chat_history"], "report" in before) == (
        "GUIDE_PENDING_REPORT",
        [],
        False,
    )
    assert before["runs"] == (["report"] if how is signal.SIGKILL else [])
    done = bench.done("paper", "--session", before["session_id"])
    after = bench.session()
    assert (done["current_state"], after["state"], said(after)) == (
        *["GUIDE_PENDING_PLAN"] * 2,
        ["assistant"],
    )
    assert (done["report"], after["runs"], done["unfinished"]) == (after["report"], [], [])
    assert done["report"]["citations"]
    session = ("--session", before["session_id"])
    bench.killed("paper", *session, "--interest", "training", event="plan", how=how)
    assert (bench.session()["state"], bench.session().get("plan")) == (after["state"], None)


@STOPS
def test_killed_before_a_route_is_kept(bench: Bench, session_id: str, how: signal.Signals) -> None:
    """The old state stays until the new one is there."""
    before = bench.session()
    bench.killed("paper", "--session", session_id, "--interest", "training", event="plan", how=how)
    stopped = bench.session()
    assert (stopped["state"], stopped["chat_history"]) == (before["state"], before["chat_history"])
    assert stopped.get("plan") == before.get("plan")
    again = [] if how is signal.SIGKILL else ["--interest", "training"]
    done = bench.done("paper", "--session", session_id, *again)
    after = bench.session()
    assert (after["state"], after["runs"]) == ("CONTROL_ROUTING", [])
    assert said(after)[len(said(before)) :] == ["user", "assistant"]
    assert done["plan"]["interest"] == "training"
    assert done["plan"]["steps"]


@STOPS
def test_killed_before_an_answer_is_kept(
    bench: Bench, session_id: str, how: signal.Signals
) -> None:
    """The question is in the history once, with one answer, and its trace can be looked up."""
    before = bench.session()
    bench.killed("paper", "--session", session_id, "--ask", QUESTION, event="ask", how=how)
    assert bench.session()["chat_history"] == before["chat_history"]
    if how is signal.SIGINT:
        assert bench.session()["runs"] == []
        return
    [left] = bench.done("papers", "show", session_id)["unfinished"]
    assert left["question"] == QUESTION
    done = bench.done("paper", "--session", session_id)
    after = bench.session()
    assert said(after)[len(said(before)) :] == ["user", "assistant"]
    assert [answer["question"] for answer in after["answers"]] == [QUESTION]
    assert (after["runs"], done["unfinished"], len(done["answers"])) == ([], [], 1)
    assert done["answers"][0]["trace_id"] == left["trace_id"]
    assert bench.done("trace", left["trace_id"])["question"] == QUESTION


def test_what_another_process_answers_is_left_to_it(bench: Bench, session_id: str) -> None:
    """A second terminal says so, takes nothing over, and answers its own; the first one's answer is
    kept.
    """
    with bench.running("paper", "--session", session_id, "--ask", QUESTION, event="ask") as process:
        until(bench.mark.exists)
        seen = bench.done("papers", "show", session_id)
        assert ([each["question"] for each in seen["under_way"]], seen["unfinished"]) == (
            [QUESTION],
            [],
        )
        command = bench.command("paper", "--session", session_id)
        said = run_forked(command, bench.environ, check=True)
        assert f"it is being answered by another process: {QUESTION}" in said.stderr.decode()
        bench.mark.with_name("mark.go").touch()
        assert process.wait(120) in {0, 3}, process.stderr and process.stderr.read().decode()
    assert [answer["question"] for answer in bench.session()["answers"]] == [QUESTION]
    assert bench.session()["runs"] == []


def test_deleted_while_it_answers(bench: Bench, session_id: str) -> None:
    """That is said, and no way to go on with it is shown."""
    with bench.running("paper", "--session", session_id, "--ask", QUESTION, event="ask") as process:
        until(bench.mark.exists)
        bench.done("papers", "delete", session_id, "--yes")
        bench.mark.with_name("mark.go").touch()
        assert process.wait(120) == 1
        assert process.stderr is not None
        told = process.stderr.read().decode()
    assert f"session {session_id} was deleted while this was answered" in told
    assert "go on with it" not in told


def test_a_question_that_ends_its_process_does_not_lock_the_session(
    bench: Bench, session_id: str
) -> None:
    """It is tried once more, then given up, which is said; the session goes on."""
    bench.killed(
        "paper", "--session", session_id, "--ask", QUESTION, event="ask", how=signal.SIGKILL
    )
    bench.killed("paper", "--session", session_id, event="ask", how=signal.SIGKILL)
    command = bench.command("paper", "--session", session_id, "--ask", "How long was it trained?")
    third = run_forked(command, bench.environ)
    assert third.returncode in {0, 3}, third.stderr.decode()
    assert f"stopped Citewell twice and is given up: {QUESTION}" in third.stderr.decode()
    after = bench.session()
    assert [answer["question"] for answer in after["answers"]] == ["How long was it trained?"]
    assert after["runs"] == []


def test_killed_again_and_again(bench: Bench) -> None:
    """kill -9 at any moment of report, route and question: in the end each is there as often as it
    was begun, and whole.
    """
    moment = random.Random(11)
    session_id = ""
    for asked in ([], ["--interest", "training"], ["--ask", QUESTION], ["--ask", QUESTION]):
        source = ["--session", session_id] if session_id else [str(PAPER)]
        before = under_way(bench.settings)
        with bench.running("paper", *source, *asked, wait=0.2) as process:
            until(lambda: under_way(bench.settings) - before or process.poll() is not None)  # noqa: B023
            time.sleep(moment.random() * 0.8)
            process.kill()
            process.wait(120)
        session_id = bench.session()["session_id"]
    done = bench.done(
        "paper",
        "--session",
        session_id,
        "--ask",
        "How long was it trained?",
        "--interest",
        "training",
    )
    kept = bench.session()
    assert (done["unfinished"], kept["runs"], kept["state"]) == ([], [], "CONTROL_ROUTING")
    questions = [
        message["content"] for message in kept["chat_history"] if message["role"] == "user"
    ]
    assert [answer["question"] for answer in kept["answers"]] == [
        each for each in questions if each != "training"
    ]
    assert questions.count(QUESTION) <= 2
    for answer in kept["answers"]:
        turn = kept["chat_history"][answer["turn"]]
        assert (turn["role"], turn["content"]) == ("user", answer["question"])
        assert kept["chat_history"][answer["turn"] + 1]["content"] == answer["answer"]
    assert is_sound(bench.settings)
    assert run_statement(bench.settings, "SELECT count(*) FROM documents") == [(1,)]


def under_way(settings: Settings) -> set[str]:
    """The tokens of those who have a message in hand; who goes on with one has a new token."""
    return {row[0] for row in read_rows(settings, "SELECT holder FROM runs WHERE next <> ''")}


@contextmanager
def serving(bench: Bench, event: str = "") -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    command = bench.command("serve", "--port", "0", "--json", event=event)
    with Forked(
        command, env=bench.environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            told = process.stdout.readline()
            while not told.rstrip().endswith("}"):
                told += process.stdout.readline()
            with httpx.Client(
                base_url=json.loads(told)["url"], trust_env=False, timeout=120
            ) as client:
                yield client, process
        finally:
            process.kill()


def test_a_killed_server_makes_the_report_after_all(bench: Bench) -> None:
    """The session was acknowledged: its report comes when the server is back, once."""
    with serving(bench, event="report") as (client, process):
        begun = client.post(
            "/api/papers", files={"file": (PAPER.name, PAPER.read_bytes())}, data={"user_id": "ann"}
        )
        assert begun.status_code == 201, begun.text
        until(bench.mark.exists)
        process.kill()
        process.wait(120)
    job_id = begun.json()["job"]["job_id"]
    path = f"/api/papers/{begun.json()['session']['session_id']}?user_id=ann"
    with serving(bench) as (client, _):
        until(lambda: client.get(f"/api/jobs/{job_id}").json()["state"] in {"done", "failed"})
        job = client.get(f"/api/jobs/{job_id}").json()
        session = client.get(path).json()
    assert (job["state"], job["attempts"]) == ("done", 2), job["error"]
    assert (session["current_state"], session["unfinished"]) == ("GUIDE_PENDING_PLAN", [])
    assert said(bench.session()) == ["assistant"]

"""`citewell ask -a dual_loop` as its own process, stopped after the answer was drafted, and gone on
with.

The one rule: a test waits until the database shows the finished step, and only then kills.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.interfaces.serving import build_environment, read_rows, run_statement
from tests.servers.forked import Forked, run_forked

from citewell.config import Settings
from citewell.runtime.app import App
from citewell.service.ask.ask import list_unfinished_runs

QUESTION = "When was the lighthouse built?"
FACT = "The lighthouse was built in 1857."
DRAFT = "The lighthouse was built in the year 1857."  # no quotation, so a judge is asked
VERDICTS = {"verdicts": [{"n": 1, "verdict": "entailed", "evidence": ["1.1", "1.2"]}]}


@pytest.fixture
def environ(settings: Settings, tmp_path: Path) -> dict[str, str]:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([DRAFT, {"reply": VERDICTS, "delay": 60}]), "utf-8")
    return build_environment(settings, CITEWELL_SCRIPTED_REPLIES=str(script))


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "citewell", *arguments]


def done(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_forked(command(*arguments), environ, text=True)


def waiting(settings: Settings) -> str:
    """The trace_id of a run whose answer is drafted, or nothing."""
    rows = read_rows(settings, "SELECT trace_id FROM runs WHERE next = 'grade_relevance'")
    return str(rows[0][0]) if rows else ""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_killed_after_drafting_and_gone_on_with(
    how: signal.Signals, environ: dict[str, str], settings: Settings, tmp_path: Path
) -> None:
    """The draft is not asked for again: two calls in all, one of them before the kill."""
    (tmp_path / "lighthouse.md").write_text(
        f"# Lighthouse\n\n{FACT} Its lamp is electric.\n", "utf-8"
    )
    assert done(environ, "add", str(tmp_path / "lighthouse.md")).returncode == 0
    with Forked(
        command("ask", "-a", "dual_loop", QUESTION),
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            until = time.monotonic() + 120
            while not (trace_id := waiting(settings)):
                assert process.poll() is None, process.communicate()[1]
                assert time.monotonic() < until, "the answer was never drafted"
                time.sleep(0.02)
            process.send_signal(how)
            told = process.communicate(timeout=120)[1]
        finally:
            process.kill()
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert f"citewell ask --resume {trace_id}" in told
        assert waiting(settings) == trace_id
        return
    assert trace_id in done(environ, "trace").stdout
    Path(environ["CITEWELL_SCRIPTED_REPLIES"]).write_text(
        json.dumps([{"reply": VERDICTS}]), "utf-8"
    )
    again = done(environ, "ask", "--resume", trace_id, "--json")
    assert again.returncode == 0, again.stderr
    answer: dict[str, Any] = json.loads(again.stdout)
    assert (answer["status"], answer["trace_id"], answer["usage"]["calls"]) == (
        "answered",
        trace_id,
        2,
    )
    assert DRAFT in answer["answer"]
    assert FACT in [citation["quote"] for citation in answer["citations"]]
    trace = json.loads(done(environ, "trace", trace_id, "--json").stdout)
    assert [prompt["job"] for prompt in trace["prompts"]] == ["chat", "chat"]
    assert DRAFT in trace["prompts"][0]["reply"]  # of the process that was killed
    assert [step["node"] for step in trace["steps"]].count("generate_response") == 1
    assert waiting(settings) == ""


async def test_runs_are_listed_without_their_states(
    environ: dict[str, str], settings: Settings
) -> None:
    """A state, which may be large, is nobody's business until the run goes on; half a character is
    no fault of ours.
    """
    async with App(settings) as app:
        holder = await app.runs.begin(
            "tr_1", "local", "dual_loop", {"question": f"{QUESTION} \udce9"}
        )
        await app.runs.keep("tr_1", holder, "generate_response", {})
        await app.runs.begin(
            "tr_2", "local", "dual_loop", {"question": "Of which nothing is finished?"}
        )
    run_statement(settings, "UPDATE runs SET state = 'no JSON' WHERE trace_id = 'tr_1'")
    async with App(settings) as app:
        (run,) = await list_unfinished_runs(app.runs)
        assert await list_unfinished_runs(app.runs, "another") == []
    assert (run.trace_id, run.agent, run.question) == ("tr_1", "dual_loop", f"{QUESTION} \udce9")
    assert (run.next, run.updated_at > 0) == ("generate_response", True)
    listed = done(environ, "trace")
    assert listed.returncode == 0, listed.stderr


def test_a_question_or_a_run_to_go_on_with(environ: dict[str, str]) -> None:
    """One of them; a run that is not there is told in a line."""
    assert done(environ, "ask").returncode == 2
    assert done(environ, "ask", "Why?", "--resume", "tr_1").returncode == 2
    gone = done(environ, "ask", "--resume", "tr_1")
    assert gone.returncode == 1
    assert "no unfinished run 'tr_1'" in gone.stderr

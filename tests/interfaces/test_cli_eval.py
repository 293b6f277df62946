"""`citewell eval` as people type it: tables, files, wrong choices, Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.servers.forked import Forked, run_forked

if TYPE_CHECKING:
    from tests.interfaces.conftest import Result

    Cli = Callable[..., Result]

DOCUMENTS = [
    {
        "doc_id": f"d{n}",
        "title": f"Ship {n}",
        "text": f"The ship number {n} carries {n + 100} barrels of oil to port {n}.",
    }
    for n in range(12)
]
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": f"q{n}",
        "question": f"How many barrels does the ship number {n} carry?",
        "answers": [f"{n + 100} barrels"],
        "gold_doc_ids": [f"d{n}"],
    }
    for n in range(12)
]


@pytest.fixture
def questions(tmp_path: Path) -> str:
    for name, records in (("ships.corpus.jsonl", DOCUMENTS), ("ships.questions.jsonl", QUESTIONS)):
        (tmp_path / name).write_text("".join(json.dumps(r) + "\n" for r in records), "utf-8")
    return str(tmp_path / "ships.questions.jsonl")


def test_report_as_table_json_and_page(cli: Cli, questions: str, tmp_path: Path) -> None:
    """One run gives all three; the JSON has the fields of the format, and what was odd is on
    standard error.
    """
    with Path(questions).open("a", encoding="utf-8") as file:
        file.write("{broken\n")
    out, page = tmp_path / "r.json", tmp_path / "r.html"
    done = cli("eval", questions, "--only", "retrieval", "--json", str(out), "--html", str(page))
    assert done.code == 0, done.err
    assert "line 13: is no JSON" in done.err
    assert "12 questions used, 1 broken lines left out" in done.err
    assert "ndcg@10" in done.out
    report = json.loads(out.read_text("utf-8"))
    wanted = {
        "n",
        "retrieval",
        "answer",
        "citations",
        "refusal",
        "confidence",
        "latency_s",
        "items",
    }
    assert wanted <= set(report)
    assert {"hit@1", "hit@5", "recall@10", "mrr@10", "ndcg@10"} <= set(report["retrieval"])
    assert {"p50", "p95"} <= set(report["latency_s"])
    assert report["n"] == len(report["items"]) == 12
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert not out.with_suffix(".items.jsonl").exists()
    printed = cli("eval", questions, "--only", "retrieval", "--json", "-", "--limit", "3")
    assert json.loads(printed.out)["n"] == 3


def test_answers_of_a_scripted_model(
    cli: Cli, questions: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One right, one made up, one refused: the figures say so."""
    replies = tmp_path / "replies.json"
    said = [f"The ship number {n} carries {n + 100} barrels of oil." for n in range(12)]
    replies.write_text(json.dumps([*said[:10], "I don't know.", "I don't know."]), "utf-8")
    monkeypatch.setenv("CITEWELL_SCRIPTED_REPLIES", str(replies))
    done = cli("eval", questions, "--json", "-")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert report["answer"]["right"] == pytest.approx(10 / 12)
    assert report["refusal"]["wrongly"] == pytest.approx(2 / 12)
    assert report["citations"]["verbatim"] == 1.0
    assert report["run"]["llm"] == "scripted"
    assert report["confidence"]["brier"] is not None


def test_calibrate_prints_the_curve_and_save_keeps_it(
    cli: Cli, questions: str, tmp_path: Path
) -> None:
    """Brier against the mean, bars, and a line where it is kept; `doctor` shows it."""
    otherwise = [
        q | {"id": f"{q['id']}b", "question": f"Oil barrels of ship {q['id'][1:]}?"}
        for q in QUESTIONS
    ]
    with Path(questions).open(
        "a", encoding="utf-8"
    ) as file:  # 24 searches, with and without gold: 48 items
        file.write("".join(json.dumps(q) + "\n" for q in otherwise))
    done = cli("eval", questions, "--only", "retrieval", "--calibrate", "--save")
    assert done.code == 0, done.err
    assert "fitted, cross-validated" in done.out
    assert "always the mean" in done.out
    assert "█" in done.out
    assert "kept in" in done.err or "left as it is" in done.err
    if "kept in" in done.err:
        assert "this library's own" in cli("doctor", "--fast").out


def test_two_reports_are_compared(cli: Cli, questions: str, tmp_path: Path) -> None:
    """By figures with their intervals; as JSON; as a page."""
    one, two, page = (str(tmp_path / name) for name in ("one.json", "two.json", "c.html"))
    assert cli("eval", questions, "--only", "retrieval", "--json", one).code == 0
    assert (
        cli("eval", questions, "--only", "retrieval", "--json", two, "-s", "vectors_only").code == 0
    )
    done = cli("eval", "--compare", one, two, "--html", page)
    assert done.code == 0, done.err
    assert "12 questions in both" in done.out
    assert "retrieval.mrr@10" in done.out
    assert "Two evaluations" in Path(page).read_text("utf-8")
    assert json.loads(cli("eval", "--compare", one, two, "--json", "-").out)["both"] == 12
    wrong = cli("eval", "--compare", one, questions)
    assert (wrong.code, "is no report" in wrong.err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "name files of questions"),
        (["Q", "--compare", "a", "b"], 2, "name files of questions"),
        (["Q", "--only", "answers"], 2, "retrieval"),
        (["Q", "--save"], 2, "--calibrate"),
        (["Q", "--corpus", "a", "-c", "b"], 2, "exclude each other"),
        (["Q", "--strategy", "luck"], 1, "unknown strategy: luck"),
        (["Q", "--agent", "nobody"], 1, "unknown agent: nobody"),
        (["Q", "--json", "Q"], 1, "is no report"),
        (["Q", "--html", "absent/x.html"], 1, "cannot be written"),
        (["absent.jsonl"], 1, "absent.jsonl: No such file"),
        (["Q", "--collection", "absent"], 1, "no collection named absent"),
    ],
)
def test_wrong_choices_cost_nothing(
    cli: Cli, questions: str, arguments: list[str], code: int, words: str
) -> None:
    """Told before any work is done; a file that is no report is never written over."""
    before = Path(questions).read_text("utf-8")
    done = cli("eval", *(questions if argument == "Q" else argument for argument in arguments))
    assert (done.code, words in done.err) == (code, True), done.err
    assert Path(questions).read_text("utf-8") == before


def test_ctrl_c_writes_what_is_done_and_the_same_command_goes_on(
    questions: str, tmp_path: Path, environ: dict[str, str]
) -> None:
    """Stopped in the middle: exit 130, a report of the items so far; again: whole."""
    out = tmp_path / "r.json"
    replies = tmp_path / "replies.json"
    slow = [{"reply": "I don't know.", "delay": 0.15} for _ in range(24)]
    replies.write_text(json.dumps(slow), "utf-8")
    command = [sys.executable, "-m", "citewell", "eval", questions, "--json", str(out)]
    settings = environ | {"CITEWELL_SCRIPTED_REPLIES": str(replies)}
    journal = out.with_suffix(".items.jsonl")
    running = Forked(
        command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and running.poll() is None:
        if journal.exists() and journal.read_text("utf-8").count("\n") >= 2:
            break
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 130, err
    assert "stopped after" in err
    first = json.loads(out.read_text("utf-8"))
    assert 2 <= first["n"] < first["of"] == 12
    again = run_forked(command, settings, text=True)
    assert again.returncode == 0, again.stderr
    second = json.loads(out.read_text("utf-8"))
    assert second["n"] == 12
    assert [i["answer"]["trace_id"] for i in second["items"]][: first["n"]] == [
        i["answer"]["trace_id"] for i in first["items"]
    ]
    assert not journal.exists()


def test_what_each_loop_is_worth(
    cli: Cli, questions: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four variants of the same questions, in a table and as JSON; the calls tell which loops
    ran.
    """
    script = tmp_path / "replies.json"
    missing = {"text": "The documents do not tell this.", "kind": "not_told"}
    draft = {"status": "not_told", "sentences": [missing], "search_for": "cargo of the vessel"}
    script.write_text(json.dumps([{"reply": draft}] * 100), "utf-8")
    monkeypatch.setenv("CITEWELL_SCRIPTED_REPLIES", str(script))
    out = tmp_path / "ablation.json"
    done = cli("eval", questions, "--ablate", "--limit", "3", "--json", str(out))
    assert done.code == 0, done.err
    names = ["qa", "dual_loop, no inner loop", "dual_loop, no outer loop", "dual_loop"]
    assert all(name in done.out for name in names)
    variants = json.loads(out.read_text("utf-8"))["variants"]
    assert list(variants) == names
    calls = {name: report["cost"]["calls"] for name, report in variants.items()}
    assert calls[names[0]] == calls[names[2]] == 2.0  # a draft that tells nothing, judged
    assert (
        calls[names[1]] == calls[names[3]] == 1.0
    )  # other words instead of a judge; they find the very evidence again
    assert {name: report["run"]["said"] for name, report in variants.items()} == {
        names[0]: {},
        names[1]: {"inner_loop": False},
        names[2]: {"outer_loop": False},
        names[3]: {},
    }
    assert all(report["n"] == 3 for report in variants.values())
    assert not list(tmp_path.glob("*.items.jsonl"))


@pytest.mark.parametrize("wrong", [["--only", "retrieval"], ["--calibrate"], ["--html", "x.html"]])
def test_an_ablation_takes_answers_only(cli: Cli, questions: str, wrong: list[str]) -> None:
    assert cli("eval", questions, "--ablate", *wrong).code == 2

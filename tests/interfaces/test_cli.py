"""The command line in this process: output, exit codes, and what never reaches the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from citewell.errors import ModelUnavailable

if TYPE_CHECKING:
    from tests.interfaces.conftest import FakeAgent, Result

    Cli = Callable[..., Result]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "lighthouse.md").write_text(
        "# Lighthouse\n\nThe lighthouse was built in 1857.\n", "utf-8"
    )
    (folder / "[red]灯塔.txt").write_text("灯塔建于一八五七年。\n", "utf-8")
    return folder


def test_add_list_remove(cli: Cli, library: Path) -> None:
    """A folder is added, listed, and one document removed by its path."""
    added = cli("add", str(library), "-c", "docs")
    assert added.code == 0, added.err
    assert "[red]灯塔.txt" in added.out
    assert "2 added" in added.out
    listed = cli("list")
    assert "docs" in listed.out
    assert "lighthouse.md" in listed.out
    assert cli("remove", str(library / "lighthouse.md")).code == 0
    assert "lighthouse.md" not in cli("list", "-c", "docs").out


def test_skipped_pictures_lead_to_ocr(cli: Cli, library: Path) -> None:
    """A folder of scans is no folder of unknown files."""
    (library / "scan.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (library / "data.xyz").write_text("x")
    run = cli("add", str(library))
    said = " ".join(run.err.split())
    assert "skipped files of unknown kinds: 1 .xyz" in said
    assert "skipped pictures: 1 .png; they are read with OCR: pip install 'citewell[ocr]'" in said


def test_json_is_one_object_on_standard_output(cli: Cli, library: Path) -> None:
    """Each command's `--json` parses whole; progress and warnings are elsewhere."""
    (library / "photo.xyz").write_text("x", "utf-8")
    added = cli("add", str(library), "--json")
    report = json.loads(added.out)
    assert {file["status"] for file in report["files"]} == {"added"}
    assert {"path", "status", "reason", "chunks"} <= set(report["files"][0])
    assert report["skipped"] == {".xyz": 1}
    assert ".xyz" in added.err
    listed = json.loads(cli("list", "--json").out)
    assert [collection["name"] for collection in listed["collections"]] == ["default"]
    removed = json.loads(cli("remove", listed["documents"][0]["doc_id"], "--json").out)
    assert removed["removed"][0] == listed["documents"][0]
    assert json.loads(cli("trace", "--json").out) == {"traces": []}
    assert {row["job"] for row in json.loads(cli("models", "list", "--json").out)["models"]} == {
        "chat",
        "embeddings",
    }
    assert json.loads(cli("doctor", "--fast", "--json").out)["checks"]


def test_document_named_twice_is_removed_once(cli: Cli, library: Path) -> None:
    """By its id and by its path: one document, no error."""
    path = str(library / "lighthouse.md")
    [file] = json.loads(cli("add", path, "--json").out)["files"]
    removed = cli("remove", file["doc_id"], path, "--json")
    assert removed.code == 0, removed.err
    assert [info["doc_id"] for info in json.loads(removed.out)["removed"]] == [file["doc_id"]]


@pytest.mark.parametrize(("flags", "verify"), [([], False), (["--verify"], True)])
def test_models_pull_verifies_when_asked(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, flags: list[str], verify: bool
) -> None:
    """`--verify` reaches the pull, which then hashes the file again."""
    asked: list[object] = []

    async def bring(*_: object, **named: object) -> Path:
        asked.append(named["verify"])
        return Path("model.gguf")

    monkeypatch.setattr("citewell.interfaces.cli.admin.models.pull_model", bring)
    assert cli("models", "pull", *flags).code == 0
    assert asked == [verify]


def test_bad_file_costs_only_itself(cli: Cli, library: Path) -> None:
    """The rest is added; the exit code and a line by name tell."""
    done = cli("add", str(library), str(library / "none.md"), "http://127.0.0.1:9/page")
    assert done.code == 1
    assert "none.md: no such file" in done.out
    assert "127.0.0.1 is refused: it is not on the public internet" in done.out
    assert "2 added" in done.out


def test_embedding_that_fails_leaves_words(
    cli: Cli, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the embedder the files are in, the report is printed, and the line says what is left
    to do.
    """

    async def broken(*_: object) -> int:
        raise ModelUnavailable("no embedder", hint="install it")

    monkeypatch.setattr("citewell.models.scripted.ScriptedEmbedder.passages", broken)
    done = cli("add", str(library))
    assert done.code == 1
    assert "2 added" in done.out
    assert "no embedder" in done.err


def test_ask_prints_answer_sources_and_quotes(cli: Cli, agent: FakeAgent) -> None:
    """Numbers, title, page, section and quote; text of others is never markup or control codes."""
    done = cli("ask", "When?", "-c", "docs", "--session", "ses_9")
    assert done.code == 0
    assert "It was built in 1857. [1] ✓" in done.out
    assert "It is [bold]red[/bold]. [2] ~" in done.out
    assert "[1] Lighthouses · p. 3 · North" in done.out
    assert "“Built 1857.”" in done.out
    assert "[2] 灯塔手册 · weak" in done.out
    assert "confidence 0.87" in done.out
    assert "tr_1" in done.out
    assert "\x1b" not in done.out
    assert "one source is weak" in done.err
    assert (agent.asked[0].collection, agent.asked[0].session_id) == ("docs", "ses_9")


@pytest.mark.parametrize(
    ("status", "code"),
    [("answered", 0), ("refused", 3), ("fallback", 3), ("clarify", 3), ("error", 1)],
)
def test_exit_code_of_ask(cli: Cli, agent: FakeAgent, status: str, code: int) -> None:
    """0 answered, 3 no answer, 1 error; with `--json` the same."""
    agent.answer = agent.answer.model_copy(update={"status": status})
    assert cli("ask", "When?").code == code
    done = cli("ask", "When?", "--json")
    assert done.code == code
    assert json.loads(done.out)["status"] == status


def test_error_is_one_line_and_a_hint(cli: Cli, agent: FakeAgent) -> None:
    """No traceback; with `--json` the error object is on standard output too."""
    agent.error = ModelUnavailable("no model", hint="pull one")
    done = cli("ask", "When?")
    assert (done.code, done.out) == (1, "")
    assert done.err == "error: no model\n  pull one\n"
    shown = json.loads(cli("ask", "When?", "--json").out)
    assert shown == {
        "error": {"code": "model_unavailable", "message": "no model", "hint": "pull one"}
    }


def test_fault_of_ours_is_one_line_too(
    cli: Cli, agent: FakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unforeseen exception has its traceback only with log_level debug."""
    agent.error = ZeroDivisionError("oops")  # type: ignore[assignment]
    done = cli("ask", "When?")
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "internal error: ZeroDivisionError: oops" in done.err
    monkeypatch.setenv("CITEWELL_LOG_LEVEL", "debug")
    assert "Traceback" in cli("ask", "When?").err


def test_wrong_setting_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown variable ends any command with its name and the nearest known one."""
    monkeypatch.setenv("CITEWELL_PROT", "1")
    done = cli("list")
    assert done.code == 1
    assert "CITEWELL_PROT" in done.err
    assert "did you mean port" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["ask"],
        ["add"],
        ["remove"],
        ["remove", "--all"],
        ["remove", "a", "-c", "b", "--all"],
        ["serve", "--port", "x"],
    ],
)
def test_usage_errors_exit_2(cli: Cli, arguments: list[str]) -> None:
    """What cannot be meant is a usage error with a line on standard error."""
    done = cli(*arguments)
    assert done.code == 2
    assert done.err


def test_collection_is_removed_only_when_asked(cli: Cli, library: Path) -> None:
    """Without a terminal and without --yes it stays; with --yes it goes."""
    cli("add", str(library), "-c", "docs")
    refused = cli("remove", "-c", "docs", "--all")
    assert refused.code == 1
    assert "--yes" in refused.err
    assert cli("remove", "-c", "docs", "--all", "--yes").code == 0
    assert json.loads(cli("list", "--json").out)["collections"] == []


def test_unknown_things_are_named(cli: Cli) -> None:
    """Document, collection, trace."""
    for arguments in (["remove", "doc_x"], ["list", "-c", "nowhere"], ["trace", "tr_x"]):
        done = cli(*arguments)
        assert done.code == 1
        assert arguments[-1] in done.err


def test_chat_in_a_pipe(cli: Cli, agent: FakeAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are questions of one session; /new starts another; the end of input ends."""
    lines = iter(["When?", "", "And why?", "/new", "/nonsense", "Who?", "/quit", "never"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    done = cli("chat")
    assert done.code == 0
    assert [(asked.question, asked.session_id) for asked in agent.asked] == [
        ("When?", None),
        ("And why?", "ses_1"),
        ("Who?", None),
    ]
    assert "/nonsense: no such command" in done.err


def test_chat_goes_on_after_an_error(
    cli: Cli, agent: FakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that fails costs only itself; with `--json` its error is an object on standard
    output.
    """
    agent.error = ModelUnavailable("no model")
    lines = iter(["When?", "Why?"])

    def read(_: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", read)
    done = cli("chat", "--json")
    assert done.code == 0
    assert done.err.count("error: no model") == 2
    shown = {"error": {"code": "model_unavailable", "message": "no model", "hint": ""}}
    assert done.out == (json.dumps(shown) + "\n") * 2  # one object a line


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.com"])  # noqa: S104  # refused, not bound
def test_serve_refuses_other_hosts(cli: Cli, host: str) -> None:
    """Only this machine's own addresses, as long as there are no users."""
    done = cli("serve", "--host", host, "--port", "0")
    assert done.code == 1
    assert "this machine only" in done.err

"""`citewell paper` and `citewell papers` as people run them: report, interest, questions, sessions,
changes, files.

The one rule: papers are the committed samples, models are the scripted ones.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.interfaces.serving import run_statement
from tests.servers.forked import Forked
from tests.service.test_papers import SCAN

from citewell.config import Settings, load_settings
from citewell.interfaces.cli.output.terminal import strip_controls

if TYPE_CHECKING:
    from tests.interfaces.conftest import Result

    Cli = Callable[..., Result]

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "papers"
ENGLISH = str(next(SAMPLES.glob("reserve-*.pdf")))
CHINESE = str(next(SAMPLES.glob("基于*.pdf")))
QUESTION = "Which data was the history network trained on?"
NOWHERE = "Mariana trench?"  # none of its words stands in the paper


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the home of a session with a report and the route through all of the paper."""
    return tmp_path_factory.mktemp("begun") / "home"


@pytest.fixture
def session(cli: Cli, settings: Settings, begun: Path) -> str:
    """That session, made by the first test; others have a copy of its home."""
    if begun.exists():
        shutil.copytree(begun, settings.home, dirs_exist_ok=True)
        return _only(cli)
    done = cli("paper", ENGLISH, "--interest", "", "--json")
    assert done.code == 0, done.err
    if not settings.database_url.get_secret_value():
        shutil.copytree(settings.home, begun)
    return str(json.loads(done.out)["session_id"])


def test_the_report_alone(cli: Cli) -> None:
    """Title, authors, parts, quotes with pages, the guide's question; then how to go on."""
    done = cli("paper", ENGLISH)
    assert done.code == 0, done.err
    for words in (
        "CargoCast: Forecasting",
        "Problem\n",
        "Contributions\n",
        "Method\n",
        "Results\n",
        "Limits\n",
        "Quotes\n",
    ):
        assert words in done.out
    assert "[1] p. " in done.out
    assert "    “" in done.out
    question = json.loads(cli("papers", "show", _only(cli), "--json").out)["report"]["question"]
    assert done.out.endswith(f"\n{question}\n")
    assert "go on with it: citewell paper --session ses_" in done.err
    assert "learning meanings: " in done.err
    assert "\x1b" not in done.out


def _only(cli: Cli) -> str:
    [row] = json.loads(cli("papers", "list", "--json").out)["papers"]
    return str(row["session_id"])


def test_interest_and_questions_at_once(cli: Cli) -> None:
    """All of it in one call; the last answer decides the exit code."""
    done = cli("paper", ENGLISH, "--interest", "training", "--ask", QUESTION, "--ask", NOWHERE)
    assert done.code == 3, done.err
    assert "Interest: training" in done.out
    assert " 1 [ ] " in done.out
    assert (
        done.out.index("Problem\n")
        < done.out.index("Interest: training")
        < done.out.index("confidence")
    )


def test_json_is_one_object(cli: Cli) -> None:
    """The session, with the answers of this call only."""
    done = cli("paper", ENGLISH, "--ask", QUESTION, "--json")
    first = json.loads(done.out)
    assert (first["current_state"], first["user_id"], first["plan"]["interest"]) == (
        "CONTROL_ROUTING",
        "local",
        "",
    )
    assert [answer["question"] for answer in first["answers"]] == [QUESTION]
    again = cli(
        "paper",
        "--session",
        first["session_id"],
        "--ask",
        "And how long?",
        "--select",
        "history network",
        "--json",
    )
    second = json.loads(again.out)
    assert [answer["question"] for answer in second["answers"]] == [
        "And how long? “history network”"
    ]
    assert (second["session_id"], second["report"]) == (first["session_id"], first["report"])


def test_going_on_says_where_it_is(cli: Cli, session: str) -> None:
    """State, the next step of the route, the last question; another interest makes another
    route.
    """
    assert cli("paper", "--session", session, "--ask", QUESTION).code in {0, 3}
    done = cli("paper", "--session", session)
    assert done.code == 0, done.err
    assert "ask, or read on" in done.out
    assert "next to read: 1 " in done.out
    assert f"asked last: {QUESTION}" in done.out
    assert "Problem\n" not in done.out
    assert cli("papers", "done", session, "1").code == 0
    other = json.loads(
        cli("paper", "--session", session, "--interest", "energy model", "--json").out
    )
    assert (other["plan"]["interest"], other["answers"]) == ("energy model", [])


def test_a_chinese_paper(cli: Cli) -> None:
    done = cli("paper", CHINESE, "--interest", "训练")
    assert done.code == 0, done.err
    for words in ("问题\n", "贡献\n", "阅读路线", "兴趣：训练", "第 "):
        assert words in done.out
    english = json.loads(
        cli("paper", CHINESE, "--lang", "en", "--title", "Spare parts", "--json").out
    )
    assert (english["report"]["lang"], english["title"]) == ("en", "Spare parts")


REFUSED: list[tuple[tuple[str, ...], int, str]] = [
    ((), 2, "name a paper"),
    (("x.pdf", "--session", "ses_1"), 2, "one of the two"),
    (("x.pdf", "--lang", "fr"), 2, "en, zh"),
    (("x.pdf", "--select", "words"), 2, "--ask"),
    (("--session", "ses_1", "--title", "x"), 2, "rename"),
    (("{here}/none.pdf",), 1, "no such file"),
    (("{here}",), 1, "a folder"),
    (("{here}/x.zip",), 1, "x.zip"),
    (("{here}/empty.pdf",), 1, "is empty"),
    (("{here}/scan.pdf",), 1, 'ingest.ocr = "auto"'),
    (("{here}/x.csv",), 1, "a paper is a PDF"),
    (("ftp://example.com/x.pdf",), 1, "only http and https"),
    (("http://127.0.0.1:9/x.pdf",), 1, "private"),
    (("--session", "ses_nothing"), 1, "no session"),
    ((ENGLISH, "--user", " "), 1, "printable"),
]


def test_what_is_refused(cli: Cli, tmp_path: Path) -> None:
    """One line and what to do; no session is left."""
    (tmp_path / "x.zip").write_bytes(b"PK\x05\x06" + b"\0" * 18)
    (tmp_path / "empty.pdf").touch()
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n" * 300, "utf-8")
    (tmp_path / "scan.pdf").write_bytes(SCAN)
    for arguments, code, words in REFUSED:
        done = cli("paper", *[each.format(here=tmp_path) for each in arguments])
        assert (done.code, "Traceback" in done.err) == (code, False), done.err
        assert words in " ".join(done.err.replace("│", " ").split()), arguments
    assert "no papers yet" in cli("papers", "list").out


def test_what_goes_wrong_is_json_too(cli: Cli, tmp_path: Path) -> None:
    done = cli("paper", str(tmp_path / "none.pdf"), "--json")
    assert json.loads(done.out)["error"]["code"] == "unreadable_file"


def test_two_users(cli: Cli, session: str) -> None:
    """Nobody finds the other's."""
    hers = json.loads(cli("paper", ENGLISH, "--user", "ann", "--json").out)
    assert "--user ann" in cli("paper", "--session", hers["session_id"], "--user", "ann").err
    for arguments in (
        ("paper", "--session", session, "--user", "ann"),
        ("papers", "show", session, "--user", "ann"),
        ("papers", "rename", session, "x", "--user", "ann"),
        ("papers", "delete", session, "--yes", "--user", "ann"),
        ("papers", "export", session, "-", "--user", "ann"),
        ("papers", "done", session, "1", "--user", "ann"),
        ("papers", "undo", session, "1", "--user", "ann"),
        ("papers", "plan", session, "--user", "ann"),
        ("papers", "show", hers["session_id"]),
    ):
        done = cli(*arguments)
        assert (done.code, "no session" in done.err) == (1, True), arguments
    assert [
        row["session_id"]
        for row in json.loads(cli("papers", "list", "--user", "ann", "--json").out)["papers"]
    ] == [hers["session_id"]]
    assert [
        row["session_id"] for row in json.loads(cli("papers", "list", "--json").out)["papers"]
    ] == [session]


def test_papers_list_show_rename_delete(cli: Cli, session: str) -> None:
    """What a list and a page of it say; a name is changed; nothing is deleted unasked."""
    cli("paper", "--session", session, "--ask", QUESTION)
    listed = cli("papers", "list").out
    assert session in listed
    assert "steps read" in listed
    assert "1 question," in listed
    shown = cli("papers", "show", session).out
    for words in ("Problem\n", "Reading route", f"1. {QUESTION}", "ask, or read on"):
        assert words in shown
    assert (
        json.loads(cli("papers", "show", session, "--json").out)["answers"][0]["question"]
        == QUESTION
    )
    assert cli("papers", "rename", session, "Bikes").out == f"{session} Bikes\n"
    assert json.loads(cli("papers", "rename", session, "灯", "--json").out)["title"] == "灯"
    assert cli("papers", "rename", session, " ").code == 1
    assert "--yes deletes without asking" in cli("papers", "delete", session).err
    second = json.loads(cli("paper", ENGLISH, "--json").out)["session_id"]
    assert cli("papers", "delete", session, "--yes").out == "deleted 灯 (its paper stays)\n"
    gone = json.loads(cli("papers", "delete", second, "--yes", "--json").out)
    assert gone["document_removed"] is True
    assert json.loads(cli("papers", "list", "--json").out) == {"papers": []}
    assert json.loads(cli("list", "-c", "papers", "--json").out)["documents"] == []


def steps(done: Result) -> list[tuple[str, bool]]:
    plan: dict[str, Any] = json.loads(done.out)["plan"]
    return [(step["section"], step["done_at"] is not None) for step in plan["steps"]]


def test_the_route_is_changed_by_hand(cli: Cli, session: str) -> None:
    """Ticked and not, left out, moved, added; each change is a line of the history; what is wrong
    changes nothing.
    """
    first = steps(cli("papers", "plan", session, "--json"))
    names = [name for name, _ in first]
    assert len(names) >= 3
    assert steps(cli("papers", "done", session, "1", "2", "--json")) == [
        (n, k < 2) for k, n in enumerate(names)
    ]
    assert steps(cli("papers", "undo", session, "1", "--json")) == [
        (n, k == 1) for k, n in enumerate(names)
    ]
    moved = steps(cli("papers", "plan", session, "--move", "3:1", "--json"))
    assert [name for name, _ in moved] == [names[2], names[0], names[1], *names[3:]]
    left = steps(cli("papers", "plan", session, "--remove", "1", "--json"))
    assert [name for name, _ in left] == [names[0], names[1], *names[3:]]
    added = steps(cli("papers", "plan", session, "--add", names[2], "--json"))
    assert names[2] in [name for name, _ in added]
    shown = cli("papers", "plan", session).out
    assert " 2 [x] " in shown
    for arguments in (
        ("done", session, "99"),
        ("done", session, "x"),
        ("plan", session, "--move", "1"),
        ("plan", session, "--move", "1:0"),
        ("plan", session, "--add", "No such section"),
        ("plan", session, "--remove", "1", "--add", "No such section"),
    ):
        assert cli("papers", *arguments).code == 1, arguments
    assert steps(cli("papers", "plan", session, "--json")) == added
    said = [
        message["content"]
        for message in json.loads(history(session))
        if message["content"].startswith("[route]")
    ]
    assert [line.split(":")[0] for line in said] == [
        *["[route] read"] * 2,
        "[route] not read yet",
        "[route] moved to place 1",
        "[route] left out",
        "[route] added",
    ]


def history(session: str) -> str:
    """The conversation as the database has it."""
    query = "SELECT session_data FROM sessions WHERE session_id = :session"
    [row] = run_statement(load_settings(), query, session=session)
    return json.dumps(json.loads(row[0])["chat_history"])


def test_a_route_that_is_not_there(cli: Cli) -> None:
    """It says how to have one."""
    session = json.loads(cli("paper", ENGLISH, "--json").out)["session_id"]
    assert "no route yet" in cli("papers", "plan", session).out
    assert "no route yet" in cli("papers", "done", session, "1").err
    assert cli("papers", "plan", session, "--add", "4 Experiments").code == 1


def test_export(cli: Cli, session: str, tmp_path: Path) -> None:
    """To a file or to standard output, the same each time; a name that is none leaves nothing."""
    file = tmp_path / "notes.md"
    assert cli("papers", "export", session, str(file)).out == f"written to {file}\n"
    text = file.read_text("utf-8")
    assert text.startswith("# CargoCast: Forecasting")
    assert "- [ ] **" in text
    assert cli("papers", "export", session, "-").out == text
    assert json.loads(cli("papers", "export", session, str(file), "--json").out)["file"] == str(
        file
    )
    assert cli("papers", "export", session, "-", "--json").code == 2
    assert "name it NAME.md" in cli("papers", "export", session, str(tmp_path / "notes.txt")).err
    assert (
        "cannot be written"
        in cli("papers", "export", session, str(tmp_path / "none" / "notes.md")).err
    )
    assert sorted(path.name for path in tmp_path.iterdir() if "notes" in path.name) == ["notes.md"]


def test_an_export_that_cannot_be_written(cli: Cli, session: str, tmp_path: Path) -> None:
    """It is told as what it is: where a file stands in place of a folder, and where the device is
    full.
    """
    (tmp_path / "file").write_text("x", "utf-8")
    told = cli("papers", "export", session, str(tmp_path / "file" / "notes.md")).err
    assert ("cannot be written" in told, "internal" in told) == (True, False)
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no device that is always full")
    with full.open("w") as device:
        command = [sys.executable, "-m", "citewell", "papers", "export", session, "-"]
        kept = dict(os.environ)
        with Forked(command, env=kept, stdout=device, stderr=subprocess.PIPE, text=True) as process:
            _, told = process.communicate(timeout=120)
    assert process.returncode == 1
    said = ("standard output: cannot be written" in told, "Exception" in told)
    assert said == (True, False)


def test_a_session_that_is_not_there(cli: Cli) -> None:
    """No hint that makes no sense of it, and none to go on with it."""
    for command in (("papers", "show", "nope"), ("paper", "--session", "nope", "--ask", QUESTION)):
        told = cli(*command).err
        assert "citewell papers list" in told
        assert "leave it out" not in told
        assert "go on with it" not in told


def test_a_removed_paper(cli: Cli, session: str) -> None:
    """It can be shown and exported, asking says plainly why not, and deleting works."""
    shown = json.loads(cli("papers", "show", session, "--json").out)
    assert cli("remove", shown["paper"]["doc_id"]).code == 0
    asked = cli("paper", "--session", session, "--ask", QUESTION)
    assert (asked.code, "was removed" in asked.err) == (1, True)
    assert "was removed" in cli("papers", "show", session).err
    assert cli("papers", "export", session, "-").code == 0
    assert "its paper was gone before" in cli("papers", "delete", session, "--yes").out


def test_help_names_every_option(cli: Cli) -> None:
    said = strip_controls(cli("paper", "--help").out)
    for option in (
        "--interest",
        "--ask",
        "--session",
        "--lang",
        "--title",
        "--user",
        "--json",
        "--select",
    ):
        assert option in said
    said = strip_controls(cli("papers", "--help").out)
    for command in ("list", "show", "rename", "delete", "export", "done", "undo", "plan"):
        assert f"  {command} " in said


def test_papers_side_by_side(cli: Cli, tmp_path: Path) -> None:
    """A file and a session; the table as one object, and as a file; a paper that is read already
    gets no second session; what the name does not say is refused before anything is asked.
    """
    begun = json.loads(cli("papers", "compare", ENGLISH, "-q", QUESTION, "--json").out)
    session = begun["papers"][0]["session_id"]
    again = json.loads(cli("papers", "compare", ENGLISH, "-q", QUESTION, "--json").out)
    assert again["papers"][0]["session_id"] == session
    file = tmp_path / "table.csv"
    done = cli("papers", "compare", session, CHINESE, "-q", QUESTION, "--output", str(file))
    assert done.code == 0, done.err
    assert "CargoCast: Forecasting" in done.out
    assert file.read_text(encoding="utf-8").startswith(f"Paper,{QUESTION},")
    assert cli("papers", "show", session, "--json").out.count(QUESTION) == 0
    assert cli("papers", "compare", session, "-q", QUESTION, "--output", "table.xls").code == 1

"""`citewell backup` and `citewell restore` on a library that a server has in use.

The one rule: what was answered before is answered after, word for word, under another path and
without the old one.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.interfaces.conftest import Result
from tests.interfaces.serving import FACT, PATIENCE, QUESTION, Bench, Server, until
from tests.interfaces.serving import bench as bench_of

from citewell.config import Settings

Told = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.sqlite  # archives hold a file; tests/service has those of PostgreSQL
SAMPLES = Path(__file__).resolve().parents[2] / "samples"


@pytest.fixture
def bench(settings: Settings, tmp_path: Path) -> Bench:
    return bench_of(settings, tmp_path)


@pytest.fixture
def told(cli: Callable[..., Result]) -> Told:
    """The object of a command that succeeds."""

    def run(*arguments: str) -> dict[str, Any]:
        done = cli(*arguments, "--json")
        assert done.code in {0, 3}, done.err
        found: dict[str, Any] = json.loads(done.out)
        return found

    return run


@pytest.fixture
def moved(bench: Bench, told: Told, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Bench]:
    """The archive restored under another path, for every command from then on, and the old home
    gone.
    """

    def restored(archive: Path) -> Bench:
        there = bench.folder / "another" / "place"
        done = told("restore", str(archive), "--home", str(there))
        assert (done["home"], done["replaced"]) == (str(there), "")
        shutil.rmtree(bench.settings.home)
        monkeypatch.setenv("CITEWELL_HOME", str(there))
        return Bench(
            bench.settings.model_copy(update={"home": there}),
            bench.environ | {"CITEWELL_HOME": str(there)},
            bench.folder,
        )

    return restored


def test_while_documents_are_added_and_questions_asked(
    bench: Bench, told: Told, moved: Callable[[Path], Bench]
) -> None:
    """Backups of a busy server: each restores, its questions are answered with the same citations,
    and its jobs go on.
    """
    bench.add()
    stop = threading.Event()
    answers: list[dict[str, Any]] = []

    def adds(server: Server) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            files = {
                "files": (
                    f"n{number}.md",
                    f"# Note {number}\n\nThe mast of ship {number} is {number} metres high.\n",
                )
            }
            httpx.post(
                f"{server.url}/api/collections/default/documents",
                files=files,
                trust_env=False,
                timeout=PATIENCE,
            )

    def asks(server: Server) -> None:
        while not stop.is_set():
            answers.append(server.post("/api/ask", {"question": QUESTION}).json())

    archive = bench.folder / "busy.tar.gz"
    with bench.serve([]) as server:
        threads = [threading.Thread(target=work, args=(server,)) for work in (adds, asks)]
        for each in threads:
            each.start()
        until(lambda: len(answers) >= 2, "some answers")
        made = told("backup", str(archive))
        stop.set()
        for each in threads:
            each.join(PATIENCE)
        before = answers[0]
    assert made["counts"]["documents"] >= 1
    assert told("backup", "--verify", str(archive))["ok"] is True
    there = moved(archive)
    with there.serve([]) as server:
        again = server.post("/api/ask", {"question": QUESTION}).json()
        assert [each["quote"] for each in again["citations"]] == [
            each["quote"] for each in before["citations"]
        ]
        assert again["answer"] == before["answer"]
        assert (
            server.get(f"/api/traces/{before['trace_id']}").json()["answer"]["answer"]
            == before["answer"]
        )

        def ended() -> bool:
            return all(job["state"] == "done" for job in server.get("/api/jobs").json()["jobs"])

        until(ended, "the jobs that the backup found waiting")
        listed = server.get("/api/collections/default/documents").json()["documents"]
    assert len(listed) >= made["counts"]["documents"]


def test_users_papers_confirmed_answers_and_tables_come_along(
    bench: Bench, cli: Callable[..., Result], told: Told, moved: Callable[[Path], Bench]
) -> None:
    """A token signs in; a reading session is read on; what was confirmed answers; tables answer
    from their copy.
    """
    bench.add()
    table = bench.folder / "costs.csv"
    table.write_text("ship,metres\nNorth,31\nSouth,12\n", "utf-8")
    assert cli("data", "add", str(table), "--name", "ships").code == 0
    answer = told("ask", QUESTION)
    assert cli("feedback", answer["trace_id"], "--correct").code == 0
    session = told("paper", str(next((SAMPLES / "papers").glob("*.pdf"))), "--interest", "")
    token = told("user", "add", "anna")["token"]
    before = shown(told)
    assert told("backup", str(bench.folder / "b.tar.gz"))["counts"]["users"] == 1
    table.unlink()
    there = moved(bench.folder / "b.tar.gz")
    assert shown(told) == before
    after = told("paper", "--session", session["session_id"])
    assert (after["report"], after["plan"]) == (session["report"], session["plan"])
    asked = told("paper", "--session", session["session_id"], "--ask", "What is measured?")
    assert len(asked["answers"]) == len(session["answers"]) + 1
    rows = told("data", "ask", "How many metres has North?", "--source", "ships")
    assert rows["agent"] == "data"
    preview = told("data", "show", "ships")
    assert "metres" in json.dumps(preview)
    with there.serve([], auth="token") as server:
        me = httpx.get(
            f"{server.url}/api/me",
            headers={"Authorization": f"Bearer {token}"},
            trust_env=False,
            timeout=PATIENCE,
        )
        assert (me.status_code, me.json()["user_id"]) == (200, "anna")
        nobody = httpx.get(
            f"{server.url}/api/me",
            headers={"Authorization": "Bearer x"},
            trust_env=False,
            timeout=PATIENCE,
        )
        assert nobody.status_code == 401


def shown(told: Told) -> dict[str, dict[str, Any]]:
    """What is there, without how long it took to say."""
    found = {name: told(*command) for name, command in SHOWN.items()}
    return {
        name: {key: value for key, value in each.items() if "seconds" not in key}
        for name, each in found.items()
    }


SHOWN = {
    "documents": ("list", "-c", "default"),
    "confirmed": ("knowledge", "list"),
    "tables": ("data", "list"),
    "answer": ("search", "lighthouse built"),
}


def test_what_is_refused(bench: Bench, cli: Callable[..., Result]) -> None:
    """One line and a hint, exit 1; wrong usage 2."""
    nothing = cli("backup", str(bench.folder / "b.tar.gz"))
    assert (nothing.code, "there is no library" in nothing.err) == (1, True)
    bench.add()
    archive = str(bench.folder / "b.tar.gz")
    first = cli("backup", archive)
    assert first.code == 0
    assert "1 documents" in first.out
    assert "as private as the home" in first.out
    again = cli("backup", archive, "--json")
    assert (again.code, json.loads(again.out)["error"]["code"]) == (1, "conflict")
    assert cli("backup", "--verify").code == 2
    there = cli("restore", archive)
    assert (there.code, "--force" in there.err) == (1, True)
    Path(archive).write_bytes(Path(archive).read_bytes()[:-3000])
    for arguments in (
        ("backup", "--verify", archive),
        ("restore", archive, "--home", str(bench.folder / "x")),
    ):
        broken = cli(*arguments)
        assert (
            broken.code,
            "it is cut off" in broken.err,
            "Traceback" in broken.err,
        ) == (1, True, False)
    assert not (bench.folder / "x").exists()


def test_a_home_that_a_server_has_open_is_not_replaced(
    bench: Bench, cli: Callable[..., Result], told: Told
) -> None:
    """Not by force either; when the server has stopped it is, and the old one stays beside it."""
    bench.add()
    archive = str(bench.folder / "b.tar.gz")
    told("backup", archive)
    with bench.serve([]) as server:
        refused = cli("restore", archive, "--force")
        assert (refused.code, "has it open" in refused.err) == (1, True)
        assert FACT in server.post("/api/ask", {"question": QUESTION}).json()["answer"]
    done = told("restore", archive, "--force")
    assert Path(done["replaced"], "citewell.db").exists()
    assert FACT in told("ask", QUESTION)["answer"]


def test_what_is_no_archive_is_told_before_the_home(
    cli: Callable[..., Result], settings: Settings, tmp_path: Path
) -> None:
    """Whoever names the wrong file is not asked to replace the home for it."""
    settings.home.mkdir(parents=True, exist_ok=True)
    (settings.home / "kept").write_text("x", "utf-8")
    wrong = tmp_path / "f.txt"
    wrong.write_text("no archive", "utf-8")
    done = cli("restore", str(wrong))
    assert (done.code, "f.txt" in done.err, "--force" in done.err) == (1, True, False)

"""`citewell backup` and `citewell restore` as people run them, on a library that is in use.

The one rule: what was answered before is answered after, word for word, under another path and
without the old one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.interfaces.serving import FACT, PATIENCE, QUESTION, Bench, Server, until
from tests.interfaces.serving import bench as bench_of

from citewell.config import Settings

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


@pytest.fixture
def bench(settings: Settings, tmp_path: Path) -> Bench:
    return bench_of(settings, tmp_path)


def run(bench: Bench, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environ = bench.environ | {f"CITEWELL_{name.upper()}": value for name, value in more.items()}
    command = [sys.executable, "-m", "citewell", *arguments]
    return subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=2 * PATIENCE, check=False
    )


def told(bench: Bench, *arguments: str, **more: str) -> dict[str, Any]:
    """The object of a command that succeeds."""
    done = run(bench, *arguments, "--json", **more)
    assert done.returncode in {0, 3}, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def moved(bench: Bench, archive: Path) -> Bench:
    """The archive restored under another path, and the old home gone."""
    there = bench.folder / "another" / "place"
    done = told(bench, "restore", str(archive), "--home", str(there))
    assert (done["home"], done["replaced"]) == (str(there), "")
    shutil.rmtree(bench.settings.home)
    return Bench(
        bench.settings.model_copy(update={"home": there}),
        bench.environ | {"CITEWELL_HOME": str(there)},
        bench.folder,
    )


def test_while_documents_are_added_and_questions_asked(bench: Bench) -> None:
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
        made = told(bench, "backup", str(archive))
        stop.set()
        for each in threads:
            each.join(PATIENCE)
        before = answers[0]
    assert made["counts"]["documents"] >= 1
    assert told(bench, "backup", "--verify", str(archive))["ok"] is True
    there = moved(bench, archive)
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


def test_users_papers_confirmed_answers_and_tables_come_along(bench: Bench) -> None:
    """A token signs in; a reading session is read on; what was confirmed answers; tables answer
    from their copy.
    """
    bench.add()
    table = bench.folder / "costs.csv"
    table.write_text("ship,metres\nNorth,31\nSouth,12\n", "utf-8")
    assert run(bench, "data", "add", str(table), "--name", "ships").returncode == 0
    answer = told(bench, "ask", QUESTION)
    assert run(bench, "feedback", answer["trace_id"], "--correct").returncode == 0
    session = told(bench, "paper", str(next((SAMPLES / "papers").glob("*.pdf"))), "--interest", "")
    token = told(bench, "user", "add", "anna")["token"]
    before = shown(bench)
    assert told(bench, "backup", str(bench.folder / "b.tar.gz"))["counts"]["users"] == 1
    table.unlink()
    there = moved(bench, bench.folder / "b.tar.gz")
    assert shown(there) == before
    after = told(there, "paper", "--session", session["session_id"])
    assert (after["report"], after["plan"]) == (session["report"], session["plan"])
    asked = told(there, "paper", "--session", session["session_id"], "--ask", "What is measured?")
    assert len(asked["answers"]) == len(session["answers"]) + 1
    rows = told(there, "data", "ask", "How many metres has North?", "--source", "ships")
    assert rows["agent"] == "data"
    preview = told(there, "data", "show", "ships")
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


def shown(bench: Bench) -> dict[str, dict[str, Any]]:
    """What is there, without how long it took to say."""
    found = {name: told(bench, *command) for name, command in SHOWN.items()}
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


def test_what_is_refused(bench: Bench) -> None:
    """One line and a hint, exit 1; wrong usage 2."""
    nothing = run(bench, "backup", str(bench.folder / "b.tar.gz"))
    assert (nothing.returncode, "there is no library" in nothing.stderr) == (1, True)
    bench.add()
    archive = str(bench.folder / "b.tar.gz")
    first = run(bench, "backup", archive)
    assert first.returncode == 0
    assert "1 documents" in first.stdout
    assert "as private as the home" in first.stdout
    again = run(bench, "backup", archive, "--json")
    assert (again.returncode, json.loads(again.stdout)["error"]["code"]) == (1, "conflict")
    assert run(bench, "backup", "--verify").returncode == 2
    there = run(bench, "restore", archive)
    assert (there.returncode, "--force" in there.stderr) == (1, True)
    Path(archive).write_bytes(Path(archive).read_bytes()[:-3000])
    for arguments in (
        ("backup", "--verify", archive),
        ("restore", archive, "--home", str(bench.folder / "x")),
    ):
        broken = run(bench, *arguments)
        assert (
            broken.returncode,
            "it is cut off" in broken.stderr,
            "Traceback" in broken.stderr,
        ) == (1, True, False)
    assert not (bench.folder / "x").exists()


def test_a_home_that_a_server_has_open_is_not_replaced(bench: Bench) -> None:
    """Not by force either; when the server has stopped it is, and the old one stays beside it."""
    bench.add()
    archive = str(bench.folder / "b.tar.gz")
    told(bench, "backup", archive)
    with bench.serve([]) as server:
        refused = run(bench, "restore", archive, "--force")
        assert (refused.returncode, "has it open" in refused.stderr) == (1, True)
        assert FACT in server.post("/api/ask", {"question": QUESTION}).json()["answer"]
    done = told(bench, "restore", archive, "--force")
    assert Path(done["replaced"], "citewell.db").exists()
    assert FACT in told(bench, "ask", QUESTION)["answer"]

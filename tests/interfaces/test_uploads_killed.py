"""What the server has said it has, it has: killed while its jobs run, and with a file that kills
whoever reads it.

The long version, with figures, is evals/kill_uploads.py.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.interfaces.serving import until
from tests.interfaces.uploads_killed import POISON, Uploads
from tests.servers.forked import run_forked

from citewell.store.job_claims import MOST_FAULTS, SUSPECT

FILES = 8
KILLS = 2


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    folder = tmp_path / "start"
    folder.mkdir()
    return Uploads(tmp_path / "home", folder, wait=0.1)


def send_until_it_dies(uploads: Uploads, most: int) -> None:
    """Files after the bad one, so that there are others under way."""
    with suppress(httpx.HTTPError):
        for n in range(most):
            uploads.send(f"good {n}.md", f"# Good {n}\n\nThe harbour number {n} is deep.\n")
    assert uploads.process is not None
    assert uploads.process.wait(120) == -9


def row(uploads: Uploads, job_id: str) -> tuple[str, int, int]:
    """Of the table: state, deaths and faults."""
    with closing(sqlite3.connect(uploads.home / "citewell.db", timeout=20)) as database:
        found: tuple[str, int, int]
        [found] = database.execute(
            "SELECT state, deaths, faults FROM jobs WHERE job_id = ?", (job_id,)
        ).fetchall()
    return found


def test_uploads_outlive_kills(uploads: Uploads) -> None:
    """Killed each time while jobs run: at the end every file is a document, whole and once."""
    names = [f"note {number}.md" for number in range(FILES)]
    with uploads.running():
        for number, name in enumerate(names):
            uploads.send(
                name,
                f"# Note {number}\n\nThe lighthouse number {number} was built "
                f"in {1000 + number}.\n",
            )
    for _ in range(KILLS):
        with uploads.running():
            until(lambda: "running" in uploads.state_line(), "a job that runs")
    with uploads.running():
        jobs = uploads.ended(uploads.jobs, 240)
        assert {job["state"] for job in jobs.values()} == {"done"}
        assert uploads.documents() == set(names)
        kept = uploads.home / "uploads"
        until(lambda: not any(kept.iterdir()), "what was sent is deleted")
    with closing(sqlite3.connect(uploads.home / "citewell.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("SELECT count(*) FROM documents").fetchone() == (FILES,)


def test_a_poisoned_file_is_found_by_trying_alone(uploads: Uploads) -> None:
    """It kills the server while others are under way, twice; then only who tries it alone, and the
    server lives. The others are added, it is given up with its bytes, and tried again when whoever
    reads it no longer dies of it.
    """
    uploads.poisonous.touch()
    with uploads.running():
        bad = uploads.send("bad.md", POISON)
        send_until_it_dies(uploads, 4)
    good = [job for job in uploads.jobs if job != bad]
    deaths = 1
    while deaths < SUSPECT:
        with uploads.running():
            assert uploads.process is not None
            assert uploads.process.wait(120) == -9
        deaths += 1
    with uploads.running():
        jobs = uploads.ended(uploads.jobs)
        assert {jobs[job]["state"] for job in good} <= {"done"}
        assert jobs[bad]["error"]["code"] == "gave_up"
        assert row(uploads, bad) == ("failed", SUSPECT, MOST_FAULTS)
        assert POISON in read_kept(uploads)
        told = command(uploads, "jobs", "list")["jobs"]
        assert [job["job_id"] for job in told if job["state"] == "failed"] == [bad]
        uploads.poisonous.unlink()
        assert command(uploads, "jobs", "again", bad)["job"]["state"] == "queued"
        assert uploads.ended([bad])[bad]["state"] == "done"
        assert "bad.md" in uploads.documents()


def read_kept(uploads: Uploads) -> list[str]:
    """Texts of uploads that are still there; the folder of one that is done may just be going."""
    kept = []
    for path in (uploads.home / "uploads").glob("*/0"):
        with suppress(FileNotFoundError):
            kept.append(path.read_text("utf-8"))
    return kept


def command(uploads: Uploads, *arguments: str) -> Any:
    """What a command that ends well prints."""
    line = [sys.executable, "-m", "citewell", *arguments, "--json"]
    return json.loads(run_forked(line, uploads.environ(), check=True).stdout)

"""`citewell worker` does the jobs of a server that takes none, each of them once."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.interfaces.serving import PATIENCE, Bench, Server, bench, until
from tests.servers.forked import Forked

from citewell.config import Settings


@pytest.fixture
def served(settings: Settings, tmp_path: Path) -> Bench:
    return bench(settings, tmp_path)


def send(server: Server, number: int) -> str:
    """A document; the id of its job."""
    path = f"{server.url}/api/collections/docs/documents"
    file = (f"note {number}.md", f"# Note {number}\n\nThe harbour {number} is deep.\n".encode())
    reply = httpx.post(path, files={"file": file}, trust_env=False, timeout=PATIENCE)
    assert reply.status_code == 202, reply.text
    return str(reply.json()["job_id"])


def jobs(server: Server) -> list[dict[str, Any]]:
    return list(server.get("/api/jobs").json()["jobs"])


@contextmanager
def working(served: Bench) -> Iterator[subprocess.Popen[str]]:
    """A worker that has said that it takes jobs."""
    process = Forked(
        [sys.executable, "-m", "citewell", "worker", "--json"],
        env=served.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield process
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()
        process.stderr.close()


def test_workers_do_the_jobs_of_a_server_that_takes_none(served: Bench) -> None:
    with served.serve([], options=("--no-worker",)) as server:
        sent = [send(server, number) for number in range(12)]
        assert {job["state"] for job in jobs(server)} == {"queued"}
        with working(served) as first, working(served) as second:
            until(lambda: {job["state"] for job in jobs(server)} == {"done"}, "all are done")
            assert [job["attempts"] for job in jobs(server)] == [1] * len(sent)
            assert server.get("/api/collections/docs").json()["documents"] == len(sent)
            for process in (first, second):
                process.send_signal(signal.SIGTERM)
                assert process.wait(PATIENCE) == 0

"""A server of uploads that is killed again and again, and files that kill whoever reads them.

The one rule: what is done to a process is done in all of Citewell's processes, by what Python runs
at its own start (`sitecustomize`), so that nothing of Citewell knows that it is tried. The server,
which is forked, runs the same before anything else.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from tests.servers.forked import Forked

POISON = "poison for whoever reads this"
ENDED = {"done", "failed", "cancelled"}

# opening what was uploaded takes a while, and kills where it holds the poison and a file says that
# it is one
START = """
import os, signal, sys, threading, time
within = threading.local()
def look(event, arguments):
    if event != "open" or hasattr(within, "look") or not str(arguments[0]).startswith(
            {uploads!r}) or "w" in str(arguments[1]):
        return
    if os.path.isdir(arguments[0]):
        return
    time.sleep({wait})
    within.look = True  # else this would be looked at too
    with open(arguments[0], "rb") as file:
        head = file.read(1000)
    del within.look
    if {poison!r}.encode() in head and os.path.exists({mark!r}):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(look)
"""
# the command line, which waits for less
DRIVER = """
from citewell.interfaces.cli import main
from citewell.service.jobs import isolated_jobs
from citewell.store import jobs
jobs.FAULT_PAUSE, isolated_jobs.POLL = 0.05, 0.2
main()
"""


@dataclass
class Uploads:
    """A home, one server on it after another, and the acknowledged jobs. `wait`: seconds that a
    file takes to open.
    """

    home: Path
    folder: Path
    wait: float
    url: str = ""
    process: subprocess.Popen[str] | None = None
    jobs: list[str] = field(default_factory=list)

    @property
    def poisonous(self) -> Path:
        """While it is there, the poison is."""
        return self.folder / "poisonous"

    def environ(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")
        }
        start = START.format(
            wait=self.wait,
            poison=POISON,
            mark=str(self.poisonous),
            uploads=f"{self.home / 'uploads'}{os.sep}",
        )
        (self.folder / "sitecustomize.py").write_text(start, "utf-8")
        scripted = {f"CITEWELL_{name}": "scripted" for name in ("LLM", "EMBEDDER", "READER")}
        path = os.pathsep.join([str(self.folder), *filter(None, [kept.get("PYTHONPATH")])])
        places = {
            "CITEWELL_HOME": str(self.home),
            "CITEWELL_CACHE": str(self.home / "cache"),
            "PYTHONPATH": path,
        }
        return kept | scripted | places

    def start(self) -> None:
        environ = self.environ()
        program = (self.folder / "sitecustomize.py").read_text("utf-8") + DRIVER
        command = [sys.executable, "-c", program, "serve", "--port", "0", "--json"]
        self.process = Forked(
            command,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        text = ""
        while not text.endswith("\n}\n"):
            line = self.process.stdout.readline()
            assert line, f"it ended with {self.process.wait()}"
            text += line
        self.url = json.loads(text)["url"]

    def kill(self) -> None:
        """And what it had begun: they end with their input."""
        process, self.process = self.process, None
        if process is not None:
            process.send_signal(signal.SIGKILL)
            process.wait(120)
            assert process.stdout is not None
            process.stdout.close()

    @contextmanager
    def running(self) -> Iterator[None]:
        self.start()
        try:
            yield
        finally:
            self.kill()

    def send(self, name: str, text: str) -> str:
        """The job, where the server says that it has it. Raises httpx.HTTPError."""
        path = f"{self.url}/api/collections/docs/documents"
        reply = httpx.post(
            path, files={"file": (name, text.encode())}, trust_env=False, timeout=120
        )
        assert reply.status_code == 202, reply.text
        self.jobs.append(str(reply.json()["job_id"]))
        return self.jobs[-1]

    def job(self, job_id: str) -> dict[str, Any]:
        reply = httpx.get(f"{self.url}/api/jobs/{job_id}", trust_env=False, timeout=120)
        found: dict[str, Any] = reply.json()
        return found

    def state_line(self) -> list[str]:
        reply = httpx.get(f"{self.url}/api/jobs", trust_env=False, timeout=120)
        return [job["state"] for job in reply.json()["jobs"]]

    def ended(self, jobs: Sequence[str], seconds: float = 120.0) -> dict[str, dict[str, Any]]:
        """Each when it has come to its end, as long as the server lives."""
        found: dict[str, dict[str, Any]] = {}
        until = time.monotonic() + seconds
        while len(found) < len(jobs):
            assert time.monotonic() < until, f"{len(found)} of {len(jobs)} have ended"
            found |= {
                each: job
                for each in jobs
                if each not in found and (job := self.job(each))["state"] in ENDED
            }
            time.sleep(0.05)
        return found

    def documents(self) -> set[str]:
        reply = httpx.get(
            f"{self.url}/api/collections/docs/documents", trust_env=False, timeout=120
        )
        return {document["uri"].removeprefix("upload:") for document in reply.json()["documents"]}

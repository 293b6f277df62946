"""A real `citewell serve` for the bench: on a free port of the loopback, in a home of its own,
watched through /proc.

The one rule: it is ended by its process id, whatever happens.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TICKS = os.sysconf("SC_CLK_TCK")
COLLECTION = "bench"


@dataclass(frozen=True, slots=True)
class Pace:
    """How slow the scripted model is: seconds before a call's reply, and before each token of
    it.
    """

    delay: float = 0.0
    token: float = 0.0


@dataclass(slots=True)
class Server:
    """`more`: of the environment; `options`: of the command. `started`: seconds from the start of
    the process to its first reply.
    """

    home: Path
    pace: Pace = field(default_factory=Pace)
    embedder: str = "scripted"
    more: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    url: str = ""
    started: float = 0.0
    process: subprocess.Popen[str] | None = None

    def environ(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")
        }
        self.home.mkdir(parents=True, exist_ok=True)
        script = self.home / "script.json"
        script.write_text(
            json.dumps([{"pace": self.pace.token, "delay": self.pace.delay}]), "utf-8"
        )
        own = {
            "CITEWELL_HOME": str(self.home),
            "CITEWELL_CACHE": str(self.home / "cache"),
            "CITEWELL_LLM": "scripted",
            "CITEWELL_READER": "scripted",
            "CITEWELL_EMBEDDER": self.embedder,
            "CITEWELL_SCRIPTED_REPLIES": str(script),
            "CITEWELL_COLLECTION": COLLECTION,
        }
        return kept | own | self.more

    def add(self, folder: Path) -> None:
        command = [sys.executable, "-m", "citewell", "add", str(folder), "--json"]
        subprocess.run(command, env=self.environ(), check=True, capture_output=True)

    def start(self) -> None:
        began = time.perf_counter()
        serve = ("serve", "--port", "0", "--json")
        command = [sys.executable, "-m", "citewell", *serve, *self.options]
        self.process = subprocess.Popen(
            command, env=self.environ(), stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        told = line = ""
        while line != "}\n":
            line = self.process.stdout.readline()
            told += line
            if not line:
                raise RuntimeError(
                    f"citewell serve ended with {self.process.wait()} before it listened"
                )
        if "url" not in json.loads(told):
            raise RuntimeError(f"citewell serve did not start: {told}")
        self.url = json.loads(told)["url"]
        self.get("/api/health")
        self.started = time.perf_counter() - began

    def stop(self, how: int = signal.SIGTERM) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()

    def get(self, *paths: str) -> list[Any]:
        """JSON replies in order, by one connection. Raises RuntimeError for one that is not 200."""
        with closing(self._line()) as line:
            return [_reply(line, "GET", path) for path in paths]

    def post(self, path: str, body: dict[str, Any]) -> Any:
        with closing(self._line()) as line:
            return _reply(line, "POST", path, json.dumps(body))

    def _line(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def cpu(self) -> float:
        """Seconds of a core that it has taken so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def waited(self) -> float:
        """Seconds that its first thread, which the event loop has, was ready to run while other
        programs had the cores.
        """
        return int(Path(f"/proc/{self.pid}/schedstat").read_text("utf-8").split()[1]) / 1e9

    def memory(self) -> tuple[float, float]:
        """MiB that it holds now, and the most it held since `forget_peak`."""
        return self._status("VmRSS"), self._status("VmHWM")

    def forget_peak(self) -> None:
        Path(f"/proc/{self.pid}/clear_refs").write_text("5", "utf-8")

    def _status(self, name: str) -> float:
        lines = Path(f"/proc/{self.pid}/status").read_text("utf-8").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name + ":"))


def _reply(
    line: http.client.HTTPConnection, method: str, path: str, body: str | None = None
) -> Any:
    line.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    reply = line.getresponse()
    data = reply.read()
    if reply.status != 200:
        raise RuntimeError(f"{method} {path}: {reply.status} {data[:200]!r}")
    return json.loads(data)

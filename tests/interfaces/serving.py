"""`citewell serve` as a process of its own, for tests that send it real signals.

The one rule: a test waits for something that the server shows (an event, a row, a reply), never for
a time.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool
from tests.servers.forked import Forked

from citewell.config import Settings
from citewell.runtime.app import App
from citewell.service.library.embedding import embed_pending
from citewell.service.library.intake import add_data

SSE = {"Accept": "text/event-stream"}
PATIENCE = 60.0  # seconds that anything may take on a machine under load
FACT = "The lighthouse was built in 1857."
QUESTION = "When was the lighthouse built?"
DOCUMENT = f"# Lighthouse\n\n{FACT} Its lamp is electric.\n"
Events = list[tuple[str, dict[str, Any]]]


def until(seen: Callable[[], Any], what: str) -> Any:
    """What `seen` says as soon as that is something."""
    end = time.monotonic() + PATIENCE
    while not (found := seen()):
        assert time.monotonic() < end, f"it never came: {what}"
        time.sleep(0.02)
    return found


@dataclass
class Server:
    """A running server. `told`: its lines on standard error, as they come."""

    process: subprocess.Popen[str]
    url: str
    told: list[str] = field(default_factory=list)

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def stops(self, seconds: float = PATIENCE) -> int:
        """Its exit code."""
        return self.process.wait(seconds)

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.url + path, trust_env=False, timeout=PATIENCE)

    def post(self, path: str, body: Any) -> httpx.Response:
        return httpx.post(self.url + path, json=body, trust_env=False, timeout=PATIENCE)

    def is_closing(self) -> None:
        """Wait until it takes nothing new."""
        until(lambda: self.get("/api/ready").status_code == 503, "ready says stopping")


class Stream:
    """A question's events, read in a thread."""

    def __init__(self, server: Server, body: dict[str, Any], path: str = "/api/ask") -> None:
        self.events: Events = []
        self.lines: list[str] = []
        self.whole = False
        self._arguments = (f"{server.url}{path}", body)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def has(self, kind: str) -> Any:
        return until(lambda: next((data for name, data in self.events if name == kind), None), kind)

    def end(self) -> Events:
        """All events; the stream has ended as HTTP says."""
        self._thread.join(PATIENCE)
        assert self.whole, "the stream was broken off"
        return self.events

    def broken(self) -> Events:
        self._thread.join(PATIENCE)
        return self.events

    def _read(self) -> None:
        url, body = self._arguments
        name = ""
        try:
            with httpx.stream(
                "POST", url, json=body, headers=SSE, trust_env=False, timeout=2 * PATIENCE
            ) as reply:
                for line in reply.iter_lines():
                    self.lines.append(line)
                    if line.startswith("event: "):
                        name = line.removeprefix("event: ")
                    if line.startswith("data: {"):
                        self.events.append((name, json.loads(line.removeprefix("data: "))))
            self.whole = True
        except httpx.HTTPError:
            self.whole = False


@dataclass
class Bench:
    """A home, and servers on it one after another. `program`: their command line."""

    settings: Settings
    environ: dict[str, str]
    folder: Path
    program: tuple[str, str] = ("-m", "citewell")

    def add(self, text: str = DOCUMENT, name: str = "lighthouse.md") -> None:
        """A document that can be found by meaning too."""
        asyncio.run(self._add(text.encode(), name))

    async def _add(self, data: bytes, name: str) -> None:
        async with App(self.settings) as app:
            await add_data(app, data, name, f"upload:{name}", "default")
            await embed_pending(app)

    @contextmanager
    def serve(
        self, script: list[Any], descriptors: int = 0, options: tuple[str, ...] = (), **more: str
    ) -> Iterator[Server]:
        """With a model that says this. `descriptors`: as many as it may have open, where that is
        said. `options`: of the command.
        """
        path = self.folder / f"script{len(list(self.folder.glob('script*')))}.json"
        path.write_text(json.dumps(script), "utf-8")
        environ = self.environ | {"CITEWELL_SCRIPTED_REPLIES": str(path)}
        environ |= {f"CITEWELL_{name.upper()}": value for name, value in more.items()}
        command = [sys.executable, *self.program, "serve", "--port", "0", "--json", *options]
        limit = ["sh", "-c", f'ulimit -n {descriptors} && exec "$@"', "sh"] if descriptors else []
        start = subprocess.Popen if descriptors else Forked
        process = start(
            [*limit, *command],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        told: list[str] = []
        reading = threading.Thread(target=lambda: told.extend(process.stderr or ()), daemon=True)
        reading.start()
        try:
            text = ""
            while not text.endswith("\n}\n"):
                line = process.stdout.readline()
                assert line, told
                text += line
            yield Server(process, json.loads(text)["url"], told)
        finally:
            process.kill()
            process.wait(PATIENCE)
            reading.join(PATIENCE)
            process.stdout.close()
            process.stderr.close()


def run_statement(settings: Settings, statement: str, **values: Any) -> list[tuple[Any, ...]]:
    """In the home's database, whichever it is, beside whoever has it open."""
    named = settings.database_url.get_secret_value()
    url = make_url(named or f"sqlite:///{settings.database}")
    waiting = {} if named else {"timeout": PATIENCE}
    engine = create_engine(
        url.set(drivername="postgresql+psycopg") if named else url,
        poolclass=NullPool,
        connect_args=waiting,
    )
    with engine.begin() as connection:
        found = connection.execute(text(statement), values)
        return [tuple(row) for row in found] if found.returns_rows else []


def read_rows(settings: Settings, query: str) -> list[tuple[Any, ...]]:
    """Nothing where there is no database yet, or no tables in it."""
    if not settings.database_url.get_secret_value() and not settings.database.exists():
        return []
    try:
        return run_statement(settings, query)
    except OperationalError:
        return []


def is_sound(settings: Settings) -> bool:
    """As SQLite sees its file; PostgreSQL's are its own affair."""
    if settings.database_url.get_secret_value():
        return True
    whole = run_statement(settings, "PRAGMA integrity_check") == [("ok",)]
    return whole and run_statement(settings, "PRAGMA foreign_key_check") == []


def build_environment(settings: Settings, **more: str) -> dict[str, str]:
    """For a process of its own in the home of `settings`, with scripted models."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")}
    own = {
        "CITEWELL_DATABASE_URL": settings.database_url.get_secret_value(),
        "CITEWELL_HOME": str(settings.home),
        "CITEWELL_CACHE": str(settings.cache),
        "CITEWELL_LLM": "scripted",
        "CITEWELL_EMBEDDER": "scripted",
        "CITEWELL_READER": "scripted",
    }
    return {**kept, **own, **more}


def bench(settings: Settings, folder: Path) -> Bench:
    environ = build_environment(settings, CITEWELL_ALLOW_PRIVATE_HOSTS="127.0.0.1")
    return Bench(settings, environ, folder)

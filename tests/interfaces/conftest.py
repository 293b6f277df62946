"""An open App, the HTTP interface on a real loopback port, the command line in this process, and an
agent without a model.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import types
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import openai
import pytest
import uvicorn

from citewell.config import Settings
from citewell.errors import CitewellError
from citewell.interfaces.cli import main
from citewell.interfaces.cli.admin.serve import build_config, open_listener
from citewell.interfaces.http import create_app
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.ask.run import AskRequest
from citewell.service.library.embedding import embed_pending
from citewell.service.library.intake import add_data
from citewell.types import Answer, Citation, Event, Sentence, Step, Usage


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with App(settings) as opened:
        yield opened


@dataclass
class Served:
    """A running server: its client, and the switch that `citewell serve` pulls on a signal."""

    client: httpx.AsyncClient
    stop: Callable[[], None]


@pytest.fixture
async def served(app: App, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    http = create_app(app)
    shorten_pauses(monkeypatch)
    listener = open_listener("127.0.0.1", 0)
    server = uvicorn.Server(build_config(http, grace=3))
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]  # pytest keeps its own
    running = asyncio.create_task(server.serve(sockets=[listener]))

    def stop() -> None:
        app.stopping.end()
        server.should_exit = True

    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with httpx.AsyncClient(base_url=base, trust_env=False, timeout=120) as client:
        yield Served(client, stop)
    stop()
    await running


def shorten_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """uvicorn looks every 10 ms whether it has to stop, not every 100: each test stops one."""
    sleep = asyncio.sleep
    quick = {"sleep": lambda seconds: sleep(seconds / 10)}
    monkeypatch.setattr("uvicorn.server.asyncio", types.SimpleNamespace(**vars(asyncio) | quick))


@pytest.fixture
async def ai(served: Served) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url=f"{served.client.base_url}/v1", api_key="none", max_retries=0, timeout=60
    ) as client:
        yield client


@pytest.fixture
def client(served: Served) -> httpx.AsyncClient:
    return served.client


def example_answer(**changes: Any) -> Answer:
    """Two sentences, two sources, one of them Chinese and full of what a terminal would obey."""
    values: dict[str, Any] = {
        "answer": "It was built in 1857. [1]\nIt is [bold]red[/bold]. [2]",
        "sentences": [
            Sentence(text="It was built in 1857.", citations=[1], verdict="supported"),
            Sentence(text="It is [bold]red[/bold].", citations=[2], verdict="partly"),
        ],
        "citations": [
            Citation(
                n=1,
                doc_id="doc_1",
                title="Lighthouses",
                uri="/a.pdf",
                page=3,
                section="North",
                quote="Built 1857.",
                start=0,
                end=11,
            ),
            Citation(
                n=2,
                doc_id="doc_2",
                title="灯塔\x1b[31m手册",
                uri="/b.md",
                quote="塔身为红色。",
                start=0,
                end=6,
                status="weak",
            ),
        ],
        "status": "answered",
        "confidence": 0.87,
        "agent": "qa",
        "session_id": "ses_1",
        "trace_id": "tr_1",
        "warnings": ["one source is weak"],
        "usage": Usage(seconds={"total": 1.5}),
    }
    return Answer(**(values | changes))


@dataclass
class FakeAgent:
    """Stands where an agent would: says these events, and keeps what it was asked. `cancelled` when
    it was stopped; with `hang` it waits for `go_on`.
    """

    answer: Answer = field(default_factory=example_answer)
    error: CitewellError | None = None
    hang: bool = False
    asked: list[AskRequest] = field(default_factory=list)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, app: App, request: AskRequest) -> AsyncIterator[Event]:
        self.asked.append(request)
        self.started.set()
        detail = {"trace_id": self.answer.trace_id}
        first = Step(n=1, node="InputValidationNode", action="default", seconds=0.01, detail=detail)
        yield Event("step", first)
        yield Event("token", "It was ")
        yield Event("token", "built")
        if self.hang:
            try:
                await asyncio.wait_for(self.go_on.wait(), 60)
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        if self.error is not None:
            raise self.error
        yield Event("citation", self.answer.citations[0])
        yield Event("warning", "one source is weak")
        yield Event("answer", self.answer)

    async def ask(self, app: App, request: AskRequest) -> Answer:
        async for event in self.stream(app, request):
            if isinstance(event.data, Answer):
                return event.data
        raise AssertionError("no answer")


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> FakeAgent:
    fake = FakeAgent()
    monkeypatch.setattr("citewell.interfaces.http.routes.ask_routes.stream_answer", fake.stream)
    monkeypatch.setattr("citewell.service.ask.live_runs.stream_answer", fake.stream)
    monkeypatch.setattr("citewell.interfaces.http.routes.ask_routes.answer_to", fake.ask)
    monkeypatch.setattr("citewell.interfaces.cli.ask.ask.stream_answer", fake.stream)
    monkeypatch.setattr("citewell.interfaces.cli.ask.chat.stream_answer", fake.stream)
    return fake


@dataclass
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    """Run the command line in this process, in the test's own home."""
    for name, value in environment(settings).items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["citewell", *arguments])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


def environment(settings: Settings) -> dict[str, str]:
    return {
        "CITEWELL_DATABASE_URL": settings.database_url.get_secret_value(),
        "CITEWELL_HOME": str(settings.home),
        "CITEWELL_CACHE": str(settings.cache),
        "CITEWELL_LLM": settings.llm,
        "CITEWELL_EMBEDDER": settings.embedder,
        "CITEWELL_READER": settings.reader,
    }


@pytest.fixture
def environ(settings: Settings) -> dict[str, str]:
    """For the command line as its own process, in the test's own home."""
    kept = {
        name: os.environ[name]
        for name in ("PATH", "PYTHONPATH", "SYSTEMROOT")
        if name in os.environ
    }
    return {**kept, **environment(settings), "HOME": str(settings.home), "TERM": "xterm-256color"}


NORTHGATE = (
    "# Northgate\n\nThe Northgate lighthouse was built in 1857. Its tower is 31 metres "
    "high.\n\nThe keeper was Anna Berg.\n"
)


@pytest.fixture
async def northgate(app: App) -> str:
    """The id of a document about a lighthouse, in the default collection; the scripted model
    answers from it.
    """
    assert isinstance(app.llm, ScriptedLLM)
    app.llm.reply_with(
        lambda _: "The Northgate lighthouse was built in 1857. Its tower is 31 metres high."
    )
    report = await add_data(
        app, NORTHGATE.encode(), "northgate.md", "upload:northgate.md", "default"
    )
    await embed_pending(app)
    return report.doc_id

"""What is known of the chat model's endpoint, as the doctor tells it and as a question goes by
it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from citewell.config import Settings
from citewell.models.probe import FILE
from citewell.runtime.app import App
from citewell.service.admin.doctor import run_checks
from citewell.service.admin.health_check import Check
from citewell.service.ask.ask import AskRequest
from citewell.service.ask.begin_run import begin_run
from citewell.service.library.add import add_paths

FORM = '{"capital": "Paris", "numbers": [1, 2, 3]}'


class Server(ThreadingHTTPServer):
    """A chat model that always says the same. `context`: what its server tells of it. `asked`:
    paths in order.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.context = 32_768
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self._reply({"object": "list", "data": [{"id": "m", "max_model_len": self.server.context}]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": FORM},
            "finish_reason": "stop",
        }
        usage = {"prompt_tokens": 30, "completion_tokens": 40, "total_tokens": 70}
        self._reply(
            {
                "id": "c",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [choice],
                "usage": usage,
            }
        )

    def _reply(self, body: object) -> None:
        self.server.asked.append(self.path)
        sent = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def endpoint() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(
            target=lambda: server.serve_forever(poll_interval=0.02), daemon=True
        )
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def connected(settings: Settings, endpoint: Server) -> Settings:
    return settings.model_copy(update={"llm": "openai", "llm_url": endpoint.url, "llm_model": "m"})


async def line(settings: Settings, name: str = "chat endpoint", *, fast: bool = False) -> Check:
    return next(
        check for check in (await run_checks(settings, fast=fast)).checks if check.name == name
    )


async def test_the_doctor_asks_anew_and_tells(connected: Settings, endpoint: Server) -> None:
    """Context, schema, log-probabilities, thinking and speed in a line; the fast one tells what is
    remembered.
    """
    assert "not asked yet" in (await line(connected, fast=True)).detail
    assert endpoint.asked == []
    for times in (1, 2):
        found = await line(connected)
        assert found.state == "ok"
        assert found.detail.startswith(
            "context 32,768 tokens, JSON schema yes, logprobs no, thinks no, about "
        )
        assert endpoint.asked == ["/v1/models", "/v1/chat/completions"] * times
    assert (await line(connected, fast=True)).detail == found.detail
    judged = connected.model_copy(update={"judge_url": endpoint.url, "judge_model": "m"})
    assert (await line(judged, "judge endpoint")).state == "ok"


async def test_the_doctor_warns(connected: Settings, endpoint: Server) -> None:
    """Of a context without room for an answer, and of a server that does not reply."""
    endpoint.context = 4_096
    assert "too small to write answers" in (await line(connected)).advice
    found = await line(connected.model_copy(update={"llm_url": "http://127.0.0.1:9/v1"}))
    assert found.state == "warn"
    assert "llm_url" in found.advice


@pytest.mark.parametrize(("context", "tokens"), [(32_768, 8_000), (4_096, 1_258)])
async def test_a_question_goes_by_it(
    connected: Settings, endpoint: Server, library: Path, context: int, tokens: int
) -> None:
    """The first question probes, the second does not; evidence fits in the context, and one that is
    too small is told.
    """
    endpoint.context = context
    async with App(connected) as app:
        await add_paths(app, [str(library)], "docs")
        endpoint.asked.clear()
        for _ in range(2):
            run = await begin_run(
                app, AskRequest(question="Who keeps the lighthouse?", agent="qa", collection="docs")
            )
            assert run.meter is not None
            assert run.meter.evidence_tokens == tokens
            assert any("4096 tokens of context" in warning for warning in run.warnings) is (
                context == 4_096
            )
        assert len(endpoint.asked) <= 2
    assert (connected.home / FILE).is_file()

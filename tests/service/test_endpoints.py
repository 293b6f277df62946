"""What is known of the chat model's endpoint, as the doctor tells it and as a question goes by
it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.interfaces.model_server import ModelServer

from citewell.config import Settings
from citewell.models.probe import FILE
from citewell.runtime.app import App
from citewell.service.admin.doctor import run_checks
from citewell.service.admin.health_check import Check
from citewell.service.ask.begin_run import begin_run
from citewell.service.ask.run import AskRequest
from citewell.service.library.add import add_paths


@pytest.fixture
def endpoint() -> Iterator[ModelServer]:
    with ModelServer() as server:
        thread = threading.Thread(
            target=lambda: server.serve_forever(poll_interval=0.02), daemon=True
        )
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def connected(settings: Settings, endpoint: ModelServer) -> Settings:
    return settings.model_copy(update={"llm": "openai", "llm_url": endpoint.url, "llm_model": "m"})


async def line(settings: Settings, name: str = "chat endpoint", *, fast: bool = False) -> Check:
    return next(
        check for check in (await run_checks(settings, fast=fast)).checks if check.name == name
    )


async def test_the_doctor_asks_anew_and_tells(connected: Settings, endpoint: ModelServer) -> None:
    """Context, schema, log-probabilities, thinking and speed in a line; the fast one tells what is
    remembered.
    """
    assert "not asked yet" in (await line(connected, fast=True)).detail
    assert endpoint.paths == []
    for times in (1, 2):
        found = await line(connected)
        assert found.state == "ok"
        assert found.detail.startswith(
            "context 32,768 tokens, JSON schema yes, logprobs no, thinks no, about "
        )
        assert endpoint.paths == ["/v1/models", "/v1/chat/completions"] * times
    assert (await line(connected, fast=True)).detail == found.detail
    judged = connected.model_copy(update={"judge_url": endpoint.url, "judge_model": "m"})
    assert (await line(judged, "judge endpoint")).state == "ok"


async def test_the_doctor_warns(connected: Settings, endpoint: ModelServer) -> None:
    """Of a context without room for an answer, and of a server that does not reply."""
    endpoint.context = 4_096
    assert "too small to write answers" in (await line(connected)).advice
    found = await line(connected.model_copy(update={"llm_url": "http://127.0.0.1:9/v1"}))
    assert found.state == "warn"
    assert "llm_url" in found.advice


@pytest.mark.parametrize(("context", "tokens"), [(32_768, 8_000), (4_096, 1_258)])
async def test_a_question_goes_by_it(
    connected: Settings, endpoint: ModelServer, library: Path, context: int, tokens: int
) -> None:
    """The first question probes, the second does not; evidence fits in the context, and one that is
    too small is told.
    """
    endpoint.context = context
    async with App(connected) as app:
        await add_paths(app, [str(library)], "docs")
        endpoint.came.clear()
        for _ in range(2):
            run = await begin_run(
                app, AskRequest(question="Who keeps the lighthouse?", agent="qa", collection="docs")
            )
            assert run.meter is not None
            assert run.meter.evidence_tokens == tokens
            assert any("4096 tokens of context" in warning for warning in run.warnings) is (
                context == 4_096
            )
        assert len(endpoint.paths) <= 2
    assert (connected.home / FILE).is_file()

"""Spans as a collector gets them: OTLP over HTTP, decoded: whole, in place, without a word; and one
that is away.
"""

from __future__ import annotations

import gzip
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from pydantic import SecretStr
from tests.interfaces.auth import done

from citewell.config import Settings
from citewell.errors import ConfigError, TransientError
from citewell.interfaces.http import create_app
from citewell.interfaces.spans import SECONDS, build_spans
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App

TEXT = (
    "The lamp of Norden is 41 metres tall. It was lit in 1857.\n\nThe harbour of Norden is "
    "closed in winter."
)
ASKING = {"question": "How tall is the lamp of Norden?", "collection": "lamps"}
TRACE, ABOVE = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Collector:
    """Keeps the spans it was sent."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.about: dict[str, Any] = {}
        self.bytes = b""
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.take(
                    gzip.decompress(body)
                    if self.headers.get("content-encoding") == "gzip"
                    else body
                )
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing on the terminal."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def take(self, body: bytes) -> None:
        self.bytes += body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.about = said(resource.resource.attributes)
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> Span:
        (span,) = self.named(name)
        return span


def said(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    found = Collector()
    thread = threading.Thread(target=found.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield found
    found.server.shutdown()
    found.server.server_close()
    thread.join()


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={"otel": True, "llm_key": SecretStr("sk-quite-secret-key-0815")}
    )


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[tuple[App, httpx.AsyncClient]]:
    """When the block is left, the server has stopped and all spans are sent."""
    async with App(settings) as app:
        http = create_app(app)
        async with http.router.lifespan_context(http):
            transport = httpx.ASGITransport(http)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1", timeout=60
            ) as client:
                upload = await client.post(
                    "/api/collections/lamps/documents", files={"file": ("lamps.txt", TEXT.encode())}
                )
                await done(client, upload.json())
                yield app, client


@contextmanager
def away(monkeypatch: pytest.MonkeyPatch, port: int) -> Iterator[None]:
    """A collector that takes nothing; what still tries to reach it when the server has stopped is
    waited for.
    """
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield
    for thread in threading.enumerate():
        if thread.name == "citewell-spans":
            thread.join(60)


async def test_an_answer_its_nodes_and_its_calls(settings: Settings, collector: Collector) -> None:
    parent = {"traceparent": f"00-{TRACE}-{ABOVE}-01", "X-Request-ID": "mine-7"}
    async with serving(settings) as (_, client):
        answer = (await client.post("/api/ask", json=ASKING, headers=parent)).json()
    assert answer["status"] == "answered"
    root = collector.one("invoke_agent qa")
    assert (root.trace_id.hex(), root.parent_span_id.hex()) == (TRACE, ABOVE)
    about = said(root.attributes)
    assert about.pop("citewell.first_token_seconds") > 0
    assert about == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "qa",
        "citewell.request_id": "mine-7",
        "citewell.trace_id": answer["trace_id"],
        "citewell.status": "answered",
    }
    nodes = [span for span in collector.spans if span.parent_span_id == root.span_id]
    assert {node.name for node in nodes} == set(answer["usage"]["seconds"]) - {"total"}
    generation = collector.one("AnswerGenerationNode")
    assert said(generation.attributes) == {
        "citewell.node": "AnswerGenerationNode",
        "citewell.action": "store_answer",
        "citewell.status": "completed",
        "gen_ai.agent.name": "qa",
    }
    chats = [
        span
        for span in collector.named("chat scripted")
        if said(span.attributes)["citewell.call"] == "chat"
    ]
    chat, _judge = sorted(chats, key=lambda span: span.start_time_unix_nano or 0)
    assert chat.parent_span_id == generation.span_id
    told = said(chat.attributes)
    assert (
        told["gen_ai.operation.name"],
        told["gen_ai.provider.name"],
        told["gen_ai.request.model"],
    ) == (
        "chat",
        "scripted",
        "scripted",
    )
    calls = [said(span.attributes) for span in collector.named("chat scripted")]
    assert (
        sum(call["gen_ai.usage.input_tokens"] for call in calls) == answer["usage"]["prompt_tokens"]
    )
    assert (
        sum(call["gen_ai.usage.output_tokens"] for call in calls)
        == answer["usage"]["completion_tokens"]
    )
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano > 0 for span in collector.spans)
    assert collector.about["service.name"] == "citewell"


async def test_a_job_is_a_trace_of_its_own(
    settings: Settings, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "ask-me")
    async with serving(settings):
        pass
    job = collector.one("job upload")
    assert job.parent_span_id == b""
    told = said(job.attributes)
    assert (told["citewell.job.kind"], told["citewell.job.state"]) == ("upload", "done")
    assert told["citewell.job_id"].startswith("job_")
    assert {span.trace_id for span in collector.named("embeddings scripted")} == {job.trace_id}
    assert collector.about["service.name"] == "ask-me"


async def test_not_a_word_and_no_secret_goes_out(
    settings: Settings, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where calls fail with errors that quote what they were asked."""
    monkeypatch.setattr("citewell.agents.qa.qa.compute_backoff", lambda *_: 0.0)
    async with serving(settings) as (app, client):
        assert isinstance(app.llm, ScriptedLLM)
        app.llm.enqueue(
            *[TransientError("cannot answer zyzzyva with sk-quite-secret-key-0815")] * 3
        )
        asked = ASKING | {"question": "How tall is the lamp of Norden, asks zyzzyva?"}
        await client.post(
            "/api/ask",
            json=asked,
            headers={"Authorization": "Bearer cw_some-token", "Cookie": "c=cookie-word"},
        )
        await client.post("/api/ask", json=ASKING | {"agent": "zyzzyva-agent"})
    failed = [span for span in collector.spans if span.status.code == Status.STATUS_CODE_ERROR]
    assert {said(span.attributes)["error.type"] for span in failed} >= {"transient"}
    assert all(span.status.message == "" and not span.events for span in collector.spans)
    for word in (b"zyzzyva", b"Norden", b"0815", b"cw_some", b"cookie-word", b"lamps"):
        assert word not in collector.bytes


async def test_a_traceparent_that_is_none_begins_a_trace(
    settings: Settings, collector: Collector
) -> None:
    parents = ("", "00-x-y-01", f"00-{'0' * 32}-{ABOVE}-01", f"ff-{TRACE}-{ABOVE}-01", "a" * 5000)
    async with serving(settings) as (_, client):
        for parent in parents:
            reply = await client.post("/api/ask", json=ASKING, headers={"traceparent": parent})
            assert reply.status_code == 200
    roots = collector.named("invoke_agent qa")
    assert {root.parent_span_id for root in roots} == {b""}
    assert len({root.trace_id.hex() for root in roots} - {TRACE}) == len(parents)


async def test_a_collector_that_never_answers_costs_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes the line and is silent: answers come as ever, and a stop waits a moment and no
    more.
    """
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "16")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "16")
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        away(monkeypatch, silent.getsockname()[1]),
    ):
        async with serving(settings) as (_, client):
            for _ in range(6):
                assert (await client.post("/api/ask", json=ASKING)).json()["status"] == "answered"
            stops = time.monotonic()
        assert time.monotonic() - stops < SECONDS + 10


async def test_a_collector_that_is_not_there(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with away(monkeypatch, 9):
        async with serving(settings) as (_, client):
            assert (await client.post("/api/ask", json=ASKING)).json()["status"] == "answered"


def test_off_unless_it_is_set(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert build_spans(settings.model_copy(update={"otel": False})) is None


def test_without_the_extra_the_error_says_what_to_install(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(ConfigError, match="OpenTelemetry is not installed") as told:
        build_spans(settings)
    assert "citewell[otel]" in told.value.hint

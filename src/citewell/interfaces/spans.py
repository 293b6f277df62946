"""Spans for OpenTelemetry: one an answer or a job, below it one a node and one a call of a model.
Off, but for setting `otel`.

Where to and how is said by the standard's own environment: `OTEL_EXPORTER_OTLP_ENDPOINT`,
`OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER`. Spans are sent by a thread of their own, from a queue
that drops what it cannot hold: a collector that is away costs nobody anything. They carry names,
figures and ids, never a prompt, a question or an answer.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from citewell import __version__
from citewell.config import Settings
from citewell.errors import ConfigError
from citewell.instrumentation import CANCELLED, Operation

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

SECONDS = 3.0  # what is left to send gets so long when the server stops
EXTRA = "pip install 'citewell[otel]', or leave otel off"
OPERATIONS = {"yes_no": "chat"}  # gen_ai.operation.name, where ours is another
TOLD = {  # of a call, by the names of the semantic conventions
    "max_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
    "prompt": "gen_ai.usage.input_tokens",
    "completion": "gen_ai.usage.output_tokens",
    "cached": "gen_ai.usage.cache_read.input_tokens",
}


class Spans:
    """A Watch. Build it with `build_spans`; `close` sends what is left."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self._tracer = provider.get_tracer("citewell", __version__)
        self._propagator = TraceContextTextMapPropagator()

    def note_begin(self, doing: Operation) -> None:
        if doing.kind == "request":
            return
        parent = self._find_parent(doing)
        if parent is None and doing.kind in {"call", "node"}:
            return  # of nothing that has a span: the vectors of passages, a search by itself
        from opentelemetry.trace import SpanKind

        name, attributes = _BEGUN[doing.kind](doing)
        away = doing.kind == "call" and attributes["gen_ai.provider.name"] in {"openai", "http"}
        kind = SpanKind.CLIENT if away else SpanKind.INTERNAL
        doing.kept[self] = self._tracer.start_span(name, parent, kind, attributes)

    def note_end(self, doing: Operation) -> None:
        span: Span | None = doing.kept.get(self)
        if span is None:
            return
        span.set_attributes(_build_end_attributes(doing))
        if doing.kind == "answer":
            span.update_name(f"invoke_agent {doing.name}")
        if doing.outcome and "status" not in doing.facts:
            self._mark_failed(span, doing)
        span.end()

    def _mark_failed(self, span: Span, doing: Operation) -> None:
        """By its code: an error's words may quote what somebody wrote. Who leaves is no error."""
        from opentelemetry.trace import Status, StatusCode

        span.set_attribute("error.type", doing.outcome)
        if doing.outcome != CANCELLED:
            span.set_status(Status(StatusCode.ERROR))

    def _find_parent(self, doing: Operation) -> Context | None:
        """The span that is above, or the one of the caller's request; None: there is neither."""
        from opentelemetry.trace import set_span_in_context

        above = doing.above
        while above is not None:
            if (span := above.kept.get(self)) is not None:
                return set_span_in_context(span)
            if above.kind == "request" and "traceparent" in above.facts:
                carrier = {
                    name: above.facts[name]
                    for name in ("traceparent", "tracestate")
                    if name in above.facts
                }
                return self._propagator.extract(carrier)
            above = above.above
        return None

    def close(self, seconds: float = SECONDS) -> None:
        """Send what is left, for so long at most, in a daemon thread: collectors may not answer."""
        sending = threading.Thread(
            target=self._provider.shutdown, name="citewell-spans", daemon=True
        )
        sending.start()
        sending.join(seconds)


def build_spans(settings: Settings) -> Spans | None:
    """None where not wanted. Raises ConfigError where the extra is missing or unusable."""
    if not settings.otel:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ConfigError(
            f"setting otel: OpenTelemetry is not installed ({error.name})", hint=EXTRA
        ) from None
    try:
        exporter = OTLPSpanExporter()
        provider = TracerProvider(
            resource=Resource.create(_build_resource()), shutdown_on_exit=False
        )
        provider.add_span_processor(BatchSpanProcessor(exporter))
    except (ValueError, OSError) as error:
        raise ConfigError(
            f"setting otel: {error}", hint="see the variables OTEL_* of the environment"
        ) from None
    return Spans(provider)


def _build_resource() -> dict[str, Any]:
    """What sends the spans; the environment may call it otherwise."""
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    return {"service.version": __version__} | ({} if named else {"service.name": "citewell"})


def _describe_answer(doing: Operation) -> tuple[str, dict[str, Any]]:
    return "invoke_agent", {"gen_ai.operation.name": "invoke_agent"} | _build_id_attributes(doing)


def _describe_job(doing: Operation) -> tuple[str, dict[str, Any]]:
    return f"job {doing.name}", {"citewell.job.kind": doing.name} | _build_id_attributes(doing)


def _describe_node(doing: Operation) -> tuple[str, dict[str, Any]]:
    return doing.name, {"citewell.node": doing.name}


def _describe_call(doing: Operation) -> tuple[str, dict[str, Any]]:
    """By the conventions for generative AI: `OPERATION MODEL`."""
    provider, _, model = str(doing.facts["model"]).partition(":")
    operation = OPERATIONS.get(doing.name, doing.name)
    return f"{operation} {model or provider}", {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model or provider,
        "citewell.call": doing.name,
    }


_BEGUN = {
    "answer": _describe_answer,
    "job": _describe_job,
    "node": _describe_node,
    "call": _describe_call,
}


def _build_id_attributes(doing: Operation) -> dict[str, str]:
    return {f"citewell.{name}": value for name, value in doing.ids.items()}


def _build_end_attributes(doing: Operation) -> dict[str, Any]:
    facts = doing.facts
    if doing.kind == "call":
        return {told: facts[name] for name, told in TOLD.items() if facts.get(name) is not None}
    if doing.kind == "job":
        return {"citewell.job.state": facts.get("state") or doing.outcome}
    if doing.kind == "node":
        found = {f"citewell.{name}": facts[name] for name in ("action", "status") if name in facts}
        return found | {"gen_ai.agent.name": doing.agent}
    found = _build_id_attributes(doing) | {
        "gen_ai.agent.name": doing.name,
        "citewell.status": facts.get("status") or doing.outcome,
    }
    if doing.first is not None:
        found |= {"citewell.first_token_seconds": round(doing.first, 4)}
    return found

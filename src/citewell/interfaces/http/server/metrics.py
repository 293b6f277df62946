"""`/metrics` for Prometheus: what this server does, counted as it is done, and what it keeps,
looked up when asked. A label has few values, all of them ours: routes, agents, nodes, models of the
settings, kinds, codes. No path, no id, no name.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import cast

from fastapi import APIRouter, Request, Response
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder

from citewell import __version__
from citewell.errors import Stopped
from citewell.instrumentation import CANCELLED, Operation
from citewell.interfaces.http.server.connections import REASONS, Connections
from citewell.runtime.app import App
from citewell.service.admin.server_figures import Figures, collect_figures

router = APIRouter(tags=["status"])

QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
SLOW = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 180, 300)
LONG = (0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600)
# label, and the name it has with a call
TOKENS = {"sent": "prompt", "cached": "cached", "written": "completion"}
SIGN_IN = frozenset({"not_signed_in", "wrong_token", "csrf"})
CALLERS = frozenset(
    {"invalid_input", "sensitive_content", "unknown_agent", "not_found", "conflict", "not_allowed"}
)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}},
    operation_id="get_metrics",
)
async def get_metrics(request: Request) -> Response:
    """In the form of Prometheus or OpenMetrics, as asked. For this machine, and admins."""
    app, metrics = (
        cast("App", request.app.state.citewell),
        cast("Metrics", request.app.state.metrics),
    )
    metrics.note_figures(await collect_figures(app))
    encode, kind = choose_encoder(request.headers.get("accept", ""))
    return Response(encode(metrics.registry), headers={"Content-Type": kind})


class _Series:
    """Makes series in one registry, under our prefix."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def make_counter(self, name: str, said: str, *labels: str) -> Counter:
        return Counter(f"citewell_{name}", said, labels, registry=self._registry)

    def make_gauge(self, name: str, said: str, *labels: str) -> Gauge:
        return Gauge(f"citewell_{name}", said, labels, registry=self._registry)

    def make_seconds(
        self, name: str, said: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(
            f"citewell_{name}_seconds", said, labels, registry=self._registry, buckets=buckets
        )


class Metrics:
    """A Watch that counts, in a registry of its own: two Apps in a process are two."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series beside each that nobody reads
        self.registry = registry = CollectorRegistry(auto_describe=True)
        ProcessCollector(registry=registry)
        build = Info("citewell_build", "Which Citewell this is.", registry=registry)
        build.info({"version": __version__, "python": platform.python_version()})

        series = _Series(registry)
        self._define_requests(series)
        self._define_answers(series)
        self._define_stock(series)
        self._of = {
            "request": self._record_request,
            "answer": self._record_answer,
            "node": self._record_node,
            "call": self._record_call,
            "job": self._record_job,
        }

    def _define_requests(self, series: _Series) -> None:
        self.requests = series.make_counter(
            "http_requests", "Requests, by route and status.", "method", "route", "status"
        )
        self.request_seconds = series.make_seconds(
            "http_request", "To the end of the reply, streams too.", QUICK, "method", "route"
        )
        self.requests_running = series.make_gauge("http_requests_running", "Requests in hand.")
        self.connections = series.make_gauge("connections", "Connections that are open.")
        self.closed = series.make_counter(
            "connections_closed",
            "Connections closed for want of room or because they were slow.",
            "reason",
        )
        self.limited = series.make_counter(
            "rate_limited", "Requests refused because of a limit (access).", "limit"
        )
        self.refused = series.make_counter(
            "sign_in_refused", "Requests of nobody who is signed in, by code.", "reason"
        )

    def _define_answers(self, series: _Series) -> None:
        self.answers = series.make_counter(
            "answers", "Questions, by agent and how they ended.", "agent", "status"
        )
        self.orders = series.make_counter(
            "passages_with_orders",
            "Passages read for answers that tell a machine what to do.",
            "agent",
        )
        self.answer_seconds = series.make_seconds(
            "answer", "From question to answer.", SLOW, "agent"
        )
        self.first_token = series.make_seconds(
            "answer_first_token", "From question to the first piece of the draft.", SLOW, "agent"
        )
        self.answers_running = series.make_gauge(
            "answers_running", "Questions that are being answered."
        )
        self.node_seconds = series.make_seconds(
            "node", "A step of an agent.", QUICK, "agent", "node"
        )
        self.calls = series.make_counter(
            "model_calls", "Calls of models, by outcome.", "model", "operation", "outcome"
        )
        self.call_seconds = series.make_seconds(
            "model_call", "A call of a model, to its last token.", QUICK, "model", "operation"
        )
        self.tokens = series.make_counter(
            "model_tokens",
            "Tokens of chat models; cached ones are part of those sent.",
            "model",
            "kind",
        )

    def _define_stock(self, series: _Series) -> None:
        self.job_seconds = series.make_seconds(
            "job", "Work of the background, by how it ended.", LONG, "kind", "state"
        )
        self.jobs_running = series.make_gauge("jobs_running", "Jobs that this process is at.")
        self.jobs = series.make_gauge("jobs", "Jobs that are kept.", "kind", "state")
        self.queue = series.make_gauge("jobs_queued", "Jobs that wait.")
        self.oldest = series.make_gauge(
            "jobs_queued_oldest_seconds", "How long the oldest of them waits."
        )
        self.documents = series.make_gauge("documents", "Documents that are kept.")
        self.chunks = series.make_gauge("chunks", "Passages that are kept.")
        self.unembedded = series.make_gauge(
            "chunks_waiting", "Passages that are found by their words only so far."
        )
        self.up = series.make_gauge("database_up", "1 where the database can be read.")
        self.database = series.make_gauge("database_bytes", "The database, with its log in SQLite.")
        self.free = series.make_gauge("disk_free_bytes", "Free on the disk of the home.")

    def watch_connections(self, book: Connections) -> Callable[[str], None]:
        """Tell how many are open; what comes back hears why one was closed."""
        self.connections.set_function(lambda: book.count)
        for reason in REASONS:
            self.closed.labels(reason)
        return lambda reason: self.closed.labels(reason).inc()

    def note_begin(self, doing: Operation) -> None:
        if doing.kind == "request":
            self.requests_running.inc()
        elif doing.kind == "answer":
            self.answers_running.inc()
        elif doing.kind == "job":
            self.jobs_running.inc()

    def note_end(self, doing: Operation) -> None:
        self._of[doing.kind](doing)

    def _record_request(self, doing: Operation) -> None:
        facts = doing.facts
        self.requests_running.dec()
        self.requests.labels(facts["method"], facts["route"], str(facts["status"])).inc()
        self.request_seconds.labels(facts["method"], facts["route"]).observe(doing.seconds)
        if facts["limit"]:
            self.limited.labels(facts["limit"]).inc()
        elif facts["refusal"] in SIGN_IN:
            self.refused.labels(facts["refusal"]).inc()

    def _record_answer(self, doing: Operation) -> None:
        self.answers_running.dec()
        status = doing.facts.get("status")
        self.answers.labels(doing.name, status or classify_failure(doing.outcome)).inc()
        if orders := doing.facts.get("orders"):
            self.orders.labels(doing.name).inc(orders)
        if status:
            self.answer_seconds.labels(doing.name).observe(doing.seconds)
        if doing.first is not None:
            self.first_token.labels(doing.name).observe(doing.first)

    def _record_node(self, doing: Operation) -> None:
        self.node_seconds.labels(doing.agent or "none", doing.name).observe(doing.seconds)

    def _record_call(self, doing: Operation) -> None:
        facts = doing.facts
        self.calls.labels(facts["model"], doing.name, doing.outcome or "ok").inc()
        self.call_seconds.labels(facts["model"], doing.name).observe(doing.seconds)
        for label, name in TOKENS.items():
            if facts.get(name):
                self.tokens.labels(facts["model"], label).inc(facts[name])

    def _record_job(self, doing: Operation) -> None:
        self.jobs_running.dec()
        self.job_seconds.labels(doing.name, doing.facts.get("state") or doing.outcome).observe(
            doing.seconds
        )

    def note_figures(self, found: Figures) -> None:
        """What the database tells, just now. Where it tells nothing, the last figures stand."""
        self.database.set(found.bytes)
        self.free.set(found.free)
        self.up.set(found.up)
        if not found.up:
            return
        totals = found.totals
        self.jobs.clear()
        for (kind, state), number in totals.jobs.items():
            self.jobs.labels(kind, state).set(number)
        self.queue.set(totals.queued)
        self.oldest.set(found.oldest)
        self.documents.set(totals.documents)
        self.chunks.set(totals.chunks)
        self.unembedded.set(totals.waiting)


def classify_failure(outcome: str) -> str:
    """How a question without an answer ended: `cancelled` (its client left), `invalid` (it was
    wrong), `stopping`, `failed`.
    """
    if outcome in {CANCELLED, Stopped.code}:
        return outcome
    return "invalid" if outcome in CALLERS else "failed"

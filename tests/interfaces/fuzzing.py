"""A server in a thread of this process for programs that send it anything, what is in it, and a run
of schemathesis against it.

The one rule: what the generator makes up is never found, so half of the names in addresses are
those of things that are there; what deletes gets names of its own, so that the others stay.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import schemathesis
import uvicorn
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import from_schema
from schemathesis.engine.events import EngineFinished, FatalError, NonFatalError, ScenarioFinished

from citewell.config import Settings
from citewell.interfaces.cli.admin.serve import build_config, open_listener
from citewell.interfaces.http import create_app
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.admin.users import add_user

PATIENCE = 60.0
TEXT = "# Northgate\n\nThe Northgate lighthouse was built in 1857. Its tower is 31 metres high.\n"
TABLE = "name,height\nNorthgate,31\nSouthgate,24\n"


@contextlib.contextmanager
def serving(settings: Settings) -> Iterator[tuple[str, str]]:
    """The whole application, its worker among it. Yields its address and an admin's token, empty
    where there are no users.
    """
    listener = open_listener("127.0.0.1", 0)
    started, told = threading.Event(), {"token": ""}
    servers: list[uvicorn.Server] = []

    async def run() -> None:
        async with App(settings) as app:
            assert isinstance(app.llm, ScriptedLLM)
            app.llm.reply_with(lambda _: "The Northgate lighthouse was built in 1857.")
            if settings.auth == "token":
                told["token"] = (await add_user(app, "ann", "admin")).token
            http = create_app(app)
            server = uvicorn.Server(build_config(http, grace=3))
            server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]  # not in a thread
            servers.append(server)
            started.set()
            await server.serve(sockets=[listener])

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    try:
        assert started.wait(PATIENCE)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", told["token"]
    finally:
        for server in servers:
            server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


@dataclass
class Known:
    """Names of what is there, by parameter: those that are kept, and those that may be deleted."""

    kept: dict[str, list[str]] = field(default_factory=dict)
    spare: dict[str, list[str]] = field(default_factory=dict)
    user: str = ""

    def note(self, name: str, value: str, *, spare: bool = False) -> None:
        (self.spare if spare else self.kept).setdefault(name, []).append(value)


def seed(url: str, token: str) -> Known:
    """One or two of everything: documents, tables, a paper, answers, feedback, memories."""
    known = Known(user="ann" if token else "")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE, trust_env=False) as client:
        for collection, spare in (("kept", False), ("spare", True)):
            job = _done(
                client,
                client.post(
                    f"/api/collections/{collection}/documents", files={"file": ("a.md", TEXT)}
                ),
            )
            known.note("job_id", job, spare=spare)
            known.note("collections", collection, spare=spare)
            for each in client.get(f"/api/collections/{collection}/documents").json()["documents"]:
                known.note("doc_id", each["doc_id"], spare=spare)
            source = client.post(
                "/api/data/sources",
                files={"file": ("t.csv", TABLE)},
                data={"name": f"t_{collection}"},
            )
            assert source.status_code == 201, source.text
            known.note("sources", f"t_{collection}", spare=spare)
            kept = {"name": "all", "source": f"t_{collection}", "sql": "SELECT 1"}
            saved = client.post("/api/data/saved", json=kept).json()
            known.note("saved_id", saved["saved_id"], spare=spare)
            board = client.post("/api/data/boards", json={"name": "all"}).json()
            known.note("board_id", board["board_id"], spare=spare)
            asked = {"question": "When was Northgate built?", "collection": collection}
            answer = client.post("/api/ask", json=asked).json()
            known.note("trace_id", answer["trace_id"], spare=spare)
            known.note("session_id", answer["session_id"], spare=spare)
            vote = client.post(
                "/api/feedback", json={"trace_id": answer["trace_id"], "is_correct": True}
            ).json()
            known.note("feedback_id", vote["feedback_id"], spare=spare)
            client.get(f"/api/jobs/{vote['job_id']}/events")
            begun = client.post("/api/papers", files={"file": ("p.md", TEXT * 20)})
            assert begun.status_code == 201, begun.text
            known.note("papers", begun.json()["session"]["session_id"], spare=spare)
        for each in client.get("/api/knowledge/confirmed").json()["confirmed"]:
            known.note("item_id", each["item_id"], spare=False)
    known.kept |= {"agent": ["qa", "data"], "number": ["1"], "model": ["citewell/qa"]}
    return known


def _done(client: httpx.Client, reply: httpx.Response) -> str:
    """The job's id when it has ended well."""
    assert reply.status_code == 202, reply.text
    job = str(reply.json()["job_id"])
    client.get(f"/api/jobs/{job}/events")  # ends when the job has
    assert client.get(f"/api/jobs/{job}").json()["state"] == "done"
    return job


KINDS = (
    ("/api/collections", "name", "collections"),
    ("/api/data", "name", "sources"),
    ("/api/papers", "session_id", "papers"),
)


def _real(known: Known, case: Any) -> None:
    """Half of the cases name what is there. Which half is settled by the case, so that a run is the
    same each time.
    """
    deletes = case.method == "DELETE"
    if (
        known.user and zlib.crc32(repr((case.query, case.body)).encode("utf-8", "replace")) % 4
    ):  # else all is another user's: 403
        if case.query and "user_id" in case.query:
            case.query["user_id"] = known.user
        if isinstance(case.body, dict) and "user_id" in case.body:
            case.body["user_id"] = known.user
    for name, value in dict(case.path_parameters or {}).items():
        kind = next(
            (
                kind
                for path, called, kind in KINDS
                if case.operation.path.startswith(path) and called == name
            ),
            name,
        )
        there = (known.spare if deletes else known.kept).get(kind, [])
        drawn = zlib.crc32(repr(value).encode("utf-8", "replace"))
        if there and drawn % 2:
            case.path_parameters[name] = there[drawn // 2 % len(there)]


@dataclass
class Run:
    """What a run found: failures as text, and how many cases each operation had, and of what
    status.
    """

    failures: list[str] = field(default_factory=list)
    cases: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    slowest: tuple[float, str] = 0.0, ""
    seconds: float = 0.0


def fuzz(
    url: str, token: str, known: Known, *, examples: int, checks: list[str], phases: Sequence[str]
) -> Run:
    """Every operation of the description, with these checks and phases of schemathesis; the same
    cases each time.
    """
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    given: dict[str, Any] = {
        "seed": 1,
        "headers": headers,
        "continue-on-failure": True,
        "suppress-health-check": ["all"],
        "request-timeout": PATIENCE,
        "cache": {"enabled": False},
        "generation": {
            "deterministic": True,
            "database": "none",
            "max-examples": examples,
            "no-shrink": True,
        },
        "checks": {"enabled": False, **{check: {"enabled": True} for check in checks}},
        "phases": {
            "examples": {"enabled": False},
            "coverage": {
                "enabled": "coverage" in phases,
                "unexpected-methods": ["PUT", "OPTIONS"],
            },
            "fuzzing": {"enabled": "fuzzing" in phases},
            "stateful": {"enabled": "stateful" in phases},
        },
    }
    schema = schemathesis.openapi.from_url(
        f"{url}/api/openapi.json", config=SchemathesisConfig.from_dict(given), headers=headers
    )
    run = Run()

    @schemathesis.hook  # of all schemas: there is no such hook of one
    def before_call(context: Any, case: Any, _kwargs: Any) -> None:
        _real(known, case)
        if (
            case.operation.definition.raw.get("responses", {})
            .get("200", {})
            .get("content", {})
            .get("text/event-stream")
        ):
            run.cases["events"] += 1
            if run.cases["events"] % 3 == 0:
                case.headers = {**(case.headers or {}), "Accept": "text/event-stream"}

    try:
        for event in from_schema(schema).execute():
            _note(run, event)
    finally:
        schemathesis.hooks.unregister(before_call)
    return run


def _note(run: Run, event: Any) -> None:
    if isinstance(event, NonFatalError):
        run.failures.append(f"{event.label}: {event.value!r}")
    elif isinstance(event, FatalError):
        raise event.exception
    elif isinstance(event, EngineFinished):
        run.seconds = event.running_time
    elif isinstance(event, ScenarioFinished):
        _note_cases(run, event.recorder)


def _note_cases(run: Run, recorder: Any) -> None:
    for case_id, interaction in recorder.interactions.items():
        if interaction.response is not None:
            case = recorder.cases[case_id].value
            run.cases[case.operation.label] += 1
            run.statuses[interaction.response.status_code] += 1
            elapsed = interaction.response.elapsed
            if elapsed > run.slowest[0]:
                run.slowest = elapsed, case.as_curl_command()
    for case_id, checks in recorder.checks.items():
        for check in checks:
            if check.failure_info is not None:
                failure, case = check.failure_info.failure, recorder.cases[case_id].value
                reply = recorder.interactions[case_id].response
                told = (
                    f"{reply.status_code} {reply.content[:300]!r}"
                    if reply is not None
                    else "no reply"
                )
                what = f"{check.name} {failure.operation}: {failure.title}: {failure.message[:600]}"
                run.failures.append(f"{what}\n  {case.as_curl_command()[:800]}\n  {told}")

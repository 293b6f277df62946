"""A server that is told to stop: what is under way is finished or can be gone on with; nothing that
was acknowledged is lost.

The one rule: a real process gets a real signal, and the next one on the same home is asked what is
there.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import openai
import pytest
from tests.interfaces.serving import (
    FACT,
    PATIENCE,
    QUESTION,
    SSE,
    Bench,
    Server,
    Stream,
    run_statement,
    until,
)
from tests.interfaces.serving import bench as bench_of

from citewell.config import Settings

if TYPE_CHECKING:
    from tests.conftest import SiteServer

HANGS: list[Any] = [{"pace": 0, "delay": 600}]  # a model that never comes to its first word
PAPER = Path(__file__).resolve().parents[2] / "samples" / "papers"
QUICK = [FACT]


@pytest.fixture
def bench(settings: Settings, tmp_path: Path) -> Bench:
    return bench_of(settings, tmp_path)


def rows(bench: Bench, statement: str) -> list[tuple[Any, ...]]:
    return run_statement(bench.settings, statement)


def stop_idle(server: Server, number: signal.Signals) -> None:
    """Exit 0, not a word, and not after the time that answers would be given."""
    started = time.monotonic()
    server.send(number)
    assert server.stops(120) == 0
    assert time.monotonic() - started < 15  # the grace is 30 s
    assert server.told == []


def test_what_is_under_way_is_finished(bench: Bench) -> None:
    """Streams and whole replies come in full; meanwhile new questions are told when to ask again,
    and reading goes on.
    """
    bench.add()
    with bench.serve([{"pace": 0.15, "delay": 1.0}]) as server:
        answers = [Stream(server, {"question": QUESTION}) for _ in range(3)]
        whole: list[httpx.Response] = []
        asking = threading.Thread(
            target=lambda: whole.append(server.post("/api/ask", {"question": QUESTION}))
        )
        asking.start()
        chat = Stream(
            server,
            {"model": "citewell/qa", "stream": True,
             "messages": [{"role": "user", "content": QUESTION}]},
            "/v1/chat/completions",
        )  # fmt: skip
        for each in answers:
            each.has("step")
        until(lambda: chat.lines, "a first chunk")
        server.send(signal.SIGTERM)
        server.is_closing()
        assert server.get("/api/ready").json()["status"] == "stopping"
        for path, body in (
            ("/api/ask", {"question": "Why?"}),
            ("/api/collections", {"name": "new"}),
        ):
            refused = server.post(path, body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "stopping")
            assert 5 <= int(refused.headers["Retry-After"]) <= 35
            assert "again in" in refused.json()["error"]["hint"]
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0,
                               http_client=openai.DefaultHttpxClient(trust_env=False))  # fmt: skip
        with client, pytest.raises(openai.InternalServerError, match="takes nothing new"):
            client.chat.completions.create(
                model="citewell/qa", messages=[{"role": "user", "content": "Why?"}]
            )
        assert server.get("/api/traces").status_code == 200
        told = [each.end() for each in answers]
        asking.join(PATIENCE)
        chat.end()
        assert server.stops() == 0
    assert [events[-1][0] for events in told] == ["answer"] * 3
    assert [FACT in events[-1][1]["answer"] for events in told] == [True] * 3
    assert (whole[0].status_code, FACT in whole[0].json()["answer"]) == (200, True)
    assert chat.lines[-2] == "data: [DONE]"
    assert any("under way" in line for line in server.told)
    traces = {row[0] for row in rows(bench, "SELECT trace_id FROM traces")}
    assert {events[-1][1]["trace_id"] for events in told} | {whole[0].json()["trace_id"]} <= traces


def test_what_is_not_finished_in_time_goes_on_after_the_next_start(bench: Bench) -> None:
    """The last event names the run; the next server goes on with it under the same trace, and
    grades nothing twice.
    """
    bench.add()
    late = [{"reply": FACT, "delay": 600}]
    with bench.serve(late, stop_seconds="1") as server:
        stream = Stream(server, {"question": QUESTION, "agent": "dual_loop"})
        [[trace_id]] = until(
            lambda: rows(bench, "SELECT trace_id FROM runs WHERE next = 'generate_response'"),
            "a graded run",
        )
        server.send(signal.SIGTERM)
        name, problem = stream.end()[-1]
        assert server.stops() == 0
    assert (name, problem["error"]["code"], problem["error"]["detail"]) == (
        "error",
        "stopping",
        {"resume": trace_id},
    )
    assert trace_id in problem["error"]["hint"]
    assert "1 can be gone on with" in server.told[-1]
    with bench.serve(QUICK) as server:
        [left] = server.get("/api/runs").json()["runs"]
        assert left["trace_id"] == trace_id
        answer = server.post("/api/ask", {"resume": trace_id}).json()
        assert (answer["answer"], answer["trace_id"]) == (f"{FACT}[1]", trace_id)
        steps = [step["node"] for step in server.get(f"/api/traces/{trace_id}").json()["steps"]]
        assert steps.count("grade_documents") == 1
        assert server.get("/api/runs").json()["runs"] == []
        stop_idle(server, signal.SIGTERM)


def test_who_waits_for_the_whole_answer_is_told(bench: Bench) -> None:
    """503, and the run where there is one; a question of one pass has to be asked again. A stream
    ends with an event, and a tool call over MCP with a result: an error with a hint.
    """
    bench.add()
    with bench.serve(HANGS, stop_seconds="1") as server:
        found: dict[str, httpx.Response] = {}

        def ask(agent: str) -> None:
            found[agent] = server.post("/api/ask", {"question": QUESTION, "agent": agent})

        def call() -> None:
            found["mcp"] = call_tool(server, "ask", {"question": QUESTION, "agent": "qa"})

        asking = [threading.Thread(target=ask, args=(agent,)) for agent in ("qa", "dual_loop")]
        asking.append(threading.Thread(target=call))
        for each in asking:
            each.start()
        stream = Stream(server, {"question": QUESTION})
        stream.has("step")
        until(
            lambda: rows(bench, "SELECT 1 FROM runs WHERE next = 'generate_response'"),
            "a graded run",
        )
        running = "citewell_answers_running 4.0"
        until(lambda: running in server.get("/metrics").text, "all are under way")
        server.send(signal.SIGTERM)
        for each in asking:
            each.join(PATIENCE)
        assert server.stops() == 0
        assert stream.end()[-1][1]["error"]["code"] == "stopping"
    for agent in ("qa", "dual_loop"):
        error = found[agent].json()["error"]
        assert (found[agent].status_code, error["code"]) == (503, "stopping")
        assert int(found[agent].headers["Retry-After"]) > 0
        assert ("detail" in error) is (agent == "dual_loop")
    data = next(line for line in found["mcp"].text.splitlines() if line.startswith("data: {"))
    result = json.loads(data.removeprefix("data: "))["result"]
    assert result["isError"] is True
    assert "the server is stopping" in json.dumps(result)


def test_a_website_question_goes_on(bench: Bench, site_server: SiteServer) -> None:
    """A page that is waited for is no reason to lose those that were read."""
    site_server.page(
        "/",
        '<p>Welcome.</p><p><a href="/tower">When the lighthouse was built</a></p>',
        title="Harbour",
    )
    site_server.page("/tower", f"<p>{FACT} Its lamp is electric.</p>", title="Tower")
    site_server.slow["/tower"] = 15.0
    body = {"question": QUESTION, "agent": "website", "options": {"start_urls": [site_server.url]}}
    with bench.serve(QUICK, stop_seconds="0.2") as server:
        stream = Stream(server, body)
        trace_id = stream.has("progress")["trace_id"]
        until(lambda: rows(bench, "SELECT 1 FROM runs WHERE next <> ''"), "a step that is kept")
        server.send(signal.SIGTERM)
        assert stream.end()[-1][1]["error"]["detail"] == {"resume": trace_id}
        assert server.stops() == 0
    site_server.slow.clear()
    with bench.serve(QUICK) as server:
        answer = server.post("/api/ask", {"resume": trace_id}).json()
        stop_idle(server, signal.SIGINT)
    assert (answer["trace_id"], FACT in answer["answer"]) == (trace_id, True)


def test_a_paper_is_read_on(bench: Bench) -> None:
    """A report that a stop ends is made by the next start; a question that one cuts off goes on
    with its trace.
    """
    paper = next(PAPER.glob("*.pdf"))
    with bench.serve(HANGS, stop_seconds="1") as server:
        with paper.open("rb") as file:
            begun = httpx.post(
                f"{server.url}/api/papers", files={"file": file}, trust_env=False, timeout=PATIENCE
            ).json()
        session, job = begun["session"]["session_id"], begun["job"]["job_id"]
        until(
            lambda: server.get(f"/api/jobs/{job}").json()["state"] == "running",
            "a report that is being made",
        )
        server.send(signal.SIGTERM)
        assert server.stops() == 0
    [[state, attempts]] = rows(bench, f"SELECT state, attempts FROM jobs WHERE job_id = '{job}'")
    assert (state, attempts) in {("queued", 0), ("done", 1)}
    with bench.serve([]) as server:
        until(lambda: server.get(f"/api/jobs/{job}").json()["state"] == "done", "the report")
        server.post(f"/api/papers/{session}/plan", {"interest": ""})
        server.send(signal.SIGTERM)
        assert server.stops() == 0
    with bench.serve(HANGS, stop_seconds="0.5") as server:
        stream = Stream(server, {"text": "What is measured?"}, f"/api/papers/{session}/messages")
        trace_id = stream.has("progress")["trace_id"]
        until(lambda: rows(bench, "SELECT 1 FROM runs WHERE next <> ''"), "a message that is kept")
        server.send(signal.SIGTERM)
        assert stream.end()[-1][1]["error"]["detail"] == {"resume": trace_id}
        assert server.stops() == 0
    with bench.serve([]) as server:
        answer = server.post("/api/ask", {"resume": trace_id}).json()
        assert (answer["trace_id"], answer["session_id"]) == (trace_id, session)
        paper_session = server.get(f"/api/papers/{session}").json()
    assert [each["question"] for each in paper_session["answers"]] == ["What is measured?"]
    assert paper_session["unfinished"] == []


def test_streams_that_only_follow_hold_nothing_up(bench: Bench) -> None:
    """Events of a job and an open MCP session end when the server closes, while an answer is still
    being finished.
    """
    bench.add()
    with bench.serve([{"pace": 0.1, "delay": 2.0}]) as server:
        [job] = _stuck_job(bench)
        ended: dict[str, float] = {}
        threads = [
            threading.Thread(target=_follow, args=(server, name, job, ended))
            for name in ("job", "mcp")
        ]
        for each in threads:
            each.start()
        until(
            lambda: len([name for name in ended if name.startswith("open")]) == 2,
            "both streams open",
        )
        stream = Stream(server, {"question": QUESTION})
        stream.has("step")
        server.send(signal.SIGTERM)
        for each in threads:
            each.join(PATIENCE)
        assert not stream.whole, "the answer had to be the last to end"
        assert stream.end()[-1][0] == "answer"
        assert server.stops() == 0
    assert {"job", "mcp"} <= set(ended)


def _stuck_job(bench: Bench) -> list[str]:
    """A job that another process holds for long."""
    run_statement(
        bench.settings,
        """INSERT INTO jobs (job_id, kind, payload, state, lease, done, total, detail, attempts,
            created_at, updated_at, owner)
        VALUES ('job_stuck', 'upload', :payload, 'running', :lease, 0, 0, '', 1, 0, 0, '')""",
        payload=json.dumps({"collection": "default"}),
        lease=time.time() + 3600,
    )
    return ["job_stuck"]


def begin_session(client: httpx.Client) -> dict[str, str]:
    """The headers of a new session of MCP."""
    both = {"Accept": "application/json, text/event-stream"}
    information = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": information}
    begun = client.post("/mcp", json=begin, headers=both)
    return both | {"Mcp-Session-Id": begun.headers["mcp-session-id"]}


def call_tool(server: Server, name: str, arguments: dict[str, str]) -> httpx.Response:
    with httpx.Client(base_url=server.url, trust_env=False, timeout=PATIENCE) as client:
        headers = begin_session(client)
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        client.post("/mcp", json=ready, headers=headers)
        params = {"name": name, "arguments": arguments}
        call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}
        return client.post("/mcp", json=call, headers=headers)


def _follow(server: Server, name: str, job: str, ended: dict[str, float]) -> None:
    path, headers = f"/api/jobs/{job}/events", dict(SSE)
    with httpx.Client(base_url=server.url, trust_env=False, timeout=PATIENCE) as client:
        if name == "mcp":
            path, headers = "/mcp", begin_session(client)
        with client.stream("GET", path, headers=headers) as reply:
            assert reply.status_code == 200
            ended[f"open {name}"] = time.monotonic()
            for _ in reply.iter_lines():
                pass
    ended[name] = time.monotonic()


def test_a_second_signal_ends_at_once(bench: Bench) -> None:
    """Whatever the grace is; what was answered before is there, and a run that was cut off can be
    gone on with.
    """
    bench.add()
    with bench.serve([FACT, {"reply": FACT, "delay": 600}], stop_seconds="600") as server:
        first = server.post("/api/ask", {"question": QUESTION, "agent": "dual_loop"}).json()
        stream = Stream(
            server, {"question": "When was the lamp of the lighthouse built?", "agent": "dual_loop"}
        )
        until(
            lambda: rows(bench, "SELECT 1 FROM runs WHERE next = 'generate_response'"),
            "a graded run",
        )
        server.send(signal.SIGTERM)
        server.is_closing()
        server.send(signal.SIGINT)
        assert server.stops(120) == 0
        stream.broken()
    with bench.serve(QUICK) as server:
        assert (
            server.get(f"/api/traces/{first['trace_id']}").json()["answer"]["answer"]
            == first["answer"]
        )
        [left] = server.get("/api/runs").json()["runs"]
        assert (
            server.post("/api/ask", {"resume": left["trace_id"]}).json()["trace_id"]
            == left["trace_id"]
        )


def test_a_kill_loses_nothing_that_was_acknowledged(bench: Bench) -> None:
    """Ten conversations at once, killed when some are answered: each answer that a client has in
    full is in its trace and in its conversation, and the database is whole.
    """
    bench.add()
    with bench.serve([{"pace": 0.01, "delay": 0.3}]) as server:
        streams = [
            Stream(server, {"question": f"{QUESTION} Number {number}."}) for number in range(10)
        ]

        def answered() -> list[dict[str, Any]]:
            return [
                each.events[-1][1]
                for each in streams
                if each.events and each.events[-1][0] == "answer"
            ]

        until(lambda: len(answered()) >= 3, "some answers")
        server.send(signal.SIGKILL)
        server.stops()
        for each in streams:
            each.broken()
        got = answered()
    if not bench.settings.database_url.get_secret_value():
        assert rows(bench, "PRAGMA integrity_check") == [("ok",)]
    with bench.serve([]) as server:
        for answer in got:
            trace = server.get(f"/api/traces/{answer['trace_id']}").json()
            assert trace["answer"]["answer"] == answer["answer"]
            history = server.get(f"/api/sessions/{answer['session_id']}").json()["history"]
            assert [each["content"] for each in history] == [trace["question"], answer["answer"]]
    assert len(got) >= 3

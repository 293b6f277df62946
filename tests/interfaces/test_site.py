"""`citewell site` as people run it, and the website agent over HTTP: progress, follow-ups, stopping
it early.

The one rule: what is stopped by Ctrl-C is a process of its own, and has shown that it explores
before.
"""

from __future__ import annotations

import asyncio
import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.interfaces.serving import build_environment
from tests.servers.forked import Forked

from citewell.config import Settings
from citewell.runtime.app import App

if TYPE_CHECKING:
    from tests.conftest import SiteServer
    from tests.interfaces.conftest import Result

    Cli = Callable[..., Result]

QUESTION = "When was the lighthouse built?"
FACT = "The lighthouse was built in 1857."
SSE = {"Accept": "text/event-stream"}


@pytest.fixture
def settings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("CITEWELL_ALLOW_PRIVATE_HOSTS", "127.0.0.1")
    return settings.model_copy(update={"allow_private_hosts": ("127.0.0.1",)})


@pytest.fixture
def harbour(site_server: SiteServer) -> SiteServer:
    """A start page, and the answer behind a link of it."""
    site_server.page(
        "/",
        '<p>Welcome.</p><p><a href="/tower">When the lighthouse was built</a></p>',
        title="Harbour",
    )
    site_server.page("/tower", f"<p>{FACT} Its lamp is electric.</p>", title="Tower")
    return site_server


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that answers with the fact; anew in each command."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps([FACT]), "utf-8")
    monkeypatch.setenv("CITEWELL_SCRIPTED_REPLIES", str(script))


@pytest.mark.usefixtures("model")
def test_a_question_and_a_follow_up(cli: Cli, harbour: SiteServer) -> None:
    """The answer with its source; the session knows the site; nothing is fetched twice."""
    asked = cli("site", harbour.url, "-q", QUESTION, "--json")
    assert asked.code == 0, asked.err
    answer = json.loads(asked.out)
    assert FACT in answer["answer"]
    assert (answer["agent"], answer["status"]) == ("website", "answered")
    assert [citation["uri"] for citation in answer["citations"]][:1] == [f"{harbour.url}/tower"]
    again = cli(
        "site", "--session", answer["session_id"], "-q", "In which year was the lighthouse built?"
    )
    assert again.code == 0, again.err
    assert "/tower" in again.out
    assert harbour.paths().count("/tower") == harbour.paths().count("/") == 1
    named = cli("ask", "-a", "auto", f"When was the lighthouse of {harbour.url}/ built?")
    assert "the question names the address" in named.out


@pytest.mark.usefixtures("model")
def test_a_chat_without_a_question(
    cli: Cli, harbour: SiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line is a question to the site."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{QUESTION}\n"))
    result = cli("site", harbour.url, "--json")
    assert FACT in json.loads(result.out)["answer"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "name start pages"),
        (("ftp://127.0.0.1/", "-q", QUESTION), 1, "only http and https"),
        (("http://user:secret@127.0.0.1/", "-q", QUESTION), 1, "user name or password"),
        (("http://127.0.0.1:9/", "-q", ""), 1, "empty"),
        (("http://127.0.0.1:9/", "--allow", "a b", "-q", QUESTION), 1, "a b"),
        (("http://127.0.0.1:9/", "--session", "ses_nothing", "-q", QUESTION), 1, "no session"),
    ],
)
def test_what_is_refused(cli: Cli, arguments: tuple[str, ...], code: int, words: str) -> None:
    result = cli("site", *arguments)
    assert (result.code, "Traceback" in result.err) == (code, False)
    assert words in result.err
    assert "secret" not in result.err


def test_a_site_that_is_down(cli: Cli) -> None:
    """No answer, and why."""
    result = cli("site", "http://127.0.0.1:9/", "-q", QUESTION)
    assert result.code == 3
    assert "no connection" in result.out


def test_ctrl_c_answers_from_what_was_read(settings: Settings, harbour: SiteServer) -> None:
    """The first Ctrl-C ends the exploring, not the question."""
    harbour.slow["/tower"] = 60.0
    environ = build_environment(
        settings, CITEWELL_LLM="none", CITEWELL_ALLOW_PRIVATE_HOSTS="127.0.0.1"
    )
    command = [sys.executable, "-m", "citewell", "site", harbour.url, "-q", QUESTION, "--json"]
    with Forked(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        until = time.monotonic() + 120
        while "/tower" not in harbour.paths() and time.monotonic() < until:
            time.sleep(0.05)
        assert "/tower" in harbour.paths()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 3, err
    answer = json.loads(out)
    assert (answer["status"], answer["stop_reason"]) == ("refused", "stopped")
    assert any("/tower: not waited for" in warning for warning in answer["warnings"])


async def test_events_over_http(client: httpx.AsyncClient, harbour: SiteServer) -> None:
    """Progress tells each page as it comes, with the reason for it."""
    body = {"question": QUESTION, "agent": "website", "options": {"start_urls": [harbour.url]}}
    reply = await client.post("/api/ask", json=body, headers=SSE)
    told = [
        json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith('data: {"kind"')
    ]
    assert [each["kind"] for each in told] == ["begin", "page", "page"]
    assert [each["url"].removeprefix(harbour.url) for each in told[1:]] == ["/", "/tower"]
    assert told[1]["why"] == "a start page"
    assert "lighthouse" in told[2]["why"]
    assert "event: progress" in reply.text


async def test_stopped_over_http(client: httpx.AsyncClient, app: App, harbour: SiteServer) -> None:
    """Only by whose it is; the answer comes at once."""
    harbour.slow["/tower"] = 300.0
    body = {"question": QUESTION, "agent": "website", "options": {"start_urls": [harbour.url]}}
    asking = asyncio.create_task(client.post("/api/ask", json=body))
    while "/tower" not in harbour.paths():  # noqa: ASYNC110  # another thread serves it
        await asyncio.sleep(0.02)
    [trace_id] = app.running
    assert (await client.post(f"/api/runs/{trace_id}/stop?user_id=other")).status_code == 404
    assert (await client.post("/api/runs/tr_nothing/stop")).status_code == 404
    started = time.monotonic()
    stopped = await client.post(f"/api/runs/{trace_id}/stop")
    assert (stopped.status_code, stopped.json()) == (202, {"trace_id": trace_id})
    answer: dict[str, Any] = (await asking).json()
    assert time.monotonic() - started < 60
    assert (answer["stop_reason"], answer["trace_id"]) == ("stopped", trace_id)
    assert not app.running


async def test_wrong_options_over_http(client: httpx.AsyncClient) -> None:
    """Each is told by its name; another agent says that it does not use them."""
    for options, word in (
        ({"start_urls": []}, "which website"),
        ({"start_urls": ["nowhere"]}, "nowhere"),
        ({"start_urls": ["http://127.0.0.1/"], "max_pages": 0}, "max_pages"),
        ({"start_urls": ["http://127.0.0.1/"], "allowed_domains": ["http://*.x/"]}, "allowed"),
        ({"start_url": "http://127.0.0.1/"}, "did you mean start_urls"),
    ):
        reply = await client.post(
            "/api/ask", json={"question": QUESTION, "agent": "website", "options": options}
        )
        assert reply.status_code == 422, reply.text
        assert word in reply.text

"""What `/metrics` tells, read by Prometheus' own parser: whatever is asked, few series, and of
nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from tests.interfaces.auth import bearer, code_of, done, with_users

from citewell.config import Settings
from citewell.errors import InvalidInput, Stopped, TransientError
from citewell.instrumentation import get_outcome
from citewell.interfaces.http import create_app
from citewell.interfaces.http.server.metrics import classify_failure
from citewell.models.script_lines import Line
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.admin.users import add_user

TEXT = (
    "The lamp of Norden is 41 metres tall. It was lit in 1857.\n\nThe harbour of Norden is "
    "closed in winter."
)
QUESTION = {"question": "How tall is the lamp of Norden?", "collection": "lamps"}
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


@asynccontextmanager
async def serving(
    settings: Settings, host: str = "127.0.0.1"
) -> AsyncIterator[tuple[App, httpx.AsyncClient]]:
    """The web application as a client at `host` reaches it."""
    async with App(settings) as app:
        http = create_app(app)
        async with http.router.lifespan_context(http):
            transport = httpx.ASGITransport(http, client=(host, 5))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1", timeout=60
            ) as client:
                yield app, client


@pytest.fixture
async def there(settings: Settings) -> AsyncIterator[tuple[App, httpx.AsyncClient]]:
    async with serving(settings) as (app, client):
        upload = await client.post(
            "/api/collections/lamps/documents", files={"file": ("lamps.txt", TEXT.encode())}
        )
        await done(client, upload.json())
        yield app, client


async def scraped(client: httpx.AsyncClient) -> Series:
    reply = await client.get("/metrics")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(reply.text)
    return {
        (each.name, frozenset(each.labels.items())): each.value
        for family in families
        for each in family.samples
    }


def of(series: Series, name: str, **labels: str) -> float:
    """The sum over all series of that name that have these labels."""
    return sum(
        value
        for (each, has), value in series.items()
        if each == f"citewell_{name}" and labels.items() <= dict(has).items()
    )


async def until(come: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not come():  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.02)


async def test_an_answer_is_counted(there: tuple[App, httpx.AsyncClient]) -> None:
    _, client = there
    assert (await client.post("/api/ask", json=QUESTION)).json()["status"] == "answered"
    found = await scraped(client)
    assert of(found, "http_requests_total", method="POST", route="/api/ask", status="200") == 1
    assert of(found, "http_request_seconds_count", method="POST", route="/api/ask") == 1
    assert of(found, "answers_total", agent="qa", status="answered") == 1
    assert (
        of(found, "answer_seconds_count", agent="qa")
        == of(found, "answer_first_token_seconds_count", agent="qa")
        == 1
    )
    assert of(found, "node_seconds_count", agent="qa", node="DocumentRetrievalNode") == 1
    assert (
        of(found, "model_calls_total", model="scripted", operation="chat", outcome="ok") == 2
    )  # draft and judge
    assert (
        of(found, "model_tokens_total", model="scripted", kind="sent")
        > of(found, "model_tokens_total", kind="written")
        > 0
    )
    assert of(found, "answers_running") == 0
    assert of(found, "http_requests_running") == 1  # this one
    assert (of(found, "documents"), of(found, "chunks_waiting"), of(found, "database_up")) == (
        1,
        0,
        1,
    )
    assert of(found, "chunks") >= 1
    assert (
        of(found, "jobs", kind="upload", state="done")
        == of(found, "job_seconds_count", kind="upload", state="done")
        == 1
    )
    assert of(found, "jobs_queued") == 0
    assert of(found, "database_bytes") > 10_000
    assert of(found, "build_info") == 1
    assert ("process_resident_memory_bytes", frozenset()) in found


async def test_what_goes_wrong_is_counted(
    there: tuple[App, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, client = there
    monkeypatch.setattr("citewell.agents.qa.qa.compute_backoff", lambda *_: 0.0)
    assert isinstance(app.llm, ScriptedLLM)
    app.llm.enqueue(*[TransientError("busy")] * 20)
    await client.post("/api/ask", json=QUESTION)
    await client.post("/api/ask", json=QUESTION | {"agent": "nobody-knows"})
    await client.post("/api/ask", json=QUESTION | {"question": " "})
    found = await scraped(client)
    assert of(found, "model_calls_total", operation="chat", outcome="transient") >= 1
    assert of(found, "answers_total", agent="none", status="invalid") == 1
    assert of(found, "http_requests_total", route="/api/ask", status="422") == 2


async def test_a_client_that_leaves(there: tuple[App, httpx.AsyncClient]) -> None:
    app, client = there
    llm = app.llm
    assert isinstance(llm, ScriptedLLM)
    llm.enqueue(Line("Too late.", delay=60))
    asking = asyncio.create_task(client.post("/api/ask", json=QUESTION))
    await until(lambda: "chat" in [call.kind for call in llm.calls])
    assert of(await scraped(client), "answers_running") == 1
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert of(await scraped(client), "answers_total", agent="qa", status="cancelled") == 1


async def test_labels_stay_few(there: tuple[App, httpx.AsyncClient]) -> None:
    """Paths, ids, methods and words of who asks never become series."""
    _, client = there

    async def ask_around(n: int) -> None:
        for path in (
            f"/nope/{n}",
            f"/api/documents/doc_{n}",
            f"/api/sessions/s{n}?user_id=u{n}",
            f"/assets/x{n}.js",
        ):
            await client.get(path, headers={"X-Request-ID": f"id-{n}"})
        await client.request(f"BREW{n}", "/api/ask")
        await client.get("/api/me", headers={"Host": f"host{n}.example"})
        await client.post(
            "/api/ask",
            json=QUESTION | {"agent": f"a{n}", "collection": f"c{n}", "session_id": f"s{n}"},
        )

    await ask_around(0)
    await scraped(client)  # which is itself counted the next time
    before = await scraped(client)
    for n in range(1, 12):
        await ask_around(n)
    after = await scraped(client)
    assert before.keys() == after.keys()
    assert of(after, "http_requests_total", route="(none)") == 12
    assert of(after, "http_requests_total", method="OTHER", route="/api/ask") == 12
    assert of(after, "http_requests_total", route="/api/me", status="421") == 12


async def test_two_apps_of_one_process_are_apart(
    there: tuple[App, httpx.AsyncClient], settings: Settings
) -> None:
    _, one = there
    apart = {"home": settings.home / "other", "database_url": SecretStr("")}
    async with serving(settings.model_copy(update=apart)) as (_, two):
        await two.get("/api/version")
        assert of(await scraped(two), "http_requests_total", route="/api/version") == 1
        assert of(await scraped(one), "http_requests_total", route="/api/version") == 0
        assert of(await scraped(two), "documents") == 0


async def test_refusals_are_counted_and_who_may_read(settings: Settings) -> None:
    limited = with_users(settings, requests_a_minute=5, tries_a_minute=3)
    async with serving(limited, host="192.0.2.7") as (app, client):
        ann, rob = (
            (await add_user(app, "ann", "admin")).token,
            (await add_user(app, "rob", "reader")).token,
        )
        assert code_of(await client.get("/metrics")) == "not_signed_in"
        assert code_of(await client.get("/metrics", headers=bearer(rob))) == "not_allowed"
        for _ in range(3):
            await client.get("/api/collections", headers=bearer("cw_nobodys"))
        assert (
            await client.get("/api/collections", headers=bearer("cw_nobodys"))
        ).status_code == 429
        assert (await client.post("/api/sign-in", json={"token": "cw_nobodys"})).status_code == 429
        for _ in range(5):
            await client.get("/api/collections", headers=bearer(rob))
        reply = await client.get("/metrics", headers=bearer(ann))
        assert reply.status_code == 200
        assert "rob" not in reply.text
        assert "192.0.2.7" not in reply.text
        found = {
            (each.name, frozenset(each.labels.items())): each.value
            for family in text_string_to_metric_families(reply.text)
            for each in family.samples
        }
    assert of(found, "sign_in_refused_total", reason="wrong_token") == 3
    assert of(found, "sign_in_refused_total", reason="not_signed_in") == 1
    assert of(found, "rate_limited_total", limit="tries") == 2
    assert of(found, "rate_limited_total", limit="requests") == 1
    assert of(found, "http_requests_total", route="/api/collections", status="401") == 3


async def test_this_machine_itself_may_read_without_a_token(settings: Settings) -> None:
    async with serving(with_users(settings)) as (_, client):
        assert (await client.get("/metrics")).status_code == 200
        assert (
            await client.get("/metrics", headers={"X-Forwarded-For": "192.0.2.1"})
        ).status_code == 401


async def test_openmetrics_for_who_asks_for_it(there: tuple[App, httpx.AsyncClient]) -> None:
    _, client = there
    reply = await client.get(
        "/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"}
    )
    assert reply.headers["content-type"].startswith("application/openmetrics-text")
    assert reply.text.endswith("# EOF\n")


async def test_a_database_that_is_gone_is_a_figure(there: tuple[App, httpx.AsyncClient]) -> None:
    app, client = there
    before = await scraped(client)
    await app.db.close()
    after = await scraped(client)
    assert (of(before, "database_up"), of(after, "database_up")) == (1, 0)
    assert of(after, "documents") == of(before, "documents") == 1
    await app.db.open()


def test_how_a_question_without_an_answer_ended() -> None:
    ends = [
        Stopped("x"),
        InvalidInput("x"),
        TransientError("x"),
        ValueError("x"),
        asyncio.CancelledError(),
    ]
    assert [classify_failure(get_outcome(error)) for error in ends] == [
        "stopping",
        "invalid",
        "failed",
        "failed",
        "cancelled",
    ]

"""Signing in against those who mean harm: others' limits and addresses, tokens of pages, streams
that outlive their user.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from sqlalchemy import text
from starlette.types import Scope
from tests.interfaces.auth import bearer, code_of, people, with_users

from citewell.config import Settings
from citewell.interfaces.http import create_app
from citewell.interfaces.http.security.request_headers import get_client_address, is_https
from citewell.runtime.app import App
from citewell.service.admin.users import (
    add_user,
    make_token,
    make_widget_token,
)
from citewell.service.jobs.submit import KIND

if TYPE_CHECKING:
    from tests.interfaces.conftest import Served

ORIGIN = "https://site.example"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return with_users(settings, origins=(ORIGIN,), visits_a_minute=10_000)


def serving(app: App, **access: Any) -> Callable[[str], httpx.AsyncClient]:
    """A server with these settings; a client of it at an address."""
    changed = app.settings.access.model_copy(update=access)
    app.settings = app.settings.model_copy(update={"access": changed})
    http = create_app(app)

    def at(address: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(http, client=(address, 1)),
            base_url="http://localhost",
            timeout=30,
        )

    return at


async def test_all_tokens_while_some_go(
    app: App, client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    """All are gone then, and each has its line in the log."""
    caplog.set_level(logging.WARNING, "citewell.audit")
    async with people(app, str(client.base_url), boss="admin", eve="reader") as by:
        tokens = [(await make_token(app, "eve")).info.token_id for _ in range(20)]
        paths = ["/api/users/eve/tokens", *(f"/api/users/eve/tokens/{each}" for each in tokens[:2])]
        replies = await asyncio.gather(*(by["boss"].delete(path) for path in paths))
        assert replies[0].status_code == 200
        assert await app.users.tokens("eve") == []
        told = [
            record.getMessage().split()[4]
            for record in caplog.records
            if record.name == "citewell.audit"
        ]
        assert sorted(told) == sorted({*told})
        assert {*tokens} < {*told}
        assert len(told) == 21


@pytest.mark.parametrize("role", ["editor", "reviewer", "admin"])
async def test_a_widget_token_is_no_more_than_a_reader(
    app: App, client: httpx.AsyncClient, role: str
) -> None:
    """With the page's origin and without: what its user was made since opens nothing, and no word
    of theirs counts.
    """
    await add_user(app, "guest", "reader")
    await app.collections.create("help")
    token = (await make_widget_token(app, "guest", collection="help")).token
    vote = {"trace_id": "tr_none", "is_correct": True, "user_id": "boss"}
    assert (
        await client.post("/api/feedback", json=vote, headers=bearer(token))
    ).status_code == 404  # as guest, and not 403
    await app.users.set_role("guest", role)
    for more in ({}, {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"}):
        for path, body in (
            ("/api/feedback", vote),
            ("/api/ask", {"question": "Hm?"}),
            ("/api/search", {"query": "Hm?"}),
        ):
            reply = await client.post(path, json=body, headers=bearer(token) | more)
            code = "wrong_origin" if more and path == "/api/search" else "not_allowed"
            assert (reply.status_code, code_of(reply)) == (403, code), (path, more, reply.text)
        assert (
            await client.get("/metrics", headers=bearer(token) | more | {"Via": "1.1 x"})
        ).status_code == 403


@pytest.mark.parametrize(
    ("client", "lines", "address"),
    [
        ("127.0.0.1", ["1.2.3.4", "9.9.9.7"], "9.9.9.7"),  # the client's own line, then the proxy's
        ("127.0.0.1", ["1.2.3.4, 9.9.9.7"], "9.9.9.7"),
        ("127.0.0.1", ["9.9.9.7, 127.0.0.1", "127.0.0.1:99"], "9.9.9.7"),
        ("127.0.0.1", ["9.9.9.7:5000"], "9.9.9.7"),
        ("127.0.0.1", ["[2001:DB8::0:1]:80"], "2001:db8::1"),
        ("127.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("127.0.0.1", ["[2001:db8::1]"], "2001:db8::1"),
        ("127.0.0.1", ["::ffff:9.9.9.7"], "9.9.9.7"),
        ("::ffff:127.0.0.1", ["9.9.9.7"], "9.9.9.7"),
        ("127.0.0.1", [], "127.0.0.1"),
        ("192.0.2.1", ["9.9.9.7"], "192.0.2.1"),
    ],
)
def test_addresses(client: str, lines: list[str], address: str) -> None:
    scope: Scope = {
        "client": (client, 1),
        "headers": [(b"x-forwarded-for", line.encode()) for line in lines],
    }
    assert get_client_address(scope, ("127.0.0.1",)) == address


@pytest.mark.parametrize(
    ("lines", "https"),
    [(["https"], True), (["https", "http"], False), (["http, https"], True), ([], False)],
)
def test_the_proxys_word_is_the_last(lines: list[str], *, https: bool) -> None:
    headers = [(b"x-forwarded-proto", line.encode()) for line in lines]
    assert (
        is_https({"client": ("127.0.0.1", 1), "scheme": "http", "headers": headers}, ("127.0.0.1",))
        is https
    )


async def test_one_visitor_leaves_the_others_their_questions(app: App) -> None:
    """From one address more is asked than may be; another is answered all the same, and so are the
    user's other tokens.
    """
    await add_user(app, "guest", "reader")
    await app.collections.create("help")
    token = (await make_widget_token(app, "guest", collection="help")).token
    plain = (await make_token(app, "guest")).token
    at = serving(app, visits_a_minute=2, requests_a_minute=3)
    page = {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"} | bearer(token)
    vote = {"trace_id": "tr_none", "is_correct": True}
    async with at("192.0.2.1") as one, at("192.0.2.2") as two:
        seen = [
            (await one.post("/api/feedback", json=vote, headers=page)).status_code for _ in range(8)
        ]
        assert seen == [404, 404] + [429] * 6
        assert (await two.post("/api/feedback", json=vote, headers=page)).status_code == 404
        assert (await two.get("/api/version", headers=bearer(plain))).status_code == 200


async def test_guesses_lock_nobody_out(app: App) -> None:
    """Who is behind the same address signs in with a good token, by however many bad ones; those
    stay refused.
    """
    token = (await add_user(app, "ann")).token
    at = serving(app, tries_a_minute=3)
    async with at("192.0.2.1") as one:
        assert [
            (await one.post("/api/sign-in", json={"token": token})).status_code for _ in range(5)
        ] == [200] * 5
        bad = [
            (await one.post("/api/sign-in", json={"token": "cw_guess"})).status_code
            for _ in range(5)
        ]
        assert bad == [401] * 3 + [429] * 2
        assert (await one.post("/api/sign-in", json={"token": token})).status_code == 200
        refused = await one.post("/api/sign-in", json={"token": "cw_guess"})
        assert 1 <= int(refused.headers["retry-after"]) <= 60
    async with (
        at("2001:db8::1") as one,
        at("2001:db8::ffff:1") as near,
        at("2001:db8:0:1::1") as far,
    ):
        seen = [
            (await each.post("/api/sign-in", json={"token": "cw_x"})).status_code
            for each in (one, near, one, near, far)
        ]
        assert seen == [401] * 3 + [429, 401]


async def test_good_tokens_sign_in_so_often(app: App) -> None:
    """As often as their user may ask; a page's token as often as one that is nobody's, and at no
    cost to its user.
    """
    ann = (await add_user(app, "ann")).token
    guest = (await add_user(app, "guest", "reader")).token
    await app.collections.create("help")
    widget = (await make_widget_token(app, "guest", collection="help")).token
    async with serving(app, requests_a_minute=4, tries_a_minute=3)("192.0.2.1") as client:
        for token, status, often in ((ann, 200, 4), (widget, 403, 3), (guest, 200, 4)):
            seen = []
            for _ in range(often + 2):
                client.cookies.clear()
                reply = await client.post("/api/sign-in", json={"token": token})
                seen.append(reply.status_code)
            assert seen == [status] * often + [429] * 2
            assert 1 <= int(reply.headers["retry-after"]) <= 60
        assert (await client.get("/api/version", headers=bearer(ann))).status_code == 429
    assert (
        await app.db.read(lambda c: c.execute(text("SELECT count(*) FROM sign_ins")).scalar_one())
        == 8
    )


@pytest.mark.sqlite  # the triggers are in its words
async def test_a_full_disk_locks_nobody_out(app: App) -> None:
    """What is only looked at is shown, by token and by the page's session, though no use of them
    can be written down.
    """
    token = (await add_user(app, "ann")).token
    async with serving(app)("192.0.2.1") as client:
        assert (await client.post("/api/sign-in", json={"token": token})).status_code == 200
        await app.users.settle()
        for table in ("tokens", "sign_ins"):
            for query in (
                f"UPDATE {table} SET used_at = used_at - 90",
                (
                    f"CREATE TRIGGER {table}_full BEFORE UPDATE ON {table} BEGIN SELECT "
                    "RAISE(ABORT, 'full'); END"
                ),
            ):
                await app.db.write(lambda c, query=query: c.exec_driver_sql(query) and None)  # type: ignore[misc]  # bound now
        for headers in (bearer(token), {}):
            for path in ("/api/me", "/api/collections"):
                reply = await client.get(path, headers=headers)
                assert reply.status_code == 200, (path, headers, reply.text)
        await app.users.settle()
        assert (
            await client.post("/api/collections", json={"name": "x"}, headers=bearer(token))
        ).status_code == 201


@pytest.mark.parametrize(
    "name",
    ["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Via", "Forwarded", "X-Real-IP"],
)
async def test_metrics_through_a_proxy(app: App, name: str) -> None:
    async with serving(app)("127.0.0.1") as client:
        assert (await client.get("/metrics")).status_code == 200
        assert (await client.get("/metrics", headers={name: "1.1 x"})).status_code == 401


@pytest.mark.parametrize("access", [{"proxies": ("127.0.0.1",)}, {"hosts": ("ask.example",)}])
async def test_metrics_where_there_is_a_proxy(app: App, access: dict[str, tuple[str, ...]]) -> None:
    """It need not say that it is one."""
    boss, ann = (await add_user(app, "boss")).token, (await add_user(app, "ann")).token
    async with serving(app, **access)("127.0.0.1") as client:
        assert (await client.get("/metrics")).status_code == 401
        assert (await client.get("/metrics", headers=bearer(ann))).status_code == 403
        assert (await client.get("/metrics", headers=bearer(boss))).status_code == 200


@pytest.mark.parametrize("how", ["removed", "revoked", "signed out", "another role"])
async def test_a_stream_ends_with_its_user(
    app: App, served: Served, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Who is let in is told how it goes, however often that is looked at; who is let in no more is
    told so and nothing else; also where the job goes on for minutes.
    """
    monkeypatch.setattr("citewell.interfaces.http.routes.job_routes.LOOK", 0.2)
    monkeypatch.setitem(
        __import__("citewell.service.jobs.worker", fromlist=["WORK"]).WORK, KIND, _endless
    )
    client, added = served.client, await add_user(app, "ann", "editor")
    await app.collections.create("help")
    jobs = app.jobs.restrict_to_viewer("ann")
    job = await jobs.create(KIND, {"collection": "help"})
    app.new_job.set()
    headers = bearer(added.token)
    if how == "signed out":
        csrf = (await client.post("/api/sign-in", json={"token": added.token})).json()["csrf"]
        headers = {}
    async with (
        asyncio.timeout(120),
        client.stream("GET", f"/api/jobs/{job.job_id}/events", headers=headers) as events,
    ):
        assert events.status_code == 200
        lines = events.aiter_lines()
        assert "event: progress" in await _until(lines, '"running"')
        await asyncio.sleep(
            0.7
        )  # longer than it takes to look: before it tells more, it has looked
        await jobs.report_progress(job.job_id, 1, 2, "half way")
        assert "event: error" not in await _until(lines, '"half way"')
        if how == "removed":
            await app.users.remove("ann")
        elif how == "revoked":
            await app.users.revoke_all("ann")
        elif how == "another role":
            await app.users.set_role("ann", "reader")
        else:
            assert (
                await client.post("/api/sign-out", headers={"X-CSRF-Token": csrf})
            ).status_code == 204
        rest = [line async for line in lines]
    assert [line for line in rest if line.startswith("event:")] == ["event: error"]
    assert '"not_signed_in"' in next(line for line in reversed(rest) if line.startswith("data:"))


async def _until(lines: AsyncIterator[str], word: str) -> list[str]:
    """The lines up to the one with this word in it. Fails where the stream ends before it."""
    seen: list[str] = []
    async for line in lines:
        seen.append(line)
        if word in line:
            return seen
    raise AssertionError(seen)


async def _endless(*_: Any) -> Any:
    await asyncio.Event().wait()

"""Signing in: tokens, the page's cookie, roles, limits, headers, hosts and origins; on a real
port.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.responses import Response
from starlette.routing import Route
from tests.interfaces.auth import bearer, code_of, done, people, read_kept, with_users

from citewell.config import Settings
from citewell.errors import InvalidInput
from citewell.interfaces.cli.admin.serve import EVERYWHERE, check_address
from citewell.interfaces.http import create_app
from citewell.interfaces.http.security.access import OPEN, OPEN_BELOW, get_session_lifetime
from citewell.interfaces.http.security.guard import Guard
from citewell.interfaces.http.security.request_headers import COOKIE
from citewell.runtime.app import App
from citewell.service.admin.users import (
    add_user,
    make_token,
    make_widget_token,
    revoke_tokens,
)
from citewell.store.users.users import Users

if TYPE_CHECKING:
    from tests.interfaces.conftest import Served

ORIGIN = "https://site.example"
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return with_users(settings, hosts=("ask.example",), origins=(ORIGIN,))


async def signed_in(client: httpx.AsyncClient, token: str) -> str:
    """The page's session is in the client's cookies then; the word against forged requests."""
    reply = await client.post("/api/sign-in", json={"token": token})
    assert reply.status_code == 200, reply.text
    return str(reply.json()["csrf"])


def paths_of(app: App) -> list[tuple[str, str]]:
    """Every method and path, in and out of the schema, with something for what stands in braces."""
    found = []
    for route in create_app(app).routes:
        path = getattr(route, "path", "")
        for part in ("{path:path}", "{number}"):
            path = path.replace(part, "1")
        methods = route.methods if isinstance(route, Route) else None
        found += [(method, path) for method in methods or ("GET", "POST")]
    found += [
        (method.upper(), path)
        for path, methods in create_app(app).openapi()["paths"].items()
        for method in methods
    ]
    return sorted(
        {(method, path.replace("{", "").replace("}", "")) for method, path in found if path}
    )


async def test_nothing_without_a_token(app: App, client: httpx.AsyncClient) -> None:
    """Every path but the open ones is 401, with the way to sign in; also paths that are none, and
    wrong tokens.
    """
    paths = [
        *paths_of(app),
        ("GET", "/nowhere"),
        ("GET", "/api/nowhere"),
        ("POST", "/mcp"),
        ("GET", "/v1/models"),
    ]
    closed = [
        each
        for each in paths
        if each[1] not in OPEN and not each[1].startswith(OPEN_BELOW) and each[1] != "/metrics"
    ]
    assert len(closed) > 60
    for headers in (
        {},
        bearer("cw_wrong"),
        {"Cookie": f"{COOKIE}=wrong"},
        {"Authorization": "Basic YTpi"},
    ):
        for method, path in closed:
            reply = await client.request(method, path, headers=headers)
            assert (reply.status_code, reply.headers.get("www-authenticate")) == (401, "Bearer"), (
                method,
                path,
                reply.text,
            )
            if method != "HEAD":
                assert code_of(reply) in {"not_signed_in", "wrong_token"}
                assert reply.json()["error"]["hint"]
    for path in ("/api/health", "/api/ready", "/"):
        assert (await client.get(path)).status_code == 200, path


async def test_tokens(app: App, client: httpx.AsyncClient) -> None:
    """A token names its user until it is revoked or has run out; its use is noted; no token is
    kept.
    """
    added = await add_user(app, "Ann")
    assert added.token.startswith("cw_")
    assert added.user.role == "admin"  # the first
    assert (await client.get("/api/me", headers=bearer(added.token))).json() == {
        "user_id": "Ann",
        "role": "admin",
        "auth": "token",
        "csrf": "",
        "collection": "default",
        "home": str(app.settings.home),
        "largest_file": app.settings.ingest.max_bytes,
    }
    await app.users.settle()
    [info] = await app.users.tokens("Ann")
    assert info.used_at > 0
    assert added.token.encode() not in await read_kept(app)
    short = await make_token(app, "Ann", "short", days=1)
    later = Users(app.db, lambda: short.info.created_at + 86_401)
    assert await app.users.holder(short.token)
    assert await later.holder(short.token) is None
    await revoke_tokens(app, info.token_id)
    assert (await client.get("/api/me", headers=bearer(added.token))).status_code == 401
    assert (await client.get("/api/me", headers=bearer(short.token))).status_code == 200
    bob = await add_user(app, "bob")
    assert bob.user.role == "reader"
    await app.users.remove("bob")
    assert (await client.get("/api/me", headers=bearer(bob.token))).status_code == 401


async def test_the_page_signs_in(app: App, client: httpx.AsyncClient) -> None:
    """A cookie that scripts cannot read and other sites cannot send; what changes something needs
    the session's own word.
    """
    token = (await add_user(app, "Ann", "editor")).token
    reply = await client.post("/api/sign-in", json={"token": token})
    cookie = reply.headers["set-cookie"]
    assert all(
        part in cookie for part in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=43200")
    )
    assert "Secure" not in cookie
    me = (await client.get("/api/me")).json()
    assert me == reply.json()
    assert (me["user_id"], me["role"]) == ("Ann", "editor")
    for wrong in (b"", b"x", "é".encode(), me["csrf"][:-1].encode()):
        refused = await client.post(
            "/api/collections",
            json={"name": "a"},
            headers={b"X-CSRF-Token": wrong} if wrong else {},
        )
        assert (refused.status_code, code_of(refused)) == (403, "csrf")
    right = {"X-CSRF-Token": me["csrf"]}
    assert (
        await client.post("/api/collections", json={"name": "a"}, headers=right)
    ).status_code == 201
    assert (
        await client.post(
            "/api/collections", json={"name": "b"}, headers=right | {"Origin": ORIGIN}
        )
    ).status_code == 403
    async with httpx.AsyncClient(base_url=client.base_url, trust_env=False) as elsewhere:
        other = await signed_in(elsewhere, token)
    assert other != me["csrf"]
    assert (
        await client.post("/api/collections", json={"name": "c"}, headers={"X-CSRF-Token": other})
    ).status_code == 403
    kept = client.cookies[COOKIE]
    assert kept.encode() not in await read_kept(app)
    assert (await client.post("/api/sign-out", headers=right)).status_code == 204
    assert (await client.get("/api/me", headers={"Cookie": f"{COOKIE}={kept}"})).status_code == 401


async def test_sessions_end(app: App, client: httpx.AsyncClient) -> None:
    """By time, without use, with the token, with the user; and a new sign-in ends the one
    before.
    """
    added = await add_user(app, "Ann", "reader")
    await signed_in(client, added.token)
    first = client.cookies[COOKIE]
    await signed_in(client, added.token)
    assert client.cookies[COOKIE] != first
    gone = {"Cookie": f"{COOKIE}={first}"}
    async with httpx.AsyncClient(base_url=client.base_url, trust_env=False) as bare:
        assert (await bare.get("/api/me", headers=gone)).status_code == 401
    life, now, secret = (
        get_session_lifetime(app.settings),
        added.info.created_at,
        client.cookies[COOKIE],
    )
    for seconds, there in ((60, True), (2 * 3600 + 60, False), (12 * 3600 + 60, False)):
        users = Users(app.db, lambda at=now + seconds: at)  # type: ignore[misc]  # bound now
        assert (await users.find_session_holder(secret, life) is not None) is there, seconds
    for hours in range(1, 14):  # in use all the time, it ends all the same
        users = Users(app.db, lambda at=now + hours * 3600 + 60: at)  # type: ignore[misc]
        assert (await users.find_session_holder(secret, life) is not None) is (hours < 12), hours
        await users.settle()
    await signed_in(client, added.token)
    await revoke_tokens(app, added.info.token_id)
    assert (await client.get("/api/me")).status_code == 401
    await signed_in(client, (await make_token(app, "Ann")).token)
    await app.users.remove("Ann")
    assert (await client.get("/api/me")).status_code == 401


async def test_roles(app: App, client: httpx.AsyncClient) -> None:
    """Each may do what those before it may, and no more."""
    least = {
        ("POST", "/api/collections"): "editor",
        ("POST", "/api/collections/x/documents"): "editor",
        ("PATCH", "/api/collections/x"): "editor",
        ("DELETE", "/api/collections/x"): "editor",
        ("PATCH", "/api/documents/x"): "editor",
        ("DELETE", "/api/documents/x"): "editor",
        ("POST", "/api/data/sources"): "editor",
        ("DELETE", "/api/data/sources/x"): "editor",
        ("PUT", "/api/data/sources/x/description"): "editor",
        ("POST", "/api/data/sources/x/description/check"): "editor",
        ("POST", "/api/data/sources/x/refresh"): "editor",
        ("POST", "/api/sites/x/refresh"): "editor",
        ("DELETE", "/api/sites/x"): "editor",
        ("GET", "/api/feedback/wrong"): "reviewer",
        ("DELETE", "/api/knowledge/confirmed/x"): "reviewer",
        ("POST", "/api/knowledge/confirmed/x/confirm"): "reviewer",
        ("POST", "/api/knowledge/rules/x"): "reviewer",
        ("GET", "/api/knowledge/conflicts"): "reviewer",
        ("POST", "/api/knowledge/check"): "admin",
        ("POST", "/api/knowledge/gc"): "admin",
        ("GET", "/api/sessions"): "reader",
        ("GET", "/api/traces"): "reader",
        ("POST", "/api/search"): "reader",
        ("POST", "/api/check"): "reader",
    }
    bodies = {"/api/knowledge/rules/x": {"state": "active"}, "/api/documents/x": {"priority": 1}}
    bodies |= {
        "/api/collections/x": {"chunking": {}},
        "/api/data/sources/x/description": {"text": ""},
        "/api/data/sources/x/description/check": {"text": ""},
    }
    bodies |= {
        "/api/collections": {"name": "/"},
        "/api/search": {"query": ""},
        "/api/check": {"text": ""},
    }
    roles = ("reader", "editor", "reviewer", "admin")
    async with people(app, str(client.base_url), **{role: role for role in roles}) as by:
        for role in roles:
            for (method, path), needed in least.items():
                reply = await by[role].request(
                    method, path, json=bodies.get(path, {}) if method != "GET" else None
                )
                refused = reply.status_code == 403
                assert refused is (roles.index(role) < roles.index(needed)), (
                    role,
                    method,
                    path,
                    reply.text,
                )
                if refused:
                    assert code_of(reply) == "not_allowed"
                    assert f"role {needed}" in reply.json()["error"]["message"]
        assert (await by["reader"].get("/api/collections")).status_code == 200
        await app.users.set_role("reader", "editor")
        assert (
            await by["reader"].post("/api/collections", json={"name": "now"})
        ).status_code == 201


async def test_readers_explore_no_other_sites(app: App, client: httpx.AsyncClient) -> None:
    """Who only reads has no page fetched that nobody put there."""
    question = {
        "question": "What is it?",
        "agent": "website",
        "options": {"start_urls": ["http://127.0.0.1:9/"]},
    }
    async with people(app, str(client.base_url), reader="reader") as by:
        reply = await by["reader"].post("/api/ask", json=question)
        assert (reply.status_code, code_of(reply)) == (403, "not_allowed")
        assert (await by["reader"].get("/api/sites")).json() == {"sites": []}


async def test_another_user_is_refused(app: App, client: httpx.AsyncClient) -> None:
    """In the address and in the body; an admin may read, not act, as somebody else."""
    async with people(app, str(client.base_url), ann="editor", boss="admin") as by:
        for path in (
            "/api/sessions",
            "/api/memories",
            "/api/traces",
            "/api/papers",
            "/api/feedback",
            "/api/runs",
        ):
            assert (await by["ann"].get(path, params={"user_id": "ann"})).status_code == 200
            refused = await by["ann"].get(path, params={"user_id": "boss"})
            assert (refused.status_code, code_of(refused)) == (403, "other_user")
            assert (await by["boss"].get(path, params={"user_id": "ann"})).status_code == 200
        for said in (
            {"question": "Hm?", "user_id": "ann"},
            {"question": "Hm?", "user_id": "local"},
        ):
            assert code_of(await by["boss"].post("/api/ask", json=said)) == "other_user"
        vote = {"trace_id": "tr", "is_correct": True, "user_id": "ann"}
        assert code_of(await by["boss"].post("/api/feedback", json=vote)) == "other_user"
        assert (
            code_of(await by["boss"].delete("/api/memories", params={"user_id": "ann"}))
            == "other_user"
        )


async def test_reviewers_by_role(app: App, client: httpx.AsyncClient) -> None:
    """A reader's thumb waits for a reviewer's; a private answer stays its asker's."""
    question = {"question": "How tall is the lighthouse of Norden?", "collection": "default"}
    async with people(app, str(client.base_url), ann="reader", eve="editor", rob="reviewer") as by:
        text = b"The lighthouse of Norden is 41 metres tall.\n\nIt was built in 1857 by the town."
        sent = await by["eve"].post(
            "/api/collections/default/documents", files={"file": ("norden.txt", text)}
        )
        await done(by["eve"], sent.json())
        trace_id = (await by["ann"].post("/api/ask", json=question)).json()["trace_id"]
        given = (
            await by["ann"].post("/api/feedback", json={"trace_id": trace_id, "is_correct": True})
        ).json()
        assert "reviewer" in given["message"]
        learnt = await done(by["ann"], {"state": "queued", "job_id": given["job_id"]})
        item_id, path = learnt["result"]["item_id"], "/api/knowledge/confirmed"
        assert learnt["result"]["outcome"] == "pending"
        assert (
            await by["eve"].get(f"{path}/{item_id}")
        ).status_code == 404  # it waits, and is another's word
        assert (await by["ann"].get(f"{path}/{item_id}")).status_code == 200
        assert (await by["rob"].post(f"{path}/{item_id}/confirm")).json()["state"] == "active"
        assert (await by["eve"].get(f"{path}/{item_id}")).json()["confirmed_by"][0][
            "user_id"
        ] == "ann"


async def test_rates(app: App, settings: Settings) -> None:
    """So many requests of one user, fewer tries to sign in; a refusal says when to come back;
    others go on.
    """
    tight = settings.model_copy(
        update={
            "access": settings.access.model_copy(
                update={"requests_a_minute": 5, "tries_a_minute": 3}
            )
        }
    )
    app.settings = tight
    transport = httpx.ASGITransport(create_app(app), client=("192.0.2.9", 1))
    ann, bob = (await add_user(app, "ann")).token, (await add_user(app, "bob")).token
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        replies = [await client.get("/api/version", headers=bearer(ann)) for _ in range(7)]
        assert [reply.status_code for reply in replies] == [200] * 5 + [429] * 2
        assert 1 <= int(replies[-1].headers["retry-after"]) <= 60
        assert code_of(replies[-1]) == "too_many_requests"
        assert (await client.get("/api/version", headers=bearer(bob))).status_code == 200
        tries = [await client.post("/api/sign-in", json={"token": "cw_guess"}) for _ in range(4)]
        assert [reply.status_code for reply in tries] == [401] * 3 + [429]
        assert (await client.get("/api/version", headers=bearer("cw_guess"))).status_code == 429
        assert (await client.get("/api/version", headers=bearer(bob))).status_code == 200


async def test_headers(app: App, client: httpx.AsyncClient) -> None:
    """On every reply, refusals among them; what carries data is kept by nobody."""
    token = bearer((await add_user(app, "ann")).token)
    for path, headers in (
        ("/api/health", {}),
        ("/api/sessions", token),
        ("/api/sessions", {}),
        ("/", {}),
        ("/x", {"Host": "x"}),
    ):
        reply = await client.get(path, headers=headers)
        assert {name: reply.headers.get(name) for name in SAFE} == SAFE, path
        assert "permissions-policy" in reply.headers
        assert (reply.headers.get("cache-control") == "no-store") is path.startswith("/api/")


async def test_hosts(client: httpx.AsyncClient) -> None:
    for host, status in (
        ("ask.example", 200),
        ("ASK.example:8420", 200),
        ("localhost", 200),
        ("evil.example", 421),
    ):
        assert (await client.get("/api/health", headers={"Host": host})).status_code == status, host


async def test_address_that_was_reached_is_a_host(app: App) -> None:
    """So a pod's probes and Prometheus ask; without users it is none."""
    alone = app.settings.model_copy(update={"auth": "none"})
    for settings, reached, host, status in (
        (app.settings, "192.0.2.7", "192.0.2.7:8420", 200),
        (app.settings, "2001:db8::7", "[2001:db8::7]", 200),
        (app.settings, "::ffff:192.0.2.7", "192.0.2.7", 200),
        (app.settings, "192.0.2.7", "192.0.2.8", 421),
        (app.settings, "192.0.2.7", "evil.example", 421),
        (alone, "192.0.2.7", "192.0.2.7", 421),
    ):
        guard = httpx.ASGITransport(Guard(Response("here"), settings))
        url = httpx.URL(scheme="http", host=reached)
        async with httpx.AsyncClient(transport=guard, headers={"Host": host}) as client:
            assert (await client.get(url)).status_code == status, (reached, host)


async def test_pages_of_other_sites(app: App, client: httpx.AsyncClient) -> None:
    """Those that are listed may ask and give feedback with a token made for pages, and nothing
    else; the others nothing.
    """
    admin, reader = (
        (await add_user(app, "boss")).token,
        (await add_user(app, "guest", "reader")).token,
    )
    await app.collections.create("help")
    widget = (await make_widget_token(app, "guest", collection="help")).token
    asking = {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"}
    for path in ("/api/ask", "/api/feedback"):
        allowed = await client.options(
            path, headers=asking | {"Access-Control-Request-Method": "POST"}
        )
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (
            204,
            ORIGIN,
        )
        assert "Authorization" in allowed.headers["access-control-allow-headers"]
        assert "access-control-allow-credentials" not in allowed.headers
    for path, origin in (("/api/ask", "https://evil.example"), ("/api/sessions", ORIGIN)):
        refused = await client.options(
            path, headers={"Origin": origin, "Access-Control-Request-Method": "POST"}
        )
        assert refused.status_code == 401
        assert "access-control-allow-origin" not in refused.headers
    question = {"question": "Hm?", "agent": "dual_loop"}
    for token, status in ((widget, 200), (reader, 403), (admin, 403), ("cw_wrong", 401)):
        for path in ("/api/ask", "/api/feedback")[: 1 if status == 200 else 2]:
            reply = await client.post(path, json=question, headers=asking | bearer(token))
            assert (reply.status_code, reply.headers.get("access-control-allow-origin")) == (
                status,
                ORIGIN,
            ), reply.text
    plain = await client.post("/api/ask", json=question, headers=asking | bearer(reader))
    assert "--widget --collection" in plain.json()["error"]["hint"]  # how to make one that is bound
    assert (
        await client.post("/api/ask", json=question, headers=bearer(reader))
    ).status_code == 200  # of a program
    evil = bearer(reader) | {"Origin": "https://evil.example"}
    assert (await client.post("/api/ask", json=question, headers=evil)).status_code == 403
    assert (
        await client.post("/api/search", json={"query": "x"}, headers=asking | bearer(reader))
    ).status_code == 403
    for path in (
        "/api/sessions",
        "/api/traces",
        "/api/me",
        "/api/collections",
    ):  # it stands in a page: everybody has it
        assert (await client.get(path, headers=bearer(widget))).status_code == 403
    assert (await client.post("/api/sign-in", json={"token": widget})).status_code == 403
    await app.users.set_role("guest", "editor")  # what is everybody's must not become an editor's
    refused = await client.post("/api/ask", json=question, headers=asking | bearer(widget))
    assert (refused.status_code, code_of(refused)) == (403, "not_allowed")
    await signed_in(client, reader)  # a cookie is no token
    assert (await client.post("/api/ask", json=question, headers=asking)).status_code == 401


async def test_metrics_are_for_the_machine_and_admins(app: App) -> None:
    app.settings = app.settings.model_copy(
        update={"access": app.settings.access.model_copy(update={"hosts": ()})}
    )
    http = create_app(app)
    boss, ann = (await add_user(app, "boss")).token, (await add_user(app, "ann", "reviewer")).token
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(http, client=("127.0.0.1", 1)), base_url="http://localhost"
    ) as here:
        assert (await here.get("/metrics")).status_code not in {401, 403}
        assert (
            await here.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"})
        ).status_code == 401
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(http, client=("192.0.2.7", 1)), base_url="http://localhost"
    ) as there:
        assert (await there.get("/metrics")).status_code == 401
        assert (await there.get("/metrics", headers=bearer(ann))).status_code == 403
        assert (await there.get("/metrics", headers=bearer(boss))).status_code not in {401, 403}


async def test_behind_a_proxy(app: App) -> None:
    """A proxy that is believed says that it is https: the cookie is for https only; another's word
    counts for nothing.
    """
    app.settings = app.settings.model_copy(
        update={"access": app.settings.access.model_copy(update={"proxies": ("192.0.2.1",)})}
    )
    token, http = (await add_user(app, "ann")).token, create_app(app)
    said = {
        "X-Forwarded-Proto": "https",
        "X-Forwarded-For": "198.51.100.4",
        "Origin": "https://ask.example",
    }
    for address, secure in (("192.0.2.1", True), ("192.0.2.2", False)):
        transport = httpx.ASGITransport(http, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://ask.example") as client:
            reply = await client.post("/api/sign-in", json={"token": token}, headers=said)
            assert ("Secure" in reply.headers["set-cookie"]) is secure
            plain = await client.post(
                "/api/sign-in",
                json={"token": token},
                headers=said | {"Origin": "http://ask.example"},
            )
            assert plain.status_code == (403 if secure else 200)


async def test_streams_keep_their_user(app: App, served: Served) -> None:
    """Events of a job are its owner's, also while they come."""
    async with people(app, str(served.client.base_url), ann="editor", bob="editor") as by:
        await by["ann"].post("/api/collections", json={"name": "mine", "private": True})
        sent = await by["ann"].post(
            "/api/collections/mine/documents",
            files={"file": ("a.txt", b"A secret of Ann's. " * 20)},
        )
        path = f"/api/jobs/{sent.json()['job_id']}/events"
        assert (await by["bob"].get(path)).status_code == 404
        async with asyncio.timeout(120), by["ann"].stream("GET", path) as events:
            lines = [line async for line in events.aiter_lines() if line.startswith("event:")]
        assert lines[-1] == "event: done"


@pytest.mark.parametrize(
    ("auth", "host", "hosts", "refused"),
    [
        ("none", "127.0.0.1", (), ""),
        ("none", EVERYWHERE[0], ("ask.example",), 'auth = "token"'),
        ("token", EVERYWHERE[0], (), "access.hosts"),
        ("token", EVERYWHERE[0], ("ask.example",), ""),
        ("token", "192.0.2.7", (), ""),
        ("token", "::1", (), ""),
    ],
)
def test_where_it_listens(
    settings: Settings, auth: str, host: str, hosts: tuple[str, ...], refused: str
) -> None:
    access = settings.access.model_copy(update={"hosts": hosts})
    given = settings.model_copy(update={"auth": auth, "host": host, "access": access})
    if not refused:
        check_address(given)
        return
    with pytest.raises(InvalidInput) as error:
        check_address(given)
    assert refused in error.value.hint

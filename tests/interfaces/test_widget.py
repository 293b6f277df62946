"""The chat element's server side: the script, what a page of another site may ask, what it is told,
and how often.

The one rule: every test asks as a page would, with what a stranger has: the script, the token that
stands in it, and patience.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import SiteServer
from tests.interfaces.auth import bearer, code_of, done, people, with_users

from citewell.config import AccessSettings, Settings
from citewell.errors import InvalidInput
from citewell.fetch.urls import canonicalize_url
from citewell.interfaces.http import create_app
from citewell.interfaces.http.page import widget_routes
from citewell.runtime.app import App
from citewell.service.admin.users import add_user, make_widget_token
from citewell.service.admin.widget_scope import parse_binding
from citewell.service.library.intake import add_data
from citewell.store.users.identity import VISITOR
from citewell.store.users.users import Users

ORIGIN = "https://site.example"
PAGE = {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"}
HELP = (
    b"# Norden\n\nThe lighthouse of Norden is 41 metres tall.\n\nIt was built in 1857 by the town."
)
SECRET = b"# Salaries\n\nThe director earns 200,000 a year. The clerk earns 30,000 a year."
QUESTION = "How tall is the lighthouse of Norden?"
FOLDER = widget_routes.FOLDER


@pytest.fixture
def settings(settings: Settings) -> Settings:
    tried = with_users(settings, origins=(ORIGIN,), visits_a_minute=10_000, visits_a_day=10_000)
    return tried.model_copy(update={"allow_private_hosts": ("127.0.0.1",)})


@pytest.fixture
async def token(app: App, client: httpx.AsyncClient) -> AsyncIterator[str]:
    """Two collections, and a token that is bound to one of them."""
    async with people(app, str(client.base_url), eve="editor") as by:
        for collection, text in (("help", HELP), ("salaries", SECRET)):
            files = {"file": (f"{collection}.md", text)}
            await done(
                by["eve"],
                (
                    await by["eve"].post(f"/api/collections/{collection}/documents", files=files)
                ).json(),
            )
        own = {"name": "mine", "private": True}
        assert (await by["eve"].post("/api/collections", json=own)).status_code == 201
        await add_user(app, "guest", "reader")
        yield (await make_widget_token(app, "guest", collection="help")).token


async def asked(
    client: httpx.AsyncClient, token: str, question: str = QUESTION, **more: Any
) -> httpx.Response:
    headers = PAGE | (bearer(token) if token else {})
    return await client.post("/api/ask", json={"question": question, **more}, headers=headers)


# ---------------------------------------------------------------- the script


async def test_the_script(client: httpx.AsyncClient) -> None:
    """One file that pages of any site may load, kept for minutes, sent again only when it
    changed.
    """
    reply = await client.get("/widget.js")
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/javascript; charset=utf-8"
    assert reply.headers["cross-origin-resource-policy"] == "cross-origin"
    assert reply.headers["access-control-allow-origin"] == "*"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cache-control"] == "public, max-age=300"
    again = await client.get("/widget.js", headers={"If-None-Match": reply.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == reply.headers["etag"]
    assert (await client.head("/widget.js")).status_code == 200
    assert (await client.get("/widget.js", headers=PAGE)).status_code == 200


def test_the_script_needs_nothing_else(tmp_path: Path) -> None:
    """All its parts, in an order in which each finds what it needs; nothing is loaded, made into
    markup, or evaluated.
    """
    text = widget_routes.load_script()[0].decode()
    assert {path.stem for path in FOLDER.glob("*.js")} == set(widget_routes.PARTS)
    for part in widget_routes.PARTS:
        needed = widget_routes.IMPORT.findall((FOLDER / f"{part}.js").read_text("utf-8"))
        assert all(
            widget_routes.PARTS.index(each) < widget_routes.PARTS.index(part) for each in needed
        ), part
    for banned in (
        "\nimport ",
        "\nexport ",
        "innerHTML",
        "insertAdjacentHTML",
        "eval(",
        "new Function",
        "document.write",
    ):
        assert banned not in text, banned
    (tmp_path / "widget.js").write_text(text, "utf-8")
    if node := shutil.which("node"):  # two names that are the same would be one error
        checked = subprocess.run(
            [node, "--check", str(tmp_path / "widget.js")], capture_output=True, check=False
        )
        assert checked.returncode == 0, checked.stderr.decode()


def test_the_words_of_the_script() -> None:
    """Both languages have all of them, with the same blanks."""
    node = shutil.which("node")
    if not node:
        pytest.skip("no Node.js on this machine: the words are not read")
    script = (
        "import {wordsOf} from './words.js'; console.log(JSON.stringify([wordsOf('en'), "
        "wordsOf('zh')]))"
    )
    read = subprocess.run(
        [node, "--input-type=module", "-e", script], cwd=FOLDER, capture_output=True, check=True
    )
    english, chinese = json.loads(read.stdout)
    assert set(english) == set(chinese)
    blanks = {
        key for key in english if {part.split("}")[0] for part in english[key].split("{")[1:]}
    }
    assert all(("{" in chinese[key]) == (key in blanks) for key in english)


# ---------------------------------------------------------------- what may be asked


async def test_a_token_asks_what_it_is_bound_to(client: httpx.AsyncClient, token: str) -> None:
    """Named or not; by the agents of a collection; with and without the page's origin."""
    for more in (
        {},
        {"collection": "help"},
        {"agent": "auto"},
        {"agent": "dual_loop"},
        {"agent": "qa", "collection": "help"},
    ):
        reply = await asked(client, token, **more)
        assert reply.status_code == 200, (more, reply.text)
        assert "41 metres" in reply.json()["answer"]
        assert reply.json()["agent"] == ("dual_loop" if more.get("agent") == "dual_loop" else "qa")
        assert reply.headers["access-control-allow-origin"] == ORIGIN
    plain = await client.post("/api/ask", json={"question": QUESTION}, headers=bearer(token))
    assert "41 metres" in plain.json()["answer"]


NOT_OPEN: list[dict[str, Any]] = [
    {"collection": "salaries"},
    {"collection": "mine"},
    {"collection": "nowhere"},
    {"collection": "help\x00"},
    {"agent": "data"},
    {"agent": "paper"},
    {"agent": "website"},
    {"agent": "nobody"},
    {"agent": "website", "options": {"start_urls": ["http://127.0.0.1:9/"]}},
    {"options": {"doc_ids": ["doc_1"]}},
    {"options": {"max_seconds": 3600, "max_calls": 1000}},
    {"options": {"memory": True}},
    {"options": {"web": True}, "agent": "dual_loop"},
    {"history": [{"role": "user", "content": "Say what the director earns."}]},
    {"resume": "tr_0000000000000000"},
    {"keep": False},
]


async def test_and_nothing_else(client: httpx.AsyncClient, token: str) -> None:
    """Refused with what to do; what else there is is not told."""
    for more in NOT_OPEN:
        reply = await asked(client, token, "What does the director earn?", **more)
        assert (reply.status_code, code_of(reply)) == (403, "not_open"), (more, reply.text)
        assert reply.json()["error"]["hint"]
        assert "200,000" not in reply.text
        assert {"salaries", "mine"} & set(
            reply.json()["error"]["message"].replace(";", " ").split()
        ) <= {more.get("collection")}


async def test_the_other_ways_in_are_closed(
    app: App, client: httpx.AsyncClient, token: str
) -> None:
    """A widget token lists nothing, uploads nothing, searches nothing, and reads no other visitor's
    conversation or vote.
    """
    first = (await asked(client, token)).json()
    voted = {
        "trace_id": first["trace_id"],
        "is_correct": False,
        "user_correction": "It is 42 metres tall.",
    }
    assert (
        await client.post("/api/feedback", json=voted, headers=PAGE | bearer(token))
    ).status_code == 202
    for path in (
        f"/api/sessions/{first['session_id']}",
        f"/api/sessions/{first['session_id']}/answers",
        f"/api/traces/{first['trace_id']}",
        f"/api/documents/{first['citations'][0]['doc_id']}/file",
        "/api/feedback",
        "/api/ask",
        "/api/sessions",
        "/api/traces",
        "/api/runs",
        "/api/memories",
        "/api/collections",
        "/api/users",
        "/v1/models",
    ):
        for headers in (bearer(token), bearer(token) | PAGE):
            reply = await client.get(path, headers=headers)
            assert (reply.status_code, code_of(reply)) == (403, "not_allowed"), (path, reply.text)
            assert "access-control-allow-origin" not in reply.headers
    for path in (
        "/api/search",
        "/api/collections",
        "/api/collections/help/documents",
        "/v1/chat/completions",
        "/mcp",
    ):
        assert (await client.post(path, json={}, headers=bearer(token))).status_code == 403, path
        assert (
            await client.post(path, json={}, headers=bearer(token) | PAGE)
        ).status_code == 403, path
    assert (await asked(client, token, session_id="ses_" + "0" * 16)).status_code == 404
    async with people(app, str(client.base_url), ann="reader") as by:
        hers = (
            await by["ann"].post("/api/ask", json={"question": QUESTION, "collection": "help"})
        ).json()
    stolen = await asked(client, token, session_id=hers["session_id"])
    assert (stolen.status_code, code_of(stolen)) == (404, "not_found")


async def test_visitors_share_no_memory(app: App, client: httpx.AsyncClient, token: str) -> None:
    """They are one user; what one has told is not for the next."""
    told = await asked(
        client, token, "Remember that my name is Zacharias Wolkenstein.", agent="dual_loop"
    )
    assert told.status_code == 200
    again = await asked(client, token, "What is my name?", agent="dual_loop")
    assert "Zacharias" not in again.text
    assert list(await app.memories.list("guest")) == []


async def test_what_strangers_are_told(
    app: App, client: httpx.AsyncClient, token: str, tmp_path: Path
) -> None:
    """Not where files lie, not the inside of steps, not who has confirmed what; web addresses
    stay.
    """
    (tmp_path / "norden.md").write_bytes(HELP)
    await app.collections.delete("help")
    await add_data(app, HELP, "norden.md", str(tmp_path / "norden.md"), "help")
    headers = PAGE | bearer(token) | {"Accept": "text/event-stream"}
    async with client.stream(
        "POST", "/api/ask", json={"question": QUESTION}, headers=headers
    ) as reply:
        assert reply.headers["access-control-allow-origin"] == ORIGIN
        text = (await reply.aread()).decode()
    assert str(tmp_path) not in text
    events = [json.loads(line[5:]) for line in text.splitlines() if line.startswith("data:")]
    steps = [each for each in events if "node" in each]
    assert steps
    assert all(each["detail"] == {} for each in steps)
    assert events[-1]["citations"][0]["quote"]
    assert events[-1]["citations"][0]["uri"] == ""
    assert events[-1]["followed"] == []


async def test_what_is_not_there(app: App, client: httpx.AsyncClient, token: str) -> None:
    """A collection that is gone, or was made anew as another user's: 404, and no list of the
    others.
    """
    await app.collections.delete("help")
    for _ in range(2):
        reply = await asked(client, token)
        assert (reply.status_code, code_of(reply)) == (404, "not_there")
        assert "salaries" not in reply.text
        await app.collections.create("help", "eve")


async def test_a_site(app: App, client: httpx.AsyncClient, site_server: SiteServer) -> None:
    """A token for a site that is kept: its agent is taken where none is named, and no other site is
    explored.
    """
    site_server.page(
        "/",
        "<p>The lighthouse of Norden is 41 metres tall. It was built in 1857.</p>",
        title="Norden",
    )
    await add_user(app, "guest", "reader")
    name = site_server.url.partition("://")[2].rstrip("/")
    await app.sites.put_site(name, [canonicalize_url(site_server.url)], [name])
    token = (await make_widget_token(app, "guest", site=name)).token
    reply = await asked(client, token)
    assert (reply.status_code, reply.json()["agent"]) == (200, "website"), reply.text
    assert "41 metres" in reply.json()["answer"]
    assert reply.json()["citations"][0]["uri"].startswith(site_server.url)
    kept = await asked(client, token, agent="qa", session_id=reply.json()["session_id"])
    assert "41 metres" in kept.json()["answer"]
    elsewhere = await asked(client, token, "http://127.0.0.1:9/ How tall is it?")
    assert (elsewhere.status_code, code_of(elsewhere)) == (403, "not_allowed")


# ---------------------------------------------------------------- without users


@pytest.fixture
def alone(settings: Settings) -> Settings:
    return settings.model_copy(
        update={"auth": "none", "access": AccessSettings(origins=(ORIGIN,), public=("help",))}
    )


async def test_without_users(
    app: App, client: httpx.AsyncClient, alone: Settings, token: str
) -> None:
    """What `access.public` names, and nothing where it names nothing; a token in the page changes
    nothing.
    """
    del token
    app.settings = alone
    transport = httpx.ASGITransport(create_app(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as here:
        for more in ({}, {"collection": "help"}):
            assert "41 metres" in (await asked(here, "", **more)).json()["answer"]
        refused: list[dict[str, Any]] = [
            {"collection": "salaries"},
            {"agent": "data"},
            {"options": {"memory": True}},
        ]
        for more in refused:
            assert code_of(await asked(here, "", **more)) == "not_open"
        trace = (await asked(here, "")).json()["trace_id"]
        vote = {"trace_id": trace, "is_correct": True, "user_id": "local"}
        given = (await here.post("/api/feedback", json=vote, headers=PAGE)).json()
        assert "visitors" in given["message"]
        [listed] = (await here.get("/api/feedback", params={"user_id": VISITOR})).json()["feedback"]
        assert listed["trace_id"] == trace
        for path in ("/api/feedback", "/api/sessions", "/api/collections"):
            assert "access-control-allow-origin" not in (await here.get(path, headers=PAGE)).headers
        foreign = await here.post(
            "/api/ask",
            json={"question": QUESTION},
            headers=PAGE | {"Origin": "https://evil.example"},
        )
        assert (foreign.status_code, code_of(foreign)) == (403, "wrong_origin")
        assert "access-control-allow-origin" not in foreign.headers
        null = await here.post(
            "/api/ask", json={"question": QUESTION}, headers=PAGE | {"Origin": "null"}
        )
        assert (null.status_code, code_of(null)) == (403, "wrong_origin")
        app.settings = alone.model_copy(update={"access": AccessSettings(origins=(ORIGIN, "null"))})
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(create_app(app)), base_url="http://localhost"
    ) as here:
        closed = await here.post(
            "/api/ask", json={"question": QUESTION}, headers=PAGE | {"Origin": "null"}
        )
        assert (closed.status_code, code_of(closed)) == (403, "not_open")
        assert "access.public" in closed.json()["error"]["hint"]
        assert closed.headers["access-control-allow-origin"] == "null"


async def test_a_visitors_word_makes_no_knowledge(
    app: App, client: httpx.AsyncClient, alone: Settings, token: str
) -> None:
    """Without reviewers everybody's word counts; a stranger's does not, neither for an answer nor
    against one.
    """
    del token
    app.settings = alone
    transport = httpx.ASGITransport(create_app(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as here:
        trace = (await asked(here, "")).json()["trace_id"]
        given = (
            await here.post(
                "/api/feedback", json={"trace_id": trace, "is_correct": True}, headers=PAGE
            )
        ).json()
        if given["job_id"]:
            await done(here, {"state": "queued", "job_id": given["job_id"]})
        assert (await here.get("/api/knowledge/confirmed")).json()["confirmed"] == []
    with pytest.raises(InvalidInput, match="kept for visitors"):
        await Users(app.db).add("Widget", "reader")


# ---------------------------------------------------------------- how often


async def test_rates(app: App, settings: Settings, token: str) -> None:
    """So many from one address in a minute, IPv6 by its network; so many in a day with one token.
    Others go on; a refusal can be read by the page, and says when to come back.
    """

    def at(address: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(http, client=(address, 1))
        return httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=30)

    app.settings = settings.model_copy(
        update={"access": settings.access.model_copy(update={"visits_a_minute": 2})}
    )
    http = create_app(app)
    async with (
        at("192.0.2.1") as one,
        at("192.0.2.2") as two,
        at("2001:db8::1") as six,
        at("2001:db8::ffff") as near,
    ):
        replies = [await asked(one, token) for _ in range(3)]
        assert [each.status_code for each in replies] == [200, 200, 429]
        refused = replies[-1]
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert refused.headers["access-control-expose-headers"] == "Retry-After"
        assert refused.headers["access-control-allow-origin"] == ORIGIN
        assert (await asked(two, token)).status_code == 200
        assert [(await asked(each, token)).status_code for each in (six, near, six)] == [
            200,
            200,
            429,
        ]
    app.settings = settings.model_copy(
        update={"access": settings.access.model_copy(update={"visits_a_day": 1})}
    )
    http, second = create_app(app), (await make_widget_token(app, "guest", collection="help")).token
    async with at("192.0.2.3") as one, at("192.0.2.4") as two:
        assert [(await asked(each, token)).status_code for each in (one, two)] == [200, 429]
        assert "in a day" in (await asked(two, token)).text
        assert (await asked(two, second)).status_code == 200


def test_bindings() -> None:
    for text, kind, name in (
        ("help", "collection", "help"),
        ("collection:help", "collection", "help"),
        ("site:docs.example.com:8080", "site", "docs.example.com:8080"),
        ("a: b", "collection", "a: b"),
    ):
        assert parse_binding(text) == (kind, name)
        assert parse_binding(str(parse_binding(text))) == (kind, name)

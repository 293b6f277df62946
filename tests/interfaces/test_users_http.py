"""Looking after users over HTTP: what an admin may do, that nobody else may, and what is never
told.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.interfaces.auth import bearer, code_of, people, with_users

from citewell.config import Settings
from citewell.interfaces.http import create_app
from citewell.runtime.app import App

if TYPE_CHECKING:
    from tests.interfaces.conftest import Served

WAYS = [
    ("GET", "", None),
    ("POST", "", {"user_id": "eve", "role": "admin"}),
    ("PATCH", "/bob", {"role": "admin"}),
    ("DELETE", "/bob", None),
    ("POST", "/bob/tokens", {}),
    ("DELETE", "/bob/tokens", None),
    ("DELETE", "/boss/tokens/tok_1", None),
]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return with_users(settings)


@pytest.fixture
async def by(app: App, served: Served) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    async with people(
        app, str(served.client.base_url), boss="admin", bob="reader", ed="editor", rob="reviewer"
    ) as clients:
        yield clients


@pytest.mark.parametrize("who", ["bob", "ed", "rob"])
async def test_only_for_admins(app: App, by: dict[str, httpx.AsyncClient], who: str) -> None:
    """Neither for others nor for themselves; and nothing has changed."""
    before = await app.users.list()
    for method, path, body in WAYS:
        reply = await by[who].request(method, f"/api/users{path}", json=body)
        assert (reply.status_code, code_of(reply)) == (403, "not_allowed"), (
            method,
            path,
            reply.text,
        )
    assert [(each.user_id, each.role, each.tokens) for each in await app.users.list()] == [
        (each.user_id, each.role, each.tokens) for each in before
    ]


async def test_a_user_from_first_to_last(
    app: App,
    by: dict[str, httpx.AsyncClient],
    client: httpx.AsyncClient,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Added with a token that works; another role at once; a token more, told once; revoked, it is
    good for nothing; removed. Each change is in the log, with who made it, and no token is.
    """
    boss = by["boss"]
    caplog.set_level(logging.WARNING, "citewell.audit")
    made = await boss.post(
        "/api/users", json={"user_id": "eve", "role": "editor", "token_name": "laptop", "days": 7}
    )
    assert made.status_code == 201, made.text
    token = made.json()["token"]
    me = (await client.get("/api/me", headers=bearer(token))).json()
    assert (me["user_id"], me["role"], me["home"]) == ("eve", "editor", "")
    assert (await boss.get("/api/me")).json()["home"] == str(app.settings.home)
    assert made.json()["info"]["expires"] > made.json()["info"]["created_at"] + 6 * 86_400
    assert (await boss.patch("/api/users/eve", json={"role": "reader"})).json()["role"] == "reader"
    assert (await client.get("/api/me", headers=bearer(token))).json()["role"] == "reader"

    await boss.post("/api/collections", json={"name": "help"})
    more = (await boss.post("/api/users/eve/tokens", json={"collection": "help"})).json()
    assert (more["info"]["scope"], more["info"]["bound"]) == ("widget", "collection:help")
    listed = await boss.get("/api/users")
    assert token not in listed.text
    assert more["token"] not in listed.text
    [eve] = [each for each in listed.json()["users"] if each["user_id"] == "eve"]
    assert {each["token_id"] for each in eve["known"]} == {
        made.json()["info"]["token_id"],
        more["info"]["token_id"],
    }

    elsewhere = await boss.delete(f"/api/users/bob/tokens/{more['info']['token_id']}")
    assert (elsewhere.status_code, code_of(elsewhere)) == (404, "not_found")
    gone = (await boss.delete(f"/api/users/eve/tokens/{made.json()['info']['token_id']}")).json()[
        "revoked"
    ]
    assert [each["name"] for each in gone] == ["laptop"]
    assert (await client.get("/api/me", headers=bearer(token))).status_code == 401
    assert len((await boss.delete("/api/users/eve/tokens")).json()["revoked"]) == 1
    assert (await boss.delete("/api/users/eve")).status_code == 204
    assert (await boss.delete("/api/users/eve")).status_code == 404

    told = [record.getMessage() for record in caplog.records if record.name == "citewell.audit"]
    did = [line.split()[2:5] for line in told]
    assert did[0] == ["boss", "user.add", "eve"]
    assert did[2] == ["boss", "user.role", "eve"]
    assert [each[1].partition(".")[0] for each in did].count("token") == 4
    assert len(told) == 8  # the collection, too
    assert not [line for line in told if token in line or more["token"] in line or "cw_" in line]


async def test_the_last_admin_stays(app: App, by: dict[str, httpx.AsyncClient]) -> None:
    """Neither demoted nor removed, also as the only user; with a second admin, both may be."""
    boss = by["boss"]
    assert code_of(await boss.patch("/api/users/boss", json={"role": "reader"})) == "conflict"
    assert code_of(await boss.delete("/api/users/boss")) == "conflict"
    for name in ("bob", "ed", "rob"):
        assert (await boss.delete(f"/api/users/{name}")).status_code == 204
    alone = await boss.delete("/api/users/boss")
    assert (alone.status_code, code_of(alone)) == (409, "conflict")
    assert (
        await boss.post("/api/users", json={"user_id": "eve", "role": "admin"})
    ).status_code == 201
    assert (await boss.delete("/api/users/boss")).status_code == 204
    assert [each.user_id for each in await app.users.list()] == ["eve"]
    assert (await boss.get("/api/users")).status_code == 401


async def test_what_is_wrong_is_told(app: App, by: dict[str, httpx.AsyncClient]) -> None:
    """And is not done."""
    boss = by["boss"]
    wrong = [
        ("POST", "", {"user_id": "bob"}, 409),
        ("POST", "", {"user_id": "BOB"}, 409),
        ("POST", "", {"user_id": "a b"}, 422),
        ("POST", "", {"user_id": "x", "role": "king"}, 422),
        ("POST", "", {"user_id": "x", "days": 0}, 422),
        ("POST", "", {"user_id": "x", "admin": True}, 422),
        ("POST", "", {"user_id": "eve", "token_name": "x" * 65}, 422),
        ("POST", "", {"user_id": "eve", "token_name": "a\u202eb"}, 422),
        ("PATCH", "/nobody", {"role": "reader"}, 404),
        ("POST", "/nobody/tokens", None, 404),
        ("POST", "/ed/tokens", {"collection": "help"}, 422),
        ("POST", "/bob/tokens", {"collection": "help"}, 404),
        ("POST", "/bob/tokens", {"collection": "help", "site": "help"}, 422),
        ("DELETE", "/bob/tokens/tok_none", None, 404),
    ]
    for method, path, body, status in wrong:
        reply = await boss.request(method, f"/api/users{path}", json=body)
        assert reply.status_code == status, (method, path, body, reply.text)
        assert reply.json()["error"]["message"]
    assert [each.user_id for each in await app.users.list()] == ["bob", "boss", "ed", "rob"]


async def test_where_nobody_signs_in(app: App, settings: Settings) -> None:
    """Whoever reaches the port then could make a token for later."""
    app.settings = settings.model_copy(update={"auth": "none"})
    transport = httpx.ASGITransport(create_app(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as anybody:
        for method, path, body in WAYS:
            reply = await anybody.request(method, f"/api/users{path}", json=body)
            assert (reply.status_code, code_of(reply)) == (409, "no_sign_in")
    assert await app.users.list() == []

"""Who may ask at all: hosts, origins, sizes; and the one shape of every refusal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from citewell.runtime.app import App


def shaped(reply: httpx.Response) -> dict[str, Any]:
    """The error inside the one shape; fails where there is any other."""
    body = reply.json()
    assert set(body) == {"error"}
    assert (
        {"code", "message", "hint"} <= set(body["error"]) <= {"code", "message", "hint", "detail"}
    )
    error: dict[str, Any] = body["error"]
    return error


async def test_every_refusal_has_one_shape(client: httpx.AsyncClient) -> None:
    """Whether a route, the router or the validation refuses."""
    for method, path, status in (
        ("GET", "/api/nothing", 404),
        ("GET", "/nothing", 404),
        ("PUT", "/api/ask", 405),
        ("GET", "/api/documents/doc_none", 404),
        ("GET", "/api/sessions/ses_none", 404),
        ("GET", "/api/traces/tr_none", 404),
        ("GET", "/api/jobs/job_none", 404),
        ("GET", "/api/collections/none", 404),
        ("GET", "/api/traces?limit=0", 422),
        ("GET", "/api/traces?limit=x", 422),
    ):
        reply = await client.request(method, path)
        assert reply.status_code == status, path
        assert shaped(reply)["message"]


async def test_fault_of_ours_has_the_shape_and_no_inside(
    client: httpx.AsyncClient, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unforeseen exception is a 500 in the same shape; its text stays in the log."""

    async def broken() -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(app.collections, "list_all", broken)
    reply = await client.get("/api/collections")
    assert reply.status_code == 500
    assert shaped(reply)["code"] == "internal"
    assert "secret" not in reply.text


async def test_rebound_host_is_refused(client: httpx.AsyncClient) -> None:
    """A foreign name that leads here is not this server; every name of this machine's loopback
    is.
    """
    for host in (
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "",
        "[::1",
        "192.168.1.5",
    ):
        reply = await client.get("/api/health", headers={"Host": host})
        assert (reply.status_code, shaped(reply)["code"]) == (421, "wrong_host"), host
    for host in ("localhost", "localhost:1", "127.0.0.1:9", "[::1]:8420"):
        assert (await client.get("/api/health", headers={"Host": host})).status_code == 200, host


async def test_page_of_another_origin_changes_nothing(client: httpx.AsyncClient) -> None:
    """Neither by JSON nor by a form nor by DELETE; and there are no CORS headers to let it read."""
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        for method, path in (
            ("POST", "/api/collections"),
            ("DELETE", "/api/collections/a"),
            ("PATCH", "/api/sessions/a"),
        ):
            reply = await client.request(method, path, json={"name": "a"}, headers=headers)
            assert (reply.status_code, shaped(reply)["code"]) == (403, "wrong_origin"), headers
        found = await client.get("/api/collections", headers=headers)
        assert found.json() == {"collections": []}
        read = await client.get("/api/health", headers=headers)
        assert "access-control-allow-origin" not in read.headers


async def test_own_page_may(client: httpx.AsyncClient) -> None:
    """The same origin, and programs that send none."""
    own = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert (
        await client.post("/api/collections", json={"name": "a"}, headers=own)
    ).status_code == 201


async def test_large_bodies_are_refused(client: httpx.AsyncClient) -> None:
    """10 MB of question: refused by its declared length, and by its count where none is
    declared.
    """
    huge = b'{"question": "' + b"a" * 10_000_000 + b'"}'
    declared = await client.post(
        "/api/ask", content=huge, headers={"Content-Type": "application/json"}
    )
    assert declared.status_code == 413
    assert shaped(declared)["code"] == "too_large"

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(huge), 100_000):
            yield huge[at : at + 100_000]

    try:
        counted = await client.post(
            "/api/ask", content=pieces(), headers={"Content-Type": "application/json"}
        )
    except httpx.WriteError:
        return  # the server closed the line in the middle of the body: refused as well
    assert counted.status_code == 413
    assert shaped(counted)

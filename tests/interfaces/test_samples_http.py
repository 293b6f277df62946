"""The sample library in one call: what is in a language first, nothing twice, and where it is."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from tests.interfaces.auth import code_of, people, with_users
from tests.interfaces.jobs import wait_for_job

from citewell.config import Settings
from citewell.interfaces.http import create_app
from citewell.runtime.app import App
from citewell.service.library import samples
from citewell.service.tables import sample_table
from citewell.text.sentences import detect_language


async def test_all_of_them_once(client: httpx.AsyncClient) -> None:
    """Those in Chinese first where Chinese is asked for; a second call while it works is the same
    job; a later one finds nothing to do.
    """
    first = await client.post("/api/samples", json={"lang": "zh"})
    assert first.status_code == 202
    again = await client.post("/api/samples", json={"lang": "zh"})
    assert again.json()["job_id"] == first.json()["job_id"]
    names = first.json()["payload"]["names"]
    languages = [detect_language(name.rpartition(".")[0]) for name in names]
    assert languages == ["zh"] * 6 + ["en"] * 6
    ended = await wait_for_job(client, first.json()["job_id"])
    assert [file["status"] for file in ended["result"]["files"]] == ["added"] * 12
    later = await client.post("/api/samples", json={})
    ended = await wait_for_job(client, later.json()["job_id"])
    assert {file["status"] for file in ended["result"]["files"]} == {"unchanged"}


async def test_only_who_may_add(settings: Settings) -> None:
    async with App(with_users(settings)) as app:
        async with people(app, "http://127.0.0.1:8420", bob="reader") as by:
            by["bob"]._transport = httpx.ASGITransport(create_app(app))
            by["bob"]._mounts = {}
            reply = await by["bob"].post("/api/samples", json={})
        assert (reply.status_code, code_of(reply)) == (403, "not_allowed")


async def test_where_they_are_not(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(samples, "PLACES", (tmp_path / "none",))
    assert (await client.post("/api/samples", json={})).status_code == 404


async def test_the_table_in_the_language(client: httpx.AsyncClient) -> None:
    """Twice is once."""
    for _ in range(2):
        reply = await client.post("/api/data/samples", json={"lang": "zh"})
        assert reply.status_code == 201
    english = await client.post("/api/data/samples", json={})
    assert english.json()["name"] == "costs"
    listed = (await client.get("/api/data/sources")).json()["sources"]
    assert [source["name"] for source in listed] == ["costs", "费用"]


async def test_where_the_table_is_not(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sample_table, "PLACES", (tmp_path,))
    assert (await client.post("/api/data/samples", json={})).status_code == 404

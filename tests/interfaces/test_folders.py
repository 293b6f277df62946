"""No reply names a folder of this machine: not the probe that anybody may ask, not the error of a
database that refuses.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.interfaces.auth import people, with_users

from citewell.config import Settings
from citewell.errors import StorageError
from citewell.runtime.app import App
from citewell.service.admin.forbidden_folders import _list_private_folders, redact_folders

if TYPE_CHECKING:
    from tests.interfaces.conftest import FakeAgent, Served

SSE = {"Accept": "text/event-stream"}


@pytest.fixture(params=["none", "token"])
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """Also with a model's file that is not there."""
    given = settings.model_copy(
        update={"llm": "builtin", "llm_file": settings.home.parent / "models" / "own.gguf"}
    )
    return (
        with_users(given).model_copy(update={"llm": "builtin"})
        if request.param == "token"
        else given
    )


async def test_a_database_that_is_gone(served: Served, app: App, settings: Settings) -> None:
    """Asked by nobody, with a token that cannot be looked up, and over every channel; the file
    itself is named.
    """
    client = served.client
    async with people(app, str(client.base_url), ann="admin") as known:
        signed = known["ann"] if settings.auth == "token" else client
        await app.db.close()
        replies = [
            await client.get("/api/ready"),
            await signed.get("/api/collections"),
            await signed.post("/api/search", json={"query": "When?"}),
            await signed.get("/v1/models"),
            await client.post("/api/sign-in", json={"token": "cw_x"}),
        ]
        await app.db.open()
    told = [reply.text for reply in replies]
    assert [reply.status_code for reply in replies[:4]] == [503] * 4
    assert replies[0].json()["chat_model"].startswith("own.gguf: ")
    naming = told[:4] if app.db.dialect == "sqlite" else told[1:4]  # a server's state has own words
    assert [text for text in naming if ": the database is closed" not in text] == []
    assert [
        each.text for each in replies if each.is_error and str(settings.home.parent) in each.text
    ] == []


async def test_errors_of_every_kind(
    client: httpx.AsyncClient, agent: FakeAgent, app: App, settings: Settings
) -> None:
    """As a reply, as an event, and in the shape of OpenAI's."""
    agent.error = StorageError(
        f"{settings.home}/x.db: no room", hint=f"see {settings.cache} and {tempfile.gettempdir()}/y"
    )
    async with people(app, str(client.base_url), bob="reader") as known:
        signed = known["bob"] if settings.auth == "token" else client
        whole = await signed.post("/api/ask", json={"question": "When?"})
        events = await signed.post("/api/ask", json={"question": "When?"}, headers=SSE)
    assert whole.json()["error"] | {"code": ""} == {
        "code": "",
        "message": "x.db: no room",
        "hint": "see the folder and y",
    }
    assert json.loads(events.text.rpartition("data: ")[2])["error"]["message"] == "x.db: no room"


def test_folders_that_are_roots(settings: Settings) -> None:
    """A service may have `/` for its home: not every stroke is a folder then."""
    odd = settings.model_copy(update={"home": Path("/"), "cache": Path()})
    assert redact_folders("see /api/openapi.json and a/b", odd) == "see /api/openapi.json and a/b"


async def test_a_full_disk_of_temporary_files(
    client: httpx.AsyncClient, app: App, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no temporary file can be written, errors are still told, and an upload that needs one
    says so.
    """

    def full(*_: object, **__: object) -> str:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp', '/secret']")

    monkeypatch.setattr(tempfile, "gettempdir", full)
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    _list_private_folders.cache_clear()
    assert redact_folders(f"{settings.home}/x.db: no room", settings) == "x.db: no room"
    _list_private_folders.cache_clear()
    async with people(app, str(client.base_url), bob="editor") as known:
        signed = known["bob"] if settings.auth == "token" else client
        reply = await signed.post("/api/data/sources", files={"file": ("t.csv", b"a,b\n1,2\n")})
    assert reply.status_code == 503
    assert reply.json()["error"]["code"] == "storage"
    assert (
        reply.json()["error"]["message"]
        == "temporary files cannot be written: no folder for them takes any"
    )

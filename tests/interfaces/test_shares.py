"""A conversation shared by a link: to whom, what of it, for how long."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.interfaces.auth import code_of, done, people, with_users

from citewell.config import Settings
from citewell.runtime.app import App

if TYPE_CHECKING:
    from tests.interfaces.conftest import Served

LAMP = "How tall is the lamp of Norden?"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return with_users(settings)


@pytest.fixture
async def by(app: App, served: Served) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """Ann has asked twice, of a private document and of one that all may read."""
    roles = {"ann": "editor", "bob": "reader", "eve": "reader"}
    async with people(app, str(served.client.base_url), **roles) as clients:
        ann = clients["ann"]
        await ann.post("/api/collections", json={"name": "hers", "private": True})
        for name, text in (
            ("hers", "The lamp of Norden is 41 metres tall. It was built by Ann."),
            ("default", "The tower of Emden is 30 metres tall. It has a bell."),
        ):
            file = {"file": ("notes.txt", text.encode())}
            await done(
                ann, (await ann.post(f"/api/collections/{name}/documents", files=file)).json()
            )
        yield clients


async def ask(client: httpx.AsyncClient, question: str, **how: Any) -> dict[str, Any]:
    reply = await client.post("/api/ask", json={"question": question, "agent": "qa", **how})
    assert reply.json()["status"] == "answered", reply.text
    return dict(reply.json())


async def share(client: httpx.AsyncClient, session: str, **how: Any) -> str:
    reply = await client.post(f"/api/sessions/{session}/shares", json=how)
    assert reply.status_code == 201, reply.text
    return str(reply.json()["share_id"])


async def test_what_a_link_shows(by: dict[str, httpx.AsyncClient], served: Served) -> None:
    """The conversation as it was, quotes of a private document without the way to it, and nothing
    of how the answers came about.
    """
    ann, bob = by["ann"], by["bob"]
    asked = await ask(ann, LAMP, collection="hers")
    session = asked["session_id"]
    await ask(ann, "How tall is the tower of Emden?", collection="default", session_id=session)
    link = await share(ann, session)
    later = "Who built the lamp of Norden?"
    await ask(ann, later, collection="hers", session_id=session)
    shown = (await bob.get(f"/api/shared/{link}")).json()
    assert (shown["shared_by"], shown["title"]) == ("ann", LAMP)
    assert [each["question"] for each in shown["exchanges"]] == [
        LAMP, "How tall is the tower of Emden?",
    ]  # fmt: skip
    private, public = (each["answer"] for each in shown["exchanges"])
    assert "41 metres" in private["citations"][0]["quote"]
    assert (private["citations"][0]["doc_id"], private["citations"][0]["uri"]) == ("", "")
    doc_id = public["citations"][0]["doc_id"]
    assert (await bob.get(f"/api/documents/{doc_id}")).status_code == 200
    assert [(each["trace_id"], each["session_id"]) for each in (private, public)] == [("", "")] * 2
    text = (await bob.get(f"/api/shared/{link}")).text
    for hidden in (session, asked["trace_id"], asked["citations"][0]["doc_id"], "hers"):
        assert hidden not in text
    assert later not in text
    whole = (await ann.get(f"/api/shared/{link}")).json()
    assert whole["exchanges"][0]["answer"]["citations"][0]["doc_id"]
    async with httpx.AsyncClient(base_url=served.client.base_url, trust_env=False) as nobody:
        assert (await nobody.get(f"/api/shared/{link}")).status_code == 401


async def test_who_may_read(by: dict[str, httpx.AsyncClient]) -> None:
    """One for Bob is for Bob and Ann; to others it is as if there were none."""
    ann = by["ann"]
    session = (await ask(ann, LAMP, collection="hers"))["session_id"]
    link = await share(ann, session, readers=[" BOB "], days=1)
    assert (await by["bob"].get(f"/api/shared/{link}")).status_code == 200
    assert (await ann.get(f"/api/shared/{link}")).status_code == 200
    refused = await by["eve"].get(f"/api/shared/{link}")
    guessed = await by["eve"].get(f"/api/shared/{link[:-1]}_")
    assert (refused.status_code, refused.json()) == (404, guessed.json())
    wrong: list[dict[str, Any]] = [
        {"readers": ["bib"]}, {"readers": [" "]}, {"readers": ["bob"] * 51},
        {"days": 0}, {"days": 366}, {"forever": True},
    ]  # fmt: skip
    for body in wrong:
        reply = await ann.post(f"/api/sessions/{session}/shares", json=body)
        assert (reply.status_code, code_of(reply)) == (422, "invalid_input"), (body, reply.text)


async def test_a_revoked_link_leads_nowhere(by: dict[str, httpx.AsyncClient]) -> None:
    ann, bob = by["ann"], by["bob"]
    session = (await ask(ann, LAMP, collection="hers"))["session_id"]
    link, other = await share(ann, session), await share(ann, session)
    shares = f"/api/sessions/{session}/shares"
    assert [each["share_id"] for each in (await ann.get(shares)).json()["shares"]] == [other, link]
    for reply in (await bob.get(shares), await bob.delete(f"{shares}/{link}")):
        assert (reply.status_code, code_of(reply)) == (404, "not_found")
    assert (await ann.delete(f"{shares}/{link}")).status_code == 204
    assert (await ann.delete(f"{shares}/{link}")).status_code == 404
    assert (await bob.get(f"/api/shared/{link}")).status_code == 404
    assert (await bob.get(f"/api/shared/{other}")).status_code == 200
    await ann.delete(f"/api/sessions/{session}")
    assert (await bob.get(f"/api/shared/{other}")).status_code == 404


async def test_folders_over_http(by: dict[str, httpx.AsyncClient]) -> None:
    ann, bob = by["ann"], by["bob"]
    session = (await ask(ann, LAMP, collection="hers"))["session_id"]
    made = await ann.post("/api/folders", json={"name": " Lamps "})
    assert (made.status_code, made.json()["name"]) == (201, "Lamps")
    folder = made.json()["folder_id"]
    path = f"/api/sessions/{session}"
    assert (await ann.patch(path, json={"folder": folder})).json()["folder"] == folder
    bobs = (await bob.post("/api/folders", json={"name": "Lamps"})).json()["folder_id"]
    assert (await ann.patch(path, json={"folder": bobs})).status_code == 404
    for name in ("", " ", "x" * 61, "a\nb"):
        reply = await ann.patch(f"/api/folders/{folder}", json={"name": name})
        assert (reply.status_code, code_of(reply)) == (422, "invalid_input"), name
    assert (await ann.delete(f"/api/folders/{folder}")).status_code == 204
    assert (await ann.get(path)).json()["folder"] == ""
    assert (await ann.get("/api/folders")).json() == {"folders": []}

"""Settings that are changed while the server runs: who may, what is refused, what takes effect, and
that no key comes back.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.interfaces.auth import code_of, people, with_users
from tests.interfaces.model_server import ModelServer, run_model_server

from citewell.config import Settings, load_settings
from citewell.config.page_settings import FILE
from citewell.errors import ConfigError, ModelUnavailable
from citewell.interfaces.http import create_app
from citewell.models.builtin.download import MODEL, get_model_path
from citewell.runtime.app import App
from citewell.service.admin import model_download
from citewell.service.admin.effective_settings import list_effective_settings

KEY = "sk-kept-to-ourselves-1234"
WAYS = [
    ("GET", "", None),
    ("PATCH", "", {"memory": {"on": False}}),
    ("POST", "/model/test", {"url": "http://127.0.0.1:9/v1", "model": "m"}),
    ("GET", "/model/file", None),
    ("POST", "/model/file", None),
    ("DELETE", "/model/file", None),
]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with run_model_server(KEY) as made:
        yield made


def openai(server: ModelServer, **more: Any) -> dict[str, Any]:
    return {"model": {"llm": "openai", "url": server.url, "model": "m", "key": KEY} | more}


async def change(client: httpx.AsyncClient, **parts: Any) -> dict[str, Any]:
    reply = await client.patch("/api/settings", json=parts)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


async def test_changed_and_kept(app: App, client: httpx.AsyncClient) -> None:
    """In force at once, and after the next start; only the owner of the home may read the file."""
    before = (await client.get("/api/settings")).json()
    assert before["memory"] == {"on": True, "fixed_by": "", "available": True, "missing": ""}
    after = await change(
        client, memory={"on": False}, web={"provider": "searxng", "url": "http://127.0.0.1:8888/"}
    )
    assert (after["memory"]["on"], after["web"]["url"]) == (False, "http://127.0.0.1:8888")
    assert (app.settings.memory.enabled, app.settings.web.provider) == (False, "searxng")
    kept = app.settings.home / FILE
    assert kept.stat().st_mode & 0o777 == 0o600
    again = load_settings({"CITEWELL_HOME": str(app.settings.home)})
    assert (again.memory.enabled, again.web.url) == (False, "http://127.0.0.1:8888")
    shown = {each.name: each.source for each in list_effective_settings(again, {})}
    assert (shown["memory.enabled"], shown["memory.days"]) == ("page", "default")
    [entry] = await app.audit.list_by_action("settings.change")
    assert entry.detail["names"] == ["memory.enabled", "web.key", "web.provider", "web.url"]


def test_file_and_environment_count_more(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"memory.enabled": false, "llm": "none"}', "utf-8")
    environment = {"CITEWELL_HOME": str(tmp_path)}
    assert load_settings(environment).memory.enabled is False
    (tmp_path / "citewell.toml").write_text("[memory]\nenabled = true\n", "utf-8")
    assert load_settings(environment).memory.enabled is True
    assert load_settings(environment | {"CITEWELL_LLM": "builtin"}).llm == "builtin"


@pytest.mark.parametrize("text", ["{", "[]", '{"port": 1}', '{"llm": "magic"}'])
def test_a_damaged_file_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=r"settings\.json|setting llm"):
        load_settings({"CITEWELL_HOME": str(tmp_path)})


async def test_what_is_said_elsewhere_stays(
    client: httpx.AsyncClient, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable, and one of an address fixes its key too: it would go to another server."""
    monkeypatch.setenv("CITEWELL_MEMORY__ENABLED", "true")
    monkeypatch.setenv("CITEWELL_LLM_KEY", KEY)
    shown = (await client.get("/api/settings")).json()
    assert shown["memory"]["fixed_by"] == "CITEWELL_MEMORY__ENABLED"
    assert shown["model"]["fixed_by"] == "CITEWELL_LLM_KEY"
    for body in ({"memory": {"on": False}}, {"model": {"llm": "none"}}):
        reply = await client.patch("/api/settings", json=body)
        assert (reply.status_code, code_of(reply)) == (409, "conflict")
    test = {"url": "http://127.0.0.1:9/v1", "model": "m"}
    assert (await client.post("/api/settings/model/test", json=test)).status_code == 409
    assert app.settings.memory.enabled
    assert not (app.settings.home / FILE).exists()


HOSTILE = (
    *("file:///etc/passwd", "ftp://127.0.0.1/v1", "javascript:alert(1)", "127.0.0.1:11434"),
    *("http://", "http://user:word@127.0.0.1/v1", "http://127.0.0.1/v1?key=1", "http://a b/"),
    *("http://169.254.169.254/latest", "http://2852039166/", "http://[fe80::1]/v1"),
    *("http://[::ffff:169.254.169.254]/v1", "http://224.0.0.1/v1", "http://[::1", "http://a:x/"),
    f"http://127.0.0.1/{'a' * 490}",
)


async def test_hostile_addresses(client: httpx.AsyncClient, app: App) -> None:
    """Neither tried nor kept."""
    for url in HOSTILE:
        test = {"url": url, "model": "m", "key": KEY}
        for reply in (
            await client.patch("/api/settings", json={"model": test | {"llm": "openai"}}),
            await client.post("/api/settings/model/test", json=test),
            await client.patch("/api/settings", json={"web": {"provider": "searxng", "url": url}}),
        ):
            assert reply.status_code == 422, (url, reply.text)
            assert KEY not in reply.text
    assert app.settings.llm_url == ""
    assert not (app.settings.home / FILE).exists()


async def test_no_key_comes_back(
    client: httpx.AsyncClient, server: ModelServer, app: App, caplog: pytest.LogCaptureFixture
) -> None:
    """Not in a reply, the log, or the log of administration; wrong ones neither."""
    caplog.set_level(logging.DEBUG)
    told = [await client.patch("/api/settings", json=openai(server))]
    assert told[0].json()["model"]["has_key"] is True
    told += [
        await client.get("/api/settings"),
        await client.post("/api/settings/model/test", json={"url": server.url, "model": "m"}),
        await client.post(
            "/api/settings/model/test", json={"url": server.url, "model": "m", "key": f"{KEY}x"}
        ),
        await client.patch("/api/settings", json=openai(server, key=f"{KEY}\nx")),
        await client.patch("/api/settings", json=openai(server, key=KEY * 100)),
        await client.get("/api/ready"),
        await client.get("/api/audit"),
    ]
    assert [each.status_code for each in told] == [200, 200, 200, 200, 422, 422, 200, 200]
    assert told[2].json()["ok"] is True
    assert told[3].json()["ok"] is False
    assert "llm_key" in told[3].json()["hint"] or "key" in told[3].json()["hint"]
    for reply in told:
        assert KEY not in reply.text, reply.text
    assert KEY not in caplog.text
    assert KEY in (app.settings.home / FILE).read_text("utf-8")


async def test_a_key_stays_with_its_server(client: httpx.AsyncClient, server: ModelServer) -> None:
    """Another address is not sent it, neither to be tried nor to be used."""
    await change(client, **openai(server))
    with ModelServer() as other:
        thread = threading.Thread(target=other.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        test = {"url": other.url, "model": "m"}
        assert (await client.post("/api/settings/model/test", json=test)).json()["ok"] is True
        moved = await change(client, model={"llm": "openai", "url": other.url, "model": "m"})
        assert moved["model"]["has_key"] is False
        assert other.came
        assert KEY not in other.keys
        other.shutdown()
        thread.join()


async def test_what_a_test_finds(client: httpx.AsyncClient, server: ModelServer) -> None:
    """The models of the server, what the one can do; and what is wrong, with what to do."""

    async def tested(**body: Any) -> dict[str, Any]:
        reply = await client.post("/api/settings/model/test", json=body)
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.json()
        return found

    listed = await tested(url=server.url.removesuffix("/v1"), key=KEY)
    assert (listed["url"], listed["names"]) == (server.url, ["m", "other"])
    assert (listed["ok"], listed["error"]) == (False, "")
    good = await tested(url=server.url, model="m", key=KEY)
    assert (good["ok"], good["context"], good["keeps_schema"]) == (True, 32_768, True)
    assert good["speed"] > 0
    wrong = await tested(url=server.url, model="m", key="sk-another-key")
    assert "401" in wrong["error"]
    assert wrong["hint"]
    gone = await tested(url="http://127.0.0.1:9/v1", model="m")
    assert (gone["ok"], gone["names"]) == (False, [])
    assert "127.0.0.1:9" in gone["error"]
    assert gone["hint"]


async def test_another_model_answers_at_once(
    client: httpx.AsyncClient, app: App, server: ModelServer
) -> None:
    """Without a restart: the next question goes to it; then to none; the one before is closed."""
    sent = {"file": ("tower.txt", b"The tower of Norden is 41 metres tall. It has a bell.")}
    job = (await client.post("/api/collections/default/documents", files=sent)).json()
    await client.get(f"/api/jobs/{job['job_id']}/events")
    before = app.llm
    await change(client, **openai(server))
    assert app.llm is not before
    asked = await client.post("/api/ask", json={"question": "How tall is the tower of Norden?"})
    assert asked.status_code == 200
    assert any(path.endswith("/chat/completions") for path, _ in server.came)
    assert server.keys == {KEY}
    await change(client, model={"llm": "none"})
    assert app.llm is None
    ready = (await client.get("/api/ready")).json()
    assert ready["llm"] in {"openai", "none"}  # at most a second old
    assert (await client.get("/api/settings")).json()["model"]["url"] == server.url


async def test_only_for_admins(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, server: ModelServer
) -> None:
    """Every route, by every other role and by nobody; nothing has changed, nobody was asked."""
    async with App(with_users(settings)) as app:
        transport = httpx.ASGITransport(create_app(app))
        base = "http://127.0.0.1:8420"
        async with people(app, base, boss="admin", bob="reader", ed="editor", rob="reviewer") as by:
            for name, client in [*by.items(), ("", httpx.AsyncClient(base_url=base))]:
                client._transport = transport
                client._mounts = {}
                for method, path, body in WAYS:
                    if name == "boss" and (method, path) != ("GET", ""):
                        continue
                    reply = await client.request(method, f"/api/settings{path}", json=body)
                    wanted = {"boss": 200, "": 401}.get(name, 403)
                    assert reply.status_code == wanted, (name, method, path, reply.text)
        assert app.settings.memory.enabled
        assert not (app.settings.home / FILE).exists()


async def test_the_model_is_fetched(
    client: httpx.AsyncClient, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How far it is; a cancelled one leaves nothing; why one failed; and that it is here."""
    with monkeypatch.context() as fixed:
        fixed.setenv("CITEWELL_LLM", "scripted")
        reply = await client.post("/api/settings/model/file")
        assert (reply.status_code, code_of(reply)) == (409, "conflict")
    go_on, calls = asyncio.Event(), list[str]()

    async def pull(settings: Settings, progress: Callable[[int, int], None]) -> Path:
        calls.append("begun")
        progress(1_000, MODEL.bytes)
        await go_on.wait()
        if len(calls) == 2:
            raise ModelUnavailable("no source has it", hint="try again later")
        path = get_model_path(settings)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(b"GGUF")
            file.truncate(MODEL.bytes)
        return path

    async def state(wanted: str) -> dict[str, Any]:
        for _ in range(600):
            shown: dict[str, Any] = (await client.get("/api/settings/model/file")).json()
            if shown["state"] == wanted:
                return shown
            await asyncio.sleep(0.05)
        raise AssertionError(wanted)

    monkeypatch.setattr(model_download, "pull_model", pull)
    assert (await state("missing"))["bytes"] == MODEL.bytes
    assert (await client.post("/api/settings/model/file")).status_code == 202
    await asyncio.sleep(0)
    assert (await state("downloading"))["done"] in {0, 1_000}
    assert (await client.delete("/api/settings/model/file")).json()["state"] == "missing"
    go_on.set()
    await client.post("/api/settings/model/file")
    failed = await state("failed")
    assert (failed["error"], failed["hint"]) == ("no source has it", "try again later")
    await client.post("/api/settings/model/file")
    assert (await state("here"))["done"] == MODEL.bytes
    assert calls == ["begun"] * 3

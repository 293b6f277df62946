"""Whether it can answer: what is wrong is said, asking costs little, and it is over when it is
over.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from citewell.config import Settings
from citewell.errors import PermanentError, TransientError
from citewell.instrumentation import attach_watches
from citewell.models.scripted import ScriptedLLM
from citewell.runtime import health
from citewell.runtime.app import App
from citewell.service.admin.readiness import get_readiness, redact_readiness


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with App(settings) as opened:
        yield opened


async def test_all_is_well(app: App) -> None:
    found = await get_readiness(app)
    assert (found.status, found.database, found.chat_model, found.embedding) == (
        "ready",
        "ok",
        "ok",
        "ok",
    )


@pytest.mark.sqlite
async def test_a_write_reaches_the_disk_and_is_not_tried_each_time(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    def size() -> int:
        return Path(f"{app.db.path}-wal").stat().st_size

    before = size()
    await get_readiness(app)
    after = size()
    assert after > before
    for _ in range(20):
        await get_readiness(app)
    assert size() == after
    monkeypatch.setattr(health, "EVERY", 0.0)
    await get_readiness(app)
    assert size() > after


@pytest.mark.sqlite
async def test_another_that_holds_the_database(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be read all the time; that is not enough."""
    monkeypatch.setattr(health, "PATIENCE", 30.0)
    with closing(sqlite3.connect(app.db.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        found = await get_readiness(app)
        other.execute("ROLLBACK")
    assert found.status == "unavailable"
    assert "another process is writing to it" in found.database
    monkeypatch.setattr(health, "EVERY", 0.0)
    assert (await get_readiness(app)).status == "ready"


@pytest.mark.sqlite
async def test_who_asks_does_not_wait_for_a_write(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "PATIENCE", 0.01)
    async with app.db._writing:
        assert (await get_readiness(app)).status == "ready"  # as far as is known
        monkeypatch.setattr(health, "STUCK", 0.0)
        found = await get_readiness(app)
    assert (found.status, found.database[:30]) == ("unavailable", "a write has been waiting for 0")
    monkeypatch.setattr(health, "PATIENCE", 30.0)
    assert (await get_readiness(app)).status == "ready"


async def test_a_disk_with_nothing_left(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2**20))
    found = await get_readiness(app)
    assert found.status == "unavailable"
    assert "1 MiB are left" in found.database


async def test_a_closed_database(app: App) -> None:
    await app.db.close()
    found = await get_readiness(app)
    assert (found.status, "closed" in found.database) == ("unavailable", True)
    await app.db.open()


async def test_stopping(app: App) -> None:
    app.stopping.close()
    assert (await get_readiness(app)).status == "stopping"


async def test_a_model_that_fails_and_works_again(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    attach_watches(app.models_seen)
    assert isinstance(app.llm, ScriptedLLM)
    app.llm.enqueue(
        TransientError("connection lost"),
        PermanentError("too long", code="prompt_too_long"),
        "Well.",
    )
    with pytest.raises(TransientError):
        await app.llm.chat([])
    found = await get_readiness(app)
    assert found.status == "degraded"
    assert "connection lost" in found.chat_model
    with pytest.raises(PermanentError):
        await app.llm.chat([])  # the question's own fault: says nothing of the model
    assert (await get_readiness(app)).status == "degraded"
    await app.llm.chat([])
    assert (await get_readiness(app)).chat_model == "ok"
    app.llm.enqueue(TransientError("busy"))
    with pytest.raises(TransientError):
        await app.llm.chat([])
    assert (await get_readiness(app)).status == "degraded"
    monkeypatch.setattr(health, "FORGOTTEN", 0.0)  # else nobody might ask it ever again
    assert (await get_readiness(app)).status == "ready"


@pytest.mark.parametrize(
    "content", [None, b"no such thing", b"GGUF"], ids=["missing", "other", "cut off"]
)
async def test_a_model_file_that_is_none(settings: Settings, content: bytes | None) -> None:
    """Of the packaged model also one that is not whole."""
    from citewell.models.builtin.download import get_model_path

    path = get_model_path(settings)
    if content is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    async with App(settings.model_copy(update={"llm": "builtin"})) as app:
        found = await get_readiness(app)
    assert found.status == "degraded"
    assert str(path) in found.chat_model
    bare = redact_readiness(found, settings)
    assert path.name in bare.chat_model
    assert str(settings.cache) not in bare.model_dump_json()


async def test_without_paths_of_the_database(app: App, settings: Settings) -> None:
    await app.db.close()
    found = redact_readiness(await get_readiness(app), settings)
    shown = {"sqlite": "citewell.db: ", "postgresql": "the database server does not"}
    assert found.database.startswith(shown[app.db.dialect])
    await app.db.open()
    attach_watches(app.models_seen)
    assert isinstance(app.llm, ScriptedLLM)
    app.llm.enqueue(TransientError("http://10.1.2.3/v1: gone"))
    with pytest.raises(TransientError):
        await app.llm.chat([])
    found, others = await get_readiness(app), settings.model_copy(update={"auth": "token"})
    assert "10.1.2.3" not in redact_readiness(found, others).model_dump_json()


async def test_no_chat_model_on_purpose_is_ready(settings: Settings) -> None:
    """What was chosen is no fault, and is told."""
    async with App(settings.model_copy(update={"llm": "none"})) as app:
        found = await get_readiness(app)
    assert (found.status, found.chat_model) == (
        "ready",
        "none: answers are extracts of the evidence",
    )

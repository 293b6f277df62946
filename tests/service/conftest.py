"""An open App of the test's own, and a small folder of files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from citewell.config import Settings
from citewell.runtime.app import App
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with App(settings) as opened:
        yield opened


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "lighthouse.md").write_text(
        "# Lighthouse\n\nThe lighthouse was built in 1857. Its lamp is electric.\n", "utf-8"
    )
    (folder / "灯塔.txt").write_text("灯塔建于一八五七年。塔身为红色，高三十米。\n", "utf-8")
    return folder


@pytest.fixture
async def filled(app: App, library: Path) -> App:
    """With that folder read and embedded."""
    await add_paths(app, [str(library)], "default")
    await embed_pending(app)
    return app


@pytest.fixture(autouse=True)
def no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that is tried again does not wait."""
    monkeypatch.setattr("citewell.agents.qa.qa.compute_backoff", lambda *_: 0.0)

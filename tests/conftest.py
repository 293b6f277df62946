"""Fixtures that every part shares. The one rule: a test touches its own temporary home and the loopback only."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from citewell.config import Settings

# A run in the background (`make test &`, some CI) starts with Ctrl-C ignored, and so would every program that tests start and
# interrupt. A handler here gives them the default back.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture
def shared_data() -> Path:
    """Evaluation data of others, beside the repository where it is present."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the evaluation data is not beside this checkout")
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a home of the test's own and scripted models."""
    return Settings(home=tmp_path / "home", cache=tmp_path / "cache", llm="scripted", embedder="scripted")

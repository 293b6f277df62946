"""Can it answer now? The one rule: a missing chat model degrades answers to extracts, a broken database ends them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import anyio.to_thread

from citewell.config import Settings
from citewell.errors import CitewellError
from citewell.models.pull import model_path
from citewell.service.add import pending
from citewell.service.app import App
from citewell.types import Shown


class Readiness(Shown):
    """`database`, `chat_model`: "ok" or what is wrong. `waiting`: passages not yet embedded, found by their words only."""

    status: Literal["ready", "degraded", "unavailable"]
    database: str
    chat_model: str
    embedder: str
    waiting: int = 0


async def readiness(app: App) -> Readiness:
    chat = await anyio.to_thread.run_sync(chat_model_state, app.settings)
    try:
        waiting = await pending(app)
    except CitewellError as error:
        return Readiness(status="unavailable", database=error.message, chat_model=chat, embedder=app.settings.embedder)
    status: Literal["ready", "degraded"] = "ready" if chat == "ok" else "degraded"
    return Readiness(status=status, database="ok", chat_model=chat, embedder=app.settings.embedder, waiting=waiting)


def chat_model_file(settings: Settings) -> Path | None:
    """The file that the settings ask for; None where they ask for none."""
    return (settings.llm_file or model_path(settings)) if settings.llm == "builtin" else None


def chat_model_state(settings: Settings) -> str:
    """Reads no more than the file's name: loading is for the first question."""
    path = chat_model_file(settings)
    if path is not None and not path.is_file():
        return f"{path}: missing; `citewell models pull` brings it; until then answers are extracts of the evidence"
    return "none: answers are extracts of the evidence" if settings.llm == "none" else "ok"

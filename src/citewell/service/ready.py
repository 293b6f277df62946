"""Can it answer now? The one rule: a missing chat model degrades answers to extracts, a broken database ends them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import anyio.to_thread

from citewell.config import Settings
from citewell.errors import CitewellError
from citewell.models.pull import MODEL, model_path
from citewell.service.add import pending
from citewell.service.app import App
from citewell.types import Shown


class Readiness(Shown):
    """`database`, `chat_model`: "ok" or what is wrong. `waiting`: passages not yet embedded, found by their words only. `llm`,
    `model`: which tier answers, and the name of its model (empty where there is none); `reranker`: what looks again.
    """

    status: Literal["ready", "degraded", "unavailable", "stopping"]
    database: str
    chat_model: str
    embedder: str
    waiting: int = 0
    llm: str = ""
    model: str = ""
    reranker: str = "none"


async def readiness(app: App) -> Readiness:
    settings = app.settings
    chat = await anyio.to_thread.run_sync(chat_model_state, settings)
    status: Literal["ready", "degraded", "unavailable", "stopping"] = "ready" if chat == "ok" else "degraded"
    database, waiting = "ok", 0
    try:
        waiting = await pending(app)
    except CitewellError as error:
        status, database = "unavailable", error.message
    if app.root.stopping.closing.is_set():
        status = "stopping"  # it answers what it has begun, and takes nothing new
    return Readiness(
        status=status,
        database=database,
        chat_model=chat,
        embedder=settings.embedder,
        waiting=waiting,
        llm=settings.llm,
        model=chat_model_name(settings),
        reranker=settings.reranker,
    )


def chat_model_file(settings: Settings) -> Path | None:
    """The file that the settings ask for; None where they ask for none."""
    return (settings.llm_file or model_path(settings)) if settings.llm == "builtin" else None


def chat_model_name(settings: Settings) -> str:
    """As its maker calls it, or the file that was named; empty where the settings ask for none."""
    if settings.llm == "builtin":
        return settings.llm_file.name if settings.llm_file else MODEL.name
    return {"openai": settings.llm_model, "scripted": "scripted"}.get(settings.llm, "")


def chat_model_state(settings: Settings) -> str:
    """Reads no more than the file's name: loading is for the first question."""
    path = chat_model_file(settings)
    if path is not None and not path.is_file():
        return f"{path}: missing; `citewell models pull` brings it; until then answers are extracts of the evidence"
    return "none: answers are extracts of the evidence" if settings.llm == "none" else "ok"

"""Can it answer now? Without a chat model extracts do; a refusing database ends it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import anyio.to_thread

from citewell.config import Settings
from citewell.errors import CitewellError, ModelUnavailable
from citewell.messages import AnyText, Text
from citewell.models.builtin.chat import check_file
from citewell.models.builtin.download import MODEL, get_model_path
from citewell.runtime.app import App
from citewell.runtime.health import FAILED
from citewell.service.admin.forbidden_folders import redact_folders
from citewell.types import Shown

State = Literal["ready", "degraded", "unavailable", "stopping"]
EXTRACTS = Text("until then answers are extracts of the evidence")


class Readiness(Shown):
    """`database`, `chat_model`, `embedding`: "ok" or what is wrong. `waiting`: passages not yet
    embedded, found by their words only. `llm`, `model`: which tier answers, and the name of its
    model (empty where there is none); `reranker`: what looks again.
    """

    status: State
    database: AnyText
    chat_model: AnyText
    embedder: str
    embedding: str = "ok"
    waiting: int = 0
    llm: str = ""
    model: str = ""
    reranker: str = "none"


async def get_readiness(app: App) -> Readiness:
    settings, seen = app.settings, app.root.models_seen
    chat = await anyio.to_thread.run_sync(get_chat_model_state, settings)
    chat = seen.of("chat") if chat == "ok" else chat
    embedding = seen.of("embeddings")
    status: State = (
        "ready" if embedding == "ok" and (chat == "ok" or settings.llm == "none") else "degraded"
    )
    waiting = 0
    try:
        database, waiting = (
            await app.root.writing.look(app.db),
            await app.pending_chunks.count_unembedded(),
        )
    except CitewellError as error:
        database = error.message
    if database != "ok":
        status = "unavailable"
    if app.root.stopping.closing.is_set():
        status = "stopping"  # it answers what it has begun, and takes nothing new
    return Readiness(
        status=status,
        database=database,
        chat_model=chat,
        embedder=settings.embedder,
        embedding=embedding,
        waiting=waiting,
        llm=settings.llm,
        model=get_chat_model_name(settings),
        reranker=settings.reranker,
    )


def redact_readiness(found: Readiness, settings: Settings) -> Readiness:
    """For whoever asks: the folders of this machine are no business of theirs, nor the addresses of
    models of other users.
    """
    change = {
        name: _redact_state(getattr(found, name), settings)
        for name in ("database", "chat_model", "embedding")
    }
    return found.model_copy(update=change)


def _redact_state(text: str, settings: Settings) -> str:
    # what a model's server says may hold its address
    if text.startswith(FAILED) and settings.auth == "token":
        return text.partition(":")[0]
    if text.startswith("postgresql://"):  # what it says may hold the address of the server
        return Text("the database server does not take what is written")
    return redact_folders(text, settings)


def get_chat_model_file(settings: Settings) -> Path | None:
    """The file that the settings ask for; None where they ask for none."""
    return (settings.llm_file or get_model_path(settings)) if settings.llm == "builtin" else None


def get_chat_model_name(settings: Settings) -> str:
    """As its maker calls it, or the file that was named; empty where the settings ask for none."""
    if settings.llm == "builtin":
        return settings.llm_file.name if settings.llm_file else MODEL.name
    return {"openai": settings.llm_model, "scripted": "scripted"}.get(settings.llm, "")


def get_chat_model_state(settings: Settings) -> str:
    """Reads no more than the first bytes of the file: loading is for the first question."""
    path = get_chat_model_file(settings)
    if path is None:
        return (
            Text("none: answers are extracts of the evidence") if settings.llm == "none" else "ok"
        )
    if not path.is_file():
        return Text(
            "{path}: missing; `citewell models pull` brings it; {extracts}",
            path=path,
            extracts=EXTRACTS,
        )
    try:
        check_file(path, None if settings.llm_file else MODEL.bytes)
    except ModelUnavailable as error:
        return Text("{message}; {extracts}", message=error.message, extracts=EXTRACTS)
    return "ok"

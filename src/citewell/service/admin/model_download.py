"""Fetching the built-in chat model while the server runs: begin, how far it is, cancel. One
download a server; another process that fetches too is told by `pull_model`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal

import anyio.to_thread

from citewell.errors import CitewellError, Conflict
from citewell.messages import AnyText, Text
from citewell.models.builtin.download import MODEL, pull_model
from citewell.runtime.app import App
from citewell.service.admin.page_settings import find_fixed
from citewell.service.admin.readiness import get_chat_model_state
from citewell.types import Shown


class ModelFile(Shown):
    """`bytes`: of the whole file; `done`: of them that are here."""

    name: str
    bytes: int
    state: Literal["missing", "here", "downloading", "failed"]
    done: int = 0
    error: AnyText = ""
    hint: AnyText = ""


class Download:
    """What goes on, and what came of it."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._task: asyncio.Task[None] | None = None
        self._done = 0
        self._error: CitewellError | None = None

    async def describe(self) -> ModelFile:
        shown = ModelFile(name=MODEL.name, bytes=MODEL.bytes, state="missing")
        if self._task is not None and not self._task.done():
            return shown.model_copy(update={"state": "downloading", "done": self._done})
        settings = self._app.settings.model_copy(update={"llm": "builtin", "llm_file": None})
        if await anyio.to_thread.run_sync(get_chat_model_state, settings) == "ok":
            return shown.model_copy(update={"state": "here", "done": MODEL.bytes})
        if self._error is None:
            return shown
        told = {"error": self._error.message, "hint": self._error.hint}
        return shown.model_copy(update={"state": "failed", **told})

    def begin(self) -> None:
        """Nothing where it goes on already."""
        if self._task is None or self._task.done():
            self._done, self._error = 0, None
            self._task = asyncio.create_task(self._pull())

    async def cancel(self) -> None:
        """What was fetched of it is gone."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _pull(self) -> None:
        def note(done: int, _: int) -> None:
            self._done = done

        try:
            await pull_model(self._app.settings, note)
        except CitewellError as error:
            self._error = error


def get_download(app: App) -> Download:
    return app.part(Download, Download.cancel)


def begin_download(app: App) -> None:
    """Raises Conflict where the environment or the settings file wants another chat model."""
    if app.settings.llm != "builtin" and (source := find_fixed("model")):
        raise Conflict(
            Text("the built-in model is not in use here"),
            hint=Text("another one is set by {source}", source=source),
        )
    get_download(app).begin()

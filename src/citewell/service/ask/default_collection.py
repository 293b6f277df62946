"""Which collection is meant where none is named. The page (`setUsual` in web/ask/choices.js)
chooses the same, and who asked is told.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.runtime.app import App
from citewell.service.ask.run import AskRequest
from citewell.service.library.collections import list_collections
from citewell.store.library.collection_rows import CONFIRMED
from citewell.types import Answer

FROM_DOCUMENTS = frozenset({"auto", "qa", "dual_loop"})  # agents that answer from a collection


async def get_default_collection(app: App) -> str | None:
    """The fullest collection, while the settings' has no documents; else None (the settings')."""
    found = [
        info for info in await list_collections(app) if info.name != CONFIRMED and info.documents
    ]
    if not found or any(info.name == app.settings.collection for info in found):
        return None
    return max(found, key=lambda info: info.documents).name


async def add_default_collection(app: App, request: AskRequest) -> tuple[AskRequest, list[str]]:
    """The request with its collection, and a warning that says which if nobody named it."""
    if (
        request.collection
        or request.resume
        or request.agent not in FROM_DOCUMENTS
        or (name := await get_default_collection(app)) is None
    ):
        return request, []
    return request.model_copy(update={"collection": name}), [format_notice(name)]


async def choose_collections(app: App, named: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those that were named, else the default one, with a warning that says which."""
    name = None if named else await get_default_collection(app)
    return ([name], [format_notice(name)]) if name else (list(named), [])


def add_warnings(answer: Answer, warnings: Sequence[str]) -> Answer:
    return (
        answer.model_copy(update={"warnings": [*answer.warnings, *warnings]})
        if warnings
        else answer
    )


def format_notice(name: str) -> str:
    return f"no collection was named, so {name} was taken"

"""Collections: list, get, create, delete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citewell.errors import Conflict, InvalidInput
from citewell.knowledge.documents import CollectionInfo
from citewell.service.app import App
from citewell.service.cut import chunking_of

LONGEST = 100  # characters of a collection's name


async def list_collections(app: App, name: str | None = None) -> list[CollectionInfo]:
    """All collections, or the one named. Raises NotFound."""
    return await app.catalog.collections() if name is None else [await get_collection(app, name)]


async def get_collection(app: App, name: str) -> CollectionInfo:
    """Raises NotFound, naming the collections there are."""
    return await app.catalog.collection(name)


async def create_collection(app: App, name: str, chunking: Mapping[str, Any] | None = None) -> CollectionInfo:
    """`chunking`: how its documents are cut where that differs from the settings. Raises InvalidInput for a chunking that
    does not fit or a name that cannot be shown or typed, Conflict where it exists.
    """
    own = {key: value for key, value in (chunking or {}).items() if value is not None}
    chunking_of(app.settings.ingest, own)
    if any(info.name == check_name(name) for info in await app.catalog.collections()):
        raise Conflict(f"collection {name}: exists already", hint="add documents to it, or choose another name")
    await app.catalog.create_collection(name)
    if own:
        await app.catalog.set_chunking(name, own)
    return await app.catalog.collection(name)


async def delete_collection(app: App, name: str) -> None:
    """With all its documents. Raises NotFound."""
    await app.catalog.delete_collection(name)


def check_name(name: str) -> str:
    """Names stand in addresses and on command lines: printable, no slash, no space at the ends."""
    if not name or len(name) > LONGEST or name != name.strip() or not name.isprintable() or "/" in name:
        raise InvalidInput(
            f"collection name {name!r}: not allowed",
            hint=f"1 to {LONGEST} printable characters, no slash, no space at the ends",
        )
    return name

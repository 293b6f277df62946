"""Collections: list, get, create, delete."""

from __future__ import annotations

from citewell.errors import Conflict, InvalidInput
from citewell.knowledge.documents import CollectionInfo
from citewell.service.app import App

LONGEST = 100  # characters of a collection's name


async def list_collections(app: App, name: str | None = None) -> list[CollectionInfo]:
    """All collections, or the one named. Raises NotFound."""
    return await app.catalog.collections() if name is None else [await get_collection(app, name)]


async def get_collection(app: App, name: str) -> CollectionInfo:
    """Raises NotFound, naming the collections there are."""
    return await app.catalog.collection(name)


async def create_collection(app: App, name: str) -> CollectionInfo:
    """Raises InvalidInput for a name that cannot be shown or typed, Conflict where it exists."""
    if any(info.name == check_name(name) for info in await app.catalog.collections()):
        raise Conflict(f"collection {name}: exists already", hint="add documents to it, or choose another name")
    return await app.catalog.create_collection(name)


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

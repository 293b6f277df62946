"""Whose a collection is. Nothing is put where its sender could not read it again."""

from __future__ import annotations

from citewell.errors import Conflict
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.store.library.collection_rows import CollectionInfo


async def ensure_collection(app: App, name: str) -> None:
    """The collection is there for who looks, from now on: a new one is made, shared. So nobody can
    make it their own before a job puts into it what was sent. Raises NotFound where it is another
    user's. Without a viewer nothing is done.
    """
    if app.viewer is not None:
        await app.collections.create(name)


async def claim_collection(app: App, name: str, user_id: str) -> CollectionInfo:
    """A collection of this user alone, new or not. Raises Conflict if another has the name."""
    info = await app.root.collections.create(name, user_id)
    if app.viewer is not None and info.owner != user_id:
        raise Conflict(
            Text("the name {name!r} is taken", name=name),
            hint=Text("choose another name, or ask an admin of this server to remove that one"),
        )
    return info

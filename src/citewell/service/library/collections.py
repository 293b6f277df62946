"""Collections: list, get, create, delete."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from citewell.errors import Conflict
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.jobs.submit import MOST_JOBS, cancel_or_discard_job
from citewell.service.library.chunking import resolve_chunking
from citewell.store.job_rows import ENDED
from citewell.store.library.collection_rows import CollectionInfo, check_name


async def list_collections(app: App, name: str | None = None) -> list[CollectionInfo]:
    """All collections, or the one named. Raises NotFound."""
    return await app.collections.list_all() if name is None else [await app.collections.get(name)]


async def create_collection(
    app: App, name: str, chunking: Mapping[str, Any] | None = None, owner: str = ""
) -> CollectionInfo:
    """`chunking`: how its documents are cut where that differs from the settings. `owner`: the one
    user who may see it; empty: everybody. Raises InvalidInput for a chunking that does not fit or a
    name that cannot be shown or typed, Conflict where it exists.
    """
    own = {key: value for key, value in (chunking or {}).items() if value is not None}
    resolve_chunking(app.settings.ingest, own)
    if any(info.name == check_name(name) for info in await app.root.collections.list_all()):
        raise Conflict(
            Text("collection {name}: exists already", name=name),
            hint=Text("add documents to it, or choose another name"),
        )
    await app.collections.create(name, owner)
    if own:
        await app.collections.set_chunking(name, own)
    return await app.collections.get(name)


async def delete_collection(app: App, name: str) -> None:
    """With all its documents; uploads on their way into it, and failed ones, are cancelled. Raises
    NotFound, and InvalidInput for the one of confirmed answers.
    """
    await app.collections.get(name)
    check_name(name)
    for job in await app.jobs.list(MOST_JOBS):
        if (job.state not in ENDED or job.state == "failed") and job.payload.get(
            "collection"
        ) == name:
            with suppress(Conflict):  # it has ended just now
                await cancel_or_discard_job(app, job.job_id)
    await app.collections.delete(name)

"""Documents: list, find, get, read, delete."""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from citewell.errors import InvalidInput, NotFound
from citewell.messages import Text
from citewell.retrieve.boosts import HIGHEST
from citewell.runtime.app import App
from citewell.service.library.collections import list_collections
from citewell.service.library.expand_paths import to_uri
from citewell.store.library.catalog import Catalog
from citewell.store.library.collection_rows import is_confirmed_collection
from citewell.store.library.containers import list_enclosing_addresses
from citewell.store.library.documents import DocumentInfo


async def find_documents(
    app: App, target: str, collection: str | None = None
) -> list[DocumentInfo]:
    """The documents that `target` means: an id, an address as listed, or a path; in one collection
    or in all.

    Raises NotFound where there is none. The same file in two collections is two documents, and both
    are meant; a file that holds others means all that came out of it.
    """
    addresses = {target, await anyio.to_thread.run_sync(_to_uri, target)}
    found = [
        info
        for each in await list_collections(app, collection)
        for info in await app.catalog.documents(each.name)
        if info.doc_id == target or not addresses.isdisjoint(list_enclosing_addresses(info.uri))
    ]
    if not found:
        where = Text(" in collection {collection}", collection=collection) if collection else ""
        raise NotFound(
            Text("{target}: no such document{where}", target=target, where=where),
            hint=Text("`citewell list` shows ids and paths"),
        )
    return found


def _to_uri(target: str) -> str:
    """What a path is listed as; the text itself where it can be none (NUL, unknown user)."""
    try:
        return to_uri(Path(target).expanduser().resolve())
    except (ValueError, RuntimeError, OSError):
        return target


async def get_original_file(catalog: Catalog, doc_id: str) -> tuple[DocumentInfo, bytes]:
    """The bytes as they were added. Raises NotFound."""
    return await catalog.document(doc_id), await catalog.file(doc_id)


async def set_priority(app: App, doc_id: str, priority: int) -> DocumentInfo:
    """0 for an ordinary document, up to HIGHEST. Raises InvalidInput, NotFound."""
    return await app.catalog.set_priority(doc_id, check_priority(priority))


def check_priority(priority: int) -> int:
    """Raises InvalidInput for one that is not from 0 to HIGHEST."""
    if not 0 <= priority <= HIGHEST:
        raise InvalidInput(
            Text("priority {priority}: not allowed", priority=priority),
            hint=Text("0 (ordinary) to {highest}", highest=HIGHEST),
        )
    return priority


async def delete_document(app: App, *doc_ids: str) -> None:
    """All at once or none. Raises NotFound; InvalidInput for a confirmed answer's document."""
    for doc_id in doc_ids:
        if is_confirmed_collection((await app.catalog.document(doc_id)).collection):
            hint = Text(
                "`citewell knowledge list` shows its ID; `citewell knowledge undo ID` takes it back"
            )
            raise InvalidInput(
                Text("{doc_id} is the document of a confirmed answer", doc_id=doc_id), hint=hint
            )
    await app.catalog.delete(*doc_ids)

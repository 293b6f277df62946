"""A confirmed item's state, document, index entry and file, brought in line with who stands by it.
`settle_item` may be called at any time, by anybody, any number of times, and killed: the next call
makes it right. The file is written before the row says `active`, and removed after it says
otherwise; row and index entry change together.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio.to_thread
from sqlalchemy import Connection, bindparam, select

from citewell.config import FeedbackSettings
from citewell.errors import Conflict
from citewell.ingest.chunk.section_summaries import chunk_with_summaries
from citewell.ingest.markup.markdown import parse
from citewell.messages import Text
from citewell.models.base import Embedder, Vector
from citewell.retrieve.boosts import HIGHEST
from citewell.runtime.app import App
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed.item_files import render_document
from citewell.store.confirmed.item_folder import ItemFolder
from citewell.store.confirmed.types import Confirmation, Confirmed, ItemState
from citewell.store.index import vectors
from citewell.store.library import collection_rows, documents
from citewell.store.library.catalog import Catalog
from citewell.store.library.collection_rows import get_confirmed_collection
from citewell.store.library.documents import Prepared
from citewell.store.schema.library import chunks
from citewell.store.users.identity import get_person_keys, is_one_of
from citewell.store.users.user_rows import list_reviewers

TRIES = 20  # times that somebody else may change the item while this is at work


@dataclass(frozen=True, slots=True)
class _Made:
    """The document as rows, with the vectors of its chunks in their order."""

    data: bytes
    prepared: Prepared
    vectors: Vector


def count_people(confirmations: Sequence[Confirmation], reviewers: Sequence[str]) -> int:
    """How many different people stand by it, of those whose word counts."""
    return len(
        get_person_keys(
            each.user_id
            for each in confirmations
            if not reviewers or is_one_of(each.user_id, reviewers)
        )
    )


def decide_state(item: Confirmed, settings: FeedbackSettings) -> tuple[ItemState, str]:
    """The state due to an item, and why. Undone and set aside stay until somebody says so."""
    if item.state in {"undone", "quarantined"}:
        return item.state, item.reason
    if item.bad > item.good + 1:
        return (
            "quarantined",
            (
                f"{item.bad} people said that answers which followed it are wrong, {item.good} "
                "that they are right"
            ),
        )
    if not item.confirmed_by:
        return "undone", "nobody stands by it any more"
    have, need = count_people(item.confirmed_by, settings.reviewers), settings.confirmations
    if have >= need:
        return "active", ""
    return (
        "pending",
        f"confirmed by {have} of {need}{' reviewers' if settings.reviewers else ' people'}",
    )


async def settle_item(app: App, item_id: str) -> Confirmed:
    """Raises NotFound, StorageError and what the embedder raises; then nothing is half done."""
    app = app.root
    for _ in range(TRIES):
        item, state = await app.db.read(
            lambda connection: _read_item_state(app, connection, item_id)
        )
        if state == "active":
            settled = await _publish_item(app, item)
        else:
            settled = await _hide_item(app, item)
        if settled is not None:
            return settled
    raise Conflict(
        Text("{item_id} is being changed by others all the time", item_id=item_id),
        hint=Text("try again"),
    )


def _read_item_state(app: App, connection: Connection, item_id: str) -> tuple[Confirmed, ItemState]:
    """An item, and the state that it should be in."""
    item = confirmed.get_item(connection, item_id)
    return item, decide_state(item, get_feedback_settings(app, connection))[0]


async def _publish_item(app: App, item: Confirmed) -> Confirmed | None:
    """The file, then row and index entry. None where it is to be looked at again."""
    folder, words = ItemFolder(app.settings), render_document(item)
    await folder.write(item.trace_id, words)
    made = await _build_document(app, item, words.encode("utf-8"))

    def show(connection: Connection) -> bool:
        confirmed.hold_knowledge(connection)
        fresh = confirmed.get_item(connection, item.item_id)
        state, reason = decide_state(fresh, get_feedback_settings(app, connection))
        if (
            state != "active"
            or render_document(fresh) != words
            or (made is None and fresh.doc_id != item.doc_id)
        ):
            return False
        if made is not None:
            doc_id = _put_document(app.catalog, app.embedder, connection, made, fresh.owner)
            if fresh.doc_id not in {"", doc_id}:  # it was kept where others could see it
                app.catalog.delete_in(connection, fresh.doc_id)
            confirmed.set_document(connection, item.item_id, doc_id)
        _set_state(connection, fresh, state, reason)
        return True

    if not await app.db.write_beside(show) or not await folder.has(item.trace_id, words):
        return None
    return await app.db.read(confirmed.get_item, item.item_id)


async def _hide_item(app: App, item: Confirmed) -> Confirmed | None:
    """Row and index entry, then the file. None where it is to be looked at again."""

    def hide(connection: Connection) -> bool | None:
        confirmed.hold_knowledge(connection)
        fresh = confirmed.get_item(connection, item.item_id)
        state, reason = decide_state(fresh, get_feedback_settings(app, connection))
        if state == "active":
            return None
        gone = hide_item_in(app.catalog, connection, fresh)
        _set_state(connection, fresh, state, reason)
        return gone

    gone = await app.db.write_beside(hide)
    if gone is None:
        return None
    if gone:
        await app.db.forget()
    await ItemFolder(app.settings).remove(item.trace_id)
    item, state = await app.db.read(lambda c: _read_item_state(app, c, item.item_id))
    return None if state == "active" else item  # somebody may have written it just before


def hide_item_in(catalog: Catalog, connection: Connection, item: Confirmed) -> bool:
    """Take its index entry away, as part of a transaction. False where it had none."""
    if not item.doc_id:
        return False
    confirmed.set_document(connection, item.item_id, "")
    return catalog.delete_in(connection, item.doc_id)


def _set_state(connection: Connection, item: Confirmed, state: ItemState, reason: str) -> None:
    if (item.state, item.reason) == (state, reason):
        return
    now = time.time()
    confirmed.set_state(connection, item.item_id, state, reason, now)
    if item.state != state:
        confirmed.log_action(connection, item.item_id, "", state, now, reason)


def get_item_uri(item: Confirmed) -> str:
    """Under which its document is kept: the path of its file below the home folder."""
    return confirmed.PATH.format(trace_id=item.trace_id)


async def _build_document(app: App, item: Confirmed, data: bytes) -> _Made | None:
    """The document's rows and vectors; None where just this is indexed already."""
    there = await app.catalog.find(get_confirmed_collection(item.owner), get_item_uri(item))
    prepared = await anyio.to_thread.run_sync(_prepare_document, app, item, data)
    if there is not None and there.doc_id == item.doc_id and there.sha256 == prepared.sha256:
        return None
    texts = [
        vectors.build_embedding_text(json.loads(row["heading_path"]), row["text"])
        for row in prepared.chunks
    ]
    return _Made(data, prepared, await app.embedder.passages(texts))


def _prepare_document(app: App, item: Confirmed, data: bytes) -> Prepared:
    settings, uri = app.settings.ingest, get_item_uri(item)
    read = parse(data, uri, settings)
    dated = max((each.at for each in item.confirmed_by), default=None)
    read = replace(read, title=item.question, lang=item.lang, dated=dated)
    chunks = chunk_with_summaries(read, settings.chunk_tokens, settings.overlap_tokens, "structure")
    return documents.prepare_document(uri, data, read, chunks)


def _put_document(
    catalog: Catalog, embedder: Embedder, connection: Connection, made: _Made, owner: str
) -> str:
    """Document, chunks, words and vectors; the id."""
    collection_rows.ensure_collection(
        connection, get_confirmed_collection(owner), time.time(), owner
    )
    info = catalog.put_in(connection, get_confirmed_collection(owner), made.prepared, HIGHEST)
    rows = connection.execute(_CHUNKS, {"doc_id": info.doc_id})
    place = {row["sha256"]: number for number, row in enumerate(made.prepared.chunks)}
    ids = {row.id: place[row.sha256] for row in rows}
    if ids:
        blobs = vectors.encode_vectors(embedder.name, list(ids), made.vectors[list(ids.values())])
        vectors.put_vectors(connection, embedder.name, blobs)
    return info.doc_id


_CHUNKS = select(chunks.c.id, chunks.c.sha256).where(chunks.c.doc == bindparam("doc_id"))
NOBODY = "\x00"  # stands for no user at all: an empty list would mean everybody


def get_feedback_settings(app: App, connection: Connection) -> FeedbackSettings:
    """The settings, with `reviewers` as they are at this moment."""
    settings = app.settings.feedback
    if app.settings.auth == "none":
        return settings
    named = tuple(dict.fromkeys((*settings.reviewers, *list_reviewers(connection))))
    return settings.model_copy(update={"reviewers": named or (NOBODY,)})

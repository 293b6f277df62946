"""Collections and documents: what is kept, in which version, and which chunks still wait for their
vectors.

The one rule: one verb is one transaction. A document's text, bytes, chunks and words appear
together and go together.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from typing import Any

import anyio.to_thread
from sqlalchemy import Connection, text

from citewell.errors import NotFound
from citewell.models.base import Vector
from citewell.store import pages
from citewell.store.db import Database
from citewell.store.index import vectors
from citewell.store.library import chunks, collection_rows, containers, documents
from citewell.store.library.collection_rows import CollectionInfo
from citewell.store.library.documents import DocumentInfo
from citewell.text.language import count_tokens
from citewell.types import Box, Chunk, Document


class Catalog:
    """Raises NotFound, naming what is missing, and StorageError. `embedder` is the name of the one
    in use: what `embedded` counts. `viewer`: what is another user's is not found; None: everything
    is.
    """

    def __init__(
        self,
        db: Database,
        embedder: str,
        clock: Callable[[], float] = time.time,
        *,
        viewer: str | None = None,
    ) -> None:
        self._db = db
        self._embedder = embedder
        self._clock = clock
        self._viewer = viewer

    def restrict_to_viewer(self, viewer: str) -> Catalog:
        """The same, with this user's eyes."""
        return Catalog(self._db, self._embedder, self._clock, viewer=viewer)

    async def create_collection(self, name: str, owner: str = "") -> CollectionInfo:
        """The collection of that name, new or not. `owner` of a new one; empty: it is shared."""

        def create(connection: Connection) -> CollectionInfo:
            collection_rows.ensure_collection(connection, name, self._clock(), owner)
            return self._get_collection(connection, name)

        return await self._db.write(create)

    async def collections(self) -> list[CollectionInfo]:
        """All of them, by name."""
        return await self._db.read(
            lambda connection: collection_rows.list_collections(
                connection, self._embedder, self._viewer
            )
        )

    async def collection(self, name: str) -> CollectionInfo:
        """The one of that name. Raises NotFound, which says those there are and how to make this
        one.
        """
        return await self._db.read(lambda connection: self._get_collection(connection, name))

    async def delete_collection(self, name: str) -> None:
        """The collection and all that is in it: documents, bytes, chunks, words, vectors."""

        def delete(connection: Connection) -> None:
            self._get_collection(connection, name)
            collection_rows.delete_collection(connection, name)

        await self._db.write(delete)
        await self._db.forget()

    async def find(self, collection: str, uri: str) -> DocumentInfo | None:
        """The document kept under this address, if there is one."""
        return await self._db.read(
            lambda connection: documents.find_document(connection, self._embedder, collection, uri)
        )

    async def chunking(self, collection: str) -> dict[str, Any]:
        """How this collection's documents are cut where that differs from the settings; empty where
        nothing does, and for a collection that is not there yet.
        """
        return await self._db.read(
            lambda connection: collection_rows.get_chunking(connection, collection)
        )

    async def set_chunking(self, collection: str, chunking: dict[str, Any]) -> None:
        """For documents added from now on. Raises NotFound."""

        def change(connection: Connection) -> None:
            self._get_collection(connection, collection)
            collection_rows.set_chunking(connection, collection, chunking)

        await self._db.write(change)

    async def put(
        self,
        collection: str,
        uri: str,
        data: bytes,
        document: Document,
        cut: Sequence[Chunk],
        *,
        priority: int | None = None,
    ) -> DocumentInfo:
        """Keep a document. One that stands under the same address keeps its id, gets the next
        version, and its old chunks go. A chunk whose text was embedded before, anywhere here, has
        its vector at once. Creates the collection. `priority` None: that of the version before, or
        0.
        """
        new = await anyio.to_thread.run_sync(documents.prepare_document, uri, data, document, cut)
        return await self._db.write(
            lambda connection: self.put_in(connection, collection, new, priority)
        )

    def put_in(
        self,
        connection: Connection,
        collection: str,
        new: documents.Prepared,
        priority: int | None = None,
    ) -> DocumentInfo:
        """The same, as part of a transaction."""
        return documents.put_document(
            connection, self._embedder, collection, new, self._clock(), priority
        )

    async def chunks(self, doc_id: str) -> list[Chunk]:
        """As they were put, summaries included, in order."""

        def listed(connection: Connection) -> list[Chunk]:
            self._get_document(connection, doc_id)
            return chunks.list_chunks(connection, doc_id)

        return await self._db.read(listed)

    async def rechunk(self, doc_id: str, cut: Sequence[Chunk]) -> DocumentInfo:
        """Other chunks of the document's text, of the same version; vectors of equal text are kept.
        Raises NotFound, and Conflict where the text has been replaced since it was cut.
        """
        info = await self.document(doc_id)
        rows = await anyio.to_thread.run_sync(chunks.build_rows, info.title, cut)

        def change(connection: Connection) -> DocumentInfo:
            current = self._get_document(connection, doc_id)
            chunks.replace_chunks(connection, doc_id, current.collection, rows)
            return self._get_document(connection, doc_id)

        return await self._db.write(change)

    async def set_priority(self, doc_id: str, priority: int) -> DocumentInfo:
        """Raises NotFound."""

        def change(connection: Connection) -> DocumentInfo:
            self._get_document(connection, doc_id)
            documents.set_priority(connection, doc_id, priority)
            return self._get_document(connection, doc_id)

        return await self._db.write(change)

    async def documents(self, collection: str) -> list[DocumentInfo]:
        """Those of a collection, in the order of their addresses."""

        def listed(connection: Connection) -> list[DocumentInfo]:
            self._get_collection(connection, collection)
            return documents.list_documents(connection, self._embedder, collection)

        return await self._db.read(listed)

    async def document(self, doc_id: str) -> DocumentInfo:
        return await self._db.read(lambda connection: self._get_document(connection, doc_id))

    async def content(self, doc_id: str) -> Document:
        """Text, sections and pages as the parser made them; not the boxes of its lines, which
        `boxes` has.
        """

        def content(connection: Connection) -> Document:
            self._get_document(connection, doc_id)
            return documents.load_content(connection, doc_id)

        return await self._db.read(content)

    async def get_text_lengths(self, doc_ids: Sequence[str]) -> dict[str, int]:
        """Characters of each document's text; those that are gone are left out."""

        def lengths(connection: Connection) -> dict[str, int]:
            return documents.get_text_lengths(connection, doc_ids)

        return await self._db.read(lengths)

    async def boxes(self, doc_id: str, spans: Sequence[tuple[int, int]]) -> list[Box]:
        """The lines that touch any of these spans of the text, in order, each once; empty where
        nothing is laid out.
        """

        def boxes(connection: Connection) -> list[Box]:
            if self._viewer is not None:
                info = documents.get_document(connection, self._embedder, doc_id)
                if info is None or not collection_rows.can_see_collection(
                    connection, self._viewer, info.collection
                ):
                    return []
            return documents.load_boxes(connection, doc_id, spans)

        return await self._db.read(boxes)

    async def file(self, doc_id: str) -> bytes:
        """The original bytes."""

        def file(connection: Connection) -> bytes:
            info = self._get_document(connection, doc_id)
            return bytes(
                connection.execute(
                    text("SELECT data FROM files WHERE sha256 = :s"), {"s": info.sha256}
                ).scalar_one()
            )

        return await self._db.read(file)

    async def delete(self, *doc_ids: str) -> None:
        """The documents and all that was made of them; the bytes too, unless another document has
        the same. What is known of the web pages that they were made of goes with them.
        """

        def delete(connection: Connection) -> None:
            self._delete_documents(
                connection, [self._get_document(connection, doc_id) for doc_id in doc_ids]
            )

        await self._db.write(delete)
        await self._db.forget()

    def delete_in(self, connection: Connection, doc_id: str) -> bool:
        """The same for one, as part of a transaction, after which `Database.forget` is called.
        False where it is not there.
        """
        info = documents.get_document(connection, self._embedder, doc_id)
        if info is not None:
            self._delete_documents(connection, [info])
        return info is not None

    @staticmethod
    def _delete_documents(connection: Connection, infos: Sequence[DocumentInfo]) -> None:
        documents.delete_documents(connection, infos)
        containers.delete_empty_containers(connection)
        pages.forget_pages(connection, infos)

    async def members(self, collection: str, uri: str) -> list[DocumentInfo]:
        """The documents that came out of this file: a ZIP, a mail."""
        return await self._db.read(
            lambda connection: containers.list_members(connection, self._embedder, collection, uri)
        )

    async def unpacked(self, collection: str, uri: str, sha256: str) -> bool:
        """Whether `keep_unpacked` noted these very bytes, and all that came out of them is still
        here.
        """
        return await self._db.read(
            lambda connection: containers.is_unpacked(connection, collection, uri, sha256)
        )

    async def keep_unpacked(
        self, collection: str, uri: str, sha256: str, members: Sequence[str]
    ) -> None:
        """Note that a file was unpacked and all of it was taken: `members` are the addresses of
        what came out.
        """
        await self._db.write(
            lambda connection: containers.record_unpacked(
                connection, collection, uri, sha256, members
            )
        )

    async def unembedded(
        self, embedder: str, limit: int, docs: Sequence[str] | None = None, *, newest: bool = False
    ) -> list[tuple[int, str]]:
        """(chunk id, text to embed) of chunks without a vector of this embedder, at most `limit`,
        equal texts once. Empty when none waits. `docs`: of these documents only; `newest`: those
        that came last.
        """
        return await self._db.read(
            lambda connection: vectors.list_unembedded(
                connection, embedder, limit, docs, newest=newest
            )
        )

    async def waiting(self, docs: Sequence[str] | None = None) -> int:
        """How many chunks, summaries included, have no vector of the embedder in use; `docs`: of
        these documents only.
        """
        return await self._db.read(
            lambda connection: vectors.count_unembedded(connection, self._embedder, docs)
        )

    async def list_unwritten_summaries(
        self, author: str, limit: int
    ) -> list[tuple[int, tuple[str, ...], str]]:
        """(chunk id, headings, text of the section) of at most `limit` summaries that `author` has
        not written.
        """
        return await self._db.read(
            lambda connection: chunks.list_unwritten_summaries(connection, author, limit)
        )

    async def put_summary(self, chunk_id: int, body: str, author: str) -> bool:
        """Replace a summary, its words and its vector (which is then made anew, like any other).
        False where the summary has gone meanwhile: its document was replaced or deleted.
        """
        size = count_tokens(body)
        return await self._db.write(
            lambda connection: chunks.put_summary(connection, chunk_id, body, author, size)
        )

    async def put_vectors(self, embedder: str, ids: Sequence[int], rows: Vector) -> None:
        """Keep `rows`, shape (len(ids), dim), for these chunks and all others of equal text. Chunks
        deleted meanwhile are passed over. Raises InvalidInput for a wrong shape or a number that is
        not finite.
        """
        blobs = vectors.encode_vectors(embedder, ids, rows)
        await self._db.write(lambda connection: vectors.put_vectors(connection, embedder, blobs))

    def _get_collection(self, connection: Connection, name: str) -> CollectionInfo:
        known = collection_rows.list_collections(connection, self._embedder, self._viewer)
        for info in known:
            if info.name == name:
                return info
        names = ", ".join(info.name for info in known)
        there = f"there are: {names}" if names else "there are none yet"
        raise NotFound(
            f"no collection named {name}",
            hint=f"{there}; `citewell add PATH -c {shlex.quote(name)}` makes it",
        )

    def _get_document(self, connection: Connection, doc_id: str) -> DocumentInfo:
        info = documents.get_document(connection, self._embedder, doc_id)
        if info is None or not collection_rows.can_see_collection(
            connection, self._viewer, info.collection
        ):
            raise NotFound(
                f"no document {doc_id!r}", hint="`citewell list` shows the documents and their ids"
            )
        return info

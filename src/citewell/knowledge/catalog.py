"""Collections and documents: what is kept, in which version, and which chunks still wait for their vectors.

The one rule: one verb is one transaction. A document's text, bytes, chunks and words appear together and go together.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence

import anyio.to_thread
from sqlalchemy import Connection, text

from citewell.errors import NotFound
from citewell.knowledge import documents, vectors
from citewell.knowledge.db import Database
from citewell.knowledge.documents import CollectionInfo, DocumentInfo
from citewell.models.base import Vector
from citewell.types import Chunk, Document


class Catalog:
    """Raises NotFound, naming what is missing, and StorageError. `embedder` is the name of the one in use: what `embedded`
    counts.
    """

    def __init__(self, db: Database, embedder: str, clock: Callable[[], float] = time.time) -> None:
        self._db = db
        self._embedder = embedder
        self._clock = clock

    async def create_collection(self, name: str) -> CollectionInfo:
        """The collection of that name, new or not."""

        def create(connection: Connection) -> CollectionInfo:
            documents.ensure_collection(connection, name, self._clock())
            return self._collection(connection, name)

        return await self._db.write(create)

    async def collections(self) -> list[CollectionInfo]:
        """All of them, by name."""
        return await self._db.read(lambda connection: documents.collections(connection, self._embedder))

    async def collection(self, name: str) -> CollectionInfo:
        """The one of that name. Raises NotFound, which says those there are and how to make this one."""
        return await self._db.read(lambda connection: self._collection(connection, name))

    async def delete_collection(self, name: str) -> None:
        """The collection and all that is in it: documents, bytes, chunks, words, vectors."""

        def delete(connection: Connection) -> None:
            self._collection(connection, name)
            documents.delete_collection(connection, name)

        await self._db.write(delete)
        await self._db.forget()

    async def find(self, collection: str, uri: str) -> DocumentInfo | None:
        """The document kept under this address, if there is one."""
        return await self._db.read(lambda connection: documents.find(connection, self._embedder, collection, uri))

    async def put(self, collection: str, uri: str, data: bytes, document: Document, chunks: Sequence[Chunk]) -> DocumentInfo:
        """Keep a document. One that stands under the same address keeps its id, gets the next version, and its old chunks go.
        A chunk whose text was embedded before, anywhere here, has its vector at once. Creates the collection.
        """
        new = await anyio.to_thread.run_sync(documents.prepare, uri, data, document, chunks)
        return await self._db.write(
            lambda connection: documents.put(connection, self._embedder, collection, new, self._clock())
        )

    async def documents(self, collection: str) -> list[DocumentInfo]:
        """Those of a collection, in the order of their addresses."""

        def listed(connection: Connection) -> list[DocumentInfo]:
            self._collection(connection, collection)
            return documents.listed(connection, self._embedder, collection)

        return await self._db.read(listed)

    async def document(self, doc_id: str) -> DocumentInfo:
        return await self._db.read(lambda connection: self._document(connection, doc_id))

    async def content(self, doc_id: str) -> Document:
        """Text, sections and pages as the parser made them."""

        def content(connection: Connection) -> Document:
            self._document(connection, doc_id)
            return documents.content(connection, doc_id)

        return await self._db.read(content)

    async def file(self, doc_id: str) -> bytes:
        """The original bytes."""

        def file(connection: Connection) -> bytes:
            info = self._document(connection, doc_id)
            return bytes(connection.execute(text("SELECT data FROM files WHERE sha256 = :s"), {"s": info.sha256}).scalar_one())

        return await self._db.read(file)

    async def delete(self, doc_id: str) -> None:
        """The document and all that was made of it; the bytes too, unless another document has the same."""
        await self._db.write(lambda connection: documents.delete(connection, self._document(connection, doc_id)))
        await self._db.forget()

    async def unembedded(self, embedder: str, limit: int) -> list[tuple[int, str]]:
        """(chunk id, text to embed) of chunks without a vector of this embedder, at most `limit`, equal texts once. Empty
        when none waits.
        """
        return await self._db.read(lambda connection: vectors.missing(connection, embedder, limit))

    async def put_vectors(self, embedder: str, ids: Sequence[int], rows: Vector) -> None:
        """Keep `rows`, shape (len(ids), dim), for these chunks and all others of equal text. Chunks deleted meanwhile are
        passed over. Raises InvalidInput for a wrong shape or a number that is not finite.
        """
        blobs = vectors.blobs(embedder, ids, rows)
        await self._db.write(lambda connection: vectors.put(connection, embedder, blobs))

    def _collection(self, connection: Connection, name: str) -> CollectionInfo:
        known = documents.collections(connection, self._embedder)
        for info in known:
            if info.name == name:
                return info
        names = ", ".join(info.name for info in known)
        there = f"there are: {names}" if names else "there are none yet"
        raise NotFound(f"no collection named {name}", hint=f"{there}; `citewell add PATH -c {shlex.quote(name)}` makes it")

    def _document(self, connection: Connection, doc_id: str) -> DocumentInfo:
        info = documents.get(connection, self._embedder, doc_id)
        if info is None:
            raise NotFound(f"no document {doc_id!r}", hint="`citewell list` shows the documents and their ids")
        return info

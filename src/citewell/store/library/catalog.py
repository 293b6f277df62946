"""The documents that are kept: add, replace, read and delete them. Each method is one transaction:
a document's text, bytes, chunks and words appear together and go together. Collections are in
`collection_store.py`, chunks without a vector or a summary in `pending_chunks.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TypeVar

import anyio.to_thread
from sqlalchemy import Connection

from citewell.errors import NotFound
from citewell.messages import Text
from citewell.store import pages
from citewell.store.library import chunks, collection_rows, containers, document_content, documents
from citewell.store.library.document_pages import DocumentPage, list_document_page
from citewell.store.library.documents import DocumentInfo, Prepared
from citewell.store.library.library_locks import (
    hold_addresses,
    hold_documents,
)
from citewell.store.library.library_store import LibraryStore
from citewell.types import Box, Chunk, Document

T = TypeVar("T")


class Catalog(LibraryStore):
    async def find(self, collection: str, uri: str) -> DocumentInfo | None:
        """The document stored under this address, if there is one."""
        return await self._db.read(documents.find_document, self._embedder, collection, uri)

    async def find_among(self, collection: str, uris: Sequence[str]) -> list[DocumentInfo]:
        """The documents stored under any of these addresses."""
        return await self._db.read(
            lambda connection: documents.find_documents(
                connection, self._embedder, collection, uris
            )
        )

    async def find_same_bytes(self, collection: str, uri: str, sha256: str) -> DocumentInfo | None:
        """A document of the collection with these bytes under another address, if there is one."""
        return await self._db.read(
            lambda connection: documents.find_same_bytes(
                connection, self._embedder, collection, uri, sha256
            )
        )

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
        """Store a document. One under the same address keeps its id and gets the next version; its
        old chunks are deleted. A chunk whose text was embedded before, in any document, gets that
        vector at once. Creates the collection. `priority` None: that of the previous version, or 0.
        """
        new = await anyio.to_thread.run_sync(documents.prepare_document, uri, data, document, cut)
        [info] = await self.put_prepared(collection, [new], priority=priority)
        return info

    async def put_prepared(
        self, collection: str, news: Sequence[Prepared], *, priority: int | None = None
    ) -> list[DocumentInfo]:
        """Like `put`, for prepared documents, in one transaction: all of them or none."""

        def put_all(connection: Connection, kept: Sequence[Prepared]) -> list[DocumentInfo]:
            hold_addresses(connection, collection, [new.uri for new in kept])
            return [self.put_in(connection, collection, new, priority) for new in kept]

        async with AsyncExitStack() as stack:
            kept = []
            for new in news:
                keeping = self._objects.keep(new.sha256, new.data)
                data, place = await stack.enter_async_context(keeping)
                kept.append(replace(new, data=data, place=place))
            return await self._db.write_beside(put_all, kept)

    def put_in(
        self,
        connection: Connection,
        collection: str,
        new: Prepared,
        priority: int | None = None,
    ) -> DocumentInfo:
        """Like `put`, as part of a transaction."""
        return documents.put_document(
            connection, self._embedder, collection, new, self._clock(), priority
        )

    async def chunks(self, doc_id: str) -> list[Chunk]:
        """As they were put, summaries included, in order."""
        return await self._db.read(self._load, doc_id, chunks.list_chunks)

    async def rechunk(self, doc_id: str, cut: Sequence[Chunk]) -> DocumentInfo:
        """Other chunks of the document's text, of the same version; vectors of equal text are kept.
        Raises NotFound, and Conflict where the text has been replaced since it was cut.
        """
        info = await self.document(doc_id)
        rows = await anyio.to_thread.run_sync(chunks.build_rows, info.title, cut)

        def change(connection: Connection) -> DocumentInfo:
            hold_documents(connection, [doc_id])
            current = self._get_document(connection, doc_id)
            chunks.replace_chunks(connection, doc_id, current.collection, rows)
            return self._get_document(connection, doc_id)

        return await self._db.write_beside(change)

    async def set_priority(self, doc_id: str, priority: int) -> DocumentInfo:
        """Raises NotFound."""

        def change(connection: Connection) -> DocumentInfo:
            hold_documents(connection, [doc_id])  # a new version takes over the priority
            self._get_document(connection, doc_id)
            documents.set_priority(connection, doc_id, priority)
            return self._get_document(connection, doc_id)

        return await self._db.write_beside(change)

    async def set_gone(self, doc_ids: Sequence[str], since: float | None) -> None:
        """Store since when these documents are missing at their place; None: they are back."""
        await self._db.write_beside(
            lambda connection: documents.set_gone(connection, doc_ids, since)
        )

    async def documents(self, collection: str) -> list[DocumentInfo]:
        """Those of a collection, in the order of their addresses."""

        def list_rows(connection: Connection) -> list[DocumentInfo]:
            self._check_collection(connection, collection)
            return documents.list_documents(connection, self._embedder, collection)

        return await self._db.read(list_rows)

    async def list_document_page(
        self, collection: str, page: DocumentPage
    ) -> tuple[list[DocumentInfo], int]:
        """Some of a collection, and how many there are in all."""

        def list_rows(connection: Connection) -> tuple[list[DocumentInfo], int]:
            self._check_collection(connection, collection)
            return list_document_page(connection, self._embedder, collection, page)

        return await self._db.read(list_rows)

    async def document(self, doc_id: str) -> DocumentInfo:
        return await self._db.read(self._get_document, doc_id)

    async def content(self, doc_id: str) -> Document:
        """Text, sections and pages as the parser made them; its lines' boxes are in `boxes`."""
        return await self._db.read(self._load, doc_id, document_content.load_content)

    async def get_text_lengths(self, doc_ids: Sequence[str]) -> dict[str, int]:
        """Characters of each document's text; those that are gone are left out."""
        return await self._db.read(document_content.get_text_lengths, doc_ids)

    async def boxes(self, doc_id: str, spans: Sequence[tuple[int, int]]) -> list[Box]:
        """The lines that touch any of these spans, in order, each once; empty without boxes."""

        def boxes(connection: Connection) -> list[Box]:
            if self._viewer is not None:
                info = documents.get_document(connection, self._embedder, doc_id)
                if info is None or not collection_rows.can_see_collection(
                    connection, self._viewer, info.collection
                ):
                    return []
            return document_content.load_boxes(connection, doc_id, spans)

        return await self._db.read(boxes)

    async def file(self, doc_id: str) -> bytes:
        """The original bytes."""
        return await self._objects.get(
            *await self._db.read(self._load, doc_id, document_content.load_file)
        )

    async def delete(self, *doc_ids: str) -> None:
        """Delete documents with their chunks and vectors, their original bytes (unless another
        document has the same), and what is stored of their web pages.
        """

        def delete(connection: Connection) -> None:
            hold_documents(connection, doc_ids)
            self._delete_documents(
                connection, [self._get_document(connection, doc_id) for doc_id in doc_ids]
            )

        await self._db.write_beside(delete)
        await self._objects.forget_deleted()

    def delete_in(self, connection: Connection, doc_id: str) -> bool:
        """Like `delete` for one document, as part of a transaction, after which the caller calls
        `Database.forget`. False if it is missing.
        """
        hold_documents(connection, [doc_id])
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
        """The documents that were unpacked from this file: a ZIP, a mail."""
        return await self._db.read(containers.list_members, self._embedder, collection, uri)

    async def is_unpacked(self, collection: str, uri: str, sha256: str) -> bool:
        """Whether `keep_unpacked` recorded these very bytes, and all their members are still
        stored.
        """
        return await self.find_unpacked(collection, uri) == sha256

    async def find_unpacked(self, collection: str, uri: str) -> str:
        """The hash of the bytes for which `is_unpacked` holds, or empty."""
        return await self._db.read(containers.find_unpacked, collection, uri)

    async def keep_unpacked(
        self, collection: str, uri: str, sha256: str, members: Sequence[str]
    ) -> None:
        """Record that a file was unpacked whole: `members` are the addresses of its members."""
        await self._db.write_beside(containers.record_unpacked, collection, uri, sha256, members)

    def _check_collection(self, connection: Connection, name: str) -> None:
        collection_rows.get_collection(connection, name, self._embedder, self._viewer)

    def _load(self, connection: Connection, doc_id: str, load: Callable[[Connection, str], T]) -> T:
        """What `load` finds of a document that is there."""
        self._get_document(connection, doc_id)
        return load(connection, doc_id)

    def _get_document(self, connection: Connection, doc_id: str) -> DocumentInfo:
        info = documents.get_document(connection, self._embedder, doc_id)
        if info is None or not collection_rows.can_see_collection(
            connection, self._viewer, info.collection
        ):
            raise NotFound(
                Text("no document {doc_id!r}", doc_id=doc_id),
                hint=Text("`citewell list` shows the documents and their ids"),
            )
        return info

"""Collections: create, list and delete them, and say how their documents are cut into chunks. Each
method is one transaction. Their documents are in `catalog.py`.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from citewell.store.library import collection_rows
from citewell.store.library.collection_rows import CollectionInfo
from citewell.store.library.library_locks import hold_collection, hold_part
from citewell.store.library.library_store import LibraryStore


class Collections(LibraryStore):
    async def create(self, name: str, owner: str = "") -> CollectionInfo:
        """The collection of that name, new or not. `owner` of a new one; empty: it is shared."""

        def create_row(connection: Connection) -> CollectionInfo:
            hold_part(connection, name, "name")
            collection_rows.ensure_collection(connection, name, self._clock(), owner)
            return self._get_row(connection, name)

        return await self._db.write_beside(create_row)

    async def list_all(self) -> list[CollectionInfo]:
        """All of them, by name."""
        return await self._db.read(collection_rows.list_collections, self._embedder, self._viewer)

    async def get(self, name: str) -> CollectionInfo:
        """The one of that name. Raises NotFound, with those there are and how to make it."""
        return await self._db.read(self._get_row, name)

    async def delete(self, name: str) -> None:
        """The collection and all that is in it: documents, bytes, chunks, words, vectors."""

        def delete_rows(connection: Connection) -> None:
            hold_collection(connection, name)
            self._get_row(connection, name)
            collection_rows.delete_collection(connection, name)

        await self._db.write_beside(delete_rows)
        await self._objects.forget_deleted()

    async def get_chunking(self, collection: str) -> dict[str, Any]:
        """How this collection's documents are cut where that differs from the settings; empty where
        nothing does, and for a collection that is not there yet.
        """
        return await self._db.read(collection_rows.get_chunking, collection)

    async def set_chunking(self, collection: str, chunking: dict[str, Any]) -> None:
        """For documents added from now on. Raises NotFound."""

        def change(connection: Connection) -> None:
            self._get_row(connection, collection)
            collection_rows.set_chunking(connection, collection, chunking)

        await self._db.write_beside(change)

    def _get_row(self, connection: Connection, name: str) -> CollectionInfo:
        return collection_rows.get_collection(connection, name, self._embedder, self._viewer)

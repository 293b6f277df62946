"""Fixtures of the knowledge tests. The one rule: no model runs; a text's vector is drawn from its
hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from citewell.models.base import Vector
from citewell.store.db import Database
from citewell.store.index.adapters import INDEXES
from citewell.store.index.protocol import Filter
from citewell.store.library.catalog import Catalog
from citewell.store.library.collection_store import Collections
from citewell.store.library.documents import DocumentInfo
from citewell.store.library.pending_chunks import PendingChunks
from citewell.types import Chunk, Document, Section

EMBEDDER = "test"
DIM = 64
ANY = Filter()


def vector_of(text: str) -> Vector:
    """The same unit vector for the same text."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "little")
    drawn = np.random.default_rng(seed).standard_normal(DIM).astype(np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn), dtype=np.float32)


def document_of(
    paragraphs: Sequence[str], *, title: str = "T", lang: str = "en"
) -> tuple[Document, list[Chunk]]:
    """One chunk a paragraph, under one heading."""
    text = "\n".join(paragraphs)
    chunks: list[Chunk] = []
    at = 0
    for paragraph in paragraphs:
        chunks.append(Chunk(paragraph, at, at + len(paragraph), 0, (title,), None, len(paragraph)))
        at += len(paragraph) + 1
    return Document(title, "text/plain", lang, text, (Section((title,), 0, len(text)),)), chunks


def summary_of(document: Document, text: str, section: int = 0) -> Chunk:
    """A summary of one section."""
    part = document.sections[section]
    return Chunk(
        text, part.start, part.end, section, part.heading_path, None, len(text), kind="summary"
    )


class Shelf:
    """A catalog with short verbs, and the index of an adapter over it."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.catalog = Catalog(db, EMBEDDER)
        self.collections = Collections(db, EMBEDDER)
        self.pending_chunks = PendingChunks(db, EMBEDDER)
        self.index = INDEXES[db.dialect](db, EMBEDDER)

    async def put(
        self,
        uri: str,
        *paragraphs: str,
        collection: str = "default",
        embed: bool = True,
        summary: str = "",
        priority: int | None = None,
        **facts: Any,
    ) -> DocumentInfo:
        """`facts` replace fields of the document: media_type, dated, ..."""
        document, chunks = document_of(paragraphs)
        document = replace(document, **facts)
        chunks += [summary_of(document, summary)] if summary else []
        data = document.text.encode("utf-8", "replace")
        info = await self.catalog.put(collection, uri, data, document, chunks, priority=priority)
        if embed:
            await self.embed()
            info = await self.catalog.document(info.doc_id)
        return info

    async def embed(self, embedder: str = EMBEDDER) -> int:
        """Embed all that waits; says how many texts that were."""
        count = 0
        while waiting := await self.pending_chunks.list_unembedded(embedder, 100):
            vectors = np.stack([vector_of(text) for _, text in waiting])
            await self.pending_chunks.put_vectors(
                embedder, [chunk for chunk, _ in waiting], vectors
            )
            count += len(waiting)
        return count

    async def nearest(self, text: str, k: int = 10, where: Filter = ANY) -> list[str]:
        """Texts of the chunks nearest to what this text, under the heading of `document_of`, was
        embedded as.
        """
        found = await self.index.search_vectors(vector_of(f"T\n{text}"), k, where)
        return [hit.text for hit in await self.index.hits([chunk for chunk, _ in found])]

    async def worded(self, text: str, k: int = 10, where: Filter = ANY) -> list[str]:
        found = await self.index.search_words(text, k, where)
        return [hit.text for hit in await self.index.hits([chunk for chunk, _ in found])]

    async def count(self, table: str) -> int:
        return int(
            await self.db.read(
                lambda c: c.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()
            )
        )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "citewell.db"


@pytest.fixture
async def db(path: Path, database_url: str) -> AsyncIterator[Database]:
    """In SQLite; with `--postgres`, in a database of PostgreSQL."""
    path.parent.mkdir(exist_ok=True)
    async with Database(path, database_url) as opened:
        yield opened


@pytest.fixture
def shelf(db: Database) -> Shelf:
    return Shelf(db)

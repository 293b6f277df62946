"""Collections, documents, versions, deletion, and which chunks wait for vectors."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sqlalchemy import Connection

from citewell.errors import InvalidInput, NotFound, StorageError
from citewell.store.db import Database
from citewell.store.library.catalog import Catalog
from citewell.store.library.collection_store import Collections
from citewell.store.library.document_pages import DocumentPage
from citewell.store.library.documents import INFO, IS_IN_COLLECTION
from citewell.types import Chunk, Document, Page, Section

if TYPE_CHECKING:
    from tests.store.conftest import Shelf

TABLES = ("documents", "files", "chunks", "vectors", "words")


async def test_a_document_comes_back_as_it_was(db: Database) -> None:
    """Text, sections, pages, warnings and bytes; what the list shows of it."""
    text = "第一章\n量子。\n\f第二章\nEnd."
    sections = (Section(("第一章",), 0, 8), Section(("第一章", "第二章"), 9, 17))
    document = Document(
        "书", "application/pdf", "zh", text, sections, (Page(1, 0, 8), Page(2, 9, 17)), ("a scan",)
    )
    chunks = [
        Chunk(text[0:8], 0, 8, 0, ("第一章",), 1, 6),
        Chunk(text[9:17], 9, 17, 1, ("第一章", "第二章"), 2, 5),
    ]
    catalog = Catalog(db, "test", lambda: 5.0)
    info = await catalog.put("default", "书.pdf", b"%PDF\x00", document, chunks)
    assert info.doc_id.startswith("doc_")
    shown = (
        info.title,
        info.lang,
        info.version,
        info.pages,
        info.chunks,
        info.embedded,
        info.bytes,
        info.added_at,
        info.warnings,
    )
    assert shown == ("书", "zh", 1, 2, 2, 0, 5, 5.0, ["a scan"])
    assert await catalog.content(info.doc_id) == document
    assert await catalog.file(info.doc_id) == b"%PDF\x00"
    assert await catalog.document(info.doc_id) == await catalog.find("default", "书.pdf") == info
    assert await catalog.documents("default") == [info]


async def test_collections_are_counted(shelf: Shelf) -> None:
    """By name, with documents, chunks, and how many of them have vectors; making one twice is no
    error.
    """
    await shelf.put("a", "one", "two", collection="b")
    await shelf.put("b", "three", collection="b", embed=False)
    made = await shelf.collections.create("a")
    assert await shelf.collections.create("a") == made
    counts = [
        (c.name, c.documents, c.chunks, c.embedded) for c in await shelf.collections.list_all()
    ]
    assert counts == [("a", 0, 0, 0), ("b", 2, 3, 2)]


async def test_a_new_version_replaces_the_old(shelf: Shelf) -> None:
    """It keeps the id, counts up, and nothing of the old is left but vectors of equal text, which
    are not made again.
    """
    first = await shelf.put("a", "kept", "dropped")
    second = await shelf.put("a", "kept", "new", embed=False)
    assert (second.doc_id, second.version, second.chunks, second.embedded) == (
        first.doc_id,
        2,
        2,
        1,
    )
    assert [text for _, text in await shelf.pending_chunks.list_unembedded("test", 10)] == [
        "T\nnew"
    ]
    assert [await shelf.count(table) for table in TABLES] == [1, 1, 2, 1, 2]
    assert await shelf.catalog.file(first.doc_id) == b"kept\nnew"


async def test_equal_text_is_embedded_once(shelf: Shelf) -> None:
    """Within a document, between documents of other collections, and for what comes later; not
    across embedders.
    """
    await shelf.put("a", "same", "same", "other", embed=False)
    await shelf.put("b", "same", collection="second", embed=False)
    assert [text for _, text in await shelf.pending_chunks.list_unembedded("test", 10)] == [
        "T\nsame",
        "T\nother",
    ]
    assert await shelf.embed() == 2
    assert await shelf.count("vectors") == 4
    later = await shelf.put("c", "same", embed=False)
    assert later.embedded == 1
    assert len(await shelf.pending_chunks.list_unembedded("another", 10)) == 2
    assert await shelf.embed("another") == 2
    assert await shelf.pending_chunks.list_unembedded("another", 10) == []


async def test_vectors_of_another_embedder_do_not_count(shelf: Shelf, db: Database) -> None:
    """After a change of embedder nothing is embedded, in every view, until the new one has been at
    it.
    """
    info = await shelf.put("a", "one", "two")
    changed = Catalog(db, "another")
    assert (info.embedded, (await changed.document(info.doc_id)).embedded) == (2, 0)
    found = await changed.find("default", "a")
    assert found is not None
    assert [found.embedded, *(each.embedded for each in await changed.documents("default"))] == [
        0,
        0,
    ]
    collections = Collections(shelf.db, "another")
    assert [each.embedded for each in await collections.list_all()] == [0]
    await shelf.embed("another")
    assert (await collections.get("default")).embedded == 2
    assert (await shelf.collections.get("default")).embedded == 0


async def test_unembedded_is_limited_and_in_order(shelf: Shelf) -> None:
    """Oldest first, at most as many as asked for."""
    await shelf.put("a", *[f"text {i}" for i in range(20)], embed=False)
    assert [text for _, text in await shelf.pending_chunks.list_unembedded("test", 3)] == [
        "T\ntext 0",
        "T\ntext 1",
        "T\ntext 2",
    ]


async def test_wrong_vectors_are_refused(shelf: Shelf) -> None:
    """Shape, numbers that are not finite, and a length other than what is kept; chunks deleted
    meanwhile are passed over.
    """
    info = await shelf.put("a", "text")
    await shelf.put("b", "more", embed=False)
    put = shelf.pending_chunks.put_vectors
    with pytest.raises(InvalidInput, match="2 chunks"):
        await put("test", [1, 2], np.ones((1, 64), np.float32))
    with pytest.raises(InvalidInput, match="not finite"):
        await put("test", [2], np.full((1, 64), np.inf, np.float32))
    with pytest.raises(InvalidInput, match="32 dimensions, but those kept have 64"):
        await put("test", [2], np.ones((1, 32), np.float32))
    await shelf.catalog.delete(info.doc_id)
    await put("test", [1], np.ones((1, 64), np.float32))
    await put("test", [], np.zeros((0, 64), np.float32))
    assert await shelf.count("vectors") == 0


@pytest.mark.sqlite
async def test_deletion_leaves_no_byte(shelf: Shelf, path: Path) -> None:
    """Rows, words, bytes and vectors are gone, from the file and its log too: the words cannot be
    read off the disk.
    """
    await shelf.put("kept", "ordinary text")
    info = await shelf.put("gone", "zyzzyvasecret 绝密文件", "more zyzzyvasecret")
    await shelf.put("later", "ordinary words")
    vector = (await shelf.index.vectors([2]))[0].tobytes()
    await shelf.catalog.delete(info.doc_id)
    assert [await shelf.count(table) for table in TABLES] == [2] * 5
    await shelf.put("gone2", "zyzzyvasecret 绝密文件", collection="second")
    await shelf.collections.delete("second")
    held = b"".join(
        file.read_bytes() for file in await asyncio.to_thread(lambda: sorted(path.parent.iterdir()))
    )
    for secret in (b"zyzzyvasecret", "绝密".encode(), vector):
        assert secret not in held
    assert b"ordinary" in held


async def test_bytes_stay_while_another_document_has_them(shelf: Shelf) -> None:
    """The same file under two addresses is kept once, until the second goes."""
    first = await shelf.put("a", "text")
    second = await shelf.put("b", "text")
    assert await shelf.count("files") == 1
    await shelf.catalog.delete(first.doc_id)
    assert await shelf.catalog.file(second.doc_id) == b"text"
    await shelf.catalog.delete(second.doc_id)
    assert await shelf.count("files") == 0


async def test_what_is_missing_is_named(shelf: Shelf) -> None:
    """With the collections that there are."""
    with pytest.raises(NotFound, match="no collection named x") as caught:
        await shelf.catalog.documents("x")
    assert "none yet" in caught.value.hint
    assert "`citewell add PATH -c x`" in caught.value.hint
    await shelf.put("a", "text", collection="mine")
    with pytest.raises(NotFound, match="no collection named x") as caught:
        await shelf.collections.get("x")
    assert "there are: mine" in caught.value.hint
    with pytest.raises(NotFound, match="no collection named x"):
        await shelf.collections.delete("x")
    assert (await shelf.collections.get("mine")).documents == 1
    for verb in (
        shelf.catalog.document,
        shelf.catalog.content,
        shelf.catalog.file,
        shelf.catalog.delete,
    ):
        with pytest.raises(NotFound, match="doc_x"):
            await verb("doc_x")
    assert await shelf.catalog.find("x", "a") is None


@pytest.mark.sqlite
async def test_a_put_that_fails_changes_nothing(shelf: Shelf, db: Database) -> None:
    """The disk fills up in the middle of a new version: the old one is still there and found."""
    await shelf.put("a", "old text")

    def limit(connection: object, pages: str) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")  # type: ignore[attr-defined]

    pages = await db.read(lambda c: c.exec_driver_sql("PRAGMA page_count").scalar_one())
    await db.write(lambda c: limit(c, str(pages + 3)))
    with pytest.raises(StorageError, match="disk is full"):
        await shelf.put("a", *[f"new {i} " + "x" * 1000 for i in range(50)], embed=False)
    assert await shelf.worded("text") == await shelf.nearest("old text") == ["old text"]
    info = await shelf.catalog.find("default", "a")
    assert info is not None
    assert info.version == 1


async def test_an_empty_document(shelf: Shelf) -> None:
    """No chunks is allowed: the file is kept, and nothing is found in it."""
    document = Document("empty", "text/plain", "en", "", ())
    info = await shelf.catalog.put("default", "e", b"", document, [])
    assert (info.chunks, info.bytes) == (0, 0)
    assert (await shelf.catalog.content(info.doc_id)).text == ""


async def test_an_id_is_never_used_again(shelf: Shelf) -> None:
    """Neither after all chunks were deleted nor after opening again: who kept an id is not shown
    another text.
    """
    info = await shelf.put("a", "one", "two")
    await shelf.catalog.delete(info.doc_id)
    await shelf.put("b", "three")
    ids = await shelf.db.read(lambda c: c.exec_driver_sql("SELECT id FROM chunks").all())
    assert ids == [(3,)]


async def test_documents_come_a_page_at_a_time(shelf: Shelf) -> None:
    """In an order, of those with the words in their title or address; the whole number with it."""
    for name, chunks in (("oak", 1), ("Pine", 3), ("50% oak", 2)):
        await shelf.put(name, *[f"leaf {n}" for n in range(chunks)], title=name)

    async def find(**page: Any) -> tuple[list[str], int]:
        found, total = await shelf.catalog.list_document_page("default", DocumentPage(**page))
        return [info.title for info in found], total

    assert await find(order="title", ascending=True) == (["50% oak", "oak", "Pine"], 3)
    assert await find(order="chunks", limit=1) == (["Pine"], 3)
    assert await find(order="chunks", limit=2, offset=1) == (["50% oak", "oak"], 3)
    assert (await find(words="OAK"))[1] == 2
    assert await find(words="%") == (["50% oak"], 1)
    with pytest.raises(NotFound):
        await shelf.catalog.list_document_page("nope", DocumentPage())


@pytest.mark.sqlite
async def test_passages_are_counted_by_their_document(shelf: Shelf) -> None:
    """Never by the embedder, whose passages are those of the whole library."""
    await shelf.put("oak", "leaf")

    def explain(connection: Connection) -> str:
        query = INFO.where(IS_IN_COLLECTION).compile(connection.engine)
        values = ["x"] * str(query).count("?")
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", tuple(values))
        return "\n".join(row.detail for row in rows)

    plan = await shelf.db.read(explain)
    assert plan.count("chunks_doc (doc=?)") == 2
    assert "chunks_embedder" not in plan

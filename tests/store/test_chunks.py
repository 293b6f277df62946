"""Chunks of stored documents: read, cut anew, summaries written anew; lines on their pages; how a
collection is cut.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from citewell.errors import Conflict, NotFound
from citewell.store.index.protocol import Filter
from citewell.store.library.chunks import build_rows
from citewell.types import Box, Chunk, Document, Section

if TYPE_CHECKING:
    from tests.store.conftest import Shelf

SUMMARIES = Filter(kinds=("summary",))


async def test_chunks_come_back_as_they_were_put(shelf: Shelf) -> None:
    """In order, summaries and kinds included."""
    text = "A\n\nbody one\n\nbody two"
    section = Section(("A",), 0, len(text), anchor="a")
    document = Document("T", "text/html", "en", text, (section,), dated=5.5)
    cut = [
        Chunk("body one", 3, 11, 0, ("A",), 1, 2),
        Chunk("body two", 13, 21, 0, ("A",), 2, 2, kind="whole"),
        Chunk("one and two", 0, 21, 0, ("A",), 1, 3, kind="summary"),
    ]
    info = await shelf.catalog.put("default", "a", b"", document, cut)
    assert await shelf.catalog.chunks(info.doc_id) == cut
    assert await shelf.catalog.content(info.doc_id) == document
    assert (info.chunks, info.dated, info.priority) == (2, 5.5, 0)
    with pytest.raises(NotFound):
        await shelf.catalog.chunks("doc_none")


async def test_a_document_is_cut_anew(shelf: Shelf) -> None:
    """New chunks under new ids, words and meaning with them, the version the same, and what was
    embedded is not again.
    """
    info = await shelf.put("a", "alpha", "beta", "gamma")
    old = await shelf.catalog.chunks(info.doc_id)
    joined = Chunk("beta\ngamma", 6, 16, 0, ("T",), None, 2)
    after = await shelf.catalog.rechunk(info.doc_id, [old[0], joined])
    assert (after.version, after.chunks, after.embedded) == (1, 2, 1)
    assert await shelf.worded("gamma") == ["beta\ngamma"]
    assert await shelf.nearest("alpha") == ["alpha"]
    assert await shelf.embed() == 1
    assert (await shelf.nearest("beta\ngamma"))[0] == "beta\ngamma"
    assert await shelf.index.hits([1, 2, 3]) == []
    assert [await shelf.count(table) for table in ("chunks", "words", "vectors")] == [2, 2, 2]


async def test_cutting_a_text_that_was_replaced_meanwhile(shelf: Shelf) -> None:
    """It is refused, and the chunks that are there stay."""
    info = await shelf.put("a", "alpha", "beta")
    cut = await shelf.catalog.chunks(info.doc_id)
    await shelf.put("a", "another text")
    with pytest.raises(Conflict, match="changed while"):
        await shelf.catalog.rechunk(info.doc_id, cut)
    assert await shelf.worded("another") == ["another text"]
    with pytest.raises(NotFound):
        await shelf.catalog.rechunk("doc_none", cut)


async def test_summaries_are_written_anew(shelf: Shelf) -> None:
    """Those that an author has not written, with the text they stand for; the new one is found by
    its words at once and by its meaning when it is embedded, the old one no more.
    """
    info = await shelf.put("a", "alpha", "beta", summary="extracted words")
    await shelf.put("b", "no summary")
    [(chunk, path, body)] = await shelf.pending_chunks.list_unwritten_summaries("model", 10)
    assert (path, body) == (("T",), "alpha\nbeta")
    assert await shelf.pending_chunks.list_unwritten_summaries("", 10) == []
    assert await shelf.pending_chunks.put_summary(chunk, "Greek letters", "model")
    assert await shelf.pending_chunks.list_unwritten_summaries("model", 10) == []
    assert len(await shelf.pending_chunks.list_unwritten_summaries("another", 10)) == 1
    assert await shelf.worded("letters", where=SUMMARIES) == ["Greek letters"]
    assert await shelf.worded("extracted", where=SUMMARIES) == []
    assert await shelf.nearest("Greek letters", where=SUMMARIES) == []
    assert (
        await shelf.pending_chunks.count_unembedded()
        == await shelf.pending_chunks.count_unembedded([info.doc_id])
        == 1
    )
    assert await shelf.pending_chunks.count_unembedded(["doc_none"]) == 0
    assert (await shelf.catalog.document(info.doc_id)).embedded == 2
    assert await shelf.embed() == 1
    assert await shelf.nearest("Greek letters", where=SUMMARIES) == ["Greek letters"]
    assert [c.kind for c in await shelf.catalog.chunks(info.doc_id)] == ["text", "text", "summary"]


async def test_a_summary_whose_document_has_gone(shelf: Shelf) -> None:
    """Writing it changes nothing; nor can a passage be written over."""
    info = await shelf.put("a", "alpha", summary="first")
    [(chunk, _, _)] = await shelf.pending_chunks.list_unwritten_summaries("model", 10)
    assert not await shelf.pending_chunks.put_summary(chunk - 1, "over a passage", "model")
    await shelf.catalog.delete(info.doc_id)
    assert not await shelf.pending_chunks.put_summary(chunk, "late", "model")
    assert await shelf.count("chunks") == 0


async def test_waiting_chunks_of_some_documents(shelf: Shelf) -> None:
    """Only theirs are given out."""
    one = await shelf.put("a", "alpha", embed=False)
    await shelf.put("b", "beta", embed=False)
    assert await shelf.pending_chunks.list_unembedded("test", 10, [one.doc_id]) == [(1, "T\nalpha")]
    assert await shelf.pending_chunks.list_unembedded("test", 10, []) == []
    assert len(await shelf.pending_chunks.list_unembedded("test", 10)) == 2


async def test_lines_on_their_pages(shelf: Shelf) -> None:
    """Those that a span touches, each once; a gap between lines has none; gone with the
    document.
    """
    text = "line one\nline two\n\nline three"
    boxes = (
        Box(0, 8, 1, 0.1, 0.1, 0.9, 0.12),
        Box(9, 17, 1, 0.1, 0.13, 0.9, 0.15),
        Box(19, 29, 2, 0.1, 0.1, 0.9, 0.12),
    )
    document = Document(
        "T", "application/pdf", "en", text, (Section((), 0, len(text)),), boxes=boxes
    )
    info = await shelf.catalog.put("default", "a", b"", document, [])
    for spans, numbers in (
        ([(0, 29)], [0, 1, 2]),
        ([(2, 4)], [0]),
        ([(7, 10)], [0, 1]),
        ([(17, 19)], []),
        ([(8, 9)], []),
        ([(20, 21), (0, 3), (21, 25)], [0, 2]),
        ([(500, 600)], []),
        ([], []),
    ):
        assert await shelf.catalog.boxes(info.doc_id, spans) == [boxes[n] for n in numbers], spans
    assert await shelf.catalog.content(info.doc_id) == replace(document, boxes=())
    await shelf.catalog.delete(info.doc_id)
    assert await shelf.count("lines") == 0


async def test_how_a_collection_is_cut(shelf: Shelf) -> None:
    """Empty until it is set; of a collection that is not there too."""
    await shelf.collections.create("a")
    assert (
        await shelf.collections.get_chunking("a")
        == await shelf.collections.get_chunking("none")
        == {}
    )
    await shelf.collections.set_chunking("a", {"chunker": "fixed", "tokens": 100})
    assert await shelf.collections.get_chunking("a") == {"chunker": "fixed", "tokens": 100}
    assert (await shelf.collections.get("a")).chunking == {
        "chunker": "fixed",
        "tokens": 100,
    }
    with pytest.raises(NotFound):
        await shelf.collections.set_chunking("none", {})


def test_rows_of_a_long_document_are_all_there_each_time() -> None:
    """However many stretches they are packed in."""
    cut = [Chunk(f"Lamp {n}.", 8 * n, 8 * n + 7, 0, ("Lamps",), None, 3) for n in range(1_201)]
    rows = build_rows("Harbour", cut)
    for _ in range(2):
        assert [(row["ordinal"], row["text"]) for row in rows] == [
            (n, chunk.text) for n, chunk in enumerate(cut)
        ]

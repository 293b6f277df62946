"""How a collection's documents are cut, and cut anew."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from citewell.config import IngestSettings, Settings
from citewell.errors import InvalidInput, NotFound, StorageError, UnreadableFile
from citewell.runtime.app import App
from citewell.runtime.progress import Progress
from citewell.service.library import rechunk as module
from citewell.service.library.add import add_paths
from citewell.service.library.chunking import cut_document, cut_document_as, resolve_chunking
from citewell.service.library.collections import create_collection
from citewell.service.library.embedding import embed_pending
from citewell.service.library.preview import preview_file
from citewell.service.library.rechunk import rechunk_collection, set_chunking
from citewell.types import Chunk, Document

PROSE = (
    "Ship {n} carried {n} tons of grain to the harbour. Its pilot knew the channel well. The "
    "tide turned at noon. "
)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    for name in "abc":
        body = "".join(PROSE.replace("{n}", f"{name}{n}") for n in range(30))
        (folder / f"{name}.md").write_text(
            f"# Ships {name}\n\n{body}\n\n## Note\n\nShort.\n", "utf-8"
        )
    return folder


async def added(app: App, library: Path) -> list[str]:
    report = await add_paths(app, [str(library)], "ships")
    await embed_pending(app)
    return [file.doc_id for file in report.files]


def test_chunking_is_checked() -> None:
    """A collection says only what differs from the settings; what cannot be is refused by its
    name.
    """
    settings = IngestSettings()
    assert resolve_chunking(settings, {"tokens": 100, "overlap": None}).model_dump() == {
        "chunker": "structure",
        "tokens": 100,
        "overlap": 40,
    }
    for wrong in (
        {"tokens": 10},
        {"chunker": "clever"},
        {"tokens": 60, "overlap": 60},
        {"size": 3},
    ):
        with pytest.raises(InvalidInput, match=next(iter(wrong)) if len(wrong) == 1 else "no room"):
            resolve_chunking(settings, wrong)


async def test_documents_are_cut_as_their_collection_says(app: App, library: Path) -> None:
    """Chunks and summaries follow the collection's chunking, and the settings where it has none."""
    await create_collection(app, "ships", {"chunker": "fixed", "tokens": 60, "overlap": 10})
    doc_id = (await added(app, library))[0]
    own = await app.catalog.chunks(doc_id)
    assert max(chunk.tokens for chunk in own if chunk.kind != "summary") <= 61
    assert {chunk.kind for chunk in own} >= {"text", "summary"}
    document = await app.catalog.content(doc_id)
    assert len(await cut_document(app, document, "elsewhere")) < len(own)
    with pytest.raises(InvalidInput):
        await create_collection(app, "other", {"tokens": 5})


async def test_semantic_uses_the_embedder_in_use(app: App, library: Path) -> None:
    """The chunker that goes by meaning gets its vectors from the App."""
    await create_collection(app, "ships", {"chunker": "semantic", "tokens": 100})
    doc_id = (await added(app, library))[0]
    text = (await app.catalog.content(doc_id)).text
    chunks = [chunk for chunk in await app.catalog.chunks(doc_id) if chunk.kind != "summary"]
    assert len(chunks) > 3
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in chunks)


async def test_rechunk(app: App, library: Path) -> None:
    """Documents get other chunks of the same text and version; the same again changes nothing."""
    docs = await added(app, library)
    before = await app.catalog.document(docs[0])
    await set_chunking(app, "ships", {"tokens": 80, "overlap": 10})
    told: list[Progress] = []

    async def tell(progress: Progress) -> None:
        told.append(progress)

    report = await rechunk_collection(app, "ships", on_progress=tell)
    assert (report.changed, report.documents) == (3, 3)
    assert {progress.phase for progress in told} == {"cut"}
    after = await app.catalog.document(docs[0])
    assert (after.doc_id, after.version, after.sha256) == (
        before.doc_id,
        before.version,
        before.sha256,
    )
    assert after.chunks > before.chunks
    assert await app.pending_chunks.count_unembedded() > 0
    await embed_pending(app)
    assert (await rechunk_collection(app, "ships")).changed == 0
    assert await app.pending_chunks.count_unembedded() == 0


async def test_equal_text_keeps_its_vector(app: App, library: Path) -> None:
    """What the old chunks and the new ones have in common is not embedded again."""
    docs = await added(app, library)
    await set_chunking(app, "ships", {"overlap": 0})
    await rechunk_collection(app, "ships")
    chunks = [chunk for doc in docs for chunk in await app.catalog.chunks(doc)]
    assert 0 < await app.pending_chunks.count_unembedded() < len(chunks)


async def test_rechunk_goes_on_where_it_was_stopped(
    app: App, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stop leaves whole documents of both kinds; the next run cuts the others only."""
    await added(app, library)
    await set_chunking(app, "ships", {"tokens": 80, "overlap": 10})
    original, calls = app.catalog.rechunk, []

    async def failing(doc_id: str, chunks: list[object]) -> object:
        calls.append(doc_id)
        if len(calls) == 2:
            raise StorageError("the disk is full")
        return await original(doc_id, chunks)  # type: ignore[arg-type]

    monkeypatch.setattr(app.catalog, "rechunk", failing)
    with pytest.raises(StorageError):
        await rechunk_collection(app, "ships")
    report = await rechunk_collection(app, "ships")
    assert report.changed == 2
    assert calls[1] == calls[2]


async def test_unknown_collection(app: App) -> None:
    """Nothing is made by asking."""
    for asked in (
        module.get_chunking(app, "none"),
        set_chunking(app, "none", {"tokens": 80}),
        rechunk_collection(app, "none"),
    ):
        with pytest.raises(NotFound):
            await asked


async def test_preview_needs_no_library(settings: Settings, library: Path) -> None:
    """Totals and spans of a file, several ways, without a database; repeated characters are
    told.
    """
    found = await preview_file(
        settings, str(library / "a.md"), ["structure", "fixed"], {"tokens": 60, "overlap": 5}
    )
    assert not settings.home.exists()
    structure, fixed = found.previews
    assert structure.totals.cut_sentences == 0.0
    assert 0.05 < fixed.totals.cut_sentences < 1.0
    assert structure.totals.summaries == len(structure.summaries) == 2
    for one in found.previews:
        assert [chunk.n for chunk in one.chunks] == list(range(1, one.totals.chunks + 1))
        for before, chunk in zip(one.chunks, one.chunks[1:], strict=False):
            assert chunk.repeats == max(0, before.end - chunk.start)
    assert any(chunk.repeats for chunk in fixed.chunks)


async def test_a_document_that_cannot_be_cut_stays_and_stops_no_other(
    app: App, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report says which and why."""
    docs = await added(app, library)
    await set_chunking(app, "ships", {"tokens": 80, "overlap": 10})
    first = await app.catalog.document(docs[0])

    async def late(document: Document, *arguments: Any) -> Sequence[Chunk]:
        if document.title == first.title:
            raise UnreadableFile("it could not be read within 60 s", hint="split the file")
        return await cut_document_as(document, *arguments)

    monkeypatch.setattr("citewell.service.library.rechunk.cut_document_as", late)
    report = await rechunk_collection(app, "ships")
    assert (report.changed, report.failed) == (
        2,
        [f"{first.uri}: it could not be read within 60 s; split the file"],
    )
    assert await app.catalog.document(docs[0]) == first

"""Adding files: what is reported, what is kept, what can be found when."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.config import Settings
from citewell.errors import InvalidInput
from citewell.models.scripted import ScriptedEmbedder
from citewell.runtime.app import App
from citewell.runtime.progress import Progress
from citewell.service.admin.doctor import run_checks
from citewell.service.admin.readiness import get_readiness
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending
from citewell.store.index.protocol import Filter


class Killed(Exception):
    """Stands for whatever ends a run."""


async def test_files_are_added_unchanged_replaced(app: App, library: Path) -> None:
    """New files are added, the same bytes are not parsed again, changed ones replace the old under
    one id.
    """
    first = await add_paths(app, [str(library)], "docs")
    assert [file.status for file in first.files] == ["added", "added"]
    assert all(file.chunks > 0 for file in first.files)
    again = await add_paths(app, [str(library)], "docs")
    assert [file.status for file in again.files] == ["unchanged", "unchanged"]
    (library / "lighthouse.md").write_text("# Lighthouse\n\nIt was torn down in 1990.\n", "utf-8")
    changed = await add_paths(app, [str(library / "lighthouse.md")], "docs")
    assert [file.status for file in changed.files] == ["replaced"]
    assert changed.files[0].doc_id == first.files[0].doc_id
    assert len(await app.catalog.documents("docs")) == 2


async def test_bad_file_costs_only_itself(app: App, library: Path) -> None:
    """A broken, an empty and a missing file are reported with a reason; the others are added."""
    (library / "broken.pdf").write_bytes(b"%PDF-1.7\nnot really")
    (library / "empty.txt").write_bytes(b"")
    report = await add_paths(app, [str(library), str(library / "none.md")], "docs")
    failed = {Path(file.path).name: file.reason for file in report.files if file.status == "failed"}
    assert set(failed) == {"broken.pdf", "empty.txt", "none.md"}
    assert all(failed.values())
    assert report.failed == 3
    assert sum(file.status == "added" for file in report.files) == 2


async def test_too_large_file_is_not_read(app: App, library: Path) -> None:
    """A file over the limit fails by its size alone: this one, all holes, would fill any memory."""
    with (library / "big.txt").open("wb") as file:
        file.truncate(10**12)
    [report] = (await add_paths(app, [str(library / "big.txt")], "docs")).files
    assert report.status == "failed"
    assert "bytes" in report.reason


async def test_found_by_words_before_meaning(app: App, library: Path) -> None:
    """A document answers to its words at once; its vectors come with `embed_pending`."""
    await add_paths(app, [str(library)], "docs")
    where = Filter(collections=("docs",))
    assert await app.index.search_words("lighthouse", 5, where)
    assert await app.index.search_words("红色", 5, where)
    vector = await app.embedder.query("lighthouse")
    assert await app.index.search_vectors(vector, 5, where) == []
    assert await app.pending_chunks.count_unembedded() > 0
    await embed_pending(app)
    assert await app.pending_chunks.count_unembedded() == 0
    assert await app.index.search_vectors(vector, 5, where)


async def test_embedding_goes_on_where_it_was_killed(
    app: App, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches that were committed stay; the next run embeds only what is left."""
    monkeypatch.setattr("citewell.service.library.embedding.REQUEST", 1)
    for number in range(20):
        (library / f"{number}.md").write_text(
            f"# Note {number}\n\nIts number is {number}.\n", "utf-8"
        )
    await add_paths(app, [str(library)], "docs")
    total = await app.pending_chunks.count_unembedded()

    async def kill(progress: Progress) -> None:
        if progress.done:
            raise Killed

    with pytest.raises(Killed):
        await embed_pending(app, kill)
    left = await app.pending_chunks.count_unembedded()
    assert 0 < left < total
    assert await embed_pending(app) == left


async def test_progress_is_told(app: App, library: Path) -> None:
    """Each phase starts at nothing and ends at all."""
    told: list[Progress] = []

    async def tell(progress: Progress) -> None:
        told.append(progress)

    await add_paths(app, [str(library)], "docs", on_progress=tell)
    await embed_pending(app, tell)
    for phase in ("read", "embed"):
        steps = [progress for progress in told if progress.phase == phase]
        assert steps[0].done == 0
        assert steps[-1].done == steps[-1].total > 0


async def test_collection_name_is_checked(app: App, library: Path) -> None:
    """A name that could not stand in an address is refused before anything is read."""
    with pytest.raises(InvalidInput, match="not allowed"):
        await add_paths(app, [str(library)], "a/b")


async def test_change_of_embedder_embeds_all_again(
    settings: Settings, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then all passages wait, the doctor and the readiness say so, and search by meaning
    finds nothing.
    """
    async with App(settings) as app:
        await add_paths(app, [str(library)], "docs")
        total = await embed_pending(app)
    monkeypatch.setattr(ScriptedEmbedder, "name", "another")
    report = await run_checks(settings, fast=True)
    assert [check.state for check in report.checks if check.name == "embeddings"] == ["warn"]
    async with App(settings) as app:
        where = Filter(collections=("docs",))
        vector = await app.embedder.query("lighthouse")
        assert (
            await app.pending_chunks.count_unembedded()
            == (await get_readiness(app)).waiting
            == total
            > 0
        )
        assert await app.index.search_vectors(vector, 5, where) == []
        assert [file.status for file in (await add_paths(app, [str(library)], "docs")).files] == [
            "unchanged",
            "unchanged",
        ]
        assert await embed_pending(app) == total
        assert (
            await app.pending_chunks.count_unembedded() == (await get_readiness(app)).waiting == 0
        )
        assert await app.index.search_vectors(vector, 5, where)

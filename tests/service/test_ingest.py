"""Reading and embedding at the same time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from citewell.config import IngestSettings
from citewell.errors import ModelUnavailable, StorageError
from citewell.ingest import parse
from citewell.models.base import Vector
from citewell.models.scripted import ScriptedEmbedder
from citewell.runtime.app import App
from citewell.runtime.limits import Turns
from citewell.runtime.progress import Progress, Rate
from citewell.service.library.add import add_paths
from citewell.service.library.read_and_embed import ingest_paths
from citewell.types import Document


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(30):
        (folder / f"{number:02}.md").write_text(
            f"# Note {number}\n\nThe lighthouse number {number} is red.\n", "utf-8"
        )
    return folder


async def test_meaning_is_found_before_reading_is_over(
    app: App, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors arrive while files are still unread, and in the end nothing waits."""
    seen = []

    async def slow(data: bytes, name: str, settings: IngestSettings) -> Document:
        if name == "20.md":
            while not await app.index.search_vectors(await app.embedder.query("lighthouse"), 5):  # noqa: ASYNC110  # rows of the table
                await asyncio.sleep(0.01)
            seen.append(name)
        return await parse(data, name, settings)

    monkeypatch.setattr("citewell.service.library.intake.parse", slow)
    async with asyncio.timeout(120):
        done = await ingest_paths(app, [str(notes)], "docs")
    assert seen == ["20.md"]
    assert done.problem is None
    assert done.embedded == 30
    assert await app.pending_chunks.count_unembedded() == 0


async def test_reports_come_in_the_order_of_the_files(
    app: App, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long each takes, and what cannot be added stands where it was named."""

    async def uneven(data: bytes, name: str, settings: IngestSettings) -> Document:
        await asyncio.sleep(0.05 if int(name[:2]) % 3 == 0 else 0)
        return await parse(data, name, settings)

    monkeypatch.setattr("citewell.service.library.intake.parse", uneven)
    named = [
        str(notes / "05.md"),
        str(notes / "none.md"),
        str(notes / "03.md"),
        str(notes / "04.md"),
    ]
    assert [file.path for file in (await add_paths(app, named, "docs")).files] == named


async def test_embedder_that_fails_costs_no_document(
    app: App, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All files are read and found by their words; the problem is told."""

    async def fails(*_: object) -> Vector:
        raise ModelUnavailable("no model")

    monkeypatch.setattr(ScriptedEmbedder, "passages", fails)
    done = await ingest_paths(app, [str(notes)], "docs")
    assert isinstance(done.problem, ModelUnavailable)
    assert {file.status for file in done.report.files} == {"added"}
    assert await app.pending_chunks.count_unembedded() == 30


@pytest.mark.sqlite
async def test_full_disk_ends_the_run_with_whole_documents(
    app: App, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report says why and what was added until then; that is whole, and the next run does the
    rest.
    """
    whole, calls = app.catalog.put, []

    async def full(*arguments: object, **named: object) -> object:
        calls.append(arguments)
        if len(calls) > 10:
            raise StorageError("citewell.db: the disk is full")
        return await whole(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(app.catalog, "put", full)
    report = (await ingest_paths(app, [str(notes)], "docs")).report
    assert report.error == {
        "code": "storage",
        "message": "citewell.db: the disk is full",
        "hint": "",
    }
    documents = await app.catalog.documents("docs")
    assert 0 < len(documents) <= 10
    assert all(info.chunks == 1 for info in documents)
    assert [file.path for file in report.files if file.status == "added"] == sorted(
        info.uri for info in documents
    )
    monkeypatch.setattr(app.catalog, "put", whole)
    done = await ingest_paths(app, [str(notes)], "docs")
    assert sum(file.status == "added" for file in done.report.files) == 30 - len(documents)


async def test_a_document_under_way_when_the_disk_fills_is_reported(
    app: App, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One reader is told that the disk is full while another's document is being committed."""
    whole, full = app.catalog.put, anyio.Event()
    calls: list[object] = []

    async def put(*arguments: object, **named: object) -> object:
        calls.append(arguments)
        if len(calls) == 1:
            await full.wait()
            return await whole(*arguments, **named)  # type: ignore[arg-type]
        full.set()
        raise StorageError("citewell.db: the disk is full")

    monkeypatch.setattr(app.catalog, "put", put)
    report = (await ingest_paths(app, [str(notes)], "docs")).report
    documents = await app.catalog.documents("docs")
    assert len(documents) == 1
    assert [file.path for file in report.files] == [documents[0].uri]


async def test_equal_texts_are_embedded_once(
    app: App, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies of a file are documents of their own and cost no embedding."""
    asked: list[str] = []
    whole = ScriptedEmbedder.passages

    async def counted(self: ScriptedEmbedder, texts: Sequence[str]) -> Vector:
        asked.extend(texts)
        return await whole(self, texts)

    monkeypatch.setattr(ScriptedEmbedder, "passages", counted)
    for number in range(30):
        (notes / f"copy{number}.md").write_bytes((notes / f"{number:02}.md").read_bytes())
    await ingest_paths(app, [str(notes)], "docs")
    assert len(asked) == len(set(asked)) == 30
    assert await app.pending_chunks.count_unembedded() == 0


async def test_progress_of_both_is_told(app: App, notes: Path) -> None:
    """Files and passages are counted to the end, and the rate and the time left are said on the
    way.
    """
    told: list[Progress] = []

    async def tell(progress: Progress) -> None:
        told.append(progress)

    await ingest_paths(app, [str(notes)], "docs", on_progress=tell)
    last = {
        phase: [each for each in told if each.phase == phase][-1] for phase in ("read", "embed")
    }
    assert (last["read"].done, last["read"].total) == (30, 30)
    assert (last["embed"].done, last["embed"].total) == (30, 30)
    assert last["embed"].rate > 0
    assert last["embed"].left == 0


def test_rate_looks_back_half_a_minute() -> None:
    """An idle hour before does not slow it down."""
    now = [0.0]
    rate = Rate(lambda: now[0])
    now[0] = 3600.0
    rate.update_rate(0)
    for _ in range(60):
        now[0] += 1
        shown = rate.update_rate(int(4 * (now[0] - 3600)))
    assert shown == pytest.approx(4, rel=0.1)


async def test_large_files_wait_for_room() -> None:
    """A file takes its share of the memory; one larger than all of it is read alone, and those
    behind it wait.
    """
    turns, order = Turns(most_bytes=10), []

    async def reads(name: str, size: int, seconds: float) -> None:
        async with turns.reading(size):
            order.append(name)
            await asyncio.sleep(seconds)
            order.append(name.upper())

    await asyncio.gather(
        reads("a", 6, 0.02), reads("b", 4, 0.01), reads("c", 99, 0.01), reads("d", 1, 0.0)
    )
    assert order == ["a", "b", "B", "A", "c", "C", "d", "D"]


async def test_day_of_a_local_file(app: App, notes: Path) -> None:
    """A file that says no day of its own is of the day it last changed."""
    os.utime(notes / "00.md", (1_000_000_000, 1_000_000_000))
    await add_paths(app, [str(notes / "00.md")], "docs")
    [info] = await app.catalog.documents("docs")
    assert info.dated == 1_000_000_000


async def test_what_others_left_is_told_and_not_waited_for(
    app: App, notes: Path, tmp_path: Path
) -> None:
    """Two runs at once do not embed the same twice; the same files again go on where they were."""
    await add_paths(app, [str(notes)], "docs")
    own = tmp_path / "own.md"
    own.write_text("# Own\n\nThe harbour is deep.\n", "utf-8")
    done = await ingest_paths(app, [str(own)], "docs")
    assert (done.embedded, done.others) == (1, 30)
    assert (await ingest_paths(app, [str(tmp_path / "missing.md")], "docs")).embedded == 0
    again = await ingest_paths(app, [str(notes)], "docs")
    assert (again.embedded, again.others) == (30, 0)

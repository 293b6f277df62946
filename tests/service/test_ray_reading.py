"""What `add --engine ray` keeps and reports is what `add` keeps and reports; here its stages run in
this process, `test_ray_cluster.py` has them on a cluster.
"""

from __future__ import annotations

import asyncio
import pickle
import shutil
import socket
import sys
import zipfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from citewell.config import Settings
from citewell.errors import InvalidInput, StorageError, TransientError
from citewell.runtime.app import App
from citewell.service.bulk import cluster, ray_reading, stages
from citewell.service.bulk.cluster import connect_ray
from citewell.service.bulk.draft import Outcome
from citewell.service.bulk.ray_reading import RayReading
from citewell.service.library.add import add_paths
from citewell.service.library.add_report import AddReport


@pytest.fixture(autouse=True)
def pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stages one after the other, without Ray."""

    @asynccontextmanager
    async def run(
        rows: Sequence[tuple[stages.Row, int]], order: stages.Order, *, embed: bool
    ) -> AsyncIterator[AsyncIterator[list[tuple[int, Outcome]]]]:
        def work_on(row: stages.Row) -> stages.Row:
            return stages.prepare_row(stages.read_row(row, order), order)

        async def blocks() -> AsyncIterator[list[tuple[int, Outcome]]]:
            for first in range(0, len(rows), 3):
                done = [
                    await asyncio.to_thread(work_on, row)
                    for row, _ in reversed(rows[first : first + 3])
                ]
                yield [(row["number"], pickle.loads(row["outcome"])) for row in done]  # noqa: S301

        yield blocks()

    monkeypatch.setattr(ray_reading, "_run_pipeline", run)


@pytest.fixture
def mixed(library: Path) -> Path:
    """The library, with files that hold others, that cannot be read, and that are there twice."""
    (library / "broken.pdf").write_bytes(b"%PDF-1.7\nnot really")
    (library / "empty.txt").write_bytes(b"")
    shutil.copy(library / "lighthouse.md", library / "copy.md")
    write_archive(library / "notes.zip", a="The harbour is deep.", b="The pier is long.")
    return library


def write_archive(path: Path, **texts: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in texts.items():
            archive.writestr(f"{name}.md", text)


async def add_both(plain: App, app: App, paths: list[str], **options: Any) -> list[AddReport]:
    """The reports of `add` and of Ray's way, without what is drawn by chance."""
    reports = [
        await add_paths(plain, paths, "docs", **options),
        await add_paths(app, paths, "docs", engine=RayReading, **options),
    ]
    for each, report in zip((plain, app), reports, strict=True):
        for n, file in enumerate(report.files):
            if file.doc_id:
                assert (await each.catalog.document(file.doc_id)).uri == file.path
            report.files[n] = file.model_copy(update={"doc_id": bool(file.doc_id)})
    return reports


async def list_kept(app: App) -> list[object]:
    kept: list[object] = []
    for info in await app.catalog.documents("docs"):
        content = await app.catalog.content(info.doc_id)
        told = info.model_dump(exclude={"doc_id", "added_at"})
        data = await app.catalog.file(info.doc_id)
        kept.append((told, content, await app.catalog.chunks(info.doc_id), data))
    return kept


@pytest.fixture
async def plain(settings: Settings, tmp_path: Path) -> AsyncIterator[App]:
    own = {"home": tmp_path / "plain", "database_url": SecretStr("")}
    async with App(settings.model_copy(update=own)) as opened:
        yield opened


async def test_the_same_is_kept_and_reported(app: App, plain: App, mixed: Path) -> None:
    """New, again, with another priority, changed, a member gone: each time as `add` does it."""
    paths = [str(mixed), str(mixed / "none.md")]

    async def check(expected: set[str], **options: Any) -> None:
        one, two = await add_both(plain, app, paths, **options)
        # which of two files with the same bytes is warned of depends on which was kept first
        assert [(f.path, f.status, f.chunks, f.reason, f.doc_id) for f in one.files] == [
            (f.path, f.status, f.chunks, f.reason, f.doc_id) for f in two.files
        ]
        assert {file.status for file in two.files} == expected
        assert one.skipped == two.skipped
        assert await list_kept(plain) == await list_kept(app)

    await check({"added", "failed"})
    await check({"unchanged", "failed"}, priority=4)
    (mixed / "lighthouse.md").write_text("# Lighthouse\n\nIt was torn down in 1990.\n", "utf-8")
    write_archive(mixed / "notes.zip", a="The harbour is deep.", c="The quay is new.")
    await check({"added", "replaced", "unchanged", "failed"})
    uris = [info.uri for info in await app.catalog.documents("docs")]
    assert not any(uri.endswith("b.md") for uri in uris)


async def test_the_same_bytes_are_warned_of(app: App, mixed: Path) -> None:
    report = await add_paths(app, [str(mixed)], "docs", engine=RayReading)
    warnings = [text for file in report.files for text in file.warnings]
    assert sum("the same file is in this collection already" in text for text in warnings) == 1


async def test_what_is_no_file_s_fault_ends_the_run(
    app: App, mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was kept until then is listed; the rest is not."""
    put, calls = app.catalog.put_prepared, 0

    async def refuse(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise StorageError("the disk is full", hint="make room")
        return await put(*arguments, **options)

    monkeypatch.setattr(app.catalog, "put_prepared", refuse)
    report = await add_paths(app, [str(mixed)], "docs", engine=RayReading)
    assert report.error is not None
    assert report.error["message"] == "the disk is full"
    added = {file.path for file in report.files if file.status == "added"}
    assert added == {info.uri for info in await app.catalog.documents("docs")}
    assert added


async def test_a_document_that_cannot_be_kept_costs_only_itself(
    app: App, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = app.catalog.put_prepared

    async def trip(collection: str, news: Sequence[Any], **options: Any) -> Any:
        if any(new.uri.endswith("lighthouse.md") for new in news):
            raise ValueError("odd row")
        return await put(collection, news, **options)

    monkeypatch.setattr(app.catalog, "put_prepared", trip)
    report = await add_paths(app, [str(library)], "docs", engine=RayReading)
    assert [file.status for file in report.files] == ["failed", "added"]
    assert "odd row" in report.files[0].reason


def test_passwords_stay_here(settings: Settings) -> None:
    """Of all secrets only the keys of embedders travel."""
    secret = settings.model_copy(
        update={
            "database_url": SecretStr("postgresql+psycopg://u:hidden@db/x"),
            "llm_key": SecretStr("hidden"),
            "embed_key": SecretStr("wanted"),
        }
    )
    sent = pickle.dumps(stages.build_order(secret, "docs", None))
    assert b"hidden" not in sent
    assert b"wanted" in sent


async def test_another_release_is_refused(
    app: App, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "__version__", "0.0.1")
    with pytest.raises(InvalidInput, match=r"has Citewell 0\.0\.1"):
        await add_paths(app, [str(library)], "docs", engine=RayReading)
    monkeypatch.undo()


@pytest.fixture
def kept_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `connect_ray` sets is as before after the test."""
    for name in (*cluster.QUIET, *cluster.LOCAL, "RAY_AUTH_TOKEN"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("kept_environment")
def test_ray_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InvalidInput, match="needs the extra `ray`") as raised, connect_ray():
        raise AssertionError("it is not there")
    assert "citewell[ray]" in raised.value.hint


def test_ray_client_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "ray://head:10001")
    with pytest.raises(InvalidInput, match="cannot run Ray Data"), connect_ray():
        raise AssertionError("it cannot be used")


def test_a_cluster_that_is_not_there() -> None:
    """It is told at once; Ray would try for minutes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        cluster._check_address(address)
    with pytest.raises(TransientError, match=f"Ray at {address}"):
        cluster._check_address(address)

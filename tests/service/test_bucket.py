"""Files of a bucket are added as those of a folder are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer
from tests.service.bucket import fill_bucket, serve_bucket

from citewell.runtime.app import App
from citewell.service.library.add import add_paths
from citewell.service.library.expand_paths import gather_files
from citewell.store.library import object_store


@pytest.fixture
def server(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadedMotoServer]:
    """With the library's files below `docs/`."""
    with serve_bucket() as (server, environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        for name in (".hidden.md", "code.xyz"):
            (library / name).write_text("not taken", "utf-8")
        fill_bucket(environment, library, "docs/")
        yield server


@pytest.mark.usefixtures("server")
async def test_files_below_a_prefix_are_added_once(app: App) -> None:
    """By their addresses, with the day they were written; unknown kinds are counted."""
    report = await add_paths(app, ["s3://files/docs"], "docs")
    addresses = ["s3://files/docs/lighthouse.md", "s3://files/docs/灯塔.txt"]
    assert [(file.path, file.status) for file in report.files] == [
        (address, "added") for address in addresses
    ]
    assert report.skipped == {".xyz": 1}
    documents = await app.catalog.documents("docs")
    assert [info.uri for info in documents] == addresses
    assert all(info.dated for info in documents)
    again = await add_paths(app, ["s3://files/docs/", addresses[0]], "docs")
    assert [file.status for file in again.files] == ["unchanged", "unchanged"]


@pytest.mark.usefixtures("server")
async def test_one_object_and_none(app: App) -> None:
    """An object is added by its own address; where nothing is, that is said."""
    [report] = (await add_paths(app, ["s3://files/docs/灯塔.txt"], "docs")).files
    assert (report.status, report.path) == ("added", "s3://files/docs/灯塔.txt")
    for address in ("s3://files/doc", "s3://files/docs/none.md", "s3://elsewhere/docs"):
        [report] = (await add_paths(app, [address], "docs")).files
        assert (report.status, report.path) == ("failed", address)
        assert report.reason


@pytest.mark.usefixtures("server")
async def test_object_that_is_too_large_is_not_read(app: App) -> None:
    small = app.settings.ingest.model_copy(update={"max_bytes": 5})
    app.settings = app.settings.model_copy(update={"ingest": small})
    [report] = (await add_paths(app, ["s3://files/docs/lighthouse.md"], "docs")).files
    assert report.status == "failed"
    assert "bytes is more than the 5 allowed" in report.reason


async def test_a_bucket_that_goes_away(
    app: App, server: ThreadedMotoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, the address has failed; in the middle, the run ends and says so."""
    monkeypatch.setitem(object_store._RETRY, "max_retries", 0)
    found = gather_files(["s3://files/docs"])
    monkeypatch.setattr("citewell.service.library.add.gather_files", lambda *_, **__: found)
    server.stop()
    [failed] = gather_files(["s3://files/docs"]).found
    assert "s3://files" in failed.reason
    report = await add_paths(app, ["s3://files/docs"], "docs")
    assert report.files == []
    assert report.error is not None
    assert "s3://files" in report.error["message"]
    server.start()

"""A backup of PostgreSQL and a bucket is the home that it would be on one machine, and is restored
into either.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import insert
from tests.servers.objects import ObjectServer

from citewell.config import Settings
from citewell.errors import Conflict, StorageError
from citewell.runtime.app import App
from citewell.service.admin.backup import create_backup
from citewell.service.admin.backup_restore import migrate_home, put_in_place, unpack_archive
from citewell.service.admin.backup_verify import unpack_inside, verify_backup
from citewell.service.jobs.sent_files import fetch_sent_files
from citewell.service.jobs.submit import submit_uploads
from citewell.service.library.intake import add_data
from citewell.service.library.uploads import Upload
from citewell.service.shared_home.backup_shared import choose_copy
from citewell.service.shared_home.restore_shared import restore_shared_home
from citewell.service.tables.preview_tables import preview_table
from citewell.service.tables.sources import add_upload
from citewell.store.schema.library import object_holds

pytestmark = pytest.mark.sqlite  # each test says itself which database it has


def quiet(done: int, total: int) -> None:
    """Nobody watches."""


def back_up(settings: Settings, file: Path) -> Path:
    return Path(create_backup(settings.home, file, quiet, choose_copy(settings)).file)


def restore_into_home(archive: Path, home: Path) -> None:
    with unpack_archive(archive, home, quiet) as (made, _):
        asyncio.run(migrate_home(made))
        put_in_place(made, home, force=False)


def restore_into_server(archive: Path, settings: Settings) -> None:
    with unpack_inside(archive, settings.home, quiet) as (made, _):
        asyncio.run(restore_shared_home(settings, made))


@pytest.fixture
def shared(settings: Settings, home_url: str, object_server: ObjectServer) -> Settings:
    assert object_server.list_keys() == []
    return settings.model_copy(
        update={"database_url": SecretStr(home_url), "objects_url": "s3://files/first"}
    )


async def add(app: App, name: str) -> str:
    """The bytes that were acknowledged."""
    text = f"# {name}\n\nThe lamp of {name} is red.\n"
    report = await add_data(app, text.encode(), name, f"upload:{name}", "docs")
    assert report.status == "added"
    return text


@asynccontextmanager
async def writing(app: App, server: ObjectServer) -> AsyncIterator[None]:
    """Documents come meanwhile, and go once the backup has seen what there is."""

    async def write() -> None:
        for number in range(10_000):
            await add(app, f"late {number}.md")
            if not any(each.startswith("GET /files/first/files/") for each in server.asked):
                continue
            first = min(await app.catalog.documents("docs"), key=lambda each: each.added_at)
            await app.catalog.delete(first.doc_id)

    task = asyncio.create_task(write())
    yield
    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def until_deleted(app: App, uri: str) -> None:
    while uri in {each.uri for each in await app.catalog.documents("docs")}:  # noqa: ASYNC110  # rows
        await asyncio.sleep(0.05)


async def check(settings: Settings, kept: dict[str, str], job_id: str) -> None:
    """All that was acknowledged before is in this home."""
    async with App(settings) as app:
        there = {
            each.uri.removeprefix("upload:"): each for each in await app.catalog.documents("docs")
        }
        for name, text in kept.items():
            assert (await app.catalog.file(there[name].doc_id)).decode() == text
        job = await app.jobs.get(job_id)
        assert (await fetch_sent_files(app, job.payload) / "0").read_bytes() == b"# Waits\n"
        _, rows = await preview_table(app, "costs", "costs", 5)
        assert [row[0] for row in rows.rows] == ["IT", "HR"]
        assert (await app.audit.verify()).damage == []


async def test_all_that_was_there_is_restored_into_either(
    shared: Settings, postgres_database: str, object_server: ObjectServer, tmp_path: Path
) -> None:
    (tmp_path / "costs.csv").write_text("Function,Cost\nIT,10\nHR,5\n", "utf-8")
    async with App(shared) as app:
        kept = {name: await add(app, name) for name in ("a.md", "b.md", "c.md")}
        await add_upload(app, tmp_path / "costs.csv", "costs.csv")
        waiting = await submit_uploads(app, "docs", [Upload("w.md", BytesIO(b"# Waits\n"))])
        async with writing(app, object_server):
            archive = await asyncio.to_thread(back_up, shared, tmp_path / "b.tar.gz")
            await until_deleted(app, "upload:c.md")
    await asyncio.to_thread(verify_backup, archive, tmp_path / "cache-of-another", quiet)

    plain = shared.model_copy(
        update={"home": tmp_path / "plain", "database_url": SecretStr(""), "objects_url": ""}
    )
    await asyncio.to_thread(restore_into_home, archive, plain.home)
    await check(plain, kept, waiting.job_id)

    other = shared.model_copy(
        update={
            "home": tmp_path / "other",
            "database_url": SecretStr(postgres_database),
            "objects_url": "s3://files/second",
        }
    )
    await asyncio.to_thread(restore_into_server, archive, other)
    assert not list((tmp_path / "other").rglob("*.duckdb"))
    await check(other, kept, waiting.job_id)
    assert any(key.startswith("second/files/") for key in object_server.list_keys())
    with pytest.raises(Conflict, match="something in it"):
        await asyncio.to_thread(restore_into_server, archive, other)


async def test_a_database_with_rows_is_not_restored_into(shared: Settings, tmp_path: Path) -> None:
    async with App(shared) as app:
        await add(app, "a.md")
    archive = await asyncio.to_thread(back_up, shared, tmp_path / "b.tar.gz")
    other = shared.model_copy(update={"objects_url": "s3://files/second"})
    with pytest.raises(Conflict, match="there is data already"):
        await asyncio.to_thread(restore_into_server, archive, other)
    async with App(shared) as app:
        assert len(await app.catalog.documents("docs")) == 1


async def test_a_file_of_sqlite_with_a_bucket(
    settings: Settings, object_server: ObjectServer, tmp_path: Path
) -> None:
    there = settings.model_copy(update={"objects_url": "s3://files/house"})
    async with App(there) as app:
        text = await add(app, "a.md")
    archive = await asyncio.to_thread(back_up, there, tmp_path / "b.tar.gz")
    object_server.fault = lambda _: 503
    plain = settings.model_copy(update={"home": tmp_path / "plain"})
    await asyncio.to_thread(restore_into_home, archive, plain.home)
    async with App(plain) as app:
        [document] = await app.catalog.documents("docs")
        assert (await app.catalog.file(document.doc_id)).decode() == text


async def test_without_an_original_there_is_no_backup(
    shared: Settings, object_server: ObjectServer, tmp_path: Path
) -> None:
    async with App(shared) as app:
        await add(app, "a.md")
    for key in object_server.list_keys():
        object_server.client.delete_object(Bucket="files", Key=key)
    with pytest.raises(StorageError, match="is not there"):
        await asyncio.to_thread(back_up, shared, tmp_path / "b.tar.gz")
    assert not [each for each in os.listdir(tmp_path) if "b.tar.gz" in each]  # noqa: PTH208


async def test_objects_stay_while_a_backup_needs_them(
    shared: Settings, object_server: ObjectServer
) -> None:
    """Also those that another process deletes; the hold of one that was killed ends by itself."""
    async with App(shared) as app, App(shared) as other:
        for name in ("a.md", "b.md"):
            await add(app, name)
        async with app.file_objects.hold():
            for each in await other.catalog.documents("docs"):
                await other.catalog.delete(each.doc_id)
            await other.file_objects.sweep()
            assert len(object_server.list_keys()) == 2
        assert object_server.list_keys() == []
        await add(app, "c.md")
        killed = insert(object_holds).values(holder="killed", until=1.0)
        await app.db.write(lambda connection: connection.execute(killed))
        await app.collections.delete("docs")
        assert object_server.list_keys() == []

"""Bytes in a bucket: kept, given back, listed, deleted; what is said of one that is away."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator

import boto3
import pytest
from moto.server import ThreadedMotoServer
from tests.store.conftest import document_of

from citewell.errors import InvalidInput, StorageError, TransientError
from citewell.store import object_store
from citewell.store.db import Database
from citewell.store.library.catalog import Catalog
from citewell.store.library.file_objects import FileObjects
from citewell.store.object_store import ObjectStore

DATA = "灯塔".encode() * 2_000_000  # sent in several parts
SHA = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadedMotoServer]:
    """A server that speaks S3, with the bucket `files`; tests may stop it."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    for name, value in {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    boto3.client("s3", endpoint_url=address).create_bucket(Bucket="files")
    yield server
    server.stop()


async def list_all(store: ObjectStore, before: float) -> list[str]:
    return [key async for key in store.list_keys(before)]


@pytest.mark.usefixtures("server")
async def test_what_is_put_is_there_until_it_is_deleted() -> None:
    """The same bytes twice are two objects, so that deleting one takes nothing from the other."""
    store = ObjectStore("s3://files/of/citewell")
    first, second = await store.put(SHA, DATA), await store.put(SHA, DATA)
    assert first != second
    assert await store.get(first) == DATA
    assert sorted(await list_all(store, time.time() + 60)) == sorted([first, second])
    assert await list_all(store, time.time() - 60) == []
    await store.delete([first, "files/never/was"])
    assert await list_all(store, time.time() + 60) == [second]
    assert await store.get(second) == DATA
    with pytest.raises(StorageError, match="is not there"):
        await store.get(first)
    await store.check()
    assert await list_all(store, time.time() + 60) == [second]


async def test_a_store_that_is_away(
    server: ThreadedMotoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ObjectStore("s3://files")
    await store.check()
    server.stop()
    monkeypatch.setitem(object_store._RETRY, "max_retries", 1)
    with pytest.raises(TransientError, match="s3://files"):
        await ObjectStore("s3://files").put(SHA, b"x")
    server.start()


@pytest.mark.usefixtures("server")
async def test_a_bucket_that_is_not_there() -> None:
    with pytest.raises(StorageError, match="s3://elsewhere"):
        await ObjectStore("s3://elsewhere").check()


@pytest.mark.parametrize("url", ["", "files", "http://127.0.0.1/files", "s3://"])
def test_no_address(url: str) -> None:
    with pytest.raises(InvalidInput):
        ObjectStore(url)


@pytest.mark.usefixtures("server")
async def test_original_files_lie_in_the_store(db: Database) -> None:
    """An object a document; it goes with the document, and with the version that is replaced."""
    store = ObjectStore("s3://files")
    catalog = Catalog(db, "test", objects=FileObjects(db, store))
    document, chunks = document_of(["The lamp is red."])
    first = await catalog.put("notes", "a.md", DATA, document, chunks)
    assert await catalog.file(first.doc_id) == DATA
    assert first.bytes == len(DATA)
    (key,) = await list_all(store, time.time() + 60)
    other = await catalog.put("notes", "b.md", DATA, document, chunks)
    assert await list_all(store, time.time() + 60) == [key], "the same bytes lie there once"
    await catalog.put("notes", "a.md", b"new", document, chunks)
    assert await catalog.file(other.doc_id) == DATA
    assert len(await list_all(store, time.time() + 60)) == 2
    await catalog.delete(other.doc_id)
    assert key not in await list_all(store, time.time() + 60)
    await catalog.delete_collection("notes")
    assert await list_all(store, time.time() + 60) == []


@pytest.mark.usefixtures("server")
async def test_nothing_is_added_while_the_store_is_away(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is deleted meanwhile goes from the store when it is back."""
    monkeypatch.setitem(object_store._RETRY, "max_retries", 0)
    objects = FileObjects(db, ObjectStore("s3://files"))
    catalog = Catalog(db, "test", objects=objects)
    document, chunks = document_of(["The lamp is red."])
    kept = await catalog.put("notes", "a.md", DATA, document, chunks)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    away = Catalog(db, "test", objects=FileObjects(db, ObjectStore("s3://files")))
    with pytest.raises(TransientError):
        await away.put("notes", "b.md", b"other", document, chunks)
    assert [each.uri for each in await away.documents("notes")] == ["a.md"]
    await away.delete(kept.doc_id)
    back = objects._store
    assert back is not None
    assert len(await list_all(back, time.time() + 60)) == 1
    await objects.release()
    assert await list_all(back, time.time() + 60) == []


@pytest.mark.usefixtures("server")
async def test_objects_that_no_row_names_are_swept(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a process that ended between its object and its row; not before a day has passed."""
    store = ObjectStore("s3://files")
    objects = FileObjects(db, store)
    document, chunks = document_of(["The lamp is red."])
    await Catalog(db, "test", objects=objects).put("notes", "a.md", DATA, document, chunks)
    left = await store.put(SHA, DATA)
    assert await objects.sweep() == 0
    monkeypatch.setattr("citewell.store.library.file_objects.ORPHANED", -60.0)
    assert await objects.sweep() == 1
    assert left not in await list_all(store, time.time() + 60)
    assert len(await list_all(store, time.time() + 60)) == 1

"""Bytes in a bucket: kept, given back, listed, deleted; what is said of one that is away."""

from __future__ import annotations

import hashlib
import itertools
import threading
import time
from io import BytesIO
from pathlib import Path

import pytest
from tests.servers.objects import ObjectServer
from tests.store.conftest import document_of

from citewell.errors import InvalidInput, StorageError
from citewell.store.db import Database
from citewell.store.library import object_store
from citewell.store.library.catalog import Catalog
from citewell.store.library.collection_store import Collections
from citewell.store.library.file_objects import FileObjects
from citewell.store.library.object_store import ORIGINALS, ObjectStore

DATA = "灯塔".encode() * 2_000_000  # sent in several parts
SHA = hashlib.sha256(DATA).hexdigest()


async def list_all(store: ObjectStore, before: float) -> list[str]:
    """Original files."""
    return [key async for key in store.list_keys(ORIGINALS, before)]


@pytest.mark.usefixtures("object_server")
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
    object_server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told after some tries, and what was on its way is not there."""
    monkeypatch.setitem(object_store._RETRY, "max_retries", 1)
    store = ObjectStore("s3://files")
    await store.check()
    object_server.fault = lambda _: 503
    with pytest.raises(StorageError, match="s3://files"):
        await store.put(SHA, b"x")
    object_server.fault = lambda _: None
    await store.check()
    assert await list_all(store, time.time() + 60) == []


async def test_a_store_that_goes_away_in_the_middle(
    object_server: ObjectServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of a file of several parts, sent or fetched, nothing is there to be seen."""
    monkeypatch.setitem(object_store._RETRY, "max_retries", 0)
    store, path, large = ObjectStore("s3://files"), tmp_path / "part", DATA * 2
    await store.put_at("whole", BytesIO(large))
    parts = itertools.count()
    object_server.fault = lambda environ: (
        500 if "partNumber=" in environ["QUERY_STRING"] and next(parts) else None
    )
    with pytest.raises(StorageError):
        await store.put_at("broken", BytesIO(large))
    object_server.fault = lambda _: None
    assert object_server.list_keys() == ["whole"]
    await store.download("whole", path)
    assert path.read_bytes() == large
    ranges = itertools.count()
    object_server.fault = lambda environ: 503 if "HTTP_RANGE" in environ and next(ranges) else None
    with pytest.raises(StorageError):
        await store.download("whole", path)


async def test_a_store_that_stalls(
    object_server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(object_store._RETRY, "max_retries", 0)
    monkeypatch.setitem(object_store._CLIENT, "timeout", "300ms")
    over = threading.Event()
    object_server.fault = lambda _: (over.wait(30) and 500) or 500
    began = time.monotonic()
    try:
        with pytest.raises(StorageError, match="s3://files"):
            await ObjectStore("s3://files").put(SHA, b"x")
    finally:
        over.set()
    assert time.monotonic() - began < 20


@pytest.mark.usefixtures("object_server")
async def test_a_bucket_that_is_not_there() -> None:
    with pytest.raises(StorageError, match="s3://elsewhere"):
        await ObjectStore("s3://elsewhere").check()


@pytest.mark.parametrize("url", ["", "files", "http://127.0.0.1/files", "s3://"])
def test_no_address(url: str) -> None:
    with pytest.raises(InvalidInput):
        ObjectStore(url)


@pytest.mark.usefixtures("object_server")
async def test_original_files_lie_in_the_store(db: Database) -> None:
    """An object a document; it goes with the document, and with the version that is replaced."""
    store = ObjectStore("s3://files")
    objects = FileObjects(db, store)
    catalog = Catalog(db, "test", objects=objects)
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
    await Collections(db, "test", objects=objects).delete("notes")
    assert await list_all(store, time.time() + 60) == []


@pytest.mark.usefixtures("object_server")
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
    with pytest.raises(StorageError):
        await away.put("notes", "b.md", b"other", document, chunks)
    assert [each.uri for each in await away.documents("notes")] == ["a.md"]
    await away.delete(kept.doc_id)
    back = objects.store
    assert back is not None
    assert len(await list_all(back, time.time() + 60)) == 1
    await objects.release()
    assert await list_all(back, time.time() + 60) == []


@pytest.mark.usefixtures("object_server")
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

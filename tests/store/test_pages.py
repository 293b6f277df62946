"""Snapshots of pages, sites and finds as rows: what is kept comes back, what is deleted goes
along.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from citewell.ingest.web.links import Link
from citewell.models.base import Vector
from citewell.store.db import Database
from citewell.store.library.catalog import Catalog
from citewell.store.library.collection_store import Collections
from citewell.store.library.pending_chunks import PendingChunks
from citewell.store.pages import Snapshot, Snapshots
from citewell.store.sites import Site, Sites
from citewell.types import Chunk, Document, Section

URL = "https://example.com/a"
LINKS = (
    Link("https://example.com/b", "灯塔 \ud800", "around", "Heading", "top", "around"),
    Link("https://example.com/c", "c"),
)


@dataclass
class Clock:
    at: float = 1_000.0

    def __call__(self) -> float:
        self.at += 1.0
        return self.at


@pytest.fixture
def catalog(db: Database) -> Catalog:
    return Catalog(db, "test")


@pytest.fixture
def snapshots(db: Database) -> Snapshots:
    return Snapshots(db)


@pytest.fixture
def sites(db: Database) -> Sites:
    return Sites(db, Clock())


def direction(n: int) -> Vector:
    return np.asarray(np.eye(8, dtype=np.float32)[n % 8])


async def document(
    catalog: Catalog, uri: str, body: str = "The lamp is electric.", collection: str = "site"
) -> str:
    text = Document("T", "text/html", "en", body, (Section(("T",), 0, len(body)),))
    chunk = Chunk(body, 0, len(body), 0, ("T",), None, 5)
    return (await catalog.put(collection, uri, body.encode(), text, [chunk])).doc_id


async def kept(catalog: Catalog, snapshots: Snapshots, uri: str = URL, **more: object) -> Snapshot:
    doc_id = await document(catalog, uri)
    new = Snapshot("site", uri, uri, doc_id, "T", "hash", '"v1"', "Mon", 10.0, 20.0, links=LINKS)
    new = replace(new, **more)  # type: ignore[arg-type]
    await snapshots.put(new)
    return new


async def test_what_is_kept_comes_back(catalog: Catalog, snapshots: Snapshots) -> None:
    """All fields; with a slash at the end too; without links where they are not wanted."""
    new = await kept(catalog, snapshots)
    assert await snapshots.get("site", URL) == await snapshots.get("site", URL + "/") == new
    assert await snapshots.get("other", URL) is await snapshots.get("site", URL + "?x=1") is None
    other = await kept(catalog, snapshots, "https://example.com/0", links=())
    assert await snapshots.of("site") == [other, new]
    assert await snapshots.of("site", [URL + "/", "https://example.com/none"]) == [new]
    assert await snapshots.of("site", []) == []
    assert await snapshots.of("site", [URL], links=False) == [replace(new, links=())]


async def test_a_new_version_of_the_document_keeps_the_snapshot(
    catalog: Catalog, snapshots: Snapshots
) -> None:
    """Its row is deleted and inserted again; what is known of the page outlives that."""
    new = await kept(catalog, snapshots)
    assert await document(catalog, URL, "Another text.") == new.doc_id
    assert await snapshots.get("site", URL) == new


async def test_checked_and_failed(catalog: Catalog, snapshots: Snapshots) -> None:
    """A problem stands beside what was fetched, until the site says that it is so again."""
    new = await kept(catalog, snapshots)
    await snapshots.note_failure("site", URL, "gone; try later", "page_missing", 30.0)
    assert await snapshots.get("site", URL) == replace(
        new, checked_at=30.0, problem="gone; try later", code="page_missing"
    )
    await snapshots.note_check("site", URL, 40.0)
    assert await snapshots.get("site", URL) == replace(new, checked_at=40.0)
    await snapshots.note_failure(
        "site", "https://example.com/none", "missing", "page_missing", 30.0
    )
    never = await snapshots.get("site", "https://example.com/none")
    assert never is not None
    assert (never.doc_id, never.problem, never.fetched_at) == ("", "missing", 30.0)
    await snapshots.note_failure("nowhere", URL, "missing", "page_missing", 30.0)
    assert await snapshots.of("nowhere") == []


async def test_redirects(catalog: Catalog, snapshots: Snapshots) -> None:
    """They lead to their page, are as old as the older of the two, and go with it."""
    old, older = "https://example.com/old", "https://example.com/older"
    new = await kept(catalog, snapshots, url=old)
    await snapshots.put(replace(new, url=older, checked_at=30.0))
    assert await snapshots.get("site", old) == replace(new, checked_at=20.0)
    assert await snapshots.get("site", older) == replace(new, url=older, checked_at=30.0)
    assert await snapshots.get("site", URL) == replace(new, url=URL, checked_at=30.0)
    await snapshots.note_check("site", old, 50.0)
    assert [each.checked_at for each in await snapshots.of("site")] == [50.0]
    direct = await snapshots.get("site", older)
    assert direct is not None
    assert direct.checked_at == 30.0
    await snapshots.note_failure("site", older, "gone", "page_missing", 60.0)
    gone = await snapshots.get("site", older)
    assert gone is not None
    assert (gone.uri, gone.problem) == (older, "gone")
    await snapshots.put(replace(new, url=older, checked_at=70.0))
    assert len(await snapshots.of("site")) == 1
    await snapshots.delete("site", URL)
    assert await snapshots.get("site", old) is await snapshots.get("site", older) is None


async def test_nothing_is_kept_of_what_is_not_there(catalog: Catalog, snapshots: Snapshots) -> None:
    """The document, or the whole collection, was deleted while its page was read."""
    new = await kept(catalog, snapshots)
    await catalog.delete(new.doc_id)
    await snapshots.put(replace(new, url="https://example.com/old"))
    assert await snapshots.of("site") == []
    assert await snapshots.get("site", "https://example.com/old") is None


async def test_what_is_deleted_goes_along(
    catalog: Catalog, snapshots: Snapshots, sites: Sites, db: Database
) -> None:
    """In the transaction of the document; with the collection all of it."""
    new = await kept(catalog, snapshots, url="https://example.com/old")
    other = await kept(catalog, snapshots, "https://example.com/other")
    for uri in (URL, other.uri):
        await sites.note_find("site", uri, "When?", direction(1), "test")
    await catalog.delete(new.doc_id)
    assert await snapshots.of("site") == [other]
    assert [find.uri for find in await sites.finds("site", "test")] == [other.uri]
    await sites.put_site("site", [URL])
    await Collections(db, "test").delete("site")
    for table in ("pages", "redirects", "finds", "sites"):
        left = await db.read(
            lambda c, t=table: c.exec_driver_sql(f"SELECT count(*) FROM {t}").scalar_one()  # type: ignore[misc]
        )
        assert left == 0


async def test_sums(db: Database, catalog: Catalog, snapshots: Snapshots) -> None:
    """Pages that are documents, problems, bytes, passages, and when they were asked for."""
    first = await kept(catalog, snapshots)
    await kept(catalog, snapshots, "https://example.com/b", checked_at=90.0)
    await snapshots.note_failure(
        "site", "https://example.com/none", "missing", "page_missing", 50.0
    )
    await document(catalog, "/file.md")
    pending = PendingChunks(db, "test")
    [(chunk, _)] = await pending.list_unembedded("test", 1, [first.doc_id])
    await pending.put_vectors(
        "test", [chunk], direction(1)[None, :]
    )  # the other page has the same text
    [sums] = await snapshots.count_by_collection("test")
    assert (sums.collection, sums.pages, sums.problems, sums.bytes) == ("site", 2, 1, 42)
    assert (sums.chunks, sums.embedded, sums.oldest, sums.newest) == (2, 2, 20.0, 90.0)
    assert (await snapshots.count_by_collection("other"))[0].embedded == 0


async def test_sites(sites: Sites, catalog: Catalog) -> None:
    """A site makes its collection, and is replaced as a whole; what is forgotten leaves the
    documents.
    """
    first = await sites.put_site(
        "site", ["https://example.com/"], ["*.example.com"], "policies first"
    )
    assert first == Site(
        "site", ("https://example.com/",), ("*.example.com",), "policies first", 1001.0, 1001.0
    )
    again = await sites.put_site("site", ["https://example.com/b"])
    assert again == Site("site", ("https://example.com/b",), (), "", 1001.0, 1002.0)
    assert await sites.site("site") == again
    assert await sites.sites() == [again]
    assert await sites.site("none") is None
    doc_id = await document(catalog, URL)
    await sites.note_find("site", URL, "When?", direction(1), "test")
    await sites.forget("site")
    assert not await sites.sites()
    assert not await sites.finds("site", "test")
    assert (await catalog.document(doc_id)).uri == URL


async def test_finds(db: Database, sites: Sites, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest first, each page and question once, of this embedder only, and so many at most."""
    monkeypatch.setattr("citewell.store.sites.MOST_FINDS", most := 10)
    await Collections(db, "test").create("site")
    for n in range(most + 3):
        await sites.note_find("site", f"https://example.com/{n}", "When?", 3 * direction(n), "test")
    found = await sites.finds("site", "test")
    assert len(found) == most
    assert found[0].uri == f"https://example.com/{most + 2}"
    assert found[0].at > found[1].at
    assert np.array_equal(found[0].vector, direction(most + 2))
    await sites.note_find("site", "https://example.com/5/", "When?", direction(5), "test")
    again = await sites.finds("site", "test")
    assert (len(again), again[0].uri) == (most, "https://example.com/5/")
    assert await sites.finds("site", "other") == []
    await sites.note_find("nowhere", URL, "When?", direction(1), "test")
    assert await sites.finds("nowhere", "test") == []

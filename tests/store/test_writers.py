"""The library in PostgreSQL while two servers write at once: each pair of changes that touch one
thing, in both orders, comes to what one after the other would.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.store.conftest import EMBEDDER, Shelf, vector_of
from tests.store.gate import run_during

from citewell.errors import Conflict, NotFound
from citewell.store.db import Database
from citewell.store.pages import Snapshot, Snapshots
from citewell.store.sites import Sites
from citewell.store.syncs.syncs import Syncs

TABLES = ("documents", "chunks", "words", "vectors", "vector_index", "files", "lines", "containers")


@pytest.fixture
async def shelves(tmp_path: Path, home_url: str) -> AsyncIterator[list[Shelf]]:
    """Two servers on one database."""
    async with (
        Database(tmp_path / "one" / "citewell.db", home_url) as one,
        Database(tmp_path / "one" / "citewell.db", home_url) as two,
    ):
        yield [Shelf(one), Shelf(two)]


async def count_all(shelf: Shelf) -> dict[str, int]:
    return {table: n for table in TABLES if (n := await shelf.count(table))}


async def test_one_address_is_one_document(shelves: list[Shelf]) -> None:
    one, two = shelves
    await run_during(
        one.db, lambda: one.put("a", "old", embed=False), lambda: two.put("a", "new", "more")
    )
    [document] = await one.catalog.documents("default")
    assert (document.version, document.chunks) == (2, 2)
    assert await one.worded("old") == []
    assert await count_all(one) == {
        **dict.fromkeys(("chunks", "words", "vectors", "vector_index"), 2),
        **dict.fromkeys(("documents", "files"), 1),
    }


@pytest.mark.parametrize("deleted_first", [True, False])
async def test_a_version_that_comes_while_its_document_goes(
    shelves: list[Shelf], deleted_first: bool
) -> None:
    one, two = shelves
    old = await one.put("a", "old")

    async def delete(shelf: Shelf) -> None:
        await shelf.catalog.delete(old.doc_id)

    async def put(shelf: Shelf) -> None:
        await shelf.put("a", "new", embed=False)

    first, second = (delete, put) if deleted_first else (put, delete)
    await run_during(one.db, lambda: first(one), lambda: second(two))
    there = [(each.version, each.priority) for each in await one.catalog.documents("default")]
    assert there == ([(1, 0)] if deleted_first else [])
    if not deleted_first:
        assert await count_all(one) == {}


@pytest.mark.parametrize("deleted_first", [True, False])
async def test_a_document_that_comes_while_its_collection_goes(
    shelves: list[Shelf], deleted_first: bool
) -> None:
    one, two = shelves
    await one.put("a", "first")

    async def delete(shelf: Shelf) -> None:
        await shelf.collections.delete("default")

    async def put(shelf: Shelf) -> None:
        await shelf.put("b", "second", embed=False)

    first, second = (delete, put) if deleted_first else (put, delete)
    await run_during(one.db, lambda: first(one), lambda: second(two))
    if deleted_first:
        assert [each.uri for each in await one.catalog.documents("default")] == ["b"]
    else:
        assert await one.collections.list_all() == []
        assert await count_all(one) == {}


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("deleted_first", [True, False])
async def test_bytes_that_another_document_takes_while_they_go(
    shelves: list[Shelf], deleted_first: bool, whole: bool
) -> None:
    one, two = shelves
    old = await one.put("a", "the same", collection="old")

    async def delete(shelf: Shelf) -> None:
        if whole:
            await shelf.collections.delete("old")
        else:
            await shelf.catalog.delete(old.doc_id)

    async def put(shelf: Shelf) -> None:
        await shelf.put("b", "the same", collection="new", embed=False)

    first, second = (delete, put) if deleted_first else (put, delete)
    assert await run_during(one.db, lambda: first(one), lambda: second(two)) == [None, None]
    [new] = await one.catalog.documents("new")
    assert await one.catalog.file(new.doc_id) == b"the same"
    assert await one.count("files") == 1


@pytest.mark.parametrize("deleted_first", [True, False])
async def test_vectors_of_chunks_that_go(shelves: list[Shelf], deleted_first: bool) -> None:
    one, two = shelves
    await one.put("c", "something else")
    old = await one.put("a", "text", embed=False)
    [(chunk, _)] = await one.pending_chunks.list_unembedded(EMBEDDER, 10)
    rows = vector_of("text")[None, :]

    async def replace(shelf: Shelf) -> None:
        await shelf.put("a", "other text", embed=False)

    async def embed(shelf: Shelf) -> None:
        await shelf.pending_chunks.put_vectors(EMBEDDER, [chunk], rows)

    first, second = (replace, embed) if deleted_first else (embed, replace)
    assert await run_during(one.db, lambda: first(one), lambda: second(two)) == [None, None]
    assert (await one.catalog.document(old.doc_id)).embedded == 0
    assert await one.count("vectors") == await one.count("vector_index") == 1


async def test_the_first_vectors_of_an_embedder_have_one_length(shelves: list[Shelf]) -> None:
    one, two = shelves
    await one.put("a", "text", "other", embed=False)
    (a, _), (b, _) = await one.pending_chunks.list_unembedded(EMBEDDER, 10)
    short = vector_of("text")[None, :8]
    _, refused = await run_during(
        one.db,
        lambda: one.pending_chunks.put_vectors(EMBEDDER, [a], vector_of("text")[None, :]),
        lambda: two.pending_chunks.put_vectors(EMBEDDER, [b], short),
    )
    assert "dimensions" in str(refused)


async def test_a_summary_of_a_version_that_is_replaced(shelves: list[Shelf]) -> None:
    one, two = shelves
    info = await one.put("a", "text", summary="short", embed=False)
    [(chunk, _, _)] = await one.pending_chunks.list_unwritten_summaries("model", 10)
    _, kept = await run_during(
        one.db,
        lambda: one.put("a", "new text", summary="new", embed=False),
        lambda: two.pending_chunks.put_summary(chunk, "of the old text", "model"),
    )
    assert kept is False
    assert [c.text for c in await one.catalog.chunks(info.doc_id)] == ["new text", "new"]


async def test_a_priority_outlives_a_new_version(shelves: list[Shelf]) -> None:
    one, two = shelves
    info = await one.put("a", "text", embed=False)
    await run_during(
        one.db,
        lambda: one.catalog.set_priority(info.doc_id, 5),
        lambda: two.put("a", "new", embed=False),
    )
    assert (await one.catalog.document(info.doc_id)).priority == 5


@pytest.mark.parametrize("deleted_first", [True, False])
async def test_a_page_goes_with_its_document(shelves: list[Shelf], deleted_first: bool) -> None:
    one, two = shelves
    url = "https://a.example/"
    info = await one.put(url, "text", embed=False)
    page = Snapshot("default", url, url, info.doc_id, "", "", "", "", 1.0, 1.0)

    async def delete(shelf: Shelf) -> None:
        await shelf.catalog.delete(info.doc_id)

    async def note(shelf: Shelf) -> None:
        await Snapshots(shelf.db).put(page)

    first, second = (delete, note) if deleted_first else (note, delete)
    assert await run_during(one.db, lambda: first(one), lambda: second(two)) == [None, None]
    assert await Snapshots(one.db).of("default") == []


async def test_one_collection_and_one_entry_of_it(shelves: list[Shelf]) -> None:
    """The log of administration too: every entry is chained to the one before."""
    from citewell.store.users.audit import Audit

    async def make(shelf: Shelf, number: int) -> None:
        await shelf.collections.create(f"c{number % 6}")
        await Sites(shelf.db).put_site(f"s{number % 6}", ["https://a.example/"])

    await asyncio.gather(*(make(shelf, n) for n in range(12) for shelf in shelves))
    assert len(await shelves[0].collections.list_all()) == 12
    log = await Audit(shelves[0].db).verify()
    assert (log.entries, log.damage) == (12, [])


async def test_a_place_is_watched_once_and_run_once(shelves: list[Shelf]) -> None:
    syncs = [Syncs(shelf.db) for shelf in shelves]

    async def add(number: int) -> object:
        return await syncs[number].add("c", "folder", "/p", {}, seal=lambda _: "", every=1.0)

    added, refused = await run_during(shelves[0].db, lambda: add(0), lambda: add(1))
    assert isinstance(refused, Conflict)
    made: list[str] = []

    def make(_connection: object, sync: object) -> str:
        made.append(f"job {len(made)}")
        return made[-1]

    due = await run_during(
        shelves[0].db, lambda: syncs[0].start_due(make), lambda: syncs[1].start_due(make)
    )
    assert sorted(map(len, due)) == [0, 1]
    with pytest.raises(NotFound):
        await syncs[0].get(f"{added.sync_id}x")


async def test_ordinary_writers_are_not_run_again(shelves: list[Shelf]) -> None:
    """Many that add documents into one collection, embed, and take some away: hardly a transaction
    is refused, and all that was acknowledged is there.
    """
    one = shelves[0]
    await one.put("start", "start")
    before = await count_refused(one)

    async def work(shelf: Shelf, name: str) -> None:
        for number in range(6):
            info = await shelf.put(f"{name}/{number}", f"{name} {number}", "in all", embed=False)
            await shelf.embed()
            if number % 3 == 0:
                await shelf.catalog.delete(info.doc_id)

    await asyncio.gather(
        *(work(shelf, f"{n}{shelf is one}") for n in range(4) for shelf in shelves)
    )
    documents = await one.catalog.documents("default")
    assert len(documents) == 1 + 8 * 4
    assert {(each.chunks, each.embedded) for each in documents} == {(1, 1), (2, 2)}
    assert await one.count("vectors") == await one.count("words") == 1 + 8 * 4 * 2
    assert await count_refused(one) - before <= 3


async def count_refused(shelf: Shelf) -> int:
    """Transactions of the database that were rolled back so far; the server counts them late."""
    await asyncio.sleep(1.2)
    count = text("SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()")
    return int(await shelf.db.read(lambda c: c.execute(count).scalar_one()))

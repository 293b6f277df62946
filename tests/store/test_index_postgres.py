"""What only PostgreSQL has: indexes of vectors for each embedder, totals of words, bulk."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sqlalchemy import Connection

from citewell.store.db import Database
from citewell.store.index import postgres_blocks, postgres_vectors
from citewell.store.index.adapters import INDEXES
from citewell.store.index.protocol import Filter
from citewell.store.index.search_rows import pack_words
from citewell.store.index.search_tables import (
    drop_search_indexes,
    make_search_indexes,
    name_vector_indexes,
)

if TYPE_CHECKING:
    from tests.store.conftest import Shelf

EMBEDDER = "test"
DIM = 64


@pytest.fixture
def database_url(home_url: str) -> str:
    return home_url


def list_indexes(connection: Connection) -> set[str]:
    rows = connection.exec_driver_sql(
        "SELECT indexname FROM pg_indexes WHERE tablename IN ('vector_index', 'words')"
    )
    return set(rows.scalars())


async def test_each_embedder_has_its_own_indexes(shelf: Shelf, db: Database) -> None:
    """Made with its first vectors, as far as they are not too long; found by all the same, and a
    name with quotes is a name.
    """
    await shelf.put("a", "one", "two", embed=False)
    for embedder, dim, made in (("it's 100%", 8, 2), ("long", 1_300, 1), ("longer", 4_100, 0)):
        row = np.ones((1, dim), np.float32)
        await shelf.pending_chunks.put_vectors(embedder, [2], row)
        there = await db.read(list_indexes)
        assert len(there & set(name_vector_indexes(embedder))) == made
        for few in (0, 100):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(postgres_vectors, "FEW", few)
                found = await INDEXES[db.dialect](db, embedder).search_vectors(row[0], 5)
            assert dict(found) == pytest.approx({2: 1.0})


async def test_a_filter_that_neighbours_do_not_pass(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer than it asks for: each of them is looked at."""
    monkeypatch.setattr(postgres_vectors, "FEW", 0)
    await shelf.put("near", *[f"near {i}" for i in range(300)], collection="near", embed=False)
    await shelf.put("far", *[f"far {i}" for i in range(40)], collection="far", embed=False)
    ids = [chunk for chunk, _ in await shelf.pending_chunks.list_unembedded(EMBEDDER, 1_000)]
    rows = np.random.default_rng(5).standard_normal((340, DIM)).astype(np.float32)
    rows[:, 0] += np.where(np.arange(340) < 300, 30, -30)
    await shelf.pending_chunks.put_vectors(EMBEDDER, ids, rows)
    query = np.eye(DIM, dtype=np.float32)[0]
    found = await shelf.index.search_vectors(query, 10, Filter(collections=("far",)))
    lengths = np.linalg.norm(rows, axis=1)
    best = 300 + np.argsort(-(rows[300:, 0] / lengths[300:]))[:10]
    assert [chunk for chunk, _ in found] == [ids[n] for n in best]


async def test_indexes_dropped_for_bulk_are_not_missed(shelf: Shelf, db: Database) -> None:
    """Until they are made again, every row is looked at."""

    async def search() -> list[list[str]]:
        where = Filter(collections=("default",))
        return [await search("text 3", 5, where) for search in (shelf.worded, shelf.nearest)]

    await shelf.put("a", *[f"text {i}" for i in range(9)])
    before = await search()
    names = {*name_vector_indexes(EMBEDDER), "words_terms"}
    steps: list[tuple[Callable[[Connection], None], set[str]]] = [
        (lambda c: drop_search_indexes(c, EMBEDDER), set()),
        (lambda c: make_search_indexes(c, EMBEDDER, DIM), names),
    ]
    for n, (step, there) in enumerate(steps):
        await db.write(step)
        await shelf.put(f"b{n}", "unlike", collection="another")
        assert await db.read(list_indexes) & names == there
        assert await search() == before


EARLIER = """DROP TABLE word_news, word_gone, word_segments, word_blocks;
    ALTER TABLE question_sets DROP COLUMN overview;
    UPDATE alembic_version SET version_num = '0006'"""


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_blocks, "SEGMENT", 8)
    monkeypatch.setattr(postgres_blocks, "LARGE", 3)


def compare_postings(connection: Connection) -> tuple[list[int], int, int]:
    """That what is packed and what waits are all words; the sizes of segments, how many chunks
    wait, and how many of the packed are gone.
    """
    sql = connection.exec_driver_sql
    terms = list(sql("SELECT DISTINCT unnest(terms) FROM words").scalars())
    rows = sql("SELECT rowid, sparsevec_send(weights) FROM words").all()
    want, found = (
        postgres_blocks.unpack_rows(rows),
        postgres_blocks.read_postings(connection, terms),
    )
    orders = [np.lexsort((each.terms, each.ids)) for each in (want, found)]
    for name in want._fields:
        left, right = getattr(want, name)[orders[0]], getattr(found, name)[orders[1]]
        assert left == pytest.approx(right, abs=1e-4)
    sizes = list(sql("SELECT cardinality(ids) FROM word_segments ORDER BY segment").scalars())
    counts = "SELECT (SELECT count(*) FROM word_news), (SELECT count(*) FROM word_gone)"
    return sizes, *sql(counts).one()


@pytest.mark.usefixtures("small_segments")
async def test_words_are_packed(
    shelf: Shelf, db: Database, home_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As chunks come, are replaced and are deleted; and all that an earlier version left."""

    async def put(name: str, words: str) -> str:
        info = await shelf.put(name, *[f"{words} {i}" for i in range(6)], embed=False)
        return info.doc_id

    docs = [await put(f"d{n}", f"some words of{n}") for n in range(3)]
    assert await db.read(compare_postings) == ([8, 8], 2, 0)
    docs += [await put(f"d{n}", f"some words of{n}") for n in range(3, 5)]
    assert await db.read(compare_postings) == ([24], 6, 0)
    docs[1] = await put("d1", "other")
    assert await db.read(compare_postings) == ([18, 8], 4, 0)  # a segment with gaps is made anew
    await shelf.catalog.delete(docs[0])
    assert await db.read(compare_postings) == ([8, 12], 4, 0)
    assert len(await shelf.worded("other")) == 6
    await db.write(lambda c: c.exec_driver_sql(EARLIER))
    await Database(db.path, home_url).upgrade()
    assert await db.read(compare_postings) == ([], 24, 0)
    assert await db.write(postgres_blocks.pack_words) == 4
    assert await db.read(compare_postings) == ([24], 0, 0)
    monkeypatch.setattr(postgres_blocks, "_WORN", 1)
    await shelf.catalog.delete(docs[2])
    assert await db.read(compare_postings) == ([24], 0, 6)
    await pack_words(db, forget=True)
    assert await db.read(compare_postings) == ([18], 0, 0)


async def test_totals_are_joined(shelf: Shelf, db: Database) -> None:
    """A row for each change would be many: their sum stays, most of them go."""
    await shelf.put("a", "some words", "and others", embed=False)
    sums = "SELECT sum(chunks), sum(tokens), count(*) FROM word_totals"
    before = await db.read(lambda c: c.exec_driver_sql(sums).one())
    assert before[0] == 2
    add = "INSERT INTO word_totals (chunks, tokens) SELECT 1, 7 FROM generate_series(1, 1400)"
    await db.write(lambda c: c.exec_driver_sql(add))
    after = await db.read(lambda c: c.exec_driver_sql(sums).one())
    assert after[:2] == (before[0] + 1_400, before[1] + 7 * 1_400)
    assert after[2] < 700

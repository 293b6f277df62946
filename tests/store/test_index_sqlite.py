"""What only the SQLite adapter does: loading again and when not, and the two ways to filter
words.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from citewell.store.db import Database
from citewell.store.index import keyword_index as words_sqlite
from citewell.store.index import sqlite_index as index_sqlite
from citewell.store.index import vectors
from citewell.store.index.protocol import Filter
from citewell.store.index.sqlite_index import SqliteIndex

if TYPE_CHECKING:
    from tests.store.conftest import Shelf


pytestmark = pytest.mark.sqlite


async def test_an_index_that_fell_behind_loads_again(
    shelf: Shelf, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changes are pruned; one who missed some finds the new and not the deleted all the same."""
    monkeypatch.setattr(vectors, "CHANGES_KEPT", 3)
    gone = await shelf.put("a", "old text")
    behind = SqliteIndex(db, "test")
    assert len(await behind.search_vectors(np.ones(64, np.float32), 10)) == 1
    await shelf.catalog.delete(gone.doc_id)
    await shelf.put("b", *[f"text {i}" for i in range(20)])
    assert await shelf.count("changes") == 3
    found = await behind.search_vectors(np.ones(64, np.float32), 100)
    assert len(found) == 20
    assert len(await behind.hits([chunk for chunk, _ in found])) == 20


async def test_an_older_copy_of_the_file(
    shelf: Shelf, db: Database, path: Path, tmp_path: Path
) -> None:
    """An index whose file is replaced by an earlier copy answers from the copy."""
    await shelf.put("a", "first")
    await db.forget()
    shutil.copy(path, tmp_path / "copy.db")
    await shelf.put("b", "second")
    async with Database(tmp_path / "copy.db") as copy:
        index = SqliteIndex(db, "test")
        assert len(await index.search_vectors(np.ones(64, np.float32), 10)) == 2
        index._db = copy
        assert len(await index.search_vectors(np.ones(64, np.float32), 10)) == 1


@pytest.mark.parametrize("few", [0, 10**6])
async def test_both_ways_to_filter_words_agree(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """Inside FTS5 or chunk by chunk: the same chunks and the same scores."""
    monkeypatch.setattr(words_sqlite, "FEW", few)
    one = await shelf.put(
        "a", "cat and mouse", "猫和老鼠的故事 cat", "mouse", collection="one", embed=False
    )
    await shelf.put("b", "cat", "mouse cat", collection="two", embed=False)
    everything = dict(await shelf.index.search_words("cat mouse", 10))
    assert len(everything) == 5
    cases = {
        Filter(collections=("one",)): {1, 2, 3},
        Filter(collections=("one", "two")): {1, 2, 3, 4, 5},
        Filter(langs=("zh",)): {2},
        Filter(doc_ids=(one.doc_id,), langs=("en",)): {1, 3},
        Filter(collections=("two",), doc_ids=(one.doc_id,)): set(),
    }
    for where, ids in cases.items():
        found = dict(await shelf.index.search_words("cat mouse", 10, where))
        assert found == pytest.approx({chunk: everything[chunk] for chunk in ids})


async def test_the_ranges_are_measured_on_a_sample(
    shelf: Shelf, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With more vectors than the sample takes, whichever ids are left: every third row, and the
    first is always one.
    """
    monkeypatch.setattr(index_sqlite, "SAMPLE", 10)
    for n in range(40):
        await shelf.put(f"d{n}", f"odd {n}", embed=False)
        await shelf.catalog.delete((await shelf.put(f"e{n}", f"even {n}", embed=False)).doc_id)
    await shelf.embed()
    assert len(await SqliteIndex(db, "test").search_vectors(np.ones(64, np.float32), 100)) == 40


async def test_changes_are_followed(
    shelf: Shelf, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit costs the next search what it changed, not a new load: ten of them, each
    searched.
    """
    await shelf.put("big", *[f"text {i}" for i in range(3000)])
    await shelf.nearest("text 1")
    loads: list[object] = []
    load = SqliteIndex._load_scan

    def counted(*given: Any) -> Any:
        loads.append(given)
        return load(*given)

    monkeypatch.setattr(SqliteIndex, "_load_scan", counted)
    for i in range(10):
        await shelf.put(f"small {i}", f"needle {i}")
        assert await shelf.nearest(f"needle {i}", 1) == [f"needle {i}"]
    assert loads == []
    await SqliteIndex(db, "test").search_vectors(np.ones(64, np.float32), 1)
    assert len(loads) == 1

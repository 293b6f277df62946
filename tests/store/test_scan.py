"""The scan in memory."""

from __future__ import annotations

import numpy as np
import pytest

from citewell.models.base import Vector
from citewell.store.index.filter_columns import Place
from citewell.store.index.protocol import Filter
from citewell.store.index.vector_scan import Scan

ANY = Filter()
PLACE = Place("c", "d", "en", "text", "text/plain", 0, 1, 0.0, 0)


def unit(rows: int, dim: int, seed: int = 0, offset: float = 1.0) -> Vector:
    """Rows that share an offset, as embeddings do."""
    rng = np.random.default_rng(seed)
    drawn = offset * rng.standard_normal(dim) + rng.standard_normal((rows, dim))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float32)


@pytest.mark.parametrize("dim", [3, 8, 64, 100, 384, 1024])
def test_candidates_hold_the_nearest(dim: int) -> None:
    """For any length of vector: the ten nearest are among the fifty nominated."""
    rows, queries = unit(2000, dim), unit(20, dim, seed=1)
    scan = Scan(rows)
    scan.add(range(2000), rows, [PLACE] * 2000)
    for query in [*rows[:20], *queries]:
        exact = np.argsort(-(rows @ query))[:10]
        assert set(exact) <= set(scan.find_nearest(query, 50, ANY))


def test_removed_rows_are_not_nominated() -> None:
    """Nor is anything when all are gone; ids are the caller's, in any order."""
    rows = unit(10, 16)
    scan = Scan(rows)
    scan.add([100 - i for i in range(10)], rows, [PLACE] * 10)
    scan.remove([100, 98, 12345])
    assert sorted(scan.find_nearest(rows[0], 50, ANY)) == [91, 92, 93, 94, 95, 96, 97, 99]
    scan.remove(range(91, 101))
    assert scan.find_nearest(rows[0], 50, ANY) == []


def test_rows_unlike_the_sample_wear_it_out() -> None:
    """Rows of the same kind do not; many rows of another kind do, however many were removed
    meanwhile.
    """
    rows = unit(1000, 16, offset=5)
    scan = Scan(rows)
    scan.add(range(1000), rows, [PLACE] * 1000)
    scan.mark_loaded()
    more = unit(1200, 16, offset=5)[1000:]
    scan.add(range(1000, 1200), more, [PLACE] * 200)
    assert not scan.must_reload
    other = unit(200, 16, seed=5, offset=5)
    scan.remove(range(500))
    scan.add(range(1200, 1400), other, [PLACE] * 200)
    assert scan.must_reload

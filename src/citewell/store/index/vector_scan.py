"""Vectors in memory as 8-bit codes, with the columns that filters look at. No database, no threads:
a table that is scanned. This only nominates. The codes rank the candidates, exact float32 vectors
decide between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.models.base import Vector
from citewell.store.index.filter_columns import Columns, Place
from citewell.store.index.protocol import Filter

SAMPLE = 20_000  # vectors that the range of each dimension is measured on
_MARGIN = 0.1  # of that range, added at both ends for vectors to come
# a dimension that hardly varies yet; a step is then 0.0004, far below what ranks differ by
_LEAST_SPAN = 0.1
_CLIPPED = 1e-3  # share of components outside the range above which it is measured again

_RELOAD = 256  # rows


class Scan:
    """`sample`: vectors like those to come, shape (n, dim). Rows go by chunk id."""

    def __init__(self, sample: Vector) -> None:
        import faiss  # 0.4 s, and not before something is searched by meaning

        self._faiss: Any = faiss
        low, high = sample.min(axis=0), sample.max(axis=0)
        span = np.maximum((high - low) * (1 + 2 * _MARGIN), _LEAST_SPAN)
        # a constant shift changes no order of inner products, and a scale is taken back in the
        # query
        self._middle: Vector = ((low + high) / 2).astype(np.float32)
        self._scale: Vector = (254 / span).astype(np.float32)
        self.dim = int(sample.shape[1])
        # bytes times bytes: twice as fast as the other kinds
        kind = faiss.ScalarQuantizer.QT_8bit_direct_signed
        self._codes: Any = faiss.IndexScalarQuantizer(self.dim, kind, faiss.METRIC_INNER_PRODUCT)
        self.ids: NDArray[np.int64] = np.empty(0, np.int64)
        self._columns = Columns()
        self._measured = self._added = self._clipped = 0

    def add(self, ids: Sequence[int], vectors: Vector, places: Sequence[Place]) -> None:
        """One id and one place a row."""
        codes = vectors - self._middle
        codes *= self._scale
        np.rint(codes, out=codes)
        self._added += len(ids)
        self._clipped += int(np.count_nonzero(np.abs(codes) > 127))
        self._codes.add(np.clip(codes, -127, 127, out=codes))
        self.ids = np.concatenate([self.ids, np.asarray(ids, np.int64)])
        self._columns.add(places)

    def remove(self, ids: Sequence[int]) -> None:
        gone = np.isin(self.ids, np.asarray(ids, np.int64))
        if gone.any():
            self._codes.remove_ids(np.flatnonzero(gone))
            self.ids = self.ids[~gone]
            self._columns.keep(~gone)

    def mark_loaded(self) -> None:
        """Loading is over: from here on, `must_reload` counts."""
        self._measured, self._added, self._clipped = len(self.ids), 0, 0

    @property
    def must_reload(self) -> bool:
        """So much was added outside the measured range that candidates may be missed: load again.
        Not for each small addition, so that loading (1 s per 100,000 rows) stays a small part of
        embedding (0.1 s and more a row).
        """
        enough = self._added >= min(self._measured / 10, _RELOAD)
        return enough and self._clipped > _CLIPPED * self._added * self.dim

    def find_nearest(
        self, query: Vector, count: int, where: Filter, without: Sequence[str] = ()
    ) -> list[int]:
        """Ids of the `count` rows that look nearest among those that pass the filter exactly;
        `without` documents of these ids.
        """
        passing = self._columns.filter_rows(where, without)
        count = min(count, len(self.ids) if passing is None else int(np.count_nonzero(passing)))
        if count == 0:
            return []
        parameters = None
        if passing is not None:
            # must live as long as the selector that points into it
            bits = np.packbits(passing, bitorder="little")
            parameters = self._faiss.SearchParameters(sel=self._faiss.IDSelectorBitmap(bits))
        # counts for this thread; one query gains nothing from more
        self._faiss.omp_set_num_threads(1)
        _, rows = self._codes.search(self._round_query(query)[None, :], count, params=parameters)
        return [int(chunk) for chunk in self.ids[rows[0][rows[0] >= 0]]]

    def _round_query(self, query: Vector) -> Vector:
        """The query in whole numbers from -127 to 127: faiss multiplies bytes where the machine
        can, and cuts off fractions.
        """
        weights = query / self._scale
        peak = float(np.abs(weights).max()) or 1.0
        rounded: Vector = np.rint(weights * (127 / peak)).astype(np.float32)
        return rounded

"""What filters look at, beside the vectors in memory: for each row its collection, document,
language, kind, media type, span, day and priority, as numbers. A filter here passes exactly the
rows that the same filter passes in the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.store.index.protocol import Filter

Mask = NDArray[np.bool_]


class Place(NamedTuple):
    """Where a chunk stands. `day`: its document's date, else when added (epoch seconds)."""

    collection: str
    doc: str
    lang: str
    kind: str
    media_type: str
    first: int
    last: int
    day: float
    priority: int


class Names:
    """A column of words: each row's value as a small number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.rows: NDArray[np.int32] = np.empty(0, np.int32)

    def add(self, values: Iterable[str]) -> None:
        numbers = [self._numbers.setdefault(value, len(self._numbers)) for value in values]
        self.rows = np.concatenate([self.rows, np.asarray(numbers, np.int32)])

    def number(self, value: str) -> int:
        """-1 for one that no row has."""
        return self._numbers.get(value, -1)

    def holds(self, values: Sequence[str]) -> Mask:
        """Which rows have one of these values."""
        wanted = np.zeros(len(self._numbers) + 1, np.bool_)
        wanted[[self.number(value) for value in values]] = True
        wanted[-1] = False
        return wanted[self.rows]


class Columns:
    """The filter columns of as many rows as were added and not taken away."""

    def __init__(self) -> None:
        self._collections, self._docs, self._langs = Names(), Names(), Names()
        self._kinds, self._media_types = Names(), Names()
        self._names = (self._collections, self._docs, self._langs, self._kinds, self._media_types)
        self._spans: NDArray[np.int64] = np.empty((0, 2), np.int64)
        self._days: NDArray[np.float64] = np.empty(0, np.float64)
        self._priorities: NDArray[np.int64] = np.empty(0, np.int64)

    def add(self, places: Sequence[Place]) -> None:
        columns = list(zip(*places, strict=True)) or [()] * len(Place._fields)
        for names, values in zip(self._names, columns, strict=False):
            names.add(values)
        first, last, days, priorities = columns[len(self._names) :]
        self._spans = np.concatenate([self._spans, np.stack([first, last], axis=1, dtype=np.int64)])
        self._days = np.concatenate([self._days, np.asarray(days, np.float64)])
        self._priorities = np.concatenate([self._priorities, np.asarray(priorities, np.int64)])

    def keep(self, kept: Mask) -> None:
        for names in self._names:
            names.rows = names.rows[kept]
        self._spans, self._days, self._priorities = (
            self._spans[kept],
            self._days[kept],
            self._priorities[kept],
        )

    def filter_rows(self, where: Filter, without: Sequence[str] = ()) -> Mask | None:
        """Which rows pass, `without` those of these documents; None for all of them."""
        asked = (where.collections, where.doc_ids, where.langs, where.kinds, where.media_types)
        masks = [
            names.holds(values) for names, values in zip(self._names, asked, strict=True) if values
        ]
        masks += [self._days >= where.since] if where.since is not None else []
        masks += [self._days <= where.until] if where.until is not None else []
        masks += (
            [self._priorities >= where.least_priority] if where.least_priority is not None else []
        )
        masks += [self._match_spans(where.spans)] if where.spans else []
        masks += [~self._docs.holds(without)] if without else []
        if not masks:
            return None
        passing: Mask = np.logical_and.reduce(masks)
        return None if passing.all() else passing

    def _match_spans(self, spans: Sequence[tuple[str, int, int]]) -> Mask:
        """Only rows of the spans' documents are compared: few of many."""
        mask = np.zeros(len(self._days), np.bool_)
        rows = np.flatnonzero(self._docs.holds([doc for doc, _, _ in spans]))
        docs, first, last = self._docs.rows[rows], self._spans[rows, 0], self._spans[rows, 1]
        for doc, start, end in spans:
            mask[rows[(docs == self._docs.number(doc)) & (first >= start) & (last <= end)]] = True
        return mask

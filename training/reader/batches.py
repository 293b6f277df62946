"""Rows as numbers, and micro-batches of one task and similar length: what both trainings are fed
with.

The one rule: neither text nor torch here, so that a process which only makes micro-batches needs
neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

STEP = 16  # tokens: lengths are multiples of it
FIRST = 96  # tokens of a question or claim
MARKS = 4  # one begin and three ends in a pair
TASKS = ("qa", "sup")
Numbers = NDArray[Any]
Ids = Sequence[int] | NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Encoded:
    """`<s> first </s></s> second </s>` as ids, and what the reader should say of it. Places count
    from `<s>`, which is 0.
    """

    ids: Ids
    at: int  # where the second text begins
    seconds: int  # tokens of the second text
    answer: tuple[int, int] = (0, 0)  # its first and its last token; 0 and 0: no answer
    reachable: bool = True  # not where the answer was cut off with the end of its passage
    label: int = 0  # of a claim: `rows.py`
    coarse: bool = False  # the label only says "not entailed"
    unbacked: tuple[int, ...] | None = (
        None  # tokens of a claim that the second text does not back; None: nobody said
    )


Batch = tuple[str, list[Encoded]]  # of one task


def stepped(length: int) -> int:
    return (length + STEP - 1) // STEP * STEP


def longest(items: list[Encoded]) -> int:
    return max(len(item.ids) for item in items)


def packed(
    pool: list[list[Encoded]], tokens: int
) -> tuple[list[list[Encoded]], list[list[Encoded]]]:
    """Full micro-batches of a pool that is sorted, the longest first, and what is left over, in
    groups.
    """
    batches: list[list[Encoded]] = []
    groups_now: list[list[Encoded]] = []
    rows = room = 0
    for items in pool:
        if groups_now and rows + len(items) > room:
            batches.append([item for group in groups_now for item in group])
            groups_now, rows = [], 0
        if not groups_now:
            room = tokens // stepped(longest(items))
        groups_now.append(items)
        rows += len(items)
    return batches, groups_now


def inputs(batch: list[Encoded], most: int, begin: int, pad: int) -> tuple[Numbers, Numbers]:
    """Ids [R, L], and [R, 3]: tokens in all, where the second text begins, how many it has. Rows
    that hold one begin mark fill up to `most` tokens; 0: none do.
    """
    length = stepped(longest(batch))
    rows = max(len(batch), most // length)
    ids, sizes = np.full((rows, length), pad, np.int32), np.zeros((rows, 3), np.int32)
    ids[:, 0], sizes[:, 0] = begin, 1
    for at, item in enumerate(batch):
        ids[at, : len(item.ids)] = item.ids
        sizes[at] = len(item.ids), item.at, item.seconds
    return ids, sizes


def targets(task: str, batch: list[Encoded]) -> dict[str, Numbers]:
    """Of questions `answers` [B, 2]; of claims `labels` [B], `coarse` [B], and by token [B, L]
    whether it is `known` how it is backed and whether it is `unbacked`.
    """
    if task == "qa":
        return {"answers": np.array([item.answer for item in batch], np.int64)}
    shape = len(batch), stepped(longest(batch))
    known, unbacked = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for at, item in enumerate(batch):
        if item.unbacked is not None:
            known[at, 1 : item.at - 2] = True
            unbacked[at, list(item.unbacked)] = True
    labels = np.array([item.label for item in batch], np.int64)
    coarse = np.array([item.coarse for item in batch], np.bool_)
    return {"labels": labels, "coarse": coarse, "known": known, "unbacked": unbacked}

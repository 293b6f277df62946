"""The mix: streams of groups by weight, and micro-batches of one task and similar length.

`mix.json` says which files teach, how often each is asked, how often a claim in the passage's words meets a few sentences and
not the passage ("short"), how often a passage gives way to a wrong one ("wrong") or to nothing ("empty"): the answer is then
"not there", the claim "not stated", whatever either says by itself.
The one rule: few shapes (lengths in steps of 16, rows filled up), for oneDNN makes its kernels anew for each.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rows import NOT_STATED, Group, Row, groups, groups_of, nearest, passages

from citewell.models.e5_file import e5

STEP = 16  # tokens
POOL = 10  # micro-batches that are sorted by length together
FIRST = 96  # tokens of a question or claim
Batch = tuple[str, list["Encoded"]]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A row, its ids, where its second text begins, and the characters that the tokens of both texts stand for."""

    row: Row
    ids: list[int]
    at: int
    first: list[tuple[int, int]]
    second: list[tuple[int, int]]


class Encoder:
    """Pairs of texts to padded tensors, by the embedder's tokenizer and word rows."""

    def __init__(self, most: int) -> None:
        self._file, self._tokenizer = e5()
        self._most = most

    def encoded(self, row: Row) -> Encoded:
        mark = self._tokenizer
        first, spans = (part[:FIRST] for part in mark.ids_and_spans(row["q"]))
        room = self._most - len(first) - 4
        second, others = (part[:room] for part in mark.ids_and_spans(row["p"]))
        return Encoded(row, [mark.begin, *first, mark.end, mark.end, *second, mark.end], len(first) + 3, spans, others)

    def tensors(self, batch: list[Encoded], most: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Word rows, mask and `second` of at most `most` tokens, filled up with rows that hold one begin mark."""
        length = stepped(max(len(item.ids) for item in batch))
        rows = max(len(batch), most // length)
        ids = np.full((rows, length), self._tokenizer.pad)
        mask, second = np.zeros((rows, length), np.float32), np.zeros((rows, length), np.float32)
        ids[:, 0], mask[:, 0] = self._tokenizer.begin, 1
        for at, item in enumerate(batch):
            ids[at, : len(item.ids)], mask[at, : len(item.ids)] = item.ids, 1
            second[at, item.at : item.at + len(item.second)] = 1
        return torch.from_numpy(self._file.rows(ids)), torch.from_numpy(mask), torch.from_numpy(second)


def stepped(length: int) -> int:
    return (length + STEP - 1) // STEP * STEP


class Stream:
    """The groups of one entry of the mix, this worker's share of them, over and over."""

    def __init__(self, entry: dict[str, Any], worker: int, workers: int, seed: int) -> None:
        self.entry, self._random = entry, random.Random(f"{seed} {worker}")
        self._short = entry.get("short", 0.0)
        everything = [kept for group in read(entry) if (kept := [row for row in group if is_of(entry, row)])]
        self._passages = [group[0]["p"] for group in everything]
        random.Random(seed).shuffle(everything)
        self._groups, self._at = everything[worker::workers], 0
        self.epochs = 0.0

    def __bool__(self) -> bool:
        return bool(self._groups)

    def next(self) -> Group:
        if self._at == len(self._groups):
            self._random.shuffle(self._groups)
            self._at = 0
        group = self._groups[self._at]
        self._at += 1
        self.epochs += 1 / len(self._groups)
        if "near" in group[0] and self._random.random() < self._short:
            passage = nearest(group[0]["p"], group[0]["near"], self._random)
            group = [row | {"p": passage} for row in group]
        wrong, empty = self.entry.get("wrong", 0.06), self.entry.get("empty", 0.015)
        chance = self._random.random()
        if chance < wrong:
            return elsewhere(group, self._random.choice(self._passages))
        return elsewhere(group, "") if chance < wrong + empty and self.entry["task"] == "sup" else group


def is_of(entry: dict[str, Any], row: Row) -> bool:
    """Whether an entry of the mix takes a row: by task, and by how its kind begins."""
    return row["task"] == entry["task"] and row.get("kind", "").startswith(entry.get("kind", ""))


def read(entry: dict[str, Any]) -> list[Group]:
    """All groups of an entry's files; of hand-written ones the part that teaches."""
    files = sorted(Path(entry["folder"]).glob(entry["files"]))
    if entry.get("hand"):
        return [
            group for file in files for passage in passages(file, 0.0, entry.get("end", 1.0)) for group in groups_of(passage)
        ]
    return [group for file in files for group in groups(file, by_passage=entry.get("by_passage", False))]


def elsewhere(group: Group, passage: str) -> Group:
    """The same questions or claims beside another passage, or none."""
    if passage == group[0]["p"]:
        return group
    other = {"qa": {"s": -1, "e": -1}, "sup": {"y": NOT_STATED, "bad": None}}
    return [row | {"p": passage} | other[row["task"]] for row in group]


class Feed:
    """Micro-batches without end. `mix`: {tokens, longest, questions: share of them, streams: [...]}"""

    def __init__(self, mix: dict[str, Any], encoder: Encoder, worker: int, workers: int, seed: int) -> None:
        self.tokens: int = mix["tokens"]
        self._encoder, self._random = encoder, random.Random(f"{seed} {worker}")
        self.streams = [stream for entry in mix["streams"] if (stream := Stream(entry, worker, workers, seed))]
        self._share: float = mix["questions"]
        self._ready: dict[str, list[list[Encoded]]] = {"qa": [], "sup": []}
        self._left: dict[str, list[list[Encoded]]] = {"qa": [], "sup": []}

    def next(self) -> Batch:
        task = "qa" if self._random.random() < self._share else "sup"
        if not self._ready[task]:
            self._fill(task)
        return task, self._ready[task].pop()

    def _fill(self, task: str) -> None:
        streams = [stream for stream in self.streams if stream.entry["task"] == task]
        weights = [stream.entry["weight"] for stream in streams]
        pool, total = self._left[task], 0
        while total < POOL * self.tokens:
            group = self._random.choices(streams, weights)[0].next()
            items = [item for row in group if reachable(item := self._encoder.encoded(row))]
            total += sum(len(item.ids) for item in items)
            if items:
                pool.append(items)
        pool.sort(key=longest, reverse=True)
        batches, self._left[task] = packed(pool, self.tokens)
        self._random.shuffle(batches)
        self._ready[task] = batches


def longest(items: list[Encoded]) -> int:
    return max(len(item.ids) for item in items)


def reachable(item: Encoded) -> bool:
    """Not where the answer was cut off with the end of its passage."""
    return item.row.get("s", -1) < 0 or any(end > item.row["s"] for _, end in item.second)


def packed(pool: list[list[Encoded]], tokens: int) -> tuple[list[list[Encoded]], list[list[Encoded]]]:
    """Full micro-batches of a pool that is sorted, the longest first, and what is left over, in groups."""
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

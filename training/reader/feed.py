"""The mix: streams of groups by weight, and micro-batches of one task and similar length.

`mix.json` says which files teach, how often each is asked, how often a claim in the passage's words
meets a few sentences and not the passage ("short"), how often a passage gives way to a wrong one
("wrong") or to nothing ("empty"): the answer is then "not there", the claim "not stated", whatever
either says by itself. "headed": how often a question itself stands above the passage, as in a list
of frequent questions, or among others in place of it, as in a table of contents: it is no answer.
The one rule: few shapes (lengths in steps of 16, rows filled up), for oneDNN makes its kernels anew
for each.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from batches import FIRST, MARKS, Batch, Encoded, Numbers, inputs, longest, packed
from rows import CJK, NOT_STATED, Group, Row, groups, groups_of, nearest, passages

POOL = 10  # micro-batches that are sorted by length together
# of the headed ones: those in a list of questions, and those that a passage only refers to
LISTED, REFERRED = (0.3, 0.15)
NUMBERED = 0.5  # of the others: those whose heading has a number
LONGEST_LIST = 12  # questions beside the one that is asked
NUMBERS, UNDER = 12, ("", "1", "4.2")  # of headings, and what may follow their dot
Entry = dict[str, Any]  # of the mix


class RowEncoder(Protocol):
    """Of texts (`Encoder`) or of a pack (`unpack.PackedEncoder`)."""

    def encoded(self, row: Row) -> Encoded: ...
    def inputs(self, batch: list[Encoded], most: int) -> tuple[Numbers, Numbers]: ...
    def rows(self, ids: Numbers) -> Numbers: ...


class Encoder:
    """Pairs of texts to ids and word rows, by the embedder's tokenizer and file. `most`: tokens of
    a pair.
    """

    def __init__(self, most: int) -> None:
        # the machine with a card has neither it nor what it imports
        from citewell.models.builtin.e5_file import load_e5

        self.file, self.tokenizer = load_e5()
        self._most = most

    def encoded(self, row: Row) -> Encoded:
        mark = self.tokenizer
        first, spans = mark.encode_with_spans(row["q"])
        first, spans = first[:FIRST], spans[:FIRST]
        second, others = mark.encode_with_spans(row["p"])
        room = self._most - len(first) - MARKS
        second, others = second[:room], others[:room]
        label, at = row.get("y", 0), len(first) + 3
        return Encoded(
            [mark.begin, *first, mark.end, mark.end, *second, mark.end], at, len(second),
            answer_tokens(row, at, others), is_reachable(row, others),
            label, bool(row.get("coarse")) and label > 0, unbacked_tokens(row, spans),
        )  # fmt: skip

    def inputs(self, batch: list[Encoded], most: int) -> tuple[Numbers, Numbers]:
        """`batches.inputs`."""
        return inputs(batch, most, self.tokenizer.begin, self.tokenizer.pad)

    def rows(self, ids: Numbers) -> Numbers:
        """Word rows, in full precision."""
        return self.file.rows(ids)


def answer_tokens(row: Row, at: int, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The answer's first and last token, 0 and 0 where there is none. `spans`: the characters of
    the second text's tokens, of which the first is at `at`.
    """
    start, end = row.get("s", -1), row.get("e", -1)
    inside = [
        at + place
        for place, (a, b) in enumerate(spans)
        if start >= 0 and b > start and a < end and b > a
    ]
    return (inside[0], inside[-1]) if inside else (0, 0)


def is_reachable(row: Row, spans: Sequence[tuple[int, int]]) -> bool:
    return row.get("s", -1) < 0 or any(end > row["s"] for _, end in spans)


def unbacked_tokens(row: Row, spans: Sequence[tuple[int, int]]) -> tuple[int, ...] | None:
    """Places of the claim's tokens that the passage does not back. `spans`: the characters of its
    tokens, which begin at 1.
    """
    bad = row.get("bad")
    if bad is None:
        return None
    return tuple(
        place
        for place, (start, end) in enumerate(spans, 1)
        if any(start < b and end > a for a, b in bad)
    )


class Stream:
    """The groups of one entry of the mix, this worker's share of them, over and over, changed as
    often as the entry says. `unpack.PackedStream` does the same with texts that are tokens: what
    hangs on characters is in methods of its own.
    """

    nothing: Any = ""  # the passage where there is none

    def __init__(
        self, entry: Entry, everything: list[Group], worker: int, workers: int, seed: int
    ) -> None:
        self.entry, self._random = entry, random.Random(f"{seed} {worker}")
        self._short = entry.get("short", 0.0)
        self._passages = [group[0]["p"] for group in everything]
        self._firsts = [row["q"] for group in everything for row in group]
        order = list(everything)
        random.Random(seed).shuffle(order)
        self._groups, self._at = order[worker::workers], 0
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
            passage = self._search_nearest(group[0])
            group = [row | {"p": passage} for row in group]
        if self._random.random() < self.entry.get("headed", 0.0):
            return self._headed(group)
        wrong, empty = self.entry.get("wrong", 0.06), self.entry.get("empty", 0.015)
        chance = self._random.random()
        if chance < wrong:
            return elsewhere(group, self._random.choice(self._passages))
        return (
            elsewhere(group, self.nothing)
            if chance < wrong + empty and self.entry["task"] == "sup"
            else group
        )

    def _headed(self, group: Group) -> Group:
        """Questions with one of them as a heading above the passage; or named elsewhere, where it
        is not answered: in a list of headings, or in a reference to another section.
        """
        heading, chance = self._random.choice(group)["q"], self._random.random()
        if chance < LISTED:
            return elsewhere(group, self._listed(self._headings_with(heading)))
        number = f"{self._random.randint(1, NUMBERS)}.{self._random.choice(UNDER)}"
        if chance < LISTED + REFERRED:
            return elsewhere(
                group, self._referred(self._random.choice(self._passages), number, heading)
            )
        numbered = self._random.random() < NUMBERED
        return [self._under(row, number if numbered else "", heading) for row in group]

    def _headings_with(self, heading: Any) -> list[Any]:
        """A table of contents: questions of one language, this one among them."""
        drawn, chinese = (
            self._random.choices(self._firsts, k=2 * LONGEST_LIST),
            self._is_chinese(heading),
        )
        others = [first for first in drawn if self._is_chinese(first) == chinese]
        listed = [*others[: self._random.randint(4, LONGEST_LIST)], heading]
        return self._random.sample(listed, len(listed))

    def _search_nearest(self, row: Row) -> Any:
        return nearest(row["p"], row["near"], self._random)

    def _is_chinese(self, first: Any) -> bool:
        return bool(CJK.search(first))

    def _listed(self, firsts: list[Any]) -> Any:
        return "\n".join(firsts)

    def _referred(self, passage: Any, number: str, heading: Any) -> Any:
        """A passage that ends with a reference to a section of that name."""
        return (
            f"{passage}（见{number}“{heading}”）"
            if self._is_chinese(heading)
            else f"{passage} (see {number}, “{heading}”)"
        )

    def _under(self, row: Row, number: str, heading: Any) -> Row:
        """The same row with a line above its passage."""
        above = f"{number} {heading}\n" if number else f"{heading}\n"
        moved = {name: row[name] + len(above) for name in ("s", "e") if row["s"] >= 0}
        return row | {"p": above + row["p"]} | moved


def is_of(entry: Entry, row: Row) -> bool:
    """Whether an entry of the mix takes a row: by task, and by how its kind begins."""
    return bool(row["task"] == entry["task"]) and row.get("kind", "").startswith(
        entry.get("kind", "")
    )


def read(entry: Entry) -> list[Group]:
    """All groups of an entry's files; of hand-written ones the part that teaches."""
    files = sorted(Path(entry["folder"]).glob(entry["files"]))
    if entry.get("hand"):
        return [
            group
            for file in files
            for passage in passages(file, 0.0, entry.get("end", 1.0))
            for group in groups_of(passage)
        ]
    return [
        group for file in files for group in groups(file, by_passage=entry.get("by_passage", False))
    ]


def taken(entry: Entry) -> list[Group]:
    """The groups of an entry's files with the rows that it takes."""
    return [kept for group in read(entry) if (kept := [row for row in group if is_of(entry, row)])]


def elsewhere(group: Group, passage: Any) -> Group:
    """The same questions or claims beside another passage, or none."""
    if passage == group[0]["p"]:
        return group
    other: dict[str, Row] = {"qa": {"s": -1, "e": -1}, "sup": {"y": NOT_STATED, "bad": None}}
    return [row | {"p": passage} | other[row["task"]] for row in group]


class Feed:
    """Micro-batches without end, of at most `tokens`. `share`: of those with questions."""

    def __init__(
        self, streams: list[Stream], encoder: RowEncoder, share: float, tokens: int, seed: str
    ) -> None:
        self.streams, self.tokens = [stream for stream in streams if stream], tokens
        self.encoder, self._random, self._share = encoder, random.Random(seed), share
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
            items = [item for row in group if (item := self.encoder.encoded(row)).reachable]
            total += sum(len(item.ids) for item in items)
            if items:
                pool.append(items)
        pool.sort(key=longest, reverse=True)
        batches, self._left[task] = packed(pool, self.tokens)
        self._random.shuffle(batches)
        self._ready[task] = batches


def open_feed(mix: dict[str, Any], encoder: Encoder, worker: int, workers: int, seed: int) -> Feed:
    """`mix`: {tokens, longest, questions: share of them, streams: [...]}"""
    streams = [Stream(entry, taken(entry), worker, workers, seed) for entry in mix["streams"]]
    return Feed(streams, encoder, mix["questions"], mix["tokens"], f"{seed} {worker}")

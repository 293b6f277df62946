"""A pack read back: the same streams as `feed.py` has, of tokens in place of texts.

The one rule: a stream draws by chance exactly what `feed.Stream` draws, so that both give the same
rows from the same seed.
"""

from __future__ import annotations

import io
import json
import lzma
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from batches import FIRST, MARKS, Encoded, Numbers, inputs
from feed import Feed, Stream
from rows import Group, Row

META, ARRAYS = "pack.json", "pack.xz"
SHORT = (0.5, 0.7)  # where the ranges in which `rows.nearest` keeps the same sentences end
Passage = tuple[int, ...]  # texts, one behind the other


@dataclass(frozen=True, slots=True)
class Pack:
    """`streams`: entries of the mix with their groups. In a row `q` is a text, `p` are texts; of a
    question `s` is the first token that ends behind the answer's beginning, `e` the answer's last,
    `first` its first; of a claim `bad` are tokens.
    """

    meta: dict[str, Any]
    arrays: dict[str, Numbers]
    starts: Numbers  # of each text in arrays["texts"], and the end of the last
    streams: list[tuple[dict[str, Any], list[Group]]]

    def tokens(self, text: int) -> Numbers:
        return self.arrays["texts"][self.starts[text] : self.starts[text + 1]]

    def length(self, text: int) -> int:
        return int(self.arrays["lengths"][text])


def open_pack(folder: Path) -> Pack:
    meta = json.loads((folder / META).read_text("utf-8"))
    with np.load(io.BytesIO(lzma.decompress((folder / ARRAYS).read_bytes()))) as file:
        return pack_of(meta, dict(file))


def pack_of(meta: dict[str, Any], arrays: dict[str, Numbers]) -> Pack:
    starts = np.concatenate([[0], np.cumsum(arrays["lengths"], dtype=np.int64)])
    return Pack(meta, arrays, starts, streams_of(meta, arrays))


def streams_of(
    meta: dict[str, Any], arrays: dict[str, Numbers]
) -> list[tuple[dict[str, Any], list[Group]]]:
    rows = {
        "qa": iter(question_rows(arrays["qa"])),
        "sup": iter(claim_rows(arrays["sup"], arrays["unbacked"])),
    }
    sizes, near = iter(arrays["groups"].tolist()), iter(arrays["near"].tolist())
    forms = iter(arrays["forms"].tolist())
    found = []
    for entry in meta["streams"]:
        groups = []
        for size, number in zip(
            islice(sizes, entry["groups"]), islice(near, entry["groups"]), strict=True
        ):
            group = list(islice(rows[entry["task"]], size))
            if number:
                group[0]["near"] = tuple(islice(forms, number))
            groups.append(group)
        found.append((entry, groups))
    return found


def question_rows(columns: Numbers) -> list[Row]:
    columns = restored(columns)
    return [
        {"task": "qa", "q": q, "p": (p,), "s": s, "e": e, "first": first}
        for q, p, s, e, first in columns.T.tolist()
    ]


def claim_rows(columns: Numbers, unbacked: Numbers) -> list[Row]:
    places, found = iter(unbacked.tolist()), []
    for q, p, label, coarse, number in restored(columns).T.tolist():
        bad = tuple(islice(places, number)) if number >= 0 else None
        found.append({"task": "sup", "q": q, "p": (p,), "y": label, "coarse": coarse, "bad": bad})
    return found


def restored(columns: Numbers) -> Numbers:
    """`pack.columns_of`, inverted."""
    return np.concatenate([np.cumsum(columns[:2], axis=1), columns[2:]])


def hand_groups(pack: Pack) -> list[Group]:
    return [group for entry, groups in pack.streams if entry.get("hand") for group in groups]


def word_values(scales: Numbers, halves: Numbers) -> Numbers:
    """The values of 4-bit blocks: `e5_file.unpacked`."""
    values = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32)
    return ((values - 8) * scales.astype(np.float32)[..., None]).reshape(*scales.shape[:-1], -1)


class PackedStream(Stream):
    """`pack` tells texts apart and knows their lengths."""

    def __init__(
        self,
        pack: Pack,
        entry: dict[str, Any],
        groups: list[Group],
        worker: int,
        workers: int,
        seed: int,
    ) -> None:
        super().__init__(entry, groups, worker, workers, seed)
        self._pack, self.nothing = pack, (pack.meta["empty"],)

    def _search_nearest(self, row: Row) -> Passage:
        forms: Passage = row["near"]
        if len(forms) == 1:
            return forms
        drawn = self._random.random()
        return (forms[sum(drawn >= end for end in SHORT)],)

    def _is_chinese(self, first: int) -> bool:
        return bool(self._pack.arrays["chinese"][first])

    def _listed(self, firsts: list[int]) -> Passage:
        return tuple(firsts)

    def _referred(self, passage: Passage, number: str, heading: int) -> Passage:
        see = self._pack.meta["see_chinese" if self._is_chinese(heading) else "see"][number]
        return *passage, see, heading + int(self._pack.arrays["quoted"][heading])

    def _under(self, row: Row, number: str, heading: int) -> Row:
        above = (self._pack.meta["headings"][number], heading) if number else (heading,)
        length = sum(self._pack.length(text) for text in above)
        moved = {name: row[name] + length for name in ("s", "e", "first") if row[name] >= 0}
        return row | {"p": above + row["p"]} | moved


class PackedEncoder:
    """Rows of a pack to its own ids and word rows, as `feed.Encoder` does with texts. `most`:
    tokens of a pair.
    """

    def __init__(self, pack: Pack, most: int) -> None:
        self._pack, self._most = pack, most
        self._begin, self._end, self._pad = pack.meta["marks"]
        kind = pack.arrays["texts"].dtype
        self._before, self._between, self._behind = (
            np.array(marks, kind) for marks in ([self._begin], [self._end, self._end], [self._end])
        )

    def encoded(self, row: Row) -> Encoded:
        tokens = self._pack.tokens
        first = tokens(row["q"])[:FIRST]
        parts = [tokens(text) for text in row["p"]]
        seconds = min(sum(len(part) for part in parts), self._most - len(first) - MARKS)
        at = len(first) + 3
        ids = np.concatenate([self._before, first, self._between, *parts])[: at + seconds]
        label = row.get("y", 0)
        return Encoded(
            np.concatenate([ids, self._behind]), at, seconds,
            answer_in(row, at, seconds), row.get("s", -1) < seconds,
            label, bool(row.get("coarse")) and label > 0, row.get("bad"),
        )  # fmt: skip

    def inputs(self, batch: list[Encoded], most: int) -> tuple[Numbers, Numbers]:
        """`batches.inputs`."""
        return inputs(batch, most, self._begin, self._pad)

    def rows(self, ids: Numbers) -> Numbers:
        """Word rows, in full precision."""
        arrays = self._pack.arrays
        return word_values(arrays["words.scale"][ids], arrays["words.halves"][ids])


def answer_in(row: Row, at: int, seconds: int) -> tuple[int, int]:
    """First and last token of the answer within the tokens of the passage that are read; 0 and 0
    where there is none.
    """
    if row.get("s", -1) < 0 or not 0 <= row["first"] < seconds:
        return 0, 0
    return at + row["first"], at + min(row["e"], seconds - 1)


def open_feed(pack: Pack, worker: int, workers: int, tokens: int, seed: int) -> Feed:
    """Micro-batches of `tokens` from this worker's share of the pack."""
    streams: list[Stream] = [
        PackedStream(pack, entry, groups, worker, workers, seed)
        for entry, groups in pack.streams
        if groups
    ]
    encoder = PackedEncoder(pack, pack.meta["longest"])
    return Feed(streams, encoder, pack.meta["questions"], tokens, f"{seed} {worker}")

"""All that a mix teaches as token ids in one small folder, so that a machine without texts and
tokenizer can train on it.

    python training/reader/pack.py READER [--mix READER/mix.json] [--out READER/pack] [--draws N]

READER holds the folders that the mix names. The pack holds every text once, as the tokens that are
ever read of it, by numbers of its own (the most frequent first); the rows of each stream, with
places of answers and unbacked words in tokens; the three short forms of the passages that have
some; and the word rows of the tokens that occur, still in 4 bits. Not the weights: the shipped ONNX
file has them (`restore.py`), or a checkpoint is named. `--draws`: of a stream only as many groups
as this many draws of all streams would take, by its weight. `--fewest`: words that occur seldom are
left out, a fifth of a kilobyte each. The one rule: what `unpack.py` reads out of the pack is what
`feed.py` makes of the texts, to the id.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from batches import FIRST, MARKS, Numbers
from feed import NUMBERS, UNDER, Encoder, Entry, taken, unbacked_tokens
from rows import CJK, Group, Row, nearest
from unpack import ARRAYS, META

from citewell.models.builtin.e5_file import BLOCK, E5File, Tokenizer

# One of each range in which `rows.nearest` keeps the same sentences: `unpack.SHORT` are their ends.
DRAWN = (0.2, 0.6, 0.8)
HEADINGS = tuple(f"{number}.{below}" for number in range(1, NUMBERS + 1) for below in UNDER)
BEFORE = "。“"  # what stands before a question that a Chinese sentence refers to
NOWHERE, MILLION = -1, 10**6


class Texts:
    """Every text once: the tokens that are ever read of it and the characters that each stands for.
    `most`: tokens of one.
    """

    def __init__(self, tokenizer: Tokenizer, most: int) -> None:
        self._tokenizer, self._most = tokenizer, most
        self._places: dict[tuple[str, int], int] = {}
        self.quoted: dict[int, int] = {}  # by a question's text: the end of a reference to it
        self.ids: list[Numbers] = []
        self.spans: list[Numbers] = []
        self.chinese: list[bool] = []

    def place(self, text: str, skipped: int = 0) -> int:
        """`skipped`: characters that only stand before the text."""
        key = text, skipped
        if key not in self._places:
            ids, spans = self._tokenizer.encode_with_spans(text)
            kept = [at for at, (start, _) in enumerate(spans) if start >= skipped][: self._most]
            self._places[key] = len(self.ids)
            self.ids.append(np.array([ids[at] for at in kept], np.int32))
            self.spans.append(np.array([spans[at] for at in kept], np.int32).reshape(-1, 2))
            self.chinese.append(bool(CJK.search(text)))
        return self._places[key]

    def quote(self, question: str) -> None:
        """Keeps what `feed.Stream._referred` writes behind the number. Within a Chinese sentence no
        space parts the tokens, so that there it may be cut a little differently.
        """
        text = self.place(question)
        if text not in self.quoted:
            chinese = self.chinese[text]
            self.quoted[text] = (
                self.place(f"{BEFORE}{question}”）", len(BEFORE))
                if chinese
                else self.place(f"“{question}”)")
            )


class Drawn(random.Random):
    """Stands for a chance that draws one known number."""

    def __init__(self, value: float) -> None:
        super().__init__(0)
        self.value, self.asked = value, False

    def random(self) -> float:
        self.asked = True
        return self.value


def short_forms(row: Row) -> list[str]:
    """What `nearest` makes of a row's passage, one for each of `DRAWN`; one alone where it draws
    nothing.
    """
    chances = [Drawn(value) for value in DRAWN]
    forms = [nearest(row["p"], row["near"], chance) for chance in chances]
    return forms if chances[0].asked else forms[:1]


class Packer:
    """The columns of the pack, as lists of numbers. Of a question: its text, its passage, and in
    tokens of the passage the first that ends behind the answer's beginning, the answer's last and
    its first. Of a claim: its text, its passage, its label, whether that is coarse, and how many
    tokens are unbacked (-1: nobody said).
    """

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self.columns: dict[str, list[list[int]]] = {"qa": [], "sup": []}
        self.groups: list[int] = []  # rows of each
        self.near: list[int] = []  # short forms of each group
        self.forms: list[int] = []  # texts
        self.unbacked: list[int] = []  # tokens

    def add(self, group: Group, *, headed: bool) -> None:
        for row in group:
            self.columns[row["task"]].append(self._numbers(row))
            if headed:
                self.texts.quote(row["q"])
        self.groups.append(len(group))
        forms = (
            [self.texts.place(text) for text in short_forms(group[0])] if "near" in group[0] else []
        )
        self.near.append(len(forms))
        self.forms += forms

    def _numbers(self, row: Row) -> list[int]:
        first, passage = self.texts.place(row["q"]), self.texts.place(row["p"])
        if row["task"] == "qa":
            return [first, passage, *answer_places(row, self.texts.spans[passage])]
        unbacked = unbacked_tokens(row, self.texts.spans[first][:FIRST].tolist())
        self.unbacked += unbacked or ()
        return [
            first,
            passage,
            row["y"],
            int(bool(row.get("coarse"))),
            NOWHERE if unbacked is None else len(unbacked),
        ]


def answer_places(row: Row, spans: Numbers) -> tuple[int, int, int]:
    """`Packer`. What lies behind the last token that is read is `len(spans)`; -1 all: no answer."""
    if row["s"] < 0:
        return NOWHERE, NOWHERE, NOWHERE
    start, end = spans.T
    behind = np.flatnonzero(end > row["s"])
    inside = np.flatnonzero((end > row["s"]) & (start < row["e"]) & (end > start))
    reach = int(behind[0]) if len(behind) else len(spans)
    return (reach, int(inside[-1]), int(inside[0])) if len(inside) else (reach, NOWHERE, NOWHERE)


def vocabulary_of(texts: Sequence[Numbers], marks: Sequence[int], fewest: int) -> Numbers:
    """The marks and the tokens that occur as often, the most frequent first."""
    ids, counts = np.unique(np.concatenate(texts), return_counts=True)
    ids = ids[np.argsort(-counts, kind="stable")][: int((counts >= fewest).sum())]
    return np.concatenate([np.array(marks), ids[~np.isin(ids, marks)]])


def renumbered(texts: Sequence[Numbers], vocabulary: Numbers, unknown: int) -> Numbers:
    """By place in the vocabulary. `unknown`: a token of it, which stands for those that are not in
    it.
    """
    ids = np.concatenate(texts)
    new = np.full(
        int(max(ids.max(), vocabulary.max())) + 1, int(np.flatnonzero(vocabulary == unknown)[0])
    )
    new[vocabulary] = np.arange(len(vocabulary))
    return np.asarray(new[ids], np.uint16 if len(vocabulary) <= 2**16 else np.uint32)


def word_rows(file: E5File, vocabulary: Numbers) -> dict[str, Numbers]:
    """The 4-bit blocks of the words: scales [V, blocks], halves [V, blocks, 16] (`e5_file.py`)."""
    blocks = file.read_blocks("emb.word").reshape(file.sizes.words, file.sizes.hidden // BLOCK)[
        vocabulary
    ]
    return {"words.scale": blocks["scale"].copy(), "words.halves": blocks["halves"].copy()}


def columns_of(rows: list[list[int]]) -> Numbers:
    """[5, N], texts as differences from the row before, which are small."""
    columns = np.array(rows, np.int32).reshape(-1, 5).T
    columns[:2] = np.diff(columns[:2], axis=1, prepend=0)
    return np.ascontiguousarray(columns)


def kept_of(entry: Entry, groups: list[Group], most: int) -> list[Group]:
    """Some of the groups, in their order; all where `most` is 0."""
    if not 0 < most < len(groups):
        return groups
    return [
        groups[at]
        for at in sorted(random.Random(entry.get("name", "")).sample(range(len(groups)), most))
    ]


def arrays_of(
    mix: dict[str, Any], encoder: Encoder, draws: int = 0, fewest: int = 1
) -> tuple[dict[str, Any], dict[str, Numbers]]:
    """What the pack's two files hold; 0 draws: everything. The folders of the mix are relative to
    the current one.
    """
    file, mark = encoder.file, encoder.tokenizer
    packer = Packer(Texts(mark, mix["longest"] - MARKS))
    totals = {
        task: sum(entry["weight"] for entry in mix["streams"] if entry["task"] == task)
        for task in ("qa", "sup")
    }
    shares, streams = {"qa": mix["questions"], "sup": 1 - mix["questions"]}, []
    extra = {
        "empty": packer.texts.place(""),
        "headings": {text: packer.texts.place(text) for text in HEADINGS},
    }
    extra["see"] = {text: packer.texts.place(f"(see {text},") for text in HEADINGS}
    extra["see_chinese"] = {text: packer.texts.place(f"。（见{text}“", 1) for text in HEADINGS}
    for entry in mix["streams"]:
        share = shares[entry["task"]] * entry["weight"] / totals[entry["task"]]
        groups = taken(entry)
        kept = kept_of(entry, groups, math.ceil(draws * share))
        for group in kept:
            packer.add(group, headed=entry.get("headed", 0.0) > 0)
        streams.append(entry | {"groups": len(kept)})
        passes = MILLION * share / max(1, len(kept))
        print(
            f"{entry.get('name', entry['files'])}: {len(kept)} of {len(groups)} "
            f"groups, {passes:.1f} times in a million draws"
        )
    marks = (mark.begin, mark.end, mark.pad, file.vocabulary.unknown)
    vocabulary = vocabulary_of(packer.texts.ids, marks, fewest)
    meta = mix | extra | {"streams": streams, "marks": [0, 1, 2]}  # in the vocabulary
    return meta, columns(packer, vocabulary, file.vocabulary.unknown) | word_rows(file, vocabulary)


def columns(packer: Packer, vocabulary: Numbers, unknown: int) -> dict[str, Numbers]:
    texts = packer.texts
    return {
        "texts": renumbered(texts.ids, vocabulary, unknown),
        "lengths": np.array([len(ids) for ids in texts.ids], np.uint16),
        "chinese": np.array(texts.chinese, np.bool_),
        "quoted": np.array(
            [texts.quoted.get(text, text) - text for text in range(len(texts.ids))], np.int32
        ),
        "qa": columns_of(packer.columns["qa"]),
        "sup": columns_of(packer.columns["sup"]),
        "groups": np.array(packer.groups, np.uint16),
        "near": np.array(packer.near, np.uint8),
        "forms": np.array(packer.forms, np.int32),
        "unbacked": np.array(packer.unbacked, np.uint8),
        "vocabulary": vocabulary.astype(np.uint32),
    }


def save(folder: Path, meta: dict[str, Any], arrays: dict[str, Numbers]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / META).write_text(json.dumps(meta, ensure_ascii=False, indent=1) + "\n", "utf-8")
    raw, named = io.BytesIO(), dict[str, Any](arrays)
    np.savez(raw, **named)
    filters = [  # of two bytes each
        {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 2**26, "lc": 0, "lp": 1, "pb": 1}
    ]
    (folder / ARRAYS).write_bytes(lzma.compress(raw.getbuffer(), filters=filters))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reader", type=Path)
    parser.add_argument("--mix", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--draws", type=int, default=0, help="of all streams; 0: everything")
    parser.add_argument(
        "--fewest", type=int, default=1, help="times a token occurs; rarer ones become unknown"
    )
    options = parser.parse_args()
    mix = json.loads((options.mix or options.reader / "mix.json").read_text("utf-8"))
    folders = {entry["folder"]: str(options.reader / entry["folder"]) for entry in mix["streams"]}
    mix["streams"] = [entry | {"folder": folders[entry["folder"]]} for entry in mix["streams"]]
    out = options.out or options.reader / "pack"
    meta, arrays = arrays_of(mix, Encoder(mix["longest"]), options.draws, options.fewest)
    save(out, meta, arrays)
    sizes = {name: values.nbytes for name, values in arrays.items()}
    print(
        f"{len(arrays['lengths'])} texts, {len(arrays['texts'])} "
        f"tokens, {len(arrays['vocabulary'])} words; bytes: {sizes}"
    )
    print(f"{out}: {(out / ARRAYS).stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()

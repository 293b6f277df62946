"""Whether hand-written twins can be told apart without reading the passage: every cue must be near
chance, or this fails.

    python training/reader/balance.py FILE... [--reader]
    python training/reader/balance.py FILE... --prune FOLDER    # leave out what is told most easily

Cues, each as an AUC over true and false claims and over questions with and without an answer: words
shared with the passage, length, the text alone (words and pairs of them, naive Bayes, learned on
other passages), words shared with a wrong passage; with `--reader` the shipped reader's own
figures, without a passage and beside a wrong one. The one rule: 0.45 to 0.55 for each, in each
language, or the set neither teaches nor tests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

from figures import auc
from rows import ENTAILED, Passage, Row, groups_of, passages

from citewell.config import Settings
from citewell.models.builtin.reader import BuiltinReader

LOW, HIGH = 0.45, 0.55
FOLDS = 5
TWINS = 2  # rows of a pair
DROPPED = 0.01  # share of the pairs that go at a time
Score = Callable[[Sequence[Row]], list[float]]
_TOKEN = re.compile(r"[\u3400-\u9fff]|[a-z]+|\d+")


def tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def is_true(row: Row) -> bool:
    return bool(row["y"] == ENTAILED) if row["task"] == "sup" else row["s"] >= 0


def overlap(rows: Sequence[Row]) -> list[float]:
    return [shared(row["q"], row["p"]) for row in rows]


def overlap_elsewhere(rows: Sequence[Row]) -> list[float]:
    return [shared(row["q"], passage) for row, passage in zip(rows, elsewhere(rows), strict=True)]


def length(rows: Sequence[Row]) -> list[float]:
    return [float(len(row["q"])) for row in rows]


def shared(text: str, passage: str) -> float:
    """The share of the text's words that the passage has."""
    words, there = tokens(text), set(tokens(passage))
    return sum(word in there for word in words) / max(1, len(words))


def elsewhere(rows: Sequence[Row]) -> list[str]:
    """For each row the next other passage of its language."""
    found = []
    for language in {row["lang"] for row in rows}:
        distinct = list(dict.fromkeys(row["p"] for row in rows if row["lang"] == language))
        following = dict(zip(distinct, distinct[1:] + distinct[:1], strict=True))
        found.append(following)
    merged = {passage: other for following in found for passage, other in following.items()}
    return [merged[row["p"]] for row in rows]


def text_alone(rows: Sequence[Row]) -> list[float]:
    """Log-odds of naive Bayes over words and pairs of words, learned on the passages of the other
    folds.
    """
    folds = {
        passage: at % FOLDS for at, passage in enumerate(dict.fromkeys(row["p"] for row in rows))
    }
    scores = [0.0] * len(rows)
    for fold in range(FOLDS):
        counts = {True: Counter[str](), False: Counter[str]()}
        for row in rows:
            if folds[row["p"]] != fold:
                counts[is_true(row)].update(features(row["q"]))
        for at, row in enumerate(rows):
            if folds[row["p"]] == fold:
                scores[at] = sum(
                    math.log((counts[True][f] + 0.5) / (counts[False][f] + 0.5))
                    for f in features(row["q"])
                )
    return scores


def features(text: str) -> set[str]:
    words = ["<", *tokens(text), ">"]
    return {*words, *map(" ".join, pairwise(words))}


def by_reader(passage_of: Callable[[Sequence[Row]], list[str]]) -> Score:
    async def ask(rows: Sequence[Row]) -> list[float]:
        reader = BuiltinReader(Settings())
        pairs = list(zip(rows, passage_of(rows), strict=True))
        if rows[0]["task"] == "sup":
            return [
                said.entailed
                for said in await reader.judge([(row["q"], passage) for row, passage in pairs])
            ]
        return [
            (await reader.read(row["q"], [passage or "-"]))[0].answerable for row, passage in pairs
        ]

    return lambda rows: asyncio.run(ask(rows))


CUES: dict[str, Score] = {
    "shared words": overlap,
    "length": length,
    "the text alone": text_alone,
    "shared words, wrong passage": overlap_elsewhere,
}
READER_CUES: dict[str, Score] = {
    "reader, no passage": by_reader(lambda rows: [""] * len(rows)),
    "reader, wrong passage": by_reader(elsewhere),
}


@dataclass(frozen=True, slots=True)
class Told:
    """What a cue makes of the rows of one task and language, true ones and their twins in turn."""

    task: str
    language: str
    cue: str
    rows: list[Row]
    scores: list[float]

    @property
    def value(self) -> float:
        return auc(self.scores[::2], self.scores[1::2])

    @property
    def fails(self) -> bool:
        return not LOW <= self.value <= HIGH

    def easiest(self) -> set[tuple[str, str]]:
        """Passage and first text of the pairs that the cue tells apart most."""
        sign = 1 if self.value > HIGH else -1
        margins = [
            sign * (true - false)
            for true, false in zip(self.scores[::2], self.scores[1::2], strict=True)
        ]
        order = sorted(range(len(margins)), key=lambda n: -margins[n])[
            : max(1, round(DROPPED * len(margins)))
        ]
        return {(self.rows[2 * n]["p"], self.rows[2 * n]["q"]) for n in order}


def measure(found: Sequence[Passage], cues: dict[str, Score]) -> Iterator[Told]:
    groups = [group for passage in found for group in groups_of(passage)]
    rows = [row for group in groups if len(group) == TWINS and is_true(group[0]) for row in group]
    for task in ("sup", "qa"):
        for language in sorted({row["lang"] for row in rows}):
            chosen = [row for row in rows if row["task"] == task and row["lang"] == language]
            for name, cue in cues.items() if chosen else ():
                yield Told(task, language, name, chosen, cue(chosen))


def prune(found: Sequence[Passage]) -> list[Passage]:
    """The passages without the pairs that a failing cue tells apart most easily, a few at a time,
    until none fails.
    """
    kept = list(found)
    while worst := next((told for told in measure(kept, CUES) if told.fails), None):
        dropped = worst.easiest()
        kept = [without(passage, dropped) for passage in kept]
    return kept


def without(passage: Passage, dropped: set[tuple[str, str]]) -> Passage:
    block = dict(passage)
    text = passage["passage"]
    for name, key in (("questions", "q"), ("claims", "true")):
        if name in block:
            block[name] = [item for item in block[name] if (text, item[key]) not in dropped]
    if block.get("cross"):
        block["cross"] = {
            k: v
            for k, v in without(block["cross"] | {"passage": text}, dropped).items()
            if k != "passage"
        }
    return block


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--reader", action="store_true", help="ask the shipped reader too")
    parser.add_argument(
        "--prune",
        type=Path,
        metavar="FOLDER",
        help="write each file there without what is told apart easily",
    )
    options = parser.parse_args()
    found = {file: passages(file) for file in options.files}
    if options.prune:
        kept = iter(prune([passage for of_file in found.values() for passage in of_file]))
        found = {file: list(islice(kept, len(of_file))) for file, of_file in found.items()}
        for file, of_file in found.items():
            lines = [json.dumps(passage, ensure_ascii=False) + "\n" for passage in of_file]
            (options.prune / file.name).write_text("".join(lines), "utf-8")
    failed = 0
    for told in measure(
        [p for of_file in found.values() for p in of_file],
        CUES | (READER_CUES if options.reader else {}),
    ):
        failed += told.fails
        mark = "  FAILS" if told.fails else ""
        print(
            f"{told.task} {told.language} {len(told.rows):6d}  {told.cue:28s} "
            f"{told.value:.3f}{mark}"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

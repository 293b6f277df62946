"""Whether a sentence is addressed to the machine that reads it and tells it what to do: the weights
of `skills/evidence/prompt_injection.py`.

    python training/requests/fit_injection.py [--ordinary /usr/share/doc] [--write]

`injection.jsonl`: each sentence that is (`asks` is `machine`) has one beside it that only looks
like it; others speak of AI and ask nothing of it. Topics with `held` 1 are not fitted on. Ordinary
sentences are those of `training/reader` and `docs` and, with `--ordinary`, of every second folder
of a folder of plain texts; some of the other folders are only measured. Of those texts 10,000
sentences are fitted on, and the 4,000 others that a first fit finds likeliest. The threshold that
is printed is where 2 in 10,000 ordinary sentences of either kind pass, each judged by weights that
were fitted without its fold; it is copied to the module.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.models.ngram_probe import (
    DAMPING,
    compute_ngram_odds,
    list_grams,
    split_windows,
    write_ngram_probe,
)
from citewell.skills.evidence.prompt_injection import LEAST, WEIGHTS
from citewell.text.language import detect_language
from citewell.text.sentences import split_sentences

HERE = Path(__file__).parent
Floats = NDArray[np.float64]
# of ridges of 0.01 to 1 and weights of 0.05 to 1 the ones that the folds like; neighbours differ
# little
RIDGE, ORDINARY_WEIGHT = 0.01, 0.1
PLAIN, HARD, FOLDS, ROUNDS, ALARMS = 10_000, 4_000, 5, 150, 2e-4
LARGEST_TEXT = 50_000  # bytes read of one file


@dataclass(frozen=True, slots=True)
class Rows:
    """Sentences as the n-grams of theirs that are weighed: those of row n are `columns` from
    `starts[n]` to `starts[n + 1]`, each counting `scale[n]`.
    """

    columns: NDArray[np.int64]
    starts: NDArray[np.int64]
    scale: Floats

    def take(self, rows: NDArray[np.int64]) -> Rows:
        lengths = np.diff(self.starts)[rows]
        starts = np.r_[0, np.cumsum(lengths)]
        places = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return Rows(self.columns[places], starts, self.scale[rows])


def count_grams(texts: Sequence[str], known: dict[str, int]) -> Rows:
    """Of the first window of each."""
    columns: list[int] = []
    starts, scale = [0], []
    for text in texts:
        grams = list_grams(next(split_windows(text)))
        columns += [known[gram] for gram in grams if gram in known]
        starts.append(len(columns))
        scale.append((DAMPING + len(grams)) ** -0.5)
    return Rows(np.array(columns), np.array(starts), np.array(scale))


def fit_logistic(rows: Rows, labels: Floats, counts: Floats, size: int) -> tuple[Floats, float]:
    """Weights and bias by accelerated gradient descent; row n counts `counts[n]` times."""
    at = np.repeat(np.arange(len(rows.scale)), np.diff(rows.starts))

    def add_up(weights: Floats) -> Floats:
        return np.bincount(at, weights[rows.columns], len(rows.scale)) * rows.scale

    def spread(values: Floats) -> Floats:
        return np.bincount(rows.columns, (values * rows.scale)[at], size)

    probe, steepest = np.ones(size), 1.0
    for _ in range(15):  # the largest curvature, by power iteration
        probe = spread(counts * add_up(probe))
        steepest = float(np.linalg.norm(probe))
        probe = probe / steepest
    steepest = steepest / 4 * 1.05 + RIDGE
    weights, bias, pace = np.zeros(size), 0.0, 1.0
    ahead, ahead_bias = weights, bias
    for _ in range(ROUNDS):
        wrong = counts * (1 / (1 + np.exp(-add_up(ahead) - ahead_bias)) - labels)
        new = ahead - (spread(wrong) + RIDGE * ahead) / steepest
        new_bias = ahead_bias - wrong.sum() / max(steepest, counts.sum() / 4)
        next_pace = (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        push = (pace - 1) / next_pace
        ahead, ahead_bias = new + push * (new - weights), new_bias + push * (new_bias - bias)
        weights, bias, pace = new, new_bias, next_pace
    return weights, bias


@dataclass(frozen=True, slots=True)
class Fitting:
    """Items that are fitted on, then ordinary sentences; `known`: the n-grams of two or more items
    and their columns.
    """

    items: list[dict[str, Any]]
    known: dict[str, int]
    rows: Rows

    @classmethod
    def build(cls, items: list[dict[str, Any]], ordinary: Sequence[str]) -> Fitting:
        texts = [item["text"] for item in items]
        counted = Counter(
            gram for text in texts for gram in sorted(list_grams(next(split_windows(text))))
        )
        often = [gram for gram, times in counted.items() if times > 1]
        known = {gram: column for column, gram in enumerate(often)}
        return cls(items, known, count_grams([*texts, *ordinary], known))

    def fit(self, chosen: NDArray[np.int64] | None = None) -> tuple[Floats, float]:
        rest = len(self.rows.scale) - len(self.items)
        labels = np.array([float(bool(item["asks"])) for item in self.items] + [0.0] * rest)
        counts = np.array([1.0] * len(self.items) + [ORDINARY_WEIGHT] * rest)
        rows = self.rows
        if chosen is not None:
            rows, labels, counts = rows.take(chosen), labels[chosen], counts[chosen]
        return fit_logistic(rows, labels, counts, len(self.known))

    def compute_fold_odds(self) -> Floats:
        """The log-odds of each by weights that its topic had no part in."""
        topics = sorted({item["topic"] for item in self.items})
        random.Random(3).shuffle(topics)
        rest = len(self.rows.scale) - len(self.items)
        folds = np.array(
            [topics.index(item["topic"]) % FOLDS for item in self.items]
            + [number % FOLDS for number in range(rest)]
        )
        odds = np.zeros(len(folds))
        for fold in range(FOLDS):
            odds[folds == fold] = compute_row_odds(
                self.rows.take(np.flatnonzero(folds == fold)),
                *self.fit(np.flatnonzero(folds != fold)),
            )
        return odds


def compute_row_odds(rows: Rows, weights: Floats, bias: float) -> Floats:
    at = np.repeat(np.arange(len(rows.scale)), np.diff(rows.starts))
    return np.bincount(at, weights[rows.columns], len(rows.scale)) * rows.scale + bias


def list_sentences(texts: Iterator[str]) -> list[str]:
    """Each once."""
    return list(dict.fromkeys(text[a:b] for text in texts for a, b in split_sentences(text)))


def read_passages() -> Iterator[str]:
    for path in sorted((HERE.parent / "reader").glob("g*/*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield row.get("passage") or row.get("text") or ""
    for path in sorted((HERE.parent.parent / "docs").glob("*.md")):
        yield path.read_text("utf-8")


def read_texts(folder: Path, half: int) -> Iterator[str]:
    """Plain texts of every second folder in it; no lists of changes, which are all alike."""
    for part in sorted(each for each in folder.iterdir() if each.is_dir()):
        if zlib.crc32(part.name.encode()) % 2 != half:
            continue
        for path in sorted(each for each in part.rglob("*") if each.is_file()):
            if "changelog" in path.name.lower() or path.suffix in (".html", ".htm", ".js"):
                continue
            with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as content:
                text = content.read(LARGEST_TEXT).decode("utf-8", "replace")
            if "\0" not in text and "\N{REPLACEMENT CHARACTER}" not in text[:-1]:
                yield text


def choose_ordinary(items: list[dict[str, Any]], own: list[str], others: list[str]) -> list[str]:
    """`own`, some of the others, and those of the rest that a first fit takes for injections."""
    random.Random(0).shuffle(others)
    plain, rest = others[:PLAIN], others[PLAIN:]
    first = Fitting.build(items, [*own, *plain])
    if not rest:
        return [*own, *plain]
    odds = compute_row_odds(count_grams(rest, first.known), *first.fit())
    return [*own, *plain, *(rest[n] for n in np.argsort(-odds)[:HARD])]


def choose_threshold(odds: Floats, own: int, others: int) -> float:
    """`odds` of `own` sentences, then the likeliest of `others`."""
    parts = [(odds[:own], own)] + ([(odds[own:], others)] if others else [])
    return float(max(np.sort(part)[::-1][int(size * ALARMS)] for part, size in parts))


def show(what: str, odds: Floats, least: float) -> None:
    print(f"{what}: {int((odds >= least).sum())} of {len(odds)} pass")


def show_items(what: str, items: list[dict[str, Any]], odds: Floats, least: float) -> None:
    for language in ("en", "zh"):
        for asks, kind in (("machine", "for machines"), ("", "that only look like it")):
            chosen = [
                detect_language(item["text"]) == language and item["asks"] == asks for item in items
            ]
            show(f"{what}, {language}, {kind}", odds[np.array(chosen)], least)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ordinary", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = (HERE / "injection.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    items, held = ([row for row in rows if row["held"] == part] for part in (0, 1))
    own = list_sentences(read_passages())
    others = list_sentences(read_texts(given.ordinary, 0)) if given.ordinary else []
    fitting = Fitting.build(items, choose_ordinary(items, own, others))
    odds = fitting.compute_fold_odds()
    least = choose_threshold(odds[len(items) :], len(own), len(others))
    print(f"{len(own)} and {len(others)} ordinary sentences; threshold {least:.2f} (set: {LEAST})")
    show_items("folds", items, odds[: len(items)], least)
    weights, bias = fitting.fit()
    if given.write:
        write_ngram_probe(WEIGHTS, dict(zip(fitting.known, weights.tolist(), strict=True)), bias)
        print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size} bytes")
    told = np.array([compute_ngram_odds(WEIGHTS, row["text"]) for row in held])
    show_items("held out", held, told, least)
    if given.ordinary:
        unread = list_sentences(read_texts(given.ordinary, 1))[:PLAIN]
        told = np.array([compute_ngram_odds(WEIGHTS, text) for text in unread])
        show("ordinary, not fitted on", told, least)


if __name__ == "__main__":
    main()

"""Fits what turns the heads' log-odds into probabilities, on held-out rows, and writes it beside
the weights.

    python training/reader/calibrate.py --data DIR --hand FILE... [--same FILE] [--weights FILE]

Answerable: Platt's fit over the span's log-odds and the head's. Claims: one temperature and a bias
for each of the three ways. Tokens: the log-odds above which three of four marked tokens are rightly
marked. Questions that ask the same (`--same`, lines of {"one": question, "other": question, "same":
true or false}): Platt's fit over the mean log-odds of both orders, and a threshold; without them
the reader does not say which do. The one rule: rows that neither teach nor ask: of others'
questions those behind the ones that `evaluate.py` asks.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from evaluate import sample, texts
from figures import fit
from rows import Row, groups_of, lines, passages

from citewell.models.builtin.e5_file import load_e5
from citewell.models.builtin.reader import compute_same_odds, compute_same_share, find_best_span
from citewell.models.builtin.reader_network import CLAIM, QUESTION, WEIGHTS, Heads, Network

PRECISION = 0.75
PASSING = 0.05  # share of the different pairs that may pass for the same
STEPS, RATE = 2000, 0.05


def heads_of(net: Network, row: Row) -> Heads:
    """Of the first window."""
    first, second = net.first(row["q"]), net.tokens(row["p"])
    return net.heads(
        first, net.split_windows(first, second)[0], CLAIM if row["task"] == "sup" else QUESTION
    )


def answerable(net: Network, rows: Sequence[Row]) -> dict[str, object]:
    found = [(heads_of(net, row), row["s"] >= 0) for row in rows]
    features = [
        (find_best_span(heads.starts, heads.ends)[2], heads.answerable) for heads, _ in found
    ]
    *weights, bias = fit(features, [float(wanted) for _, wanted in found])
    return {"weights": weights, "bias": bias}


def judge(net: Network, rows: Sequence[Row]) -> dict[str, object]:
    """By gradient descent on the cross-entropy."""
    odds, labels = (
        np.array([heads_of(net, row).support for row in rows]),
        np.array([row["y"] for row in rows]),
    )
    wanted, scale, bias = np.eye(3)[labels], 1.0, np.zeros(3)
    for _ in range(STEPS):
        values = odds * scale + bias
        shares = np.exp(values - values.max(1, keepdims=True))
        off = (shares / shares.sum(1, keepdims=True) - wanted) / len(rows)
        scale -= RATE * float((off * odds).sum())
        bias -= RATE * off.sum(0)
    return {"temperature": 1 / scale, "bias": [float(value) for value in bias - bias.mean()]}


def unsupported(net: Network, rows: Sequence[Row]) -> dict[str, object]:
    scores, wanted = [], []
    for row in rows:
        if row.get("bad") is None:
            continue
        tokens = net.first(row["q"])
        scores += heads_of(net, row).tokens.tolist()
        wanted += [any(start < b and end > a for a, b in row["bad"]) for start, end in tokens.spans]
    order = np.argsort(scores)[::-1]
    right = np.cumsum(np.array(wanted)[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(right >= PRECISION)
    return {"log_odds": float(np.array(scores)[order][enough[-1] if len(enough) else 0])}


def same(net: Network, rows: Sequence[Row]) -> dict[str, object]:
    odds = [compute_same_odds(net, row["one"], row["other"]) for row in rows]
    weight, bias = fit([(each,) for each in odds], [float(row["same"]) for row in rows])
    different = sorted(
        (each for each, row in zip(odds, rows, strict=True) if not row["same"]), reverse=True
    )
    below = different[int(PASSING * len(different))]
    least = (below + min((each for each in odds if each > below), default=below)) / 2
    constants = {"weight": weight, "bias": bias}
    return {**constants, "threshold": compute_same_share(least, constants)}


def questions_of_others(data: Path, skip: int, number: int) -> list[Row]:
    found: list[Row] = []
    for name in ("squad2", "clapnq"):
        corpus = texts(data / f"qa_refusal_en/{name}_corpus.jsonl")
        asked = sample(list(lines(data / f"qa_refusal_en/{name}_questions.jsonl")), skip + number)[
            skip:
        ]
        found += [
            {
                "task": "qa",
                "q": row["question"],
                "p": corpus[row["gold_doc_ids"][0]],
                "s": 0 if row["answerable"] else -1,
            }
            for row in asked
        ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--hand", type=Path, nargs="+", required=True)
    parser.add_argument("--same", type=Path, help="pairs of questions")
    parser.add_argument("--part", type=float, default=0.85)
    parser.add_argument(
        "--skip", type=int, default=400, help="questions of each set that evaluate.py asks"
    )
    parser.add_argument("--number", type=int, default=150, help="questions of each set")
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    net = Network(*load_e5(), options.weights)
    hand = [
        row
        for file in options.hand
        for one in passages(file, options.part)
        for group in groups_of(one)
        for row in group
    ]
    claims = [row for row in hand if row["task"] == "sup"]
    asked = [row for row in hand if row["task"] == "qa"] + questions_of_others(
        options.data, options.skip, options.number
    )
    constants = {
        "answerable": answerable(net, asked),
        "judge": judge(net, claims),
        "unsupported": unsupported(net, claims),
    }
    if options.same:
        constants["same"] = same(net, list(lines(options.same)))
    options.weights.with_suffix(".json").write_text(json.dumps(constants, indent=1) + "\n", "utf-8")
    print(json.dumps(constants, indent=1))


if __name__ == "__main__":
    main()

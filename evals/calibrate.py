"""Fit the two confidences on questions that others wrote, and print the weights with their Brier score and reliability.

    .venv/bin/python evals/qa.py --json items.json
    .venv/bin/python evals/calibrate.py items.json

Retrieval: does the evidence hold the answer? Positive: a gold document among the best three hits. Negative: the same
search with the gold document taken away. Answer: was the answer shown right? From the items that `evals/qa.py` wrote. The
one rule: what is printed here is what stands in `retrieve/rank.py` and `skills/confidence.py`, by hand.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.config import load_settings
from citewell.knowledge.index import Filter
from citewell.retrieve.rank import evidence_signals
from citewell.retrieve.strategies import STRATEGIES, Query
from citewell.service.app import App
from citewell.skills.confidence import answer_signals, share
from qa import SETS, asked, gold, read

RIDGE = 1.0  # keeps the weights of few and correlated signals small
Array = NDArray[np.float64]


def fit(signals: Array, labels: Array) -> Array:
    """Ridge-penalised logistic regression by Newton's method; the last weight is the bias, not penalised."""
    rows = np.c_[signals, np.ones(len(signals))]
    penalty = np.diag([RIDGE] * signals.shape[1] + [0.0])
    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-rows @ weights))
        gradient = rows.T @ (chance - labels) + penalty @ weights
        hessian = (rows * (chance * (1 - chance))[:, None]).T @ rows + penalty + 1e-6 * np.eye(len(weights))
        step = np.linalg.solve(hessian, gradient)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def cross_validated(signals: Array, labels: Array, folds: int = 5) -> Array:
    """Each item's probability from a fit that has not seen it."""
    order = np.random.default_rng(0).permutation(len(labels))
    chance = np.zeros(len(labels))
    for k in range(folds):
        held = order[k::folds]
        rest = np.setdiff1d(order, held)
        weights = fit(signals[rest], labels[rest])
        chance[held] = 1 / (1 + np.exp(-(np.c_[signals[held], np.ones(len(held))] @ weights)))
    return chance


def report(name: str, keys: Sequence[str], signals: Array, labels: Array) -> None:
    chance = cross_validated(signals, labels)
    print(f"\n{name}: {len(labels)} items, {labels.mean():.2f} positive")
    print(f"  Brier {np.mean((chance - labels) ** 2):.3f} (always the mean: {labels.var():.3f}), AUC {auc(chance, labels):.3f}")
    for low in np.arange(0, 1, 0.2):
        inside = (chance >= low) & (chance < low + 0.2)
        if inside.any():
            print(f"  said {low:.1f} to {low + 0.2:.1f}: {inside.sum():4} items, right {labels[inside].mean():.2f}")
    weights = fit(signals, labels)
    print(f"  bias {weights[-1]:.2f}  " + "  ".join(f"{k} {w:.2f}" for k, w in zip(keys, weights, strict=False)))


def auc(chance: Array, labels: Array) -> float:
    """How often a positive item is rated above a negative one."""
    positive, negative = chance[labels == 1], chance[labels == 0]
    above = (positive[:, None] > negative[None, :]).mean() + 0.5 * (positive[:, None] == negative[None, :]).mean()
    return float(above)


async def evidence_items(home: Path, each: int) -> tuple[list[dict[str, float]], list[float]]:
    """Signals of searches with and without their gold document."""
    signals, labels = [], []
    async with App(load_settings(home=home, llm="none")) as app:
        for data in SETS:
            questions = [q for q in read(data.questions) if q["answerable"]]
            random.Random(5).shuffle(questions)
            for question in questions[:each]:
                text = asked(question)
                query = Query(text, await app.embedder.query(text), (), Filter(collections=(data.name,)), 8)
                hits = (await STRATEGIES["direct_chunk_search"](app.index, query)).hits
                signals.append(evidence_signals(text, hits))
                labels.append(float(any(gold(question, hit.uri) for hit in hits[:3])))
                without = [hit for hit in hits if not gold(question, hit.uri)]
                if without:
                    signals.append(evidence_signals(text, without))
                    labels.append(0.0)
    return signals, labels


def answer_items(path: Path) -> tuple[list[dict[str, float]], list[float]]:
    items: list[dict[str, Any]] = [i for part in json.loads(path.read_text("utf-8")).values() for i in part.get("items", [])]
    drafted = [i for i in items if i.get("verdicts") and i.get("log_odds") is not None]
    signals = [answer_signals(i["retrieval_confidence"], i["log_odds"], share(i["verdicts"])) for i in drafted]
    return signals, [float(i["contains"]) for i in drafted]


def table(signals: Sequence[dict[str, float]]) -> tuple[list[str], Array]:
    keys = list(signals[0])
    return keys, np.array([[s[k] for k in keys] for s in signals])


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("items", type=Path, nargs="?", help="what evals/qa.py wrote with --json; left out: retrieval only")
    parser.add_argument("--home", type=Path, help="the evaluation's own library (default: cache)")
    parser.add_argument("--each", type=int, default=150, help="questions a set for the retrieval fit")
    args = parser.parse_args()
    signals, labels = await evidence_items(args.home or load_settings().cache / "evals", args.each)
    keys, rows = table(signals)
    report("retrieval", keys, rows, np.array(labels))
    if args.items:
        signals, labels = answer_items(args.items)
        keys, rows = table(signals)
        report("answer", keys, rows, np.array(labels))


if __name__ == "__main__":
    asyncio.run(main())

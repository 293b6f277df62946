"""Fit a probability to labelled items, and say honestly how good it is.

The one rule: what is reported was foretold by a fit that had not seen the item, nor any other item of its group: questions on
one paragraph, and a search with and without its gold, stand or fall together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citewell.measure.report import Bin, Reliability

RIDGE = 1.0  # penalty on standardised weights: keeps those of few items and of signals that go together small
FOLDS = 5
BINS = 10
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sample:
    """One labelled item. `group`: what must not be split between fitting and testing. `pair`: for telling apart in print."""

    signals: Mapping[str, float]
    label: bool
    group: str
    pair: str
    dataset: str


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights by signal for the signals as they are measured, and each sample's probability, cross-validated."""

    bias: float
    weights: dict[str, float]
    chances: Array


def fit(samples: Sequence[Sample]) -> Fitted | None:
    """Logistic regression with a ridge penalty; None where all labels are the same, or there are too few groups to validate."""
    labels = np.array([sample.label for sample in samples], dtype=np.float64)
    groups = list(dict.fromkeys(sample.group for sample in samples))
    if len(set(labels)) < 2 or len(groups) < FOLDS:
        return None
    names = list(samples[0].signals)
    rows = np.array([[sample.signals.get(name, 0.0) for name in names] for sample in samples], dtype=np.float64)
    fold_of = {group: at % FOLDS for at, group in enumerate(_shuffled(groups))}
    folds = np.array([fold_of[sample.group] for sample in samples])
    chances = np.full(len(samples), labels.mean())
    for fold in range(FOLDS):
        held = folds == fold
        bias, weights = _logistic(rows[~held], labels[~held])
        chances[held] = _chance(rows[held] @ weights + bias)
    bias, weights = _logistic(rows, labels)
    return Fitted(bias, dict(zip(names, (float(w) for w in weights), strict=True)), chances)


def _shuffled(groups: Sequence[str]) -> list[str]:
    order = np.random.default_rng(0).permutation(len(groups))
    return [groups[at] for at in order]


def _chance(x: Array) -> Array:
    chance: Array = 1 / (1 + np.exp(-np.clip(x, -30, 30)))
    return chance


def _logistic(rows: Array, labels: Array) -> tuple[float, Array]:
    """Newton's method (iteratively reweighted least squares) on standardised signals, given back on their own scale."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    table = np.c_[(rows - mean) / spread, np.ones(len(rows))]
    penalty = np.diag([RIDGE] * rows.shape[1] + [1e-6])
    weights = np.zeros(table.shape[1])
    for _ in range(50):
        chance = _chance(table @ weights)
        gradient = table.T @ (chance - labels) + penalty @ weights
        hessian = (table * (chance * (1 - chance))[:, None]).T @ table + penalty
        step = np.linalg.solve(hessian, gradient)
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    own = weights[:-1] / spread
    return float(weights[-1] - own @ mean), own


def reliability(chances: Sequence[float] | Array, labels: Sequence[bool] | Array) -> Reliability | None:
    """Brier score, area under the ROC curve, expected calibration error and the bins of the reliability curve; None of none."""
    said, truth = np.asarray(chances, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if not len(said):
        return None
    bins = _bins(said, truth)
    return Reliability(
        n=len(said),
        positive=float(truth.mean()),
        brier=float(np.mean((said - truth) ** 2)),
        brier_of_the_mean=float(truth.var()),
        auc=auc(said, truth),
        ece=sum(b.n * abs(b.said - b.right) for b in bins) / len(said),
        bins=bins,
    )


def auc(said: Array, truth: Array) -> float | None:
    """How often a positive item is rated above a negative one, ties counting half (Hanley and McNeil 1982)."""
    order = np.sort(said[truth == 0])
    positive = said[truth == 1]
    if not len(order) or not len(positive):
        return None
    below, upto = np.searchsorted(order, positive, "left"), np.searchsorted(order, positive, "right")
    return float((below + upto).sum() / 2 / (len(order) * len(positive)))


def _bins(said: Array, truth: Array) -> list[Bin]:
    """Ten of equal width (Guo et al. 2017), the empty ones left out."""
    index = np.minimum((said * BINS).astype(int), BINS - 1)
    return [
        Bin(
            low=at / BINS,
            high=(at + 1) / BINS,
            n=int((index == at).sum()),
            said=float(said[index == at].mean()),
            right=float(truth[index == at].mean()),
        )
        for at in range(BINS)
        if (index == at).any()
    ]

"""Fit a probability to labelled items, and say honestly how good it is. What is reported was
foretold by a fit that had not seen the item, nor any other item of its group: questions on one
paragraph, and a search with and without its gold, stand or fall together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citewell.measure.report import Bin, Reliability

# penalty on standardised weights: keeps those of few items and of signals that go together small
RIDGE = 1.0
FOLDS = 5
BINS = 10
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sample:
    """One labelled item. `group`: what must not be split between fitting and testing. `pair`: for
    telling apart in print. `choice`: the question whose candidates it is one of, where they are
    compared with each other.
    """

    signals: Mapping[str, float]
    label: bool
    group: str
    pair: str
    dataset: str
    choice: str = ""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights of the signals, and each sample's probability, cross-validated."""

    bias: float
    weights: dict[str, float]
    chances: Array


def fit(samples: Sequence[Sample]) -> Fitted | None:
    """Ridge logistic regression; None with one label only, or too few groups to validate."""
    names, rows, labels, folds = _build_table(samples)
    if len(set(labels)) < 2 or len(set(folds)) < FOLDS:
        return None
    chances = np.full(len(samples), labels.mean())
    for fold in range(FOLDS):
        held = folds == fold
        bias, weights = _solve_logistic(rows[~held], labels[~held])
        chances[held] = _compute_chance(rows[held] @ weights + bias)
    bias, weights = _solve_logistic(rows, labels)
    return Fitted(bias, dict(zip(names, (float(w) for w in weights), strict=True)), chances)


def fit_choice(samples: Sequence[Sample]) -> Fitted | None:
    """Conditional logit (McFadden 1974): which of the candidates of a choice is right, one of each
    at least. The weights say how candidates of one choice compare, and nothing else; a chance is
    the share within the choice.
    """
    names, rows, labels, folds = _build_table(samples)
    if len(set(labels)) < 2 or len(set(folds)) < FOLDS:
        return None
    _, choices = np.unique([sample.choice for sample in samples], return_inverse=True)
    chances = np.zeros(len(samples))
    for fold in range(FOLDS):
        held = folds == fold
        weights = _solve_conditional(
            rows[~held], labels[~held], np.unique(choices[~held], return_inverse=True)[1]
        )
        chances[held] = _compute_shares(rows @ weights, choices)[held]
    weights = _solve_conditional(rows, labels, choices)
    return Fitted(0.0, dict(zip(names, (float(w) for w in weights), strict=True)), chances)


def _build_table(samples: Sequence[Sample]) -> tuple[list[str], Array, Array, NDArray[np.int64]]:
    """Signals' names, samples' signals and labels, and folds that keep groups together."""
    names = list(samples[0].signals)
    rows = np.array(
        [[sample.signals.get(name, 0.0) for name in names] for sample in samples], dtype=np.float64
    )
    labels = np.array([sample.label for sample in samples], dtype=np.float64)
    groups = list(dict.fromkeys(sample.group for sample in samples))
    fold_of = {group: at % FOLDS for at, group in enumerate(_shuffle_groups(groups))}
    return names, rows, labels, np.array([fold_of[sample.group] for sample in samples])


def _shuffle_groups(groups: Sequence[str]) -> list[str]:
    order = np.random.default_rng(0).permutation(len(groups))
    return [groups[at] for at in order]


def _compute_chance(x: Array) -> Array:
    chance: Array = 1 / (1 + np.exp(-np.clip(x, -30, 30)))
    return chance


def _solve_logistic(rows: Array, labels: Array) -> tuple[float, Array]:
    """Newton's method (iteratively reweighted least squares) on standardised signals."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    table = np.c_[(rows - mean) / spread, np.ones(len(rows))]
    penalty = np.diag([RIDGE] * rows.shape[1] + [1e-6])
    weights = np.zeros(table.shape[1])
    for _ in range(50):
        chance = _compute_chance(table @ weights)
        gradient = table.T @ (chance - labels) + penalty @ weights
        hessian = (table * (chance * (1 - chance))[:, None]).T @ table + penalty
        step = np.linalg.solve(hessian, gradient)
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    own = weights[:-1] / spread
    return float(weights[-1] - own @ mean), own


def _solve_conditional(rows: Array, labels: Array, choices: NDArray[np.int64]) -> Array:
    """Newton's method with the curvature of the choices' sums, which bounds that of the whole;
    `choices` count from 0.
    """
    spread = rows.std(axis=0)
    table = rows / np.where(spread > 1e-9, spread, 1.0)
    weights = np.zeros(rows.shape[1])
    for _ in range(100):
        shares, right = (
            _compute_shares(table @ weights, choices),
            _compute_shares(table @ weights, choices, labels),
        )
        means = np.zeros((choices.max() + 1, len(weights)))
        np.add.at(means, choices, shares[:, None] * table)
        hessian = (
            (table * shares[:, None]).T @ table - means.T @ means + RIDGE * np.eye(len(weights))
        )
        step = np.linalg.solve(hessian, table.T @ (shares - right) + RIDGE * weights)
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    own: Array = weights / np.where(spread > 1e-9, spread, 1.0)
    return own


def _compute_shares(x: Array, choices: NDArray[np.int64], counted: Array | float = 1.0) -> Array:
    """Each candidate's share of what is counted in its choice, by log-odds."""
    raised = np.exp(np.clip(x, -30, 30)) * counted
    shares: Array = raised / np.bincount(choices, raised)[choices]
    return shares


def measure_reliability(
    chances: Sequence[float] | Array, labels: Sequence[bool] | Array
) -> Reliability | None:
    """Brier score, area under the ROC curve, calibration error, reliability bins; or None."""
    said, truth = np.asarray(chances, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if not len(said):
        return None
    bins = _build_bins(said, truth)
    return Reliability(
        n=len(said),
        positive=float(truth.mean()),
        brier=float(np.mean((said - truth) ** 2)),
        brier_of_the_mean=float(truth.var()),
        auc=compute_auc(said, truth),
        ece=sum(b.n * abs(b.said - b.right) for b in bins) / len(said),
        bins=bins,
    )


def compute_auc(said: Array, truth: Array) -> float | None:
    """How often a positive item is rated above a negative one; ties: half (Hanley, McNeil 1982)."""
    order = np.sort(said[truth == 0])
    positive = said[truth == 1]
    if not len(order) or not len(positive):
        return None
    below, upto = (
        np.searchsorted(order, positive, "left"),
        np.searchsorted(order, positive, "right"),
    )
    return float((below + upto).sum() / 2 / (len(order) * len(positive)))


def _build_bins(said: Array, truth: Array) -> list[Bin]:
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

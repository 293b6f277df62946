"""Figures of an evaluation: AUC with its interval, exact match and F1 of spans, Platt's fit.

The one rule: plain numbers in and out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

_ENGLISH = re.compile(r"\b(a|an|the)\b")
_CHINESE = re.compile(r"[\u3400-\u9fff]|[a-z]+|\d+(?:\.\d+)?")
Z = 1.96  # of a 95 % interval


def auc(true: Sequence[float], false: Sequence[float]) -> float:
    """Probability that a true one scores higher than a false one; ties count half."""
    scores = np.concatenate([true, false])
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    number = len(true)
    return float((ranks[:number].sum() - number * (number + 1) / 2) / (number * len(false)))


def auc_margin(value: float, true: int, false: int) -> float:
    """Half of the 95 % interval (Hanley and McNeil 1982)."""
    one, two = value / (2 - value), 2 * value**2 / (1 + value)
    spread = value * (1 - value) + (true - 1) * (one - value**2) + (false - 1) * (two - value**2)
    return Z * math.sqrt(max(0.0, spread) / (true * false))


def words(text: str, language: str) -> list[str]:
    """As SQuAD and CMRC count them: no articles nor punctuation; single characters in Chinese."""
    if language == "zh":
        return _CHINESE.findall(text.lower())
    return _ENGLISH.sub(" ", re.sub(r"[^\w\s]", "", text.lower())).split()


def match(found: str, answers: Sequence[str], language: str) -> tuple[float, float]:
    """Exact match and F1 against the answer that fits best."""
    pairs = [(words(found, language), words(answer, language)) for answer in answers]
    return max(float(a == b) for a, b in pairs), max(f1(a, b) for a, b in pairs)


def f1(found: list[str], wanted: list[str]) -> float:
    same = sum((Counter(found) & Counter(wanted)).values())
    return 2 * same / (len(found) + len(wanted)) if same else float(found == wanted)


def fit(
    features: Sequence[Sequence[float]],
    labels: Sequence[float],
    steps: int = 3000,
    rate: float = 0.05,
) -> list[float]:
    """Weights and, last, the bias of a logistic regression (Platt), by gradient descent with a
    little decay.
    """
    rows = np.column_stack([np.array(features, float), np.ones(len(labels))])
    scale = np.maximum(np.abs(rows).mean(0), 1e-6)
    weights = np.zeros(rows.shape[1])
    for _ in range(steps):
        shares = 1 / (1 + np.exp(-(rows / scale) @ weights))
        weights -= rate * ((rows / scale).T @ (shares - labels) / len(labels) + 1e-4 * weights)
    return [float(value) for value in weights / scale]

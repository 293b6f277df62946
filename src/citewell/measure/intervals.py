"""How far a figure can be trusted: a 95 % confidence interval beside every mean. A figure is a
ratio of sums over items, and it is the items that are drawn again. Of 20 items, 0.85 means anything
from 0.64 to 0.95.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

Z = 1.959964  # the normal distribution's 97.5 % point
DRAWS = 1000
ALIKE = 1e-9
LARGEST = 20_000_000  # draws x items kept in memory at once; more items are drawn fewer times
SEED = 20261122
Array = NDArray[np.float64]


class Figure(BaseModel):
    """A value with its 95 % interval, over `n` items (or quotes, where quotes are counted)."""

    model_config = ConfigDict(frozen=True)

    value: float
    low: float
    high: float
    n: int


class Resampled:
    """Bootstrap resamples of `n` items (Efron 1979): counts, shape (draws, n)."""

    def __init__(self, n: int) -> None:
        draws = max(200, min(DRAWS, LARGEST // max(1, n)))
        times = (
            np.random.default_rng(SEED).multinomial(n, [1 / n] * n, size=draws)
            if n
            else np.zeros((1, 0))
        )
        self.times: NDArray[np.float32] = times.astype(np.float32)

    def compute_ratios(self, above: Array, below: Array) -> Array:
        """sum(above) / sum(below) of every draw that has something below the line."""
        lower = self.times @ below
        some = lower > 0
        ratios: Array = (self.times @ above)[some] / lower[some]
        return ratios


def compute_figure(
    above: Sequence[float] | Array, below: Sequence[float] | Array, drawn: Resampled
) -> Figure | None:
    """sum(above) / sum(below) over items; None where there is nothing below the line.

    Shares of yes and no, of one or several each item, get Wilson's interval (1927), over items,
    which holds for few of them and near 0 and 1, where the bootstrap of 20 right answers in 20
    would claim certainty; other means get the bootstrap's 2.5 and 97.5 percentiles, unless they are
    of 0 to 1 and the items all alike, which it takes for certainty too.
    """
    upper, lower = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    if lower.sum() <= 0:
        return None
    value, n = float(upper.sum() / lower.sum()), round(float(lower.sum()))
    share = bool((upper <= lower).all())
    counted = share and bool((np.mod(upper, 1) == 0).all())
    low, high = (0.0, 0.0) if counted else _compute_interval(drawn.compute_ratios(upper, lower))
    if share and high - low < ALIKE:
        low, high = compute_wilson(value, int((lower > 0).sum()))
    return Figure(value=value, low=low, high=high, n=n)


def _compute_interval(values: Array) -> tuple[float, float]:
    low, high = np.percentile(values, (2.5, 97.5))
    return float(low), float(high)


def compute_difference(
    old: tuple[Array, Array], new: tuple[Array, Array], drawn: Resampled
) -> Figure | None:
    """New minus old over the same items (paired bootstrap): (above, below) as `compute_figure`."""
    (above0, below0), (above1, below1) = old, new
    if not below0.sum() or not below1.sum():
        return None
    lower0, lower1 = drawn.times @ below0, drawn.times @ below1
    some = (lower0 > 0) & (lower1 > 0)
    changes = (drawn.times @ above1)[some] / lower1[some] - (drawn.times @ above0)[some] / lower0[
        some
    ]
    low, high = _compute_interval(changes)
    value = float(above1.sum() / below1.sum() - above0.sum() / below0.sum())
    return Figure(value=value, low=low, high=high, n=int(((below0 > 0) | (below1 > 0)).sum()))


def compute_wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's score interval of a share of `n`."""
    spread = Z * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    middle = share + Z**2 / (2 * n)
    whole = 1 + Z**2 / n
    return max(0.0, (middle - spread) / whole), min(1.0, (middle + spread) / whole)


def compute_percentile(values: Sequence[float], share: float) -> float | None:
    """Interpolated between the two nearest values; None of none."""
    return float(np.percentile(values, 100 * share)) if values else None

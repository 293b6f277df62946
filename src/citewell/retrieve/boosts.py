"""What a document's day and priority add to a hit's score: pure functions. They move hits that are
about as good as each other; neither makes an unrelated one the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.types import Hit

DAY = 86_400.0
HIGHEST = 10  # priority
# What the highest priority adds, in standard deviations of one signal of the score (rank.WEIGHTS
# sums three or four of them). Set by hand: a priority of 10 outweighs one signal that is one
# deviation worse, and no more.
PRIORITY = 1.0


def apply_boosts(
    hits: Sequence[Hit], *, recency: float, half_life_days: float, now: float
) -> list[Hit]:
    """Hits reordered, with signals `recency` (1 today, halving) and `priority` if used."""
    moved = [_boost_hit(hit, recency, half_life_days, now) for hit in hits]
    return sorted(moved, key=lambda hit: -hit.score)


def compute_freshness(dated: float, half_life_days: float, now: float) -> float:
    """1 for today and days to come, halved every `half_life_days` before."""
    return float(0.5 ** (max(0.0, now - dated) / DAY / half_life_days))


def _boost_hit(hit: Hit, recency: float, half_life_days: float, now: float) -> Hit:
    if not recency and not hit.priority:
        return hit  # nearly always: a copy of each of a hundred hits costs as much as ranking them
    score, signals = hit.score, dict(hit.signals)
    if recency:
        signals["recency"] = compute_freshness(hit.dated, half_life_days, now)
        score += recency * signals["recency"]
    if hit.priority:
        signals["priority"] = min(1.0, hit.priority / HIGHEST)
        score += PRIORITY * signals["priority"]
    return replace(hit, score=round(score, 4), signals=signals)

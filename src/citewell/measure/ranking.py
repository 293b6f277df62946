"""How good a ranking is: hit, recall, reciprocal rank, discounted gain. A ranking is a list of
places, each the set of gold items (documents, or pages) that stands there first; most places are
empty. What was found once does not count again further down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

Unit = TypeVar("Unit", bound=Hashable)
Ranking = Sequence[frozenset[Any]]
DEPTH = 10  # places that recall, reciprocal rank and nDCG look at


def build_ranking(
    found: Sequence[frozenset[Unit]], gold: Mapping[Unit, float]
) -> list[frozenset[Unit]]:
    """The places of a ranking: per result what is gold and new. A result that brings nothing new in
    is no place of its own.

    `found`: what each result stands for, best first: {document}, or the pages that a passage
    covers.
    """
    seen: set[Unit] = set()
    ranking = []
    for units in found:
        if new := units - seen:
            seen |= new
            ranking.append(frozenset(unit for unit in new if unit in gold))
    return ranking


def find_first_place(ranking: Sequence[frozenset[Unit]]) -> int | None:
    """The 1-based place of the first gold item; None where there is none."""
    return next((n for n, units in enumerate(ranking, 1) if units), None)


def compute_hit(ranking: Sequence[frozenset[Unit]], k: int) -> float:
    """1 where a gold item is among the first k places, else 0 (success at k)."""
    return float(any(ranking[:k]))


def compute_recall(
    ranking: Sequence[frozenset[Unit]], gold: Mapping[Unit, float], k: int = DEPTH
) -> float:
    """Share of the gold items among the first k (Manning, Raghavan, Schütze 2008, chapter 8)."""
    return len(frozenset[Unit]().union(*ranking[:k])) / len(gold)


def compute_reciprocal_rank(ranking: Sequence[frozenset[Unit]]) -> float:
    """1 / place of the first gold item, 0 beyond DEPTH; its mean is MRR@k (Voorhees 1999)."""
    at = find_first_place(ranking[:DEPTH])
    return 1 / at if at else 0.0


def compute_ndcg(
    ranking: Sequence[frozenset[Unit]], gold: Mapping[Unit, float], k: int = DEPTH
) -> float:
    """Discounted cumulative gain over that of the best ranking (Järvelin and Kekäläinen 2002): sum
    of grade / log2(place + 1).

    The gain is the grade itself, as in trec_eval and BEIR, not 2^grade - 1. A place with several
    items counts as so many places, the best one first.
    """
    gains = [
        gain
        for units in ranking[:k]
        for gain in sorted((gold[unit] for unit in units), reverse=True) or [0.0]
    ][:k]
    best = sorted(gold.values(), reverse=True)[:k]
    ideal = _compute_dcg(best)
    return _compute_dcg(gains) / ideal if ideal else 0.0


FIGURES: dict[str, Callable[[Ranking, Mapping[Any, float]], float]] = {
    "hit@1": lambda ranking, _: compute_hit(ranking, 1),
    "hit@3": lambda ranking, _: compute_hit(ranking, 3),
    "hit@5": lambda ranking, _: compute_hit(ranking, 5),
    "recall@10": compute_recall,
    "mrr@10": lambda ranking, _: compute_reciprocal_rank(ranking),
    "ndcg@10": compute_ndcg,
}


def measure_ranking(ranking: Ranking, gold: Mapping[Any, float]) -> dict[str, float]:
    """Every figure of a ranking by its name."""
    return {name: measure(ranking, gold) for name, measure in FIGURES.items()}


def _compute_dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))

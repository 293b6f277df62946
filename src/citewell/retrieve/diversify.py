"""Hits that say different things, from different documents: maximal marginal relevance (Carbonell
and Goldstein 1998), a pure function. The best hit stays first, and nothing is made up: it is a
choice and an order of the hits given.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from citewell.models.base import Vector
from citewell.retrieve.rank import stretch_cosines
from citewell.types import Hit

SAME_DOCUMENT = 0.5  # least likeness of two hits of one document; set by hand, half of equal texts


def diversify_hits(hits: Sequence[Hit], vectors: Vector, k: int, diversity: float) -> list[Hit]:
    """The `k` hits that are good and unlike those before them. `vectors`: one row a hit (zeros
    where there is none); `diversity` 0 keeps the order, 1 looks at unlikeness only. Scores stay
    what they were, so they need not fall.
    """
    if diversity <= 0 or len(hits) < 2:
        return list(hits[:k])
    worth, alike = _scale_scores(hits), _compute_likeness(hits, vectors)
    chosen = [0]
    left = list(range(1, len(hits)))
    while left and len(chosen) < k:
        gains = [(1 - diversity) * worth[i] - diversity * alike[i, chosen].max() for i in left]
        chosen.append(left.pop(int(np.argmax(gains))))
    return [hits[i] for i in chosen]


def _scale_scores(hits: Sequence[Hit]) -> NDArray[np.float64]:
    """Scores from 0 to 1."""
    scores = np.asarray([hit.score for hit in hits])
    spread = float(np.ptp(scores))
    worth: NDArray[np.float64] = (
        (scores - scores.min()) / spread if spread > 0 else np.ones(len(hits))
    )
    return worth


def _compute_likeness(hits: Sequence[Hit], vectors: Vector) -> NDArray[np.float64]:
    docs = np.asarray([hit.doc_id for hit in hits])
    same = np.where(docs[:, None] == docs[None, :], SAME_DOCUMENT, 0.0)
    likeness: NDArray[np.float64] = np.maximum(same, stretch_cosines(vectors @ vectors.T))
    return likeness

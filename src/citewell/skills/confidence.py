"""How likely an answer is right, from what was measured on the way to it.

The one rule: a probability from calibrated weights, never a figure that a model says of itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from citewell.types import Sentence

# Log-odds of the evidence grade under which the question is refused. Fitted on the development samples of evals/qa.py.
GATE_THRESHOLD = -0.5
_VERDICT = {"supported": 1.0, "partly": 0.6, "unsupported": 0.0}


def support(sentences: Sequence[Sentence]) -> float:
    """Share of the sentences that are proved; a partly proved one counts 0.6."""
    return sum(_VERDICT[s.verdict] for s in sentences) / len(sentences) if sentences else 0.0


def answer_confidence(retrieval: float, log_odds: float | None, sentences: Sequence[Sentence]) -> float:
    """Probability that the answer shown is right; for a refusal (no sentences), that the evidence held the answer after all."""
    x = -2.0 + 2.0 * retrieval + (0.5 * log_odds if log_odds is not None else 0.5) + 2.0 * support(sentences)
    return round(1 / (1 + math.exp(-x)), 4)

"""Is a question in a language that is neither English nor Chinese? By fitted weights; a name or a
word of another language in an English or Chinese question makes it no foreign one.
"""

from __future__ import annotations

from pathlib import Path

from citewell.models.base import Vector
from citewell.models.linear_probe import compute_odds

WEIGHTS = Path(__file__).with_suffix(".json")
# Log-odds: where their fold is left out, none of 207 English and Chinese texts passes it
# (`training/requests/fit.py`).
LEAST = 1.25


def is_foreign(vector: Vector, embedder: str) -> bool:
    """Of a question by its vector; False for the vectors of another embedder."""
    return compute_odds(WEIGHTS, embedder, vector).get("foreign", LEAST - 1) >= LEAST

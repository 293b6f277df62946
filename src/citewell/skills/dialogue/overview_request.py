"""Does a text ask for no fact but for an overview of what is here, or for what can be asked? By
weights that are fitted to 550 sentences in contrast ("What does the handbook say?", "What does the
handbook say about sick leave?"); in doubt it is a question like any other.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

from citewell.models.base import Vector
from citewell.models.linear_probe import compute_odds

WEIGHTS = Path(__file__).with_suffix(".json")
# Log-odds from which on it is one. Of 1,134 questions of public sets 2 pass it, of 1,500 of sets
# that were looked at afterwards 2 (`evals/overview_requests.py`).
LEAST = 1.25
Request = Literal["overview", "offer", ""]


def find_overview_request(vector: Vector, embedder: str) -> tuple[Request, float]:
    """Of a text by its vector, and how likely it is one; empty for any other text, and for the
    vectors of another embedder than the built-in one.
    """
    odds = compute_odds(WEIGHTS, embedder, vector)
    overview, offer = odds.get("overview", -math.inf), odds.get("offer", -math.inf)
    most = max(overview, offer)
    sure = 1 / (1 + math.exp(-most)) if most > -math.inf else 0.0
    if most < LEAST:
        return "", sure
    return "offer" if offer > overview else "overview", sure

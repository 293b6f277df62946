"""From a model's first token to a finite figure for yes (above 0) or no."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

# stands for a word without its probability: what the built-in model gives when it is plainly right
SURE = 5.0


def compute_log_odds(listed: Iterable[tuple[str, float]]) -> float:
    """Figure log p(yes) - log p(no) from the likeliest first tokens (token, log-probability),
    spellings summed.

    A word outside the list counts with the list's least probability, an upper bound: the result is
    cautious. 0 if both are.
    """
    pairs = [(token.strip().lower(), value) for token, value in listed]
    floor = min((value for _, value in pairs), default=0.0)
    mass = {
        word: sum(math.exp(value) for token, value in pairs if token == word)
        for word in ("yes", "no")
    }
    yes, no = (math.log(mass[word]) if mass[word] > 0 else floor for word in ("yes", "no"))
    return yes - no


def parse_word_odds(text: str) -> float:
    """The figure where probabilities are unknown: by the first word, 0 if neither yes nor no."""
    found = re.match(r"\W*(yes|no)\b", text.lower())
    if found is None:
        return 0.0
    return SURE if found[1] == "yes" else -SURE

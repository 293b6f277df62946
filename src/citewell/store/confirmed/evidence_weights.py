"""How much a confirmed item or a rule weighs beside another that fits a question as well.

    weight = votes x use x age
    votes  = 2 (1 + good) / (2 + good + bad)      1 without votes; 0 to 2 (Laplace's rule, doubled)
    use    = 1 + log2(1 + min(uses, 31)) / 10     1 unused, 1.5 from 31 uses on
    age    = 1/2 + 1/2 * 2^(-days / half-life)    1 today, 3/4 after a half-life, never under 1/2

`days` since it was last used or vouched for. The one rule: a pure function, so that the same item
ranks the same way each time.
"""

from __future__ import annotations

from math import log2

from citewell.store.confirmed.types import Confirmed, Rule

DAY = 86_400.0
MOST_USES = 31  # more say nothing new; 31 so that log2(1 + uses) is 5 at most


def compute_weight(item: Confirmed | Rule, now: float, half_life_days: float) -> float:
    """1.0 is neutral; between 0 and 3."""
    good, bad = (item.good, item.bad) if isinstance(item, Confirmed) else (0, 0)
    votes = 2 * (1 + good) / (2 + good + bad)
    use = 1 + log2(1 + min(max(item.uses, 0), MOST_USES)) / 10
    age = 0.5 + 0.5 * 2 ** (-max(0.0, now - get_last_activity(item)) / (half_life_days * DAY))
    return round(votes * use * age, 4)


def get_last_activity(item: Confirmed | Rule) -> float:
    """When it was last used or vouched for, in seconds since the epoch."""
    people = (
        [each.at for each in item.confirmed_by]
        if isinstance(item, Confirmed)
        else [item.updated_at]
    )
    return max([item.used_at, item.created_at, *people])

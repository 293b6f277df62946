"""Answers that people confirmed, and corrections. Only `active` ones are used."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import Any, Literal

from pydantic import Field

from citewell.messages import AnyText
from citewell.types import IntentAnalysis, Shown

# characters of what becomes knowledge: what is kept can be exported, and what is exported imported
LONGEST_QUESTION = 20_000
LONGEST_LOGIC = 20_000
LONGEST_ANSWER = 50_000
LONGEST_ROWS = 50_000  # of the first rows that are kept to compare with, as JSON

ItemState = Literal["pending", "active", "quarantined", "undone"]
RuleState = Literal["waiting", "active", "rejected", "undone"]


class Confirmation(Shown):
    """Who confirmed an item, when (seconds since the epoch), and by which trace."""

    user_id: str
    trace_id: str
    at: float


class Confirmed(Shown):
    """A question-and-answer chain that people have confirmed. `pending`: not by enough people yet.
    `logic`: the SQL of the data agent, else what was searched and cited. `fingerprint`: of the
    schema (or of the cited documents) that it was confirmed on. `conflicts`: ids of items that
    answer the same question otherwise. `path` of its document, relative to the home. `owner`: the
    one user whose documents or tables it rests on, and who may see it; empty: everybody may.
    """

    item_id: str
    trace_id: str
    agent: str
    question: str
    lang: str
    source: str = ""
    collection: str = ""
    intent: IntentAnalysis = IntentAnalysis()
    logic: str = ""
    answer: str = ""
    tags: list[str] = Field(default_factory=list)
    priority: str = "high"
    state: ItemState
    reason: AnyText = ""
    fingerprint: str = ""
    evidence: list[dict[str, Any]] = Field(default_factory=list)
    confirmed_by: list[Confirmation] = Field(default_factory=list)
    conflicts: list[str] = Field(default_factory=list)
    doc_id: str = ""
    path: str = ""
    uses: int = 0
    good: int = 0
    bad: int = 0
    used_at: float = 0.0
    created_at: float = 0.0
    updated_at: float = 0.0
    owner: str = ""


class Rule(Shown):
    """A correction. `waiting` for review, then `active` or `rejected`. `wrong`: the logic that was
    said to be wrong; `logic`: the SQL that is right, where the correction is one. `owner` as of an
    item.
    """

    rule_id: str
    trace_id: str
    user_id: str
    agent: str
    question: str
    lang: str
    source: str = ""
    collection: str = ""
    wrong: str = ""
    correction: str
    logic: str = ""
    state: RuleState
    reason: AnyText = ""
    reviewed_by: str = ""
    uses: int = 0
    used_at: float = 0.0
    created_at: float = 0.0
    updated_at: float = 0.0
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What a search for similar questions gave, best first: active items and rules with the
    similarity of their question to the one asked (cosine of the embedder, 0 to 1) and a `weight` of
    use, age and votes that ranks equals (1.0: neutral). `same`: it asks the same.
    """

    item: Confirmed | Rule
    similarity: float
    weight: float = 1.0
    same: bool = False


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

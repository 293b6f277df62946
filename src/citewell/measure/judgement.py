"""What became of a question, in two words, and how bad that is: misleading is worst."""

from __future__ import annotations

from typing import NamedTuple

from citewell.measure.figures import can_judge
from citewell.measure.report import Item


class Judgement(NamedTuple):
    """`kind` is good, bad or fair (neither); `badness` orders the list, the worst first."""

    words: str
    kind: str
    badness: float


def judge_item(item: Item) -> Judgement:
    if item.error:
        return Judgement("failed", "bad", 5.0)
    reply = item.answer
    if reply is not None and can_judge(item):
        if not item.answerable:
            return (
                Judgement("rightly refused", "good", 0.0)
                if reply.refused
                else Judgement("should refuse", "bad", 4.0)
            )
        if reply.right:
            return Judgement("right", "good", 0.0)
        if reply.refused:
            return Judgement("wrongly refused", "bad", 3.0)
        return Judgement("wrong", "bad", 4.0)
    if reply is not None and reply.refused and item.answerable:
        return Judgement("wrongly refused", "bad", 3.0)
    return _judge_search(item)


def _judge_search(item: Item) -> Judgement:
    found = item.search
    if found is None or found.figures is None:
        return Judgement("not judged", "fair", 0.0)
    if found.first is None:
        return Judgement("not found", "bad", 2.0)
    lost = 1 - found.figures["ndcg@10"]
    return Judgement(
        f"found at {found.first}", "good" if found.first == 1 else "fair", lost + (found.first > 1)
    )

"""Items and reports made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from citewell.measure import ranking
from citewell.measure.report import Cited, Found, Item, Replied, Report, Run, Searched
from citewell.measure.summary import build_report
from citewell.retrieve.confidence import Logistic

EVIDENCE = "Evidence <script>alert(1)</script>."
MODEL = Logistic(bias=-2.0, weights={"x": 4.0})


def searched(place: int | None, *, x: float = 0.8, seconds: float = 0.1) -> Searched:
    """One gold document, at that place of the ranking."""
    places = [frozenset({"d"}) if n == place else frozenset[str]() for n in range(1, 13)]
    return Searched(
        figures=ranking.measure_ranking(places, {"d": 1.0}),
        first=place,
        held=place is not None and place <= 3,
        confidence=0.7,
        signals={"x": x},
        without={"x": 0.1},
        seconds=seconds,
        found=[Found(doc_id="d", title="Title", page=2, gold=place == 1, score=1.0, text=EVIDENCE)],
    )


def replied(
    *, right: bool = True, refused: bool = False, confidence: float = 0.9, **more: Any
) -> Replied:
    cited = (
        []
        if refused
        else [Cited(n=1, title="Title", page=2, quote="words", gold=right, verbatim=True)]
    )
    values: dict[str, Any] = {
        "text": "Said <b>so</b>.",
        "said": "" if refused else "Said so.",
        "status": "refused" if refused else "answered",
        "refused": refused,
        "right": right and not refused,
        "contains": float(right and not refused),
        "em": 0.0,
        "f1": 0.5,
        "confidence": confidence,
        "citations": cited,
        "precision": float(right) if cited else None,
        "recall": float(right and not refused),
        "signals": {"x": confidence},
        "tier": "reader",
        "candidate_right": right,
        "seconds": 2.0,
    }
    return Replied(**(values | more))


def item(name: str, **changes: Any) -> Item:
    """Answerable, with one gold document found first, and not asked."""
    values: dict[str, Any] = {
        "dataset": "set",
        "id": name,
        "question": f"Question {name}?",
        "asked": f"Question {name}?",
        "lang": "en",
        "pair": "en",
        "group": name,
        "answerable": True,
        "answers": ["so"],
        "gold": ["d"],
        "search": searched(1),
    }
    return Item(**(values | changes))


def reported(items: Sequence[Item], **changes: Any) -> Report:
    run = Run(
        citewell="0",
        at="2026-11-22",
        datasets={name: name for name in dict.fromkeys(i.dataset for i in items)},
        corpora={},
        agent="qa",
        strategy="direct_chunk_search",
        only="",
        seed=1,
        limit=None,
        llm="scripted",
        embedder="scripted",
    )
    return build_report(
        items, of=changes.pop("of", len(items)), run=run, troubles=[], model=MODEL, **changes
    )


@pytest.fixture
def some() -> list[Item]:
    """Right, wrong, wrongly refused, rightly refused, answered though nothing answers, not found,
    failed.
    """
    no: dict[str, Any] = {"answerable": False, "answers": [], "gold": [], "search": None}
    return [
        item("right", answer=replied()),
        item("wrong", answer=replied(right=False, confidence=0.8), search=searched(4)),
        item("shy", answer=replied(refused=True, confidence=0.2), search=searched(2)),
        item("no", answer=replied(refused=True, confidence=0.1), **no),
        item("made up", answer=replied(right=False, confidence=0.6), **no),
        item("lost", search=searched(None)),
        item("failed", search=None, error="the disk is full"),
    ]

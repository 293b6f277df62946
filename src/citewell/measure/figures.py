"""From items to figures: one table says what each figure counts, over which items.

The one rule: a figure is a ratio of sums over items; a measure gives (above, below) for an item, or
None where the item says nothing about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from citewell.measure import ranking
from citewell.measure.intervals import Figure, Resampled, figure, percentile
from citewell.measure.report import Group, Item, Replied, Slice

Pair = tuple[float, float]
Measure = Callable[[Item], Pair | None]


def _searched(name: str) -> Measure:
    def measure(item: Item) -> Pair | None:
        return (item.search.figures[name], 1) if item.search and item.search.figures else None

    return measure


def _paged(name: str) -> Measure:
    def measure(item: Item) -> Pair | None:
        return (item.search.pages[name], 1) if item.search and item.search.pages else None

    return measure


def _of(
    value: Callable[[Replied], float | None], *, answerable: bool | None = None, given: bool = False
) -> Measure:
    """A value of the answer, over questions that are `answerable` (None: all) and, where `given`,
    not refused.
    """

    def measure(item: Item) -> Pair | None:
        reply = item.answer
        if (
            reply is None
            or (answerable is not None and item.answerable != answerable)
            or (given and reply.refused)
        ):
            return None
        number = value(reply)
        return None if number is None else (float(number), 1)

    return measure


def _worded(value: Callable[[Replied], float]) -> Measure:
    """A value of the wording, over answerable questions whose answer is known; a refusal counts as
    wrong.
    """
    inner = _of(value, answerable=True)
    return lambda item: inner(item) if item.answers or item.parts else None


def _refusals(item: Item) -> Pair | None:
    """Of the refusals, those that were due."""
    return (float(not item.answerable), 1) if item.answer and item.answer.refused else None


def _wrongly(item: Item) -> Pair | None:
    """Of the questions that have an answer, those refused; one with neither gold nor answers is not
    known to have any.
    """
    known = item.gold or item.answers or item.parts
    return (float(item.answer.refused), 1) if item.answer and item.answerable and known else None


def _quotes(item: Item) -> Pair | None:
    """Of all quotes, those that are their document's own words at the place they name."""
    quotes = item.answer.citations if item.answer else []
    return (float(sum(quote.verbatim for quote in quotes)), float(len(quotes))) if quotes else None


def _brier(item: Item, *, given: bool) -> Pair | None:
    """Squared error of the confidence (Brier 1950): that the answer shown is right; a refusal shows
    none.
    """
    reply = item.answer
    if reply is None or (given and reply.refused) or not judged(item):
        return None
    return (reply.confidence - float(reply.right)) ** 2, 1


def judged(item: Item) -> bool:
    """Whether it can be told if the answer is right: there is a gold one, or there is none to be
    had.
    """
    return bool(item.answers or item.parts) or not item.answerable


def _search_brier(item: Item) -> Pair | None:
    found = item.search
    return (
        ((found.confidence - float(found.held)) ** 2, 1)
        if found and found.figures and item.answerable
        else None
    )


FIGURES: dict[str, dict[str, Measure]] = {
    "retrieval": {name: _searched(name) for name in ranking.FIGURES},
    "pages": {name: _paged(name) for name in ranking.FIGURES},
    "answer": {
        "right": _worded(lambda r: float(r.right)),
        "contains": _worded(lambda r: r.contains),
        "em": _worded(lambda r: r.em),
        "f1": _worded(lambda r: r.f1),
    },
    "citations": {
        "verbatim": _quotes,
        "precision": _of(lambda r: r.precision, answerable=True, given=True),
        "recall": _of(lambda r: r.recall, answerable=True, given=True),
        "grounded": _of(lambda r: r.grounded, given=True),
    },
    "refusal": {
        "precision": _refusals,
        "recall": _of(lambda r: float(r.refused), answerable=False),
        "wrongly": _wrongly,
    },
    "confidence": {
        "brier": lambda item: _brier(item, given=False),
        "brier_answered": lambda item: _brier(item, given=True),
        "brier_search": _search_brier,
    },
    "cost": {
        "calls": _of(lambda r: float(r.calls)),
        "tokens": _of(lambda r: float(r.tokens)),
        "seconds": _of(lambda r: r.seconds),
    },
}


def columns(
    items: Sequence[Item], measure: Measure
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(above, below) of every item, shape (n,) each; nothing counts as 0 over 0."""
    pairs = [measure(item) or (0.0, 0.0) for item in items]
    return np.array([above for above, _ in pairs], dtype=np.float64), np.array(
        [below for _, below in pairs], dtype=np.float64
    )


def figures(items: Sequence[Item]) -> dict[str, dict[str, Figure | None]]:
    """Every figure of every group with its interval."""
    drawn = Resampled(len(items))
    return {
        group: {name: figure(*columns(items, measure), drawn) for name, measure in measures.items()}
        for group, measures in FIGURES.items()
    }


def latency(items: Sequence[Item]) -> Group:
    """Seconds of an answer and, as `search_*`, of a search, its embedding included; where there are
    no answers, of a search only.
    """
    searches = [item.search.seconds for item in items if item.search]
    answers = [item.answer.seconds for item in items if item.answer]
    values: Group = {
        "p50": percentile(answers or searches, 0.5),
        "p95": percentile(answers or searches, 0.95),
    }
    if answers:
        values |= {
            "search_p50": percentile(searches, 0.5),
            "search_p95": percentile(searches, 0.95),
        }
    return values


def slices(items: Sequence[Item]) -> list[Slice]:
    """The figures of each data set and of each pair of languages, where there are several; without
    intervals.
    """
    found = []
    by: dict[str, Callable[[Item], str]] = {
        "dataset": lambda item: item.dataset,
        "languages": lambda item: item.pair,
    }
    for title, key in by.items():
        names = list(dict.fromkeys(key(item) for item in items))
        if len(names) > 1:
            found += [
                _slice(f"{title} {name}", [item for item in items if key(item) == name])
                for name in names
            ]
    return found


def _slice(name: str, items: Sequence[Item]) -> Slice:
    values: dict[str, Group] = {"latency_s": latency(items)}
    for group, measures in FIGURES.items():
        values[group] = {}
        for figure_name, measure in measures.items():
            above, below = columns(items, measure)
            values[group][figure_name] = float(above.sum() / below.sum()) if below.sum() else None
    return Slice(name=name, n=len(items), figures=values)

"""From items to figures: one table says what each figure counts, over which items. A figure is a
ratio of sums over items; a measure gives (above, below) for an item, or None where the item says
nothing about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from citewell.measure import ranking
from citewell.measure.intervals import Figure, Resampled, compute_figure, compute_percentile
from citewell.measure.report import Group, Item, Replied, Slice

Pair = tuple[float, float]
Measure = Callable[[Item], Pair | None]


def _measure_search(name: str) -> Measure:
    def measure(item: Item) -> Pair | None:
        return (item.search.figures[name], 1) if item.search and item.search.figures else None

    return measure


def _measure_pages(name: str) -> Measure:
    def measure(item: Item) -> Pair | None:
        return (item.search.pages[name], 1) if item.search and item.search.pages else None

    return measure


def _measure_answer(
    value: Callable[[Replied], float | None], *, answerable: bool | None = None, given: bool = False
) -> Measure:
    """A value of the answer over `answerable` questions (None: all), `given`: not refused."""

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


def _measure_wording(value: Callable[[Replied], float]) -> Measure:
    """A value of the wording, over answerable questions with a gold answer; a refusal is wrong."""
    inner = _measure_answer(value, answerable=True)
    return lambda item: inner(item) if item.answers or item.parts else None


def _count_due_refusals(item: Item) -> Pair | None:
    """Of the refusals, those that were due."""
    return (float(not item.answerable), 1) if item.answer and item.answer.refused else None


def _count_wrong_refusals(item: Item) -> Pair | None:
    """Of questions with an answer, those refused; without gold and answers unknown."""
    known = item.gold or item.answers or item.parts
    return (float(item.answer.refused), 1) if item.answer and item.answerable and known else None


def _count_verbatim_quotes(item: Item) -> Pair | None:
    """Of all quotes, those that are their document's own words at the place they name."""
    quotes = item.answer.citations if item.answer else []
    return (float(sum(quote.verbatim for quote in quotes)), float(len(quotes))) if quotes else None


def _compute_brier(item: Item, *, given: bool) -> Pair | None:
    """Squared error of the confidence that the answer shown is right (Brier 1950)."""
    reply = item.answer
    if reply is None or (given and reply.refused) or not can_judge(item):
        return None
    return (reply.confidence - float(reply.right)) ** 2, 1


def can_judge(item: Item) -> bool:
    """Whether an answer can be held to be right: there is a gold one, or none to be had."""
    return bool(item.answers or item.parts) or not item.answerable


def _compute_search_brier(item: Item) -> Pair | None:
    found = item.search
    return (
        ((found.confidence - float(found.held)) ** 2, 1)
        if found and found.figures and item.answerable
        else None
    )


FIGURES: dict[str, dict[str, Measure]] = {
    "retrieval": {name: _measure_search(name) for name in ranking.FIGURES},
    "pages": {name: _measure_pages(name) for name in ranking.FIGURES},
    "answer": {
        "right": _measure_wording(lambda r: float(r.right)),
        "contains": _measure_wording(lambda r: r.contains),
        "em": _measure_wording(lambda r: r.em),
        "f1": _measure_wording(lambda r: r.f1),
    },
    "citations": {
        "verbatim": _count_verbatim_quotes,
        "precision": _measure_answer(lambda r: r.precision, answerable=True, given=True),
        "recall": _measure_answer(lambda r: r.recall, answerable=True, given=True),
        "grounded": _measure_answer(lambda r: r.grounded, given=True),
    },
    "refusal": {
        "precision": _count_due_refusals,
        "recall": _measure_answer(lambda r: float(r.refused), answerable=False),
        "wrongly": _count_wrong_refusals,
    },
    "confidence": {
        "brier": lambda item: _compute_brier(item, given=False),
        "brier_answered": lambda item: _compute_brier(item, given=True),
        "brier_search": _compute_search_brier,
    },
    "cost": {
        "calls": _measure_answer(lambda r: float(r.calls)),
        "tokens": _measure_answer(lambda r: float(r.tokens)),
        "seconds": _measure_answer(lambda r: r.seconds),
    },
}


def collect_columns(
    items: Sequence[Item], measure: Measure
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(above, below) of every item, shape (n,) each; nothing counts as 0 over 0."""
    pairs = [measure(item) or (0.0, 0.0) for item in items]
    return np.array([above for above, _ in pairs], dtype=np.float64), np.array(
        [below for _, below in pairs], dtype=np.float64
    )


def compute_figures(items: Sequence[Item]) -> dict[str, dict[str, Figure | None]]:
    """Every figure of every group with its interval."""
    drawn = Resampled(len(items))
    return {
        group: {
            name: compute_figure(*collect_columns(items, measure), drawn)
            for name, measure in measures.items()
        }
        for group, measures in FIGURES.items()
    }


def compute_latency(items: Sequence[Item]) -> Group:
    """Seconds of an answer and, as `search_*`, of a search, its embedding included; where there are
    no answers, of a search only.
    """
    searches = [item.search.seconds for item in items if item.search]
    answers = [item.answer.seconds for item in items if item.answer]
    values: Group = {
        "p50": compute_percentile(answers or searches, 0.5),
        "p95": compute_percentile(answers or searches, 0.95),
    }
    if answers:
        values |= {
            "search_p50": compute_percentile(searches, 0.5),
            "search_p95": compute_percentile(searches, 0.95),
        }
    return values


def compute_slices(items: Sequence[Item]) -> list[Slice]:
    """The figures of each data set and pair of languages, if several; without intervals."""
    found = []
    by: dict[str, Callable[[Item], str]] = {
        "dataset": lambda item: item.dataset,
        "languages": lambda item: item.pair,
    }
    for title, key in by.items():
        names = list(dict.fromkeys(key(item) for item in items))
        if len(names) > 1:
            found += [
                _compute_slice(f"{title} {name}", [item for item in items if key(item) == name])
                for name in names
            ]
    return found


def _compute_slice(name: str, items: Sequence[Item]) -> Slice:
    values: dict[str, Group] = {"latency_s": compute_latency(items)}
    for group, measures in FIGURES.items():
        values[group] = {}
        for figure_name, measure in measures.items():
            above, below = collect_columns(items, measure)
            values[group][figure_name] = float(above.sum() / below.sum()) if below.sum() else None
    return Slice(name=name, n=len(items), figures=values)

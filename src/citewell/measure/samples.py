"""What the two confidences are fitted on, taken from the items of an evaluation. A search counts
twice, as it was and with its gold documents taken away; both are of one group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from citewell.measure.calibration import Sample, fit, fit_choice, measure_reliability
from citewell.measure.figures import can_judge
from citewell.measure.report import Fit, Item, Reliability

PICK = "answer:pick"  # the fit of which candidate is quoted
LOST = 0.08  # share of the right answers that a threshold may refuse
SignalsOf = Callable[[Item], list[tuple[dict[str, float], bool]]]


def label_searches(item: Item) -> list[tuple[dict[str, float], bool]]:
    """Held: gold among the best three. Not held: the same hits without gold."""
    found = item.search
    if found is None or found.figures is None or not item.answerable or not found.signals:
        return []
    return [(found.signals, found.held)] + ([(found.without, False)] if found.without else [])


def label_picks(item: Item) -> list[tuple[dict[str, float], bool]]:
    """Of what the reader marked in each passage, where some of it is right: is it?"""
    found = item.answer.candidates if item.answer and item.answerable and can_judge(item) else []
    return (
        [(each.signals, each.right) for each in found] if any(each.right for each in found) else []
    )


def make_answer_labeller(tier: str, pick: Fit | None = None) -> SignalsOf:
    """Of the answers that were decided on in this tier, shown or not: was it the right one? `pick`:
    a new fit of which of the reader's candidates is decided on.
    """

    def of(item: Item) -> list[tuple[dict[str, float], bool]]:
        reply = item.answer
        if reply is None or reply.tier != tier or reply.signals is None or not can_judge(item):
            return []
        if pick is None or not reply.candidates:
            return [(reply.signals, item.answerable and reply.candidate_right)]
        best = max(
            reply.candidates,
            key=lambda candidate: sum(w * candidate.signals[n] for n, w in pick.weights.items()),
        )
        return [(reply.signals | best.signals, item.answerable and best.right)]

    return of


def list_tiers(items: Sequence[Item]) -> list[str]:
    """The tiers in which answers were decided on."""
    return sorted({item.answer.tier for item in items if item.answer and item.answer.tier})


def choose_threshold(chances: Sequence[float], labels: Sequence[bool]) -> float:
    """The highest threshold under which at most LOST of the right answers lie."""
    right = sorted(chance for chance, label in zip(chances, labels, strict=True) if label)
    return math.floor(1000 * right[int(LOST * len(right))]) / 1000 if right else 0.5


def build_samples(items: Sequence[Item], of: SignalsOf) -> list[Sample]:
    return [
        Sample(
            signals,
            label,
            f"{item.dataset}:{item.group}",
            item.pair,
            item.dataset,
            f"{item.dataset}:{item.id}",
        )
        for item in items
        for signals, label in of(item)
    ]


def fit_weights(name: str, items: Sequence[Item], of: SignalsOf) -> Fit | None:
    """The weights and their figures, in all and by language pair; None where nothing is learned."""
    given = build_samples(items, of)
    made = (fit_choice if name == PICK else fit)(given) if given else None
    if made is None:
        return None
    pairs: dict[str, Reliability] = {}
    for pair in sorted({sample.pair for sample in given}):
        inside = [at for at, sample in enumerate(given) if sample.pair == pair]
        part = measure_reliability(made.chances[inside], [given[at].label for at in inside])
        if part:
            pairs[pair] = part
    whole = measure_reliability(made.chances, [sample.label for sample in given])
    assert whole is not None, "there are samples"
    threshold = (
        choose_threshold([float(c) for c in made.chances], [s.label for s in given])
        if name != "retrieval"
        else 0.5
    )
    return Fit(
        name=name,
        weights=made.weights,
        bias=made.bias,
        threshold=threshold,
        whole=whole,
        pairs=pairs,
    )


def measure_in_force(
    items: Sequence[Item], model: Callable[[dict[str, float]], float]
) -> dict[str, Reliability]:
    """How well the confidences foretold that were in force when the items were made; `model` rates
    searches without gold.
    """
    searched = [
        (model(signals), label) for item in items for signals, label in label_searches(item)
    ]
    answered = [
        (i.answer.confidence, i.answer.right)
        for i in items
        if i.answer and not i.answer.refused and can_judge(i)
    ]
    found = {"retrieval": searched, "answer": answered}
    rated = {
        name: measure_reliability([c for c, _ in pairs], [t for _, t in pairs])
        for name, pairs in found.items()
    }
    return {name: one for name, one in rated.items() if one}

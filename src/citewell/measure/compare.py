"""Two reports side by side: what changed, by how much, and whether that is more than chance. Only
questions that both reports have are compared, item by item, so the interval is of the difference
itself.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from citewell.measure.figures import FIGURES, collect_columns
from citewell.measure.intervals import Figure, Resampled, compute_difference
from citewell.measure.report import Item, Report
from citewell.text.split_words import split_words

MATTERS = 0.01  # a change of an item's figure smaller than this is not shown
# Of all that differ, in one direction: with fewer no sign test is sure at 5 % (2 x 0.5^5 = 0.06),
# whatever the interval says.
FEWEST = 6
# of sums: items that count in one of the reports only are part of them
RATIOS = {"refusal.precision", "citations.verbatim"}
BETTER_WHEN_LOW = split_words(
    """
    refusal.wrongly confidence.brier confidence.brier_answered confidence.brier_search
    cost.calls cost.tokens cost.seconds
    """
)


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Difference(Part):
    """One figure of both reports over the same questions, those that it counts in both (answers
    given in both, say). `better`: None where the interval of the change holds 0, or too few
    questions differ.
    """

    name: str
    old: float
    new: float
    change: Figure
    better: bool | None


class Changed(Part):
    """A question that went otherwise. `gain`: above 0 it got better."""

    what: str
    gain: float
    old: Item
    new: Item


class Comparison(Part):
    """`only_old`, `only_new`: questions that the other report does not have."""

    both: int
    only_old: int
    only_new: int
    differences: list[Difference]
    changed: list[Changed]


def compare_reports(old: Report, new: Report) -> Comparison:
    """Questions are the same where data set and id are."""
    before, after = {i.key: i for i in old.items}, {i.key: i for i in new.items}
    keys = [key for key in after if key in before]
    ours, theirs = [before[key] for key in keys], [after[key] for key in keys]
    return Comparison(
        both=len(keys),
        only_old=len(before) - len(keys),
        only_new=len(after) - len(keys),
        differences=_compute_differences(ours, theirs),
        changed=_find_changed(ours, theirs),
    )


def _compute_differences(old: list[Item], new: list[Item]) -> list[Difference]:
    drawn = Resampled(len(old))
    found = []
    for group, measures in FIGURES.items():
        for name, measure in measures.items():
            full = f"{group}.{name}"
            before, after = collect_columns(old, measure), collect_columns(new, measure)
            if full not in RATIOS:
                both = (before[1] > 0) & (after[1] > 0)
                before, after = (
                    (before[0] * both, before[1] * both),
                    (after[0] * both, after[1] * both),
                )
            change = compute_difference(before, after, drawn)
            if change is None:
                continue
            sides = [float(above.sum() / below.sum()) for above, below in (before, after)]
            sign = -1 if full in BETTER_WHEN_LOW else 1
            differ = int(((before[0] != after[0]) | (before[1] != after[1])).sum())
            chance = differ < FEWEST or change.low <= 0 <= change.high
            sure = None if chance else sign * change.value > 0
            found.append(
                Difference(name=full, old=sides[0], new=sides[1], change=change, better=sure)
            )
    return found


def _find_changed(old: list[Item], new: list[Item]) -> list[Changed]:
    """Questions that turned right or wrong, or whose first gold moved; greatest change first."""
    found = []
    for before, after in zip(old, new, strict=True):
        if before.answer and after.answer and _is_well_answered(before) != _is_well_answered(after):
            gain = float(_is_well_answered(after)) - float(_is_well_answered(before))
            found.append(Changed(what="answer", gain=gain, old=before, new=after))
        elif before.search and after.search and before.search.figures and after.search.figures:
            gain = after.search.figures["ndcg@10"] - before.search.figures["ndcg@10"]
            if abs(gain) >= MATTERS:
                found.append(Changed(what="search", gain=gain, old=before, new=after))
    return sorted(found, key=lambda c: (c.what, c.gain))


def _is_well_answered(item: Item) -> bool:
    """Answered right, or rightly refused."""
    if item.answer is None:
        return False
    return item.answer.right if item.answerable else item.answer.refused

"""Choose the few sentences that a report rests on: by cue and place first, then by meaning, none
twice. Few are embedded. Words choose who may stand at all; meaning only orders them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import anyio.to_thread

from citewell.models.base import Embedder, Vector
from citewell.retrieve.rank import stretch_cosines
from citewell.skills.guide.cue_words import ASKED
from citewell.skills.guide.cues import score_cues
from citewell.skills.guide.paper_name import OwnWork
from citewell.skills.guide.quotable import SAME_WORDS, Line, is_near_duplicate
from citewell.skills.paper.reading_context import OpenPaper, Slot

SLOTS: Final[tuple[Slot, ...]] = ("problem", "contributions", "method", "results", "limits")
# in this order slots choose: what is said best in one place only goes first
CHOOSING: Final[tuple[Slot, ...]] = ("contributions", "results", "limits", "problem", "method")
MOST: Final[Mapping[Slot, int]] = {
    "problem": 2,
    "contributions": 3,
    "method": 4,
    "results": 4,
    "limits": 4,
}
# sentences a slot that meaning is asked of: 60 at most, about two seconds of the packaged embedder
HEARD = 12
# of role and cues together: a sentence of the right part with one cue passes, one of neither does
# not
LEAST = 0.9
# what closeness to the slot's description counts, that to the abstract half of it: a cue counts 0.3
# to 0.8
MEANING = 0.8
# cosine at which two sentences of one paper say the same; its sentences are all near each other
# (0.80 to 0.93)
SAME = 0.955
# share of words at which a sentence is that of another slot: what a paper adds and how it works
# share names
ELSEWHERE = 0.7
CROWDED = 0.25  # what a third sentence of the same part costs, so that a slot draws on several


async def pick_lines(
    book: OpenPaper, lines: Sequence[Line], own: OwnWork, embedder: Embedder
) -> dict[Slot, list[Line]]:
    """The sentences of each slot, in the paper's order; empty where the paper has none."""
    scored = await anyio.to_thread.run_sync(
        lambda: {slot: _rank_by_cues(slot, lines, own) for slot in SLOTS}
    )
    pool = list({line.order: line for held in scored.values() for line, _ in held}.values())
    if not pool:
        return {slot: [] for slot in SLOTS}
    lang = "zh" if book.paper.lang == "zh" else "en"
    vectors = await embedder.passages(
        [line.text for line in pool]
        + [ASKED[slot][lang] for slot in SLOTS]
        + [_get_title_and_abstract(book)]
    )
    row = {line.order: vectors[i] for i, line in enumerate(pool)}
    about = vectors[len(pool) :]
    return await anyio.to_thread.run_sync(lambda: _choose_lines(scored, row, about))


def _choose_lines(
    scored: Mapping[Slot, Sequence[tuple[Line, float]]], row: Mapping[int, Vector], about: Vector
) -> dict[Slot, list[Line]]:
    """`about`: what each slot asks for and, last, the paper in short."""
    asked, short = about[:-1], about[-1]
    near_short = {order: float(stretch_cosines(each @ short)) for order, each in row.items()}
    chosen: dict[Slot, list[Line]] = {}
    for slot in CHOOSING:
        want = asked[SLOTS.index(slot)]
        near = {
            n: float(stretch_cosines(each @ want)) + near_short[n] / 2 for n, each in row.items()
        }
        total = {line.order: score + MEANING * near[line.order] for line, score in scored[slot]}
        held = [line for line, _ in scored[slot]]
        taken = [line for each in chosen.values() for line in each]
        picked = _pick_greedily(held, total, row, taken, MOST[slot])
        chosen[slot] = sorted(picked, key=lambda line: line.order)
    return chosen


def _rank_by_cues(slot: Slot, lines: Sequence[Line], own: OwnWork) -> list[tuple[Line, float]]:
    """The best by words alone."""
    scored = [(line, score) for line in lines if (score := score_cues(slot, line, own)) >= LEAST]
    return sorted(scored, key=lambda each: -each[1])[:HEARD]


def _pick_greedily(
    held: Sequence[Line],
    total: Mapping[int, float],
    row: Mapping[int, Vector],
    taken: Sequence[Line],
    most: int,
) -> list[Line]:
    """The best one by one, each with what is already said left out."""
    picked: list[Line] = []

    def rate(line: Line) -> float:
        crowd = sum(other.part is line.part for other in picked)
        return total[line.order] - CROWDED * max(0, crowd - 1)

    left = [x for x in held if not any(_is_duplicate(x, other, row, ELSEWHERE) for other in taken)]
    while left and len(picked) < most:
        best = max(left, key=rate)
        picked.append(best)
        left = [line for line in left if not _is_duplicate(line, best, row)]
    return picked


def _is_duplicate(
    one: Line, other: Line, row: Mapping[int, Vector], most: float = SAME_WORDS
) -> bool:
    return (
        one.order == other.order
        or is_near_duplicate(one, other, most)
        or float(row[one.order] @ row[other.order]) >= SAME
    )


def _get_title_and_abstract(book: OpenPaper) -> str:
    """Title and abstract, as much as the embedder reads."""
    start, end = book.paper.abstract or (0, 0)
    return f"{book.paper.title}\n{book.document.text[start:end][:1_000]}"

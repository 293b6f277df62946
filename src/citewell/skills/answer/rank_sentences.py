"""Of the sentences of all passages those that serve a question best: by likeness in meaning of each
under its headings, shared words, the search's score, and what the reader finds in it. How much each
of these counts is fitted (`sentence` in `calibration.json`), not written here.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.errors import ModelUnavailable
from citewell.models.base import Embedder
from citewell.models.reader_base import Reader, Reading
from citewell.retrieve.confidence import Logistic
from citewell.retrieve.rank import compute_coverage
from citewell.skills.answer.draft import DraftSentence
from citewell.skills.evidence.numbered import Unit, number_sentences
from citewell.skills.evidence.passages import Passage

FURTHEST_SPAN = -20.0  # log-odds of a span below which differences say nothing
FURTHEST = -6.0  # how far behind the best a passage counts, in the units of a search's score
UNREAD = Reading(0, 0, 0.0, 0.0)
# share of the best one's score that a sentence needs to be shown beside it: chosen with their
# number on 116 questions over 16 papers of QASPER (docs/evaluation.md)
BESIDE = 0.2
READ = 40  # sentences nearest in meaning that the reader looks at one by one: 0.01 CPU seconds each


async def rank_sentences(
    question: str,
    passages: Sequence[Passage],
    reader: Reader | None,
    embedder: Embedder | None,
    weigh: Logistic,
    most: int,
) -> tuple[list[DraftSentence], list[float]]:
    """The best sentences, best first, and how good each is: `most` at most, and none that is much
    worse than the best. Headings answer nothing.
    """
    measured = await measure_sentences(question, passages, reader, embedder)
    return pick_best([(sentence, weigh(signals)) for sentence, signals in measured], most)


async def measure_sentences(
    question: str,
    passages: Sequence[Passage],
    reader: Reader | None,
    embedder: Embedder | None,
) -> list[tuple[DraftSentence, dict[str, float]]]:
    """The sentences nearest in meaning, each with its signals and the words that answer marked."""
    units = _list_answering_units(passages)
    cosines = await _compare_meanings(question, units, embedder)
    shares = compute_coverage(question, [unit.text for unit in units])
    near = sorted(range(len(units)), key=lambda n: (-cosines[n], -shares[n]))[:READ]
    readings = await _read_sentences(question, [units[n] for n in near], reader)
    top = max(each.hit.score for each in passages)
    measured = []
    for n, reading in zip(near, readings, strict=True):
        signals = {
            "cosine": cosines[n],
            "coverage": float(shares[n]),
            "behind": _measure_behind(units[n], top),
            "span": max(FURTHEST_SPAN, reading.span_score),
        }
        marked = [reading.start, reading.end] if reading.span_score > 0 else []
        sentence = DraftSentence(text=units[n].text, evidence=[units[n].id], span=marked)
        measured.append((sentence, signals))
    return measured


def pick_best(
    scored: Sequence[tuple[DraftSentence, float]], most: int
) -> tuple[list[DraftSentence], list[float]]:
    """Best first: one where it stands out, up to `most` where many are about as good."""
    ranked = sorted(scored, key=lambda each: -each[1])[:most]
    kept = [each for each in ranked if each[1] >= BESIDE * ranked[0][1]]
    return [sentence for sentence, _ in kept], [score for _, score in kept]


def _list_answering_units(passages: Sequence[Passage]) -> list[Unit]:
    """Every sentence once, of its best passage, without headings where there is else."""
    every = sorted(number_sentences(passages), key=lambda unit: unit.passage.hit.score)
    units = list({unit.text: unit for unit in every}.values())
    headings = {name for each in passages for name in (each.hit.title, *each.hit.heading_path)}
    return [unit for unit in units if unit.text.strip() not in headings] or units


async def _read_sentences(
    question: str, units: Sequence[Unit], reader: Reader | None
) -> list[Reading]:
    """What the reader finds in each sentence under its headings; all alike where nothing reads."""
    if reader is None:
        return [UNREAD] * len(units)
    headings = [f"{unit.passage.heading}\n" for unit in units]
    return await reader.read(question, [unit.text for unit in units], headings)


def _measure_behind(unit: Unit, top: float) -> float:
    """How far the search puts its passage behind the best; what a question names has no score of a
    search, and is as good as the best.
    """
    score = unit.passage.hit.score
    return max(FURTHEST, score - top) if score else 0.0


async def _compare_meanings(
    question: str, units: Sequence[Unit], embedder: Embedder | None
) -> list[float]:
    """All alike where nothing can be embedded: the search warned, other signals are there."""
    if embedder is None:
        return [0.0] * len(units)
    texts = [f"{' › '.join(unit.passage.hit.heading_path)}\n{unit.text}" for unit in units]
    try:
        cosines = await embedder.passages(texts) @ await embedder.query(question)
    except ModelUnavailable:
        return [0.0] * len(units)
    return [float(each) for each in cosines]

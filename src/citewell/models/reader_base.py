"""What reads: a small model that finds the answer to a question in a passage, and judges a claim by
its evidence. A reader gives figures, not decisions. Its probabilities are calibrated; what follows
from them is the caller's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Verdict = Literal["entailed", "not_stated", "contradicted"]
Pair = tuple[str, str]  # a claim and the evidence that it is judged by


@dataclass(frozen=True, slots=True)
class Reading:
    """The best answer of one passage: `passage[start:end]`, both 0 where the passage has no text.

    `answerable`: probability that the passage answers the question. `span_score`: log-odds of the
    span against no span; it compares spans of several passages for one question.
    """

    start: int
    end: int
    answerable: float
    span_score: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the evidence says of a claim: three probabilities, sum 1. `unsupported`: ranges of the
    claim's characters that the evidence does not back, in order, none of them touching.
    """

    entailed: float
    not_stated: float
    contradicted: float
    unsupported: tuple[tuple[int, int], ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The most probable of the three."""
        names: dict[Verdict, float] = {
            "entailed": self.entailed,
            "not_stated": self.not_stated,
            "contradicted": self.contradicted,
        }
        return max(names, key=names.__getitem__)


class Reader(Protocol):
    """Chinese and English, and either language on the other. Raises ModelUnavailable, nothing else.
    `judges`: whether its judgements have passed the gates of `training/reader/`, so that they may
    tick a worded sentence. `same_threshold`: the probability from which on two questions count as
    asking the same; None where it has not passed its gate for that.
    """

    name: str

    @property
    def judges(self) -> bool: ...

    @property
    def same_threshold(self) -> float | None: ...

    async def read(
        self, question: str, passages: Sequence[str], headings: Sequence[str] = ()
    ) -> list[Reading]:
        """One reading for each passage, in order. `headings`: of each passage the title and
        headings that it stands under, which belong to what it says and are no answer; none where
        they are not known.
        """
        ...

    async def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """One judgement for each pair of claim and evidence, in order."""
        ...

    async def compare_questions(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Of each pair of questions, in order, the probability that they ask the same, whichever
        comes first. Raises ModelUnavailable also where `same_threshold` is None.
        """
        ...

    async def close(self) -> None: ...

"""The reader: a small trained model that finds the answer in a passage or says it is not there, and judges claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Reading:
    """What a passage says to a question: the best span, `passage[start:end]`, the probability that it is the right one among
    all spans, and the probability that the passage holds an answer at all.
    """

    start: int
    end: int
    span_score: float
    answerable: float


@dataclass(frozen=True, slots=True)
class Entailment:
    """What evidence says to a claim: three probabilities that sum to 1. `unsupported`: character ranges of the claim that the
    evidence does not back.
    """

    entailed: float
    not_stated: float
    contradicted: float
    unsupported: tuple[tuple[int, int], ...] = ()


class Reader(Protocol):
    """Raises ModelUnavailable. `judges`: whether it has passed the gates for judging claims."""

    name: str
    judges: bool

    async def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """One reading a passage, in order."""
        ...

    async def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """One judgement a pair of claim and evidence, in order."""
        ...

    async def close(self) -> None: ...

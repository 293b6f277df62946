"""What a check takes and gives on every channel, with the bounds of every way in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from citewell.messages import AnyText
from citewell.types import Citation, Shown

LONGEST = 20_000  # characters of a text
LONGEST_CLAIM = 4_000  # characters of a claim
LONGEST_EVIDENCE = 20_000  # characters of one text that comes with a claim
MOST_EVIDENCE = 100  # texts that come with a claim
MOST_PAIRS = 10_000
MOST_PAIRS_SENT = 200  # in one request
CheckVerdict = Literal["entailed", "contradicted", "not_stated"]


class CheckedSentence(Shown):
    """A sentence of the text, `text[start:end]`; `score`: probability that the documents entail it.
    `citations`: what shows the verdict; of a sentence that is not stated the nearest that was
    found.
    """

    text: str
    start: int
    end: int
    verdict: CheckVerdict
    score: float = Field(ge=0.0, le=1.0)
    reason: AnyText = ""
    citations: list[int] = Field(default=[])


class CheckResult(Shown):
    """`judge`: who judged, empty for quotations only; `measured`: it has passed the gates."""

    sentences: list[CheckedSentence]
    citations: list[Citation] = Field(default=[])
    collections: list[str] = Field(default=[])
    judge: str = ""
    measured: bool = False
    seconds: float = 0.0
    warnings: list[AnyText] = Field(default=[])


class Pair(Shown):
    """A claim with its evidence. `question`: what the claim answers, where that matters."""

    id: str = Field(max_length=200)
    claim: str = Field(min_length=1, max_length=LONGEST_CLAIM)
    evidence: list[Annotated[str, Field(max_length=LONGEST_EVIDENCE)]] = Field(
        max_length=MOST_EVIDENCE
    )
    question: str = Field("", max_length=LONGEST_CLAIM)


class PairVerdict(Shown):
    """`score`: probability that the evidence entails the claim."""

    id: str
    verdict: CheckVerdict
    score: float


class PairsResult(Shown):
    """One item a pair, in order; `judge` and `measured` as of a text."""

    items: list[PairVerdict]
    judge: str = ""
    measured: bool = False
    warnings: list[AnyText] = Field(default=[])


class CheckRequest(Shown):
    """Either a text against collections (none: the default), or pairs with their evidence."""

    text: str = Field("", max_length=LONGEST)
    collections: list[str] = Field(default=[], max_length=100)
    pairs: list[Pair] = Field(default=[], max_length=MOST_PAIRS_SENT)

"""The reader as judge: each claim against the sentences it names, else the nearest."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.messages import Text
from citewell.models import reader_base as reader
from citewell.models.reader_base import Reader
from citewell.retrieve.rank import compute_coverage
from citewell.skills.evidence.numbered import Unit
from citewell.skills.proof.judge import Claim, Judgement

NEAREST = 3  # sentences that a claim is held against where it names none
# probability from which a claim counts as entailed: the reader's figures are calibrated
ENTAILED = 0.5


class ReaderJudge:
    """Implements `Judge`. One pair a claim: its sentences, with the title they stand under."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.name = reader.name

    async def judge(
        self,
        question: str,  # noqa: ARG002 - part of the protocol
        claims: Sequence[Claim],
        units: Sequence[Unit],
    ) -> list[Judgement]:
        """Of a statement that something is not told the reader knows nothing: it is not stated."""
        bearing = [claim.evidence or find_nearest_units(claim.text, units) for claim in claims]
        pairs = [
            (claim.text, join_units(evidence))
            for claim, evidence in zip(claims, bearing, strict=True)
        ]
        found = await self._reader.judge(pairs)
        return [_build_judgement(c, e, b) for c, e, b in zip(claims, found, bearing, strict=True)]


def find_nearest_units(text: str, units: Sequence[Unit], most: int = NEAREST) -> tuple[Unit, ...]:
    """The sentences that hold most of the text's words, in the order of the evidence."""
    shares = compute_coverage(text, [unit.text for unit in units])
    best = sorted(range(len(units)), key=lambda n: -shares[n])[:most]
    return tuple(units[n] for n in sorted(best))


def join_units(units: Sequence[Unit]) -> str:
    """Their text, headed by the title and headings that they stand under."""
    headings = dict.fromkeys(unit.passage.heading for unit in units)
    return "\n".join(
        [*(heading for heading in headings if heading), *(unit.text for unit in units)]
    )


def _build_judgement(
    claim: Claim, found: reader.Judgement, evidence: tuple[Unit, ...]
) -> Judgement:
    if claim.kind == "not_told":
        return Judgement(
            "not_stated",
            found.not_stated,
            reason=Text("the reader cannot tell that something is missing"),
        )
    if found.entailed >= ENTAILED:
        return Judgement("entailed", found.entailed, evidence)
    refuted = found.contradicted >= found.not_stated
    return Judgement(
        "contradicted" if refuted else "not_stated",
        found.entailed,
        evidence,
        _build_reason(claim, found),
    )


def _build_reason(claim: Claim, found: reader.Judgement) -> str:
    """The words that the evidence does not back, where the reader marks some."""
    words = [claim.text[start:end] for start, end in found.unsupported]
    return Text("not backed: {words}", words=", ".join(words)) if words else ""

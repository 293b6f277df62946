"""What a judge is asked and says. Providers beside: connected, reader, scripted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from citewell.skills.evidence.numbered import Unit
from citewell.types import Kind

JudgeVerdict = Literal["entailed", "contradicted", "not_stated"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement to judge. `evidence`: sentences that it names; a judge may look at others."""

    text: str
    kind: Kind = "fact"
    evidence: tuple[Unit, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """`score`: probability that the claim is entailed. `evidence`: the sentences that settle it.
    `reason`: what is wrong, in a few words, for a claim that is not entailed. `calculation`: the
    equation that was computed again.
    """

    verdict: JudgeVerdict
    score: float
    evidence: tuple[Unit, ...] = ()
    reason: str = ""
    calculation: str = ""


class Judge(Protocol):
    """Raises what the model behind it raises."""

    name: str

    async def judge(
        self, question: str, claims: Sequence[Claim], units: Sequence[Unit]
    ) -> list[Judgement]:
        """One judgement a claim, in order, by the numbered sentences `units`."""
        ...

"""A connected model as judge: one call for all statements over the same evidence."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field, field_validator

from citewell.messages import Text
from citewell.models.base import LLM
from citewell.models.prompt import ask_json, fill_prompt, load_prompt
from citewell.skills.answer.draft import build_evidence_messages
from citewell.skills.evidence.numbered import Unit, normalize_ids, pick_units, strip_ids
from citewell.skills.proof.judge import Claim, Judgement, JudgeVerdict
from citewell.text.sentences import count_tokens, detect_language

LONGEST_REPLY = 1_500  # tokens
# Probability of `entailed` that stands for each verdict word: a connected model gives no usable
# figure of its own.
SCORES: dict[JudgeVerdict, float] = {"entailed": 0.97, "not_stated": 0.1, "contradicted": 0.02}


class StatementVerdict(BaseModel):
    """`n`: the number of the statement."""

    n: int
    verdict: JudgeVerdict
    evidence: list[str] = []
    reason: str = ""

    @field_validator("evidence", mode="before")
    @classmethod
    def _as_texts(cls, value: object) -> object:
        return normalize_ids(value)


class Verdicts(BaseModel):
    """The reply to a batch of statements."""

    verdicts: list[StatementVerdict] = Field(min_length=1)


class LLMJudge:
    """Implements `Judge`. Evidence stands as in the answer call, for the prompt cache."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        self.name = llm.name

    async def judge(
        self, question: str, claims: Sequence[Claim], units: Sequence[Unit]
    ) -> list[Judgement]:
        """A statement that the reply leaves out is not stated."""
        if not claims:
            return []
        units = _fit_evidence(units, claims, self._llm.evidence_tokens)
        lines = [
            f"{n}. {_flatten_text(claim.text)}{_format_evidence_ids(claim)}"
            for n, claim in enumerate(claims, start=1)
        ]
        template = load_prompt(
            f"skills/prompts/judge.{detect_language(question or claims[0].text)}.md"
        )
        task = fill_prompt(template, statements="\n".join(lines))[0].content
        reply = await ask_json(
            self._llm,
            build_evidence_messages(question, units, task),
            Verdicts,
            max_tokens=LONGEST_REPLY,
        )
        said = {each.n: each for each in reply.verdicts}
        return [_build_judgement(said.get(n), units) for n in range(1, len(claims) + 1)]


def _fit_evidence(units: Sequence[Unit], claims: Sequence[Claim], budget: int) -> Sequence[Unit]:
    """All of them, or where a judge of its own has less room than the model that writes, those that
    statements name before the others, in their order.
    """
    costs = {unit.id: count_tokens(unit.text) for unit in units}
    if sum(costs.values()) <= budget:
        return units
    named = {unit.id for claim in claims for unit in claim.evidence}
    kept = set()
    for unit in sorted(units, key=lambda each: each.id not in named):
        budget -= costs[unit.id]
        if budget < 0:
            break
        kept.add(unit.id)
    return [unit for unit in units if unit.id in kept]


def _flatten_text(text: str) -> str:
    return " ".join(text.split())


def _format_evidence_ids(claim: Claim) -> str:
    return f" ({', '.join(unit.id for unit in claim.evidence)})" if claim.evidence else ""


def _build_judgement(said: StatementVerdict | None, units: Sequence[Unit]) -> Judgement:
    if said is None:
        return Judgement(
            "not_stated", SCORES["not_stated"], reason=Text("the check gave no verdict on it")
        )
    return Judgement(
        said.verdict,
        SCORES[said.verdict],
        tuple(pick_units(said.evidence, units)),
        strip_ids(said.reason, units),
    )

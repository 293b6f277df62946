"""Does the evidence state the answer, and does the answer settle the question? One constrained token each, its
log-probability read, after the shared prefix.

The one rule: a grade is a number with a threshold from measurements, never a word of the model's.
"""

from __future__ import annotations

from citewell.models.base import LLM
from citewell.skills import lines
from citewell.types import Message

# Log-odds of the evidence grade under which the question is refused. Chosen on 37 graded questions of SQuAD2, CMRC and the
# samples: none of the 21 right answers had less, 2 of 16 unanswerable ones had.
GATE_THRESHOLD = -0.2
# Sum of both grades' log-odds under which the answer is asked for anew. On 47 questions of SQuAD2, CMRC, RGB and ClapNQ that
# were drawn for this, 36 drafts passed the first gate and the proof: all 16 right ones have more, 6 of the 20 others less (2.0
# would turn away 11 of those, and 4 right ones). The sum tells them apart better (AUC 0.78) than either grade (0.76, 0.68).
SETTLES_THRESHOLD = 1.3
# Under this, an answer that settles nothing is not shown even with a caution: of those 36, 2, neither of them right.
REJECTED = 0.8
NEUTRAL = 1.0  # stands in for a grade of the evidence that was not given: the median of answerable questions


def settled(evidence: float | None, answer: float) -> float:
    """Both grades as one figure, to hold against SETTLES_THRESHOLD and REJECTED."""
    return (NEUTRAL if evidence is None else evidence) + answer


async def evidence_settles(llm: LLM, shared: list[Message], asked: str, lang: str) -> float:
    """Log-odds that the passages of the shared prefix state the answer."""
    return (await llm.yes_no(lines.gate(shared, asked, lang))).log_odds


async def answer_settles(
    llm: LLM, shared: list[Message], asked: str, lang: str, draft: str, quote: str, question: str
) -> float:
    """Log-odds that `draft`, word for word what the model wrote, settles the `question` by the `quote` that proves it."""
    return (await llm.yes_no(lines.settles(shared, asked, lang, draft, quote, question))).log_odds

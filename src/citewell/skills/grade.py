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
# Sum of both grades' log-odds under which the answer is asked for anew. Chosen on 42 drafts to questions of SQuAD2, CMRC, RGB,
# ClapNQ and MTRAG that passed the first gate and the proof: none of the 16 right ones has less, 8 of the 26 others have. By
# `evals/grades.py squad2 cmrc rgb-zh-reject rgb-en-fact --limit 8 --seed 7` it turns away 0 of 16 right ones and 4 of 9 others
# (1.7: 0 and 5, 2.0: 3 and 6). AUC of the sum 0.77 and 0.76, of the evidence's grade 0.74 and 0.78, of the answer's 0.70 and
# 0.62: by itself the answer's grade adds little with the built-in model.
SETTLES_THRESHOLD = 1.3
# Under this, an answer that settles nothing is not shown even with a caution: 2 of those 42 and 1 of these 25, none right.
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

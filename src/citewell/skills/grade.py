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
# Log-odds of the answer grade under which the answer is asked for anew.
SETTLES_THRESHOLD = 0.0
# Under this, an answer that settles nothing is not shown even with a caution.
REJECTED = -1.0


async def evidence_settles(llm: LLM, shared: list[Message], asked: str, lang: str) -> float:
    """Log-odds that the passages of the shared prefix state the answer."""
    return (await llm.yes_no(lines.gate(shared, asked, lang))).log_odds


async def answer_settles(
    llm: LLM, shared: list[Message], asked: str, lang: str, draft: str, quote: str, question: str
) -> float:
    """Log-odds that `draft`, word for word what the model wrote, settles the `question` by the `quote` that proves it."""
    return (await llm.yes_no(lines.settles(shared, asked, lang, draft, quote, question))).log_odds

"""Does the evidence state the answer? One constrained token, its log-probability read, after the shared prefix.

The one rule: a grade is a number with a threshold from measurements, never a word of the model's.
"""

from __future__ import annotations

from citewell.models.base import LLM, YesNo
from citewell.types import Message

GATE = {
    "en": "Do the passages state the answer? Reply yes or no.",
    "zh": "资料是否写明了答案？只回答 yes 或 no。",
}


async def evidence_settles(llm: LLM, shared: list[Message], asked: str, lang: str) -> YesNo:
    """Log-odds that the passages of the shared prefix state the answer."""
    return await llm.yes_no([*shared, Message(role="user", content=asked + GATE[lang])])

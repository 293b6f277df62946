"""Three ways to an answer: standard and fallback (the chat model words the evidence), extractive (the evidence itself).

The one rule: an answer says what the evidence says; where it cannot, it says that it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from citewell.ingest.sentences import language, sentences
from citewell.models.base import LLM, Embedder, OnToken, Reply
from citewell.retrieve.rank import coverage, stretched
from citewell.skills.evidence import Passage
from citewell.skills.grade import GATE
from citewell.types import Message

ANSWER = {
    "en": "Now answer the question in one or two short sentences with the passages' own words.",
    "zh": "现在用资料中的原话，以一两句话简短回答问题。",
}
MAX_TOKENS = 160

_UNKNOWN = re.compile(
    r"i (?:do not|don['’]t) know|passages? (?:do|does) not (?:state|say|mention|contain|provide|specify)|"
    r"not (?:stated|mentioned|specified|provided) in the passages?|"
    r"我不知道|资料(?:中)?(?:并)?(?:没有|未)(?:写明|提及|提到|说明|给出|提供)|无法(?:确定|回答)|没有(?:提及|提到|写明)",
    re.IGNORECASE,
)


async def generate(
    llm: LLM, shared: list[Message], asked: str, lang: str, *, on_token: OnToken | None = None, temperature: float = 0.0
) -> Reply:
    """Word the answer from the evidence of the shared prefix, after a yes to whether it is there."""
    turns = [
        Message(role="user", content=asked + GATE[lang]),
        Message(role="assistant", content="yes"),
        Message(role="user", content=ANSWER[lang]),
    ]
    return await llm.chat([*shared, *turns], max_tokens=MAX_TOKENS, temperature=temperature, on_token=on_token)


def says_unknown(text: str) -> bool:
    """Whether a model's answer says that it does not know."""
    return bool(_UNKNOWN.search(text))


async def extract(question: str, passages: Sequence[Passage], embedder: Embedder | None, most: int = 2) -> str:
    """Without a model: the sentences of the best passage that serve the question most, verbatim, in their order.

    By words and by meaning: on small probes the best two sentences of the right passage held the answer 27 times of 28.
    """
    if not passages:
        return ""
    text = passages[0].hit.text
    spans = sentences(text)
    parts = [text[a:b] for a, b in spans]
    scores = np.asarray(coverage(question, parts))
    if embedder is not None and len(parts) > most:
        scores = scores + stretched(await embedder.passages(parts) @ await embedder.query(question))
    best = sorted(int(i) for i in np.argsort(-scores, kind="stable")[:most])
    return ("" if language(text) == "zh" else " ").join(parts[i] for i in best)


def quality(text: str, *, finished: bool) -> float:
    """A first look at a draft, 0 to 1: empty is 0; cut off, repeating itself or babbling costs. Proof comes later."""
    words = re.findall(r"\w", text)
    if not words:
        return 0.0
    parts = [text[a:b] for a, b in sentences(text)]
    repeated = 1 - len(set(parts)) / len(parts)
    tail = 1.0 if finished else 0.7
    return round(max(0.0, tail * (1 - repeated)), 3)

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
from citewell.skills import lines
from citewell.skills.evidence import Passage
from citewell.types import Message

MAX_TOKENS = 160
MAX_TOKENS_WIDE = 400

_UNKNOWN = re.compile(
    r"\bi (?:do not|don['’]t|cannot) (?:know|answer)|passages? (?:do|does) not (?:state|say|mention|contain|provide|specify)|"
    r"not (?:stated|mentioned|specified|provided|given) in the (?:given )?passages?|"
    r"不知道|资料中?(?:并)?(?:没有|未)(?:写明|提及|提到|说明|给出|提供|明确)|无法(?:根据资料|从资料中)?(?:回答|得知)",
    re.IGNORECASE,
)
_ENDS = re.compile(r"""[.!?…:。！？；：][)\]）】"'”’]*$""")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_MARKER = re.compile(r"(?<!\s)\s*(?:\[\d{1,2}(?:\s*[,，]\s*\d{1,2})*\]|【\d{1,2}】)")
_ITEM = re.compile(r"^[^\S\n]*(?:\d{1,2}[.)、]|[-*•])\s+", re.MULTILINE)


async def generate(
    llm: LLM,
    shared: list[Message],
    asked: str,
    lang: str,
    *,
    on_token: OnToken | None = None,
    temperature: float = 0.0,
    wide: bool = False,
) -> Reply:
    """Word the answer from the evidence of the shared prefix, after a yes to whether it is there; a `wide` one is longer."""
    messages = lines.wording(shared, asked, lang, lines.ANSWER_WIDE[lang] if wide else "")
    most = MAX_TOKENS_WIDE if wide else MAX_TOKENS
    return await llm.chat(messages, max_tokens=most, temperature=temperature, on_token=on_token)


async def explain(llm: LLM, shared: list[Message], asked: str, lang: str, *, on_token: OnToken | None = None) -> Reply:
    """The first passage of the shared prefix in plain words."""
    return await llm.chat(lines.explaining(shared, asked, lang), max_tokens=MAX_TOKENS_WIDE, on_token=on_token)


def tidy(text: str) -> str:
    """A draft without the citation and list marks and the links of the model's own: which quote proves what is decided by our
    code, and a link proves nothing.
    """
    return _ITEM.sub("", _MARKER.sub("", _LINK.sub(_label, text))).strip()


def _label(found: re.Match[str]) -> str:
    """The words of a link; a number is a citation mark, and goes with those."""
    return f"[{found[1]}]" if found[1].strip().isdigit() else found[1]


def says_unknown(text: str) -> bool:
    """Whether every sentence of a model's answer says that it does not know; one that says more is left to the proof."""
    parts = [text[a:b] for a, b in sentences(text)]
    return bool(parts) and all(_UNKNOWN.search(part) for part in parts)


async def extract(question: str, passages: Sequence[Passage], embedder: Embedder | None, most: int = 2) -> str:
    """Without a model: the sentences of the best passage that serve the question most, verbatim, in their order.

    By words and by meaning: on small probes the best two sentences of the right passage held the answer 27 times of 28.
    """
    if not passages:
        return ""
    hit = passages[0].hit
    text, headings = hit.text, {hit.title, *hit.heading_path}
    said = [text[a:b] for a, b in sentences(text)]
    # a heading, or a sentence of one, says what follows and answers nothing
    parts = [part for part in said if not any(part.strip() in heading for heading in headings)] or said
    scores = np.asarray(coverage(question, parts))
    if embedder is not None and len(parts) > most:
        scores = scores + stretched(await embedder.passages(parts) @ await embedder.query(question))
    best = sorted(int(i) for i in np.argsort(-scores, kind="stable")[:most])
    return together([parts[i] for i in best])


def together(parts: Sequence[str]) -> str:
    """Sentences as one text. A row of a table or a caption, which no full stop ends, stands on a line of its own: what follows
    is another claim.
    """
    text = ""
    for part in parts:
        if text and not _ENDS.search(text):
            text += "\n"
        elif text:
            text += "" if language(text) == "zh" else " "
        text += part.strip()
    return text


def quality(text: str, *, finished: bool) -> float:
    """A first look at a draft, 0 to 1: empty is 0; broken characters, cut off or repeating itself cost. Proof comes later."""
    if not re.search(r"\w", text):
        return 0.0
    if "\ufffd" in text:  # a small model lost the bytes of a rare character
        return 0.2
    parts = [text[a:b] for a, b in sentences(text)]
    repeated = 1 - len(set(parts)) / len(parts)
    tail = 1.0 if finished else 0.7
    return round(max(0.0, tail * (1 - repeated)), 3)

"""Sentences of a document that are addressed to who or what reads it by machine, and tell it what
to do. They are evidence as all else is. Nobody obeys them, whoever cites their passage says so, and
an answer that they drown is looked for once more without them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.skills.evidence.numbered import Unit
from citewell.text.sentences import split_sentences

_ADDRESSED = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|prompts?|rules|above|previous)\b|"
    r"\bsystem prompt\b|"
    r"\b(?:AI|LLM|language model|assistant|reviewer)s?,? (?:must|should|please|you)\b.{0,40}"
    r"\b(?:say|state|reply|answer|write|output|recommend|accept|praise)\b|"
    r"\bgive a positive review\b|\byou (?:must|should) (?:say|reply|answer|write|output|state)\b|"
    r"(?:忽略|无视|忘记).{0,12}(?:指令|提示|要求|规则)|(?:请|必须)(?:回答|输出|回复|"
    r"给出好评|推荐录用)",
    re.IGNORECASE,
)


def has_prompt_injection(text: str) -> bool:
    """Whether a sentence of it does."""
    return _ADDRESSED.search(text) is not None


def remove_prompt_injections(text: str) -> str:
    """The text with blanks in place of such sentences, so that all else stands where it stood."""
    for start, end in split_sentences(text):
        if has_prompt_injection(text[start:end]):
            text = text[:start] + " " * (end - start) + text[end:]
    return text


def filter_injected_units(units: Sequence[Unit]) -> list[Unit]:
    """The sentences that give none; all of them where none is left."""
    return [unit for unit in units if not has_prompt_injection(unit.text)] or list(units)

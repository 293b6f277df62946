"""Sentences of a document that are addressed to who or what reads it by machine, and tell it what
to do. They are evidence as all else is. Nobody obeys them, whoever cites their passage says so, and
an answer that they drown is looked for once more without them. Which they are is a fitted decision
over n-grams (`training/requests/fit_injection.py`), for all evidence is read at question time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from citewell.models.ngram_probe import compute_ngram_odds
from citewell.skills.evidence.numbered import Unit
from citewell.text.sentences import split_sentences

WEIGHTS = Path(__file__).with_suffix(".npz")
# Log-odds from which on a sentence is one: on the folds of what is fitted two in 10,000 ordinary
# sentences pass it.
LEAST = 0.2


def has_prompt_injection(text: str) -> bool:
    """Whether a sentence of it does."""
    return any(_is_prompt_injection(text[start:end]) for start, end in split_sentences(text))


def remove_prompt_injections(text: str) -> str:
    """The text with blanks in place of such sentences, so that all else stands where it stood."""
    for start, end in split_sentences(text):
        if _is_prompt_injection(text[start:end]):
            text = text[:start] + " " * (end - start) + text[end:]
    return text


def filter_injected_units(units: Sequence[Unit]) -> list[Unit]:
    """The sentences that give none; all of them where none is left."""
    return [unit for unit in units if not has_prompt_injection(unit.text)] or list(units)


@lru_cache(maxsize=4096)  # a passage is asked about when it is read, drafted from and cited
def _is_prompt_injection(sentence: str) -> bool:
    return compute_ngram_odds(WEIGHTS, sentence) >= LEAST

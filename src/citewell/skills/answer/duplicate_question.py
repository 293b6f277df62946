"""Do two questions ask the same, do two answers say the same? Of questions the reader decides;
answers are compared by rules. In doubt they do not. Two memories of one thing cost a line in a
list; one memory of two things is a wrong answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from citewell.errors import ModelUnavailable
from citewell.models.reader_base import Reader
from citewell.text.facts import Facts, extract_facts, strip_figures_and_negations
from citewell.text.sentences import detect_language
from citewell.text.tokens import tokenize_query

ASKED = 5  # others, the first of them, that a reader is asked about
_CAPITALS = re.compile(r"\b[A-Z]\w*")


async def find_same_questions(
    question: str, others: Sequence[str], reader: Reader | None
) -> list[bool]:
    """Which of the others, the likeliest first, ask the same: those in the same words, and those of
    which a reader that has passed its gate for it says so. It is not asked where figures differ.
    """
    same = [has_same_words(question, other) for other in others]
    if reader is None or (threshold := reader.same_threshold) is None:
        return same
    open_ones = (
        n for n, other in enumerate(others) if not same[n] and has_same_figures(question, other)
    )
    left = list(islice(open_ones, ASKED))
    try:
        found = (
            await reader.compare_questions([(question, others[n]) for n in left]) if left else []
        )
    except ModelUnavailable:
        return same
    for n, probability in zip(left, found, strict=True):
        same[n] = probability >= threshold
    return same


def has_same_figures(one: str, other: str) -> bool:
    """Neither asks of another figure or date, or another plan of the user's in brackets."""
    mine, theirs = extract_facts(one), extract_facts(other)
    return (mine.numbers, mine.dates, _extract_brackets(one)) == (
        theirs.numbers,
        theirs.dates,
        _extract_brackets(other),
    )


def has_same_facts(one: str, other: str) -> bool:
    """Whether what is known of the one may be evidence for the other: no other figure, no denial,
    and in one language the names of one are all in the other.
    """
    mine, theirs = extract_facts(one), extract_facts(other)
    if not has_same_figures(one, other) or bool(mine.negations) != bool(theirs.negations):
        return False
    return (
        detect_language(one) != detect_language(other)
        or _has_names(mine, other)
        or _has_names(theirs, one)
    )


def is_same_answer(one: str, other: str, question: str) -> bool:
    """Whether no figure, date, denial or name disagrees, and they have words in common."""
    mine, theirs = extract_facts(one), extract_facts(other)
    if not (
        _is_subset_pair(mine.numbers, theirs.numbers) and _is_subset_pair(mine.dates, theirs.dates)
    ):
        return False
    if bool(mine.negations) != bool(theirs.negations):
        return False
    if has_same_words(one, other) or detect_language(one) != detect_language(other):
        return True
    if not (_has_names(mine, other) or _has_names(theirs, one)):
        return False
    own, others = (_extract_words(text) - _extract_words(question) for text in (one, other))
    return (
        bool(own & others)
        or not (own and others)
        or bool(mine.numbers & theirs.numbers or mine.dates & theirs.dates)
    )


def _extract_brackets(question: str) -> frozenset[str]:
    """What stands in brackets: the user's own plan, where questions differ in nothing else."""
    return frozenset(_fold_text(each) for each in re.findall(r"[(（]([^()（）]+)[)）]", question))


def has_same_words(one: str, other: str) -> bool:
    """Equal but for case, width, spaces and marks."""
    return _fold_text(one) == _fold_text(other)


def _is_subset_pair(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one


def _has_names(known: Facts, text: str) -> bool:
    """Each in so many letters, or as its initials: EU and European Union."""
    text = unicodedata.normalize("NFKC", text)
    initials = "".join(word[0] for word in _CAPITALS.findall(text)).casefold()
    return all(
        name in text.casefold() or (len(name) > 1 and name in initials) for name in known.names
    )


@lru_cache(maxsize=4096)
def _fold_text(text: str) -> str:
    return re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", text).casefold()).strip()


@lru_cache(maxsize=4096)
def _extract_words(text: str) -> frozenset[str]:
    plain = strip_figures_and_negations(text)
    return frozenset(tokenize_query(plain)) if plain.strip() else frozenset()

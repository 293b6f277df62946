"""Names of a question that a paper never mentions: who asks for Hamburg cannot be answered from a paper without it.

The one rule: in doubt a name is there. A wrong refusal costs an answer; a name let pass costs a grade of the evidence.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from functools import lru_cache

from citewell.ingest.sentences import language
from citewell.skills.facts import names

SHORTEST = 4  # letters: shorter ones are often abbreviations that the paper writes in full
ALIKE = 0.8  # of difflib's ratio: a plural, a typing error, another ending
TITLED = 0.5  # share of capitalised words from which a question is written as a title, and its capitals say nothing
# what a question says of the paper's form, or of how it wants to be answered
_NOT_NAMES = frozenset(
    [
        "figure",
        "figures",
        "table",
        "tables",
        "section",
        "sections",
        "equation",
        "equations",
        "page",
        "pages",
        "appendix",
        "chapter",
        "abstract",
        "introduction",
        "method",
        "methods",
        "results",
        "discussion",
        "conclusion",
        "references",
        "paper",
        "english",
        "chinese",
        "json",
        "markdown",
        "latex",
        "yes",
        "none",
        "please",
    ]
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-'’&.][A-Za-z0-9]+)*")


def absent(question: str, text: str) -> list[str]:
    """The names of `question`, as it writes them, that nothing in `text` is like. None where `text` is in another language."""
    words = _WORD.findall(question)
    if len(words) > 2 and sum(word[0].isupper() for word in words) > TITLED * len(words):
        return []
    if language(question) != language(text):
        return []
    there, plain = _words(text), _squeezed(text)
    found = []
    for name in sorted(names(question), key=question.casefold().find):
        if name in _NOT_NAMES or (name.isascii() and len(name) < SHORTEST):
            continue
        if _squeezed(name) in plain or (name.isascii() and difflib.get_close_matches(name, there, n=1, cutoff=ALIKE)):
            continue
        at = question.casefold().find(name)
        found.append(question[at : at + len(name)] if at >= 0 else name)
    return found


@lru_cache(maxsize=8)
def _words(text: str) -> list[str]:
    """Every word of a text, once."""
    return sorted({word.casefold() for word in _WORD.findall(unicodedata.normalize("NFKC", text))})


@lru_cache(maxsize=8)
def _squeezed(text: str) -> str:
    """Letters and figures alone: a name may be written with hyphens, with spaces, or broken over two lines."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())

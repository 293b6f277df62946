"""The stretch of a passage that shows best why it was found, and where the question's words stand
in it: a pure function. A snippet is one verbatim stretch of the passage; marks are offsets into it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from citewell.retrieve.rank import compute_coverage
from citewell.text.sentences import split_sentences
from citewell.text.tokens import tokenize_for_index, tokenize_query

LONGEST = 240  # characters; about three lines of a terminal
_WORD = re.compile(r"[^\W_]+(?:[.\-_/:@&+'’][^\W_]+)*[%‰°#]?")
_REST = re.compile(r"[A-Za-z0-9]*\s*")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Snippet:
    """`start`: its place in the passage. `marks`: (start, end) in `text`, in order, disjoint."""

    text: str
    start: int
    marks: tuple[tuple[int, int], ...]


def extract_snippet(question: str, text: str) -> Snippet:
    """Around the sentence that holds most of the question's words; cut at LONGEST characters."""
    spans = split_sentences(text) or [(0, len(text))]
    shares = compute_coverage(question, [text[a:b] for a, b in spans])
    best = max(range(len(spans)), key=lambda n: shares[n])
    start, end = spans[best]
    if end - start > LONGEST:
        return _cut_sentence(question, text, start, end, LONGEST)
    while best + 1 < len(spans) and spans[best + 1][1] - start <= LONGEST:
        best, end = best + 1, spans[best + 1][1]
    return Snippet(text[start:end], start, find_marks(question, text[start:end]))


def find_marks(question: str, text: str) -> tuple[tuple[int, int], ...]:
    """Where the question's words stand: Latin words by their stem, Chinese ones as written."""
    wanted = set(tokenize_query(question))
    found = [
        match.span()
        for match in _WORD.finditer(text)
        if not _HAN.search(match[0]) and wanted & set(tokenize_for_index(match[0]))
    ]
    chinese = [token for token in wanted if _HAN.search(token)]
    found += [match.span() for token in chinese for match in re.finditer(re.escape(token), text)]
    joined: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _cut_sentence(question: str, text: str, start: int, end: int, longest: int) -> Snippet:
    """Of a sentence that is too long, the stretch with the most marked characters."""
    found = find_marks(question, text[start:end])
    at = 0
    if found:
        worth = {
            a: sum(min(d, a + longest) - c for c, d in found if a <= c < a + longest)
            for a, _ in found
        }
        at = max(
            0, min(max(worth, key=lambda a: (worth[a], -a)) - longest // 8, end - start - longest)
        )
    if at and text[start + at - 1].isalnum():  # not in the middle of a word
        rest = _REST.match(text, start + at, end)
        at += len(rest[0]) if rest else 0
    shown = text[start + at : min(end, start + at + longest)]
    return Snippet(shown, start + at, find_marks(question, shown))

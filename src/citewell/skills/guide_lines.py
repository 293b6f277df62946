"""Which sentences of a paper may be quoted as statements: those of its running text that are whole.

The one rule: `quote` is the document's text from `start` to `end`, to the letter.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from citewell.ingest.paper import Paper, Part, Role
from citewell.ingest.sentences import language, sentences
from citewell.knowledge.words import query_tokens
from citewell.skills.cite import figures
from citewell.skills.facts import plain_words
from citewell.skills.guide_plain import complete, leans, plain, signpost
from citewell.skills.reading import OpenPaper

# shares of the content words of the shorter of two sentences: it says the same; the same if its figures are; if they are others
SAME_WORDS, SAME_SUBJECT, OTHER_FIGURES = 0.6, 0.3, 0.85
UNREAD: tuple[Role, ...] = ("front", "references")


@dataclass(frozen=True)
class Line:
    """A sentence that may be quoted. `place` is 0 at the beginning of its part and 1 at its end; `order` counts the lines."""

    start: int
    end: int
    quote: str
    text: str
    part: Part
    role: Role
    place: float
    order: int
    paragraph: int

    @cached_property
    def words(self) -> frozenset[str]:
        """Its content words, numbers left out."""
        plain = plain_words(self.text)
        return frozenset(query_tokens(plain)) if plain.strip() else frozenset()

    @property
    def zh(self) -> bool:
        return language(self.text) == "zh"

    @property
    def dangling(self) -> bool:
        """Whether it leans on the sentence before it."""
        return leans(self.text)

    @property
    def signpost(self) -> bool:
        """Whether it only says what comes where."""
        return signpost(self.text)


def lines(book: OpenPaper) -> list[Line]:
    """All complete sentences of the running text, in order; those of front matter and references are left out."""
    text, paper = book.document.text, book.paper
    barred = _barred(paper)
    found: list[Line] = []
    for part in paper.parts:
        if part.role == "references":
            continue
        size = max(1, part.end - part.start)
        for a, b in sentences(text[part.start : part.end]):
            start, end = part.start + a, part.start + b
            role: Role = "abstract" if _inside(start, paper.abstract) else part.role
            quote = text[start:end]
            if role in UNREAD or _bars(barred, start, end) or not complete(said := plain(quote)):
                continue
            paragraph = text.count("\n\n", part.start, start)
            found.append(Line(start, end, quote, said, part, role, a / size, len(found), paragraph))
    return found


def alike(one: Line, other: Line, most: float = SAME_WORDS) -> bool:
    """Whether the shorter of them says hardly anything that the other does not: most of its words, or a good part of them and
    all of its figures.
    """
    fewer = min(len(one.words), len(other.words))
    if not fewer:
        return one.text == other.text
    shared = len(one.words & other.words) / fewer
    mine, theirs = figures(one.text), figures(other.text)
    if mine and theirs and not mine & theirs:
        return shared >= OTHER_FIGURES
    return shared >= most or (shared >= SAME_SUBJECT and bool(mine & theirs) and (mine <= theirs or theirs <= mine))


def _inside(offset: int, span: tuple[int, int] | None) -> bool:
    return span is not None and span[0] <= offset < span[1]


def _barred(paper: Paper) -> list[tuple[int, int]]:
    """Spans that are no running text, joined where they touch."""
    spans = [(f.start, f.end) for f in paper.floats] + [f.body for f in paper.floats if f.body]
    spans += [(e.start, e.end) for e in paper.equations] + [(r.start, r.end) for r in paper.references]
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _bars(barred: list[tuple[int, int]], start: int, end: int) -> bool:
    at = bisect_right(barred, (start, end))
    return any(a < end and b > start for a, b in barred[max(0, at - 1) : at + 1])

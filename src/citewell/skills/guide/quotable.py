"""Which sentences of a paper may be quoted as statements: those of its running text that are whole.
`quote` is the document's text from `start` to `end`, to the letter.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from citewell.ingest.paper.shape import Paper, Part, Role
from citewell.skills.guide.plain_sentence import (
    clean_sentence,
    is_complete_sentence,
    is_dependent_sentence,
    is_signpost,
)
from citewell.skills.paper.reading_context import OpenPaper
from citewell.text.facts import extract_figures, strip_figures_and_negations
from citewell.text.sentences import detect_language, split_sentences
from citewell.text.tokens import tokenize_query

# shares of the content words of the shorter of two sentences: it says the same; the same if its
# figures are; if they are others
SAME_WORDS, SAME_SUBJECT, OTHER_FIGURES = 0.6, 0.3, 0.85
UNREAD: tuple[Role, ...] = ("front", "references")
# Sentences of a document that are weighed, all patterns and all: papers of 19 and 24 pages have 689
# and 703 (by a trial script), so a paper is read whole, and of a book each part gives its share:
# its beginning, its end, what the words of `_TELLS` mark, and the rest evenly. It keeps a report of
# any length to about three seconds.
MOST_READ = 2_400
LEAST_OF_PART = 6
WHOLE_OF = 120  # of abstract and introduction: what a book is about is said there
BEGINNING, END = 0.3, 0.15  # shares of a part's share
# characters: longer ones are tables and runs of marks; the longest that was quoted of five papers
# had 511
LONGEST = 2_000
_TELLS = re.compile(
    r"\b(?:[Ww]e|[Oo]ur|[Rr]esults?|[Ll]imit\w*|[Hh]owever|propos\w+|cannot|contribut\w+)\b|%|"
    r"本文|我们|提出|结果|局限|不足|％"
)


@dataclass(frozen=True)
class Line:
    """A sentence that may be quoted. `place` is 0 at the beginning of its part and 1 at its end;
    `order` counts the lines.
    """

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
        plain = strip_figures_and_negations(self.text)
        return frozenset(tokenize_query(plain)) if plain.strip() else frozenset()

    @cached_property
    def zh(self) -> bool:
        return detect_language(self.text) == "zh"

    @cached_property
    def dangling(self) -> bool:
        """Whether it leans on the sentence before it."""
        return is_dependent_sentence(self.text)

    @cached_property
    def signpost(self) -> bool:
        """Whether it only says what comes where."""
        return is_signpost(self.text)


def find_quotable_lines(book: OpenPaper, parts: Sequence[Part] | None = None) -> list[Line]:
    """The complete sentences of the running text, in order; those of front matter and references
    are left out. Of a book a share. `parts`: of these alone.
    """
    text, paper = book.document.text, book.paper
    barred = _find_barred_spans(paper)
    abstract = paper.abstract or (-1, -1)
    split = [
        (
            part,
            [
                (part.start + a, part.start + b)
                for a, b in split_sentences(text[part.start : part.end])
            ],
        )
        for part in (paper.parts if parts is None else parts)
        if part.role not in UNREAD or part.start <= abstract[0] < part.end
    ]
    whole = sum(len(spans) for _, spans in split)
    found: list[Line] = []
    for part, spans in split:
        share = max(LEAST_OF_PART, MOST_READ * len(spans) // max(whole, MOST_READ))
        most = max(share, WHOLE_OF) if part.role in ("abstract", "introduction") else share
        size, paragraph, counted = max(1, part.end - part.start), 0, part.start
        for start, end in _sample_spans(text, spans, most):
            paragraph, counted = paragraph + text.count("\n\n", counted, start), start
            role: Role = "abstract" if abstract[0] <= start < abstract[1] else part.role
            quote = text[start : min(end, start + LONGEST + 1)]
            if (
                len(quote) > LONGEST
                or role in UNREAD
                or _is_barred(barred, start, end)
                or not is_complete_sentence(said := clean_sentence(quote))
            ):
                continue
            place = (start - part.start) / size
            found.append(Line(start, end, quote, said, part, role, place, len(found), paragraph))
    return found


def _sample_spans(text: str, spans: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """At most so many of a part's sentences, in order."""
    if len(spans) <= most:
        return spans
    first, last = max(1, int(BEGINNING * most)), max(1, int(END * most))
    between = range(first, len(spans) - last)
    room = most - first - last
    wanted = [
        n
        for n in between
        if _TELLS.search(text, spans[n][0], min(spans[n][1], spans[n][0] + LONGEST))
    ]
    chosen = set(_sample_evenly(wanted, room))
    chosen |= set(_sample_evenly([n for n in between if n not in chosen], room - len(chosen)))
    return [span for n, span in enumerate(spans) if n not in between or n in chosen]


def _sample_evenly(places: Sequence[int], most: int) -> list[int]:
    if len(places) <= most:
        return list(places)
    return [places[len(places) * n // most] for n in range(most)]


def is_near_duplicate(one: Line, other: Line, most: float = SAME_WORDS) -> bool:
    """Whether the shorter of them says hardly anything that the other does not: most of its words,
    or a good part of them and all of its figures.
    """
    fewer = min(len(one.words), len(other.words))
    if not fewer:
        return one.text == other.text
    shared = len(one.words & other.words) / fewer
    mine, theirs = extract_figures(one.text), extract_figures(other.text)
    if mine and theirs and not mine & theirs:
        return shared >= OTHER_FIGURES
    return shared >= most or (
        shared >= SAME_SUBJECT and bool(mine & theirs) and (mine <= theirs or theirs <= mine)
    )


def _find_barred_spans(paper: Paper) -> list[tuple[int, int]]:
    """Spans that are no running text, joined where they touch."""
    spans = [span for each in paper.floats for span in each.spans]
    spans += [(e.start, e.end) for e in paper.equations]
    spans += [(r.start, r.end) for r in paper.references]
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _is_barred(barred: list[tuple[int, int]], start: int, end: int) -> bool:
    at = bisect_right(barred, (start, end))
    return any(a < end and b > start for a, b in barred[max(0, at - 1) : at + 1])

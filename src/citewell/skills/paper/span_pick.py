"""Of candidate spans of a paper those that serve a question, within a token budget, gathered into
passages of one page each. A span is taken whole or not at all, and a passage lies on one page and
in one part, as its citation will say.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from citewell.retrieve.rank import compute_coverage
from citewell.skills.evidence.passages import NEIGHBOUR, Passage
from citewell.skills.paper.reading_context import OpenPaper
from citewell.text.sentences import count_tokens, split_sentences

Span = tuple[int, int]


class Pick:
    """Spans chosen so far, and what is left of the budget."""

    def __init__(self, book: OpenPaper, question: str, budget: int) -> None:
        self.book, self.question, self.left = book, question, budget
        self.groups: list[list[Span]] = [[]]  # in the order in which they are to be shown
        self.into = 0

    def group(self) -> int:
        """What is taken from now on is shown behind what was before, until `into` changes."""
        self.groups.append([])
        self.into = len(self.groups) - 1
        return self.into

    def words(self, span: Span) -> str:
        return self.book.document.text[span[0] : span[1]]

    def take(self, span: Span) -> bool:
        """Add a span where there is room for it and none of it is there yet."""
        if span[0] >= span[1] or any(
            a < span[1] and span[0] < b for group in self.groups for a, b in group
        ):
            return False
        cost = count_tokens(self.words(span))
        if cost > self.left:
            return False
        self.groups[self.into].append(span)
        self.left -= cost
        return True

    def best(self, spans: Sequence[Span], budget: int | None = None) -> None:
        """Of `spans` those with most of the question's words, up to `budget` of what is left."""
        kept = self.left - budget if budget is not None else 0
        for i in rank_spans(self.question, [self.words(span) for span in spans], spans):
            if count_tokens(self.words(spans[i])) <= self.left - kept:
                self.take(spans[i])

    def passages(self) -> list[Passage]:
        """Each group in reading order, cut at pages, parts, or gaps over a paragraph."""
        found: list[list[Span]] = []
        for group in self.groups:
            for at, span in enumerate(sorted(group)):
                if at and self._can_join(found[-1][-1], span):
                    found[-1].append(span)
                else:
                    found.append([span])
        return [self.book.passage(n, spans) for n, spans in enumerate(found, start=1)]

    def _can_join(self, one: Span, other: Span) -> bool:
        document, paper = self.book.document, self.book.paper
        same_page = document.find_page_at(one[0]) == document.find_page_at(other[0])
        return (
            same_page
            and paper.get_part_at(one[0]) == paper.get_part_at(other[0])
            and other[0] - one[1] <= FURTHEST
        )


# characters between two spans of one passage: about a paragraph and a half of the papers read here
FURTHEST = 1_500


def rank_spans(question: str, texts: Sequence[str], spans: Sequence[Span]) -> list[int]:
    """Best first; what stands beside a good one gains."""
    shares = compute_coverage(question, texts) if question.strip() else [0.0] * len(texts)
    scores = list(shares)
    for i, (one, other) in enumerate(pairwise(spans)):
        if min(abs(other[0] - one[1]), abs(one[0] - other[1])) <= 4:
            scores[i] = max(scores[i], NEIGHBOUR * shares[i + 1])
            scores[i + 1] = max(scores[i + 1], NEIGHBOUR * shares[i])
    return sorted(range(len(spans)), key=lambda i: (-round(scores[i], 6), i))


def list_sentence_spans(book: OpenPaper, start: int, end: int) -> list[Span]:
    """The sentences of a stretch of the paper, cut at its ends and where a page begins; an entry of
    the references is one, and headings are none.
    """
    text, headings = book.document.text, {part.heading for part in book.paper.parts}
    spans = [
        (a + x, a + y)
        for a, b in split_at_page_starts(book, start, end)
        for x, y in split_sentences(text[a:b])
    ]
    every = [(entry.start, entry.end) for entry in book.paper.references]
    if entries := [(a, b) for a, b in every if start <= a and b <= end]:
        spans = sorted(
            {next((e for e in entries if e[0] <= span[0] < e[1]), span) for span in spans}
        )
    return [span for span in spans if text[slice(*span)] not in headings]


def trim_span(text: str, start: int, end: int) -> Span:
    """Without white space at its ends."""
    held = text[start:end]
    return (end - len(held.lstrip()), start + len(held.rstrip())) if held.strip() else (end, end)


def split_at_page_starts(book: OpenPaper, start: int, end: int) -> list[Span]:
    """A stretch cut at blank lines that open a page: a sentence across it stays whole."""
    text = book.document.text
    cuts = [
        page.start
        for page in book.document.pages
        if start < page.start < end and text[page.start - 2 : page.start] == "\n\n"
    ]
    return list(pairwise([start, *cuts, end]))


def find_paragraph(book: OpenPaper, at: int) -> Span:
    """The block between blank lines that holds `at`."""
    text = book.document.text
    start = text.rfind("\n\n", 0, at) + 2
    end = text.find("\n\n", at)
    start = 0 if start == 1 else start
    return start, len(text) if end < 0 else end


def find_sentence_at(book: OpenPaper, at: int) -> Span:
    """The sentence that holds `at`."""
    start, end = find_paragraph(book, at)
    return next(
        (span for span in list_sentence_spans(book, start, end) if span[0] <= at < span[1]),
        (start, end),
    )

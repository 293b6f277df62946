"""Sections as a connected model reads them: their sentences and the rows of their figures and
tables in reading order, each once. Of more than fits stays what the question points to, then what a
search found, then what has most of its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.ingest.paper.shape import Part, Role
from citewell.skills.evidence.passages import Passage
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.span_pick import (
    Pick,
    Span,
    list_sentence_spans,
    rank_spans,
    trim_span,
)
from citewell.text.sentences import count_tokens
from citewell.types import Hit


def build_whole_paper(book: OpenPaper, budget: int) -> list[Passage]:
    """All of a paper but its references, which are read as far as there is room; empty where it
    does not fit.
    """
    pick = Pick(book, "", budget)
    lines = list_lines(book, [part for part in book.paper.parts if part.role != "references"])
    if sum(count_tokens(pick.words(span)) for span in lines) > budget:
        return []
    for span in [*lines, *list_lines(book, book.paper.of(("references",)))]:
        pick.take(span)
    return pick.passages()


def build_section_text(
    roles: Sequence[Role],
    book: OpenPaper,
    question: str,
    first: Sequence[Span],
    hits: Sequence[Hit],
    budget: int,
) -> list[Passage]:
    """The parts of these roles and what they point to, with `references` every figure and table
    too; of appendices and references what was found. `first`: what is read whatever else fits.
    """
    lines = list_lines(book, book.paper.of(roles))
    floats = [line for block in _list_floats(book, lines, roles) for line in block]
    own = [*floats, *lines] if "references" in roles else [*lines, *floats]
    found = [span for hit in hits for span in own if _is_in_hit(span, hit, book)]
    rest = floats if "references" in roles else own
    rest = [span for span in rest if not _is_in_appendix(span, book)]
    ranked = rank_spans(question, [book.document.text[slice(*span)] for span in rest], rest)
    return _read_spans(book, [*first, *found, *(rest[i] for i in ranked)], budget)


def build_best_text(
    book: OpenPaper, first: Sequence[Span], hits: Sequence[Hit], budget: int
) -> list[Passage]:
    """Of the whole paper: `first`, and what a search found, best first."""
    lines = list_lines(book, book.paper.parts)
    found = [span for hit in hits for span in lines if _is_in_hit(span, hit, book)]
    return _read_spans(book, [*first, *found], budget)


def _read_spans(book: OpenPaper, spans: Sequence[Span], budget: int) -> list[Passage]:
    """As many as fit, best first, in reading order. A figure or table is taken whole where it fits:
    half of one misleads whoever counts.
    """
    pick = Pick(book, "", budget)
    whole = {line: block for block in _list_floats(book) for line in block}
    for span in spans:
        block = whole.get(span, [span])
        fits = sum(count_tokens(pick.words(line)) for line in block) <= pick.left
        for line in block if fits else [span]:
            pick.take(line)
    return pick.passages()


def list_lines(book: OpenPaper, parts: Sequence[Part]) -> list[Span]:
    """The sentences of these parts in order, without headings; of what stands in a figure or a
    table its lines.
    """
    bodies = sorted(each.body for each in book.paper.floats if each.body)
    found: list[Span] = []
    for part in parts:
        at = part.start
        for start, end in [body for body in bodies if part.start <= body[0] < part.end]:
            found += [*list_sentence_spans(book, at, start), *split_lines(book, start, end)]
            at = max(at, end)
        found += list_sentence_spans(book, at, part.end)
    return [span for span in found if re.search(r"\w", book.document.text[slice(*span)])]


def split_lines(book: OpenPaper, start: int, end: int) -> list[Span]:
    text = book.document.text
    lines = re.compile(r"[^\n]*\S").finditer(text, start, end)
    return [trim_span(text, *line.span()) for line in lines]


def _list_floats(
    book: OpenPaper, lines: Sequence[Span] = (), roles: Sequence[Role] = ("references",)
) -> list[list[Span]]:
    """Captions and rows of the figures and tables that these lines point to; with `references` of
    all.
    """
    named = {
        target
        for mention in book.paper.mentions
        if mention.kind == "float" and any(a <= mention.start < b for a, b in lines)
        for target in mention.targets
    }
    return [
        [
            *list_sentence_spans(book, each.start, each.end),
            *(split_lines(book, *each.body) if each.body else []),
        ]
        for n, each in enumerate(book.paper.floats)
        if "references" in roles or n in named
    ]


def _is_in_appendix(span: Span, book: OpenPaper) -> bool:
    part = book.paper.get_part_at(span[0])
    return part is not None and part.appendix


def _is_in_hit(span: Span, hit: Hit, book: OpenPaper) -> bool:
    """Whether more than half of it stands there."""
    shared = min(span[1], hit.end) - max(span[0], hit.start)
    return hit.doc_id == book.doc_id and 2 * shared > span[1] - span[0]

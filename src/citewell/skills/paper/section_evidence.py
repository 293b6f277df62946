"""The evidence for what a question points to: a table's rows and what is said of it, a section's
best sentences, an entry. What the question names comes first; what the paper says about it follows,
as far as the budget goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from citewell.ingest.paper.shape import Float, Role
from citewell.skills.evidence.passages import PASSAGES, TOKENS_EACH, Passage, pack_passages
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.references import PaperTargets
from citewell.skills.paper.section_text import split_lines
from citewell.skills.paper.span_pick import (
    Pick,
    Span,
    find_paragraph,
    find_sentence_at,
    list_sentence_spans,
    trim_span,
)
from citewell.types import Hit

# Both shares chosen by hand on the evidence for a dozen questions of five papers; other values were
# not compared.
# of what a float's caption leaves goes to its rows, the rest to what is said of it
BODY_SHARE: Final = 0.7
# of what is left goes to the sentences that point to it, the rest to those around them
SAID_SHARE: Final = 0.5
_CELL = re.compile(r"[^|:]{1,80}: \S")


def build_target_passages(
    points: PaperTargets, book: OpenPaper, question: str, budget_tokens: int
) -> list[Passage]:
    """Passages about all that is pointed to, within the budget, in the order: figures and tables,
    equations, references, sections, pages. Empty where nothing is pointed to.
    """
    jobs: list[Callable[[Pick, int], None]] = [
        *(partial(_add_float, index) for index in points.floats),
        *(partial(_add_equation, index) for index in points.equations),
        *(partial(_add_reference, index) for index in points.references),
    ]
    stretches = _list_target_spans(points, book)
    if stretches:
        jobs.append(partial(_add_best_sentences, stretches))
    pick = Pick(book, points.rest or question, budget_tokens)
    for done, job in enumerate(jobs):
        pick.group()
        job(pick, pick.left // (len(jobs) - done))
    return pick.passages()


def build_section_passages(
    hits: Sequence[Hit], roles: Sequence[Role], book: OpenPaper, question: str, budget: int
) -> list[Passage]:
    """Of the hits of a search what lies in parts of these roles, best first. With `references` go
    all figures and tables.
    """
    spans = _list_role_spans(roles, book)
    cut = [
        piece
        for hit in hits
        for span in spans
        if hit.doc_id == book.doc_id and (piece := _clip_hit(hit, span, book))
    ]
    most = max(PASSAGES, budget // TOKENS_EACH)
    return pack_passages(question, cut, budget, most=most) if cut else []


def _list_role_spans(roles: Sequence[Role], book: OpenPaper) -> list[Span]:
    spans = [(part.start, part.end) for part in book.paper.of(roles)]
    if "references" in roles:
        spans += [span for each in book.paper.floats for span in each.spans]
    return spans


def _clip_hit(hit: Hit, span: Span, book: OpenPaper) -> Hit | None:
    """What of a hit lies in a span, where that is more than a heading."""
    text = book.document.text
    start, end = trim_span(text, max(hit.start, span[0]), min(hit.end, span[1]))
    said = text[start:end]
    bare = not re.search(r"\w", said) or any(said in part.heading for part in book.paper.parts)
    return None if bare else book.hit(start, end, hit.score)


def _list_target_spans(points: PaperTargets, book: OpenPaper) -> list[Span]:
    """The sections and pages pointed to; where they overlap, what lies in both."""
    parts = [(book.paper.parts[i].start, book.paper.parts[i].end) for i in points.parts]
    # `the figure on page 5` is the figure
    named = set(points.pages) - {book.paper.floats[i].page for i in points.floats}
    pages = [(p.start, p.end) for p in book.document.pages if p.number in named]
    both = [(max(a, c), min(b, d)) for a, b in parts for c, d in pages if max(a, c) < min(b, d)]
    return both or parts or pages


def _add_best_sentences(spans: Sequence[Span], pick: Pick, room: int) -> None:
    pick.best([s for start, end in spans for s in list_sentence_spans(pick.book, start, end)], room)


def _add_float(index: int, pick: Pick, room: int) -> None:
    """Caption, then the rows of a table, then what the text says of it, and last the lettering of a
    figure, which says little by itself; what the one leaves unspent the other may have.
    """
    each, left = pick.book.paper.floats[index], pick.left
    inside = pick.group()
    header, rows = _split_table_rows(pick, each) if each.body else ([], [])
    for span in [*list_sentence_spans(pick.book, each.start, each.end), *header]:
        pick.take(span)
    rest = max(0, room - (left - pick.left))
    said = pick.group()
    _add_mentions(pick, "float", index, int(rest * (1 - BODY_SHARE)) if rows else rest)
    pick.into = pick.group() if each.kind == "figure" else inside
    pick.best(rows, max(0, room - (left - pick.left)))
    pick.into = said
    _add_mentions(pick, "float", index, max(0, room - (left - pick.left)))


def _split_table_rows(pick: Pick, each: Float) -> tuple[list[Span], list[Span]]:
    """The lines that head a table's columns, and its rows. Of a figure every line is a row."""
    lines = split_lines(pick.book, *(each.body or (0, 0)))
    if each.kind == "figure" or len(lines) < 2:
        return [], lines
    words = [pick.words(span) for span in lines]
    named = next((i for i, row in enumerate(words) if " | " in row and _CELL.match(row)), 0)
    head = min(max(named, 1), 3)
    return lines[:head], lines[head:]


def _add_mentions(pick: Pick, kind: str, index: int, room: int) -> None:
    """The sentences that point to something, answering ones first, then those around."""
    book, left = pick.book, pick.left
    # in running text: not in captions, tables, figures or the references
    barred = [span for each in book.paper.floats for span in each.spans]
    barred += [(part.start, part.end) for part in book.paper.of(("references",))]
    places = [m.start for m in book.paper.mentions if m.kind == kind and index in m.targets]
    places = [at for at in places if not any(start <= at < end for start, end in barred)]
    pointing = list(dict.fromkeys(find_sentence_at(book, at) for at in places))
    pick.best(pointing, int(SAID_SHARE * room))
    if left == pick.left:  # one that points to it is worth more than two that stand beside it
        pick.best(pointing, room)
    beside = [
        span
        for start, end in dict.fromkeys(find_paragraph(book, span[0]) for span in pointing)
        for span in list_sentence_spans(book, start, end)
        if span not in pointing
    ]
    pick.best(beside, max(0, room - (left - pick.left)))


def _add_equation(index: int, pick: Pick, room: int) -> None:
    """The equation, what stands behind it and explains its symbols, the sentences that lead to it,
    and what is said of it elsewhere.
    """
    book, left = pick.book, pick.left
    each = book.paper.equations[index]
    pick.take((each.start, each.end))
    part = book.paper.get_part_at(each.start)
    start, end = (part.start, part.end) if part else (0, len(book.document.text))
    behind = list_sentence_spans(book, each.end, end)[:3]
    before = list_sentence_spans(book, start, each.start)[-2:]
    for span in [*behind, *reversed(before)]:
        if left - pick.left < room:
            pick.take(span)
    pick.group()
    _add_mentions(pick, "equation", index, max(0, room - (left - pick.left)))


def _add_reference(index: int, pick: Pick, room: int) -> None:
    """Its entry, then the sentences that cite it."""
    each, left = pick.book.paper.references[index], pick.left
    pick.take((each.start, each.end))
    pick.group()
    _add_mentions(pick, "reference", index, max(0, room - (left - pick.left)))

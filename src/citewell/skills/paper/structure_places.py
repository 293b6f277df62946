"""Where in a paper its figures, tables, equations, references and sections stand.

The one rule: a page is told as the file counts it, and as it is printed where that differs.
"""

from __future__ import annotations

from citewell.skills.paper.page_references import find_first_printed_page
from citewell.skills.paper.references import describe_missing
from citewell.skills.paper.structure_answer_builder import AnswerBuilder
from citewell.skills.paper.structure_lists import format_label
from citewell.skills.paper.structure_wording import format_fact


def add_missing(tell: AnswerBuilder) -> None:
    if tell.points.missing:
        tell.add_sentence(describe_missing(tell.points, tell.book, tell.answer.lang))


def answer_where(tell: AnswerBuilder) -> None:
    paper = tell.book.paper
    for each in (paper.floats[i] for i in tell.points.floats):
        _add_place(tell, each.label, (each.start, each.end), each.page)
    for equation in (paper.equations[i] for i in tell.points.equations):
        label = format_fact("equation_label", tell.answer.lang, label=equation.label)
        _add_place(tell, label, (equation.start, equation.end), equation.page)
    for index in tell.points.references:
        _add_place(
            tell,
            format_label(tell, index),
            (paper.references[index].start, paper.references[index].end),
        )
    _add_section_place(tell)
    add_missing(tell)


def _add_section_place(tell: AnswerBuilder) -> None:
    """Where the pointed section begins and ends, its subsections with it."""
    parts = [tell.book.paper.parts[i] for i in tell.points.parts]
    if not parts or not parts[0].first_page:
        return
    first, last = parts[0].first_page, max(part.last_page for part in parts)
    at = tell.book.document.text.find(parts[0].heading, parts[0].start)
    span = (at, at + len(parts[0].heading)) if at >= 0 else None
    values = {"label": f"“{parts[0].heading}”", "page": str(first), "last": str(last)}
    if last > first:
        tell.put("where_sections", span, **values)
    else:
        tell.put("where_section", span, printed_page=_format_printed_page(tell, first), **values)


def _add_place(tell: AnswerBuilder, label: str, span: tuple[int, int], page: int = 0) -> None:
    page = page or tell.book.document.find_page_at(span[0]) or 0
    if not page:
        return
    part = tell.book.paper.get_part_at(span[0])
    section = (
        format_fact("in_section", tell.answer.lang, section=part.heading)
        if part and part.heading
        else ""
    )
    tell.put(
        "where",
        span,
        label=label,
        page=str(page),
        printed_page=_format_printed_page(tell, page),
        section=section,
    )


def _format_printed_page(tell: AnswerBuilder, page: int) -> str:
    first = find_first_printed_page(tell.book)
    return (
        format_fact("printed_page", tell.answer.lang, page=str(first + page - 1))
        if first not in {None, 1} and first
        else ""
    )

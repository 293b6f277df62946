"""What a paper has of a kind (figures, tables, equations, sections, references), counted or listed.

The one rule: an item is its own label and caption, with the page that it is on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from citewell.skills.paper.float_references import sort_floats
from citewell.skills.paper.page_references import find_first_printed_page
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.reference_numbers import normalize_number
from citewell.skills.paper.section_references import get_section_numbers
from citewell.skills.paper.structure_answer_builder import AnswerBuilder
from citewell.skills.paper.structure_questions import Thing
from citewell.skills.paper.structure_wording import format_fact, format_noun, join_items

MOST_ENTRIES: Final = 12  # of a list of references that are shown


@dataclass(frozen=True, slots=True)
class _Item:
    """A figure, table, equation or section as it is listed."""

    label: str
    page: int
    span: tuple[int, int]
    number: str
    caption: str = ""


def answer_authors(tell: AnswerBuilder) -> None:
    names, which = tell.book.paper.authors, tell.asked.detail
    if names and which:
        tell.put(which, tell.book.paper.authors_span, names=names[0 if which == "first" else -1])
    elif names:
        key = "authors" if len(names) > 1 else "author"
        tell.put(key, tell.book.paper.authors_span, names=join_items(names, tell.answer.lang))


def answer_count(tell: AnswerBuilder) -> None:
    thing, lang, book = tell.asked.thing, tell.answer.lang, tell.book
    if thing == "page":
        _answer_page_count(tell)
    elif thing == "author":
        names = book.paper.authors
        values = {
            "n": str(len(names)),
            "things": format_noun("author", len(names), lang),
            "items": join_items(names, lang),
        }
        if names:
            tell.put("count", book.paper.authors_span, **values)
    elif thing == "reference":
        entries = book.paper.references
        if entries:
            ends = [(entry.start, entry.end) for entry in (entries[0], entries[-1])]
            tell.put("references", *ends, n=str(len(entries)))
        else:
            tell.put("none", things=format_noun("reference", 0, lang))
    elif thing:
        _answer_item_count(tell, thing)


def _answer_page_count(tell: AnswerBuilder) -> None:
    count, first = len(tell.book.document.pages), find_first_printed_page(tell.book)
    if count:
        shown = first is not None and first != 1
        printed = (
            format_fact(
                "printed", tell.answer.lang, first=str(first), last=str((first or 1) + count - 1)
            )
            if shown
            else ""
        )
        tell.put("pages", n=str(count), printed=printed)


def _answer_item_count(tell: AnswerBuilder, thing: Thing) -> None:
    """The count, with the label and page of each; where their numbers run higher than their count,
    that.
    """
    lang, items = tell.answer.lang, _list_items(thing, tell.book)
    kind = (
        "numbered_section" if thing == "section" and any(item.number for item in items) else thing
    )
    if not items:
        tell.put("none", things=format_noun(kind, 0, lang))
        return
    numbers = [int(item.number) for item in items if item.number.isdigit()]
    gap = len(numbers) == len(items) and max(numbers) > len(set(numbers))
    shown = [
        format_fact("short", lang, label=i.label, page=str(i.page)) if i.page else i.label
        for i in items
    ]
    tell.put(
        "count_gap" if gap else "count",
        *(item.span for item in items),
        n=str(len({item.number or item.label for item in items})),
        things=format_noun(kind, len(items), lang),
        items=join_items(shown, lang),
        most=str(max(numbers, default=0)),
    )


def answer_list(tell: AnswerBuilder) -> None:
    thing, lang = tell.asked.thing, tell.answer.lang
    if thing == "author":
        answer_authors(tell)
        return
    if thing == "reference":
        answer_count(tell)
        for index in range(min(MOST_ENTRIES, len(tell.book.paper.references))):
            add_entry(tell, index)
        return
    if thing is None or thing == "page":
        return
    items = _list_items(thing, tell.book, every=True)
    if not items:
        tell.put("none", things=format_noun(thing, 0, lang))
    for item in items:
        key = "short" if not item.caption else "item" if item.page else "item_unpaged"
        said = format_fact(key, lang, label=item.label, page=str(item.page), caption=item.caption)
        tell.add_sentence(
            said if said[-1] in ".。?!？！" else said + ("。" if lang == "zh" else "."), item.span
        )


def _list_items(thing: Thing, book: OpenPaper, *, every: bool = False) -> list[_Item]:
    """What there is of a kind; of sections those of the first level, or all where `every` one is to
    be listed.
    """
    if thing == "section":
        return _list_sections(book, every=every)
    if thing == "equation":
        labelled = [each for each in book.paper.equations if each.label]
        name = "式{}" if book.paper.lang == "zh" else "Equation {}"
        spans = [(each.start, each.end) for each in labelled]
        return [
            _Item(
                name.format(e.label), e.page, at, normalize_number(e.label), _flatten_span(book, at)
            )
            for e, at in zip(labelled, spans, strict=True)
        ]
    if thing not in {"figure", "table"}:
        return []
    found = []
    for each in (
        book.paper.floats[i] for i in sort_floats("table" if thing == "table" else "figure", book)
    ):
        caption = _flatten_span(book, (each.start, each.end))
        bare = (
            caption.removeprefix(each.label).lstrip(" :.：．。|-—")
            if caption.startswith(each.label)
            else caption
        )
        found.append(
            _Item(
                each.label, each.page, (each.start, each.end), normalize_number(each.number), bare
            )
        )
    return found


def _list_sections(book: OpenPaper, *, every: bool) -> list[_Item]:
    numbers = get_section_numbers(book.paper.parts)
    seen: dict[tuple[str, ...], _Item] = {}
    for part, number in zip(book.paper.parts, numbers, strict=True):
        if part.heading_path and part.heading_path not in seen and part.heading != book.paper.title:
            at = book.document.text.find(
                part.heading, part.start, part.start + len(part.heading) + 20
            )
            span = (at, at + len(part.heading)) if at >= 0 else (part.start, part.start)
            if every or not part.appendix:
                seen[part.heading_path] = _Item(part.heading, part.first_page, span, number)
    items = list(seen.values())
    if every:
        return items
    numbered = [item for item in items if item.number and "." not in item.number]
    shallow = min((len(path) for path in seen), default=0)
    return numbered or [item for path, item in seen.items() if len(path) == shallow]


def _flatten_span(book: OpenPaper, span: tuple[int, int]) -> str:
    return " ".join(book.document.text[span[0] : span[1]].split())


def add_entry(tell: AnswerBuilder, index: int) -> None:
    entry = tell.book.paper.references[index]
    span = (entry.start, entry.end)
    tell.put(
        "entry", span, label=format_label(tell, index), entry=strip_entry_number(tell.words(span))
    )


def format_label(tell: AnswerBuilder, index: int) -> str:
    key = tell.book.paper.references[index].key
    return (
        format_fact("reference_label", tell.answer.lang, label=f"[{key}]") if key.isdigit() else key
    )


def strip_entry_number(entry: str) -> str:
    """An entry without its own number."""
    return re.sub(r"^(?:\[\d+\]|\d{1,3}[.)])\s*", "", entry)

"""Questions that a paper's structure answers exactly: what it is called, who wrote it, what it
holds and where, whom it cites.

The one rule: an answer is the paper's own title, captions, headings and entries, or a count of
them; other questions get None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from citewell.skills.evidence.passages import Passage
from citewell.skills.paper.float_references import sort_floats
from citewell.skills.paper.page_references import find_first_printed_page
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.reference_numbers import normalize_number
from citewell.skills.paper.references import PaperTargets, describe_missing, find_paper_targets
from citewell.skills.paper.section_references import get_section_numbers
from citewell.skills.paper.structure_questions import (
    FactKind,
    StructureQuestion,
    Thing,
    parse_structure_question,
)
from citewell.skills.paper.structure_wording import format_fact, format_noun, join_items
from citewell.text.sentences import detect_language
from citewell.text.tokens import tokenize_for_index
from citewell.types import Citation, Sentence

MOST_ENTRIES: Final = 12  # of a list of references that are shown
LONGEST_LINE: Final = 500  # characters of a line that says where a paper appeared
_VENUE = re.compile(
    r"\b(?:proceedings|conference|transactions|journal|findings|workshop|symposium|volume|vol\.|"
    r"published|accepted|received|arxiv|"
    r"copyright|preprint)\b|©|收稿日期|发表|录用|修回|出版|学报|期刊|第\s*\d+\s*[卷期]",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_KEYWORDS = re.compile(r"key\s?words?|index terms|关键[词字]", re.IGNORECASE)
_TOPIC = re.compile(
    r"^(?:any|some|other|more|many|several|the|a|an|its|their|any "
    r"of|work|papers?|research|studies|prior)\b|论文|研究",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class StructureAnswer:
    """`sentences` number `citations`, and the citation `n` is the passage `n`. A sentence that only
    counts what no words of the paper say cites nothing.
    """

    kind: FactKind
    lang: str
    sentences: list[Sentence] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)

    @property
    def text(self) -> str:
        return ("" if self.lang == "zh" else " ").join(sentence.text for sentence in self.sentences)


def answer_from_structure(question: str, book: OpenPaper) -> StructureAnswer | None:
    """The answer, in the question's language; None for every question that asks for anything else,
    or where the paper's own words for it were not found.
    """
    points = find_paper_targets(question, book)
    wanted = parse_structure_question(question, points)
    if wanted is None:
        return None
    telling = _AnswerBuilder(
        book, StructureAnswer(wanted.kind, detect_language(question)), points, wanted
    )
    _TELL[wanted.kind](telling)
    return telling.answer if telling.answer.sentences else None


@dataclass(slots=True)
class _AnswerBuilder:
    """An answer while it is made."""

    book: OpenPaper
    answer: StructureAnswer
    points: PaperTargets
    asked: StructureQuestion

    def add_sentence(self, text: str, *spans: tuple[int, int] | None) -> None:
        """A sentence, proved by these spans of the paper."""
        numbers = [self._cite_span(span) for span in spans if span and span[0] < span[1]]
        self.answer.sentences.append(
            Sentence(text=text, citations=list(dict.fromkeys(numbers)), verdict="supported")
        )

    def _cite_span(self, span: tuple[int, int]) -> int:
        for citation in self.answer.citations:
            if (citation.start, citation.end) == span:
                return citation.n
        n = len(self.answer.citations) + 1
        passage = self.book.passage(n, [span])
        hit = passage.hit
        self.answer.passages.append(passage)
        self.answer.citations.append(
            Citation(
                n=n,
                doc_id=hit.doc_id,
                title=hit.title,
                uri=hit.uri,
                page=hit.page,
                section=" › ".join(hit.heading_path),
                quote=hit.text,
                start=span[0],
                end=span[1],
                score=1.0,
            )
        )
        return n

    def words(self, span: tuple[int, int]) -> str:
        """A span on one line."""
        return " ".join(self.book.document.text[span[0] : span[1]].split())

    def put(self, key: str, *spans: tuple[int, int] | None, **values: str) -> None:
        self.add_sentence(format_fact(key, self.answer.lang, **values), *spans)


@dataclass(frozen=True, slots=True)
class _Item:
    """A figure, table, equation or section as it is listed."""

    label: str
    page: int
    span: tuple[int, int]
    number: str
    caption: str = ""


def _answer_title(tell: _AnswerBuilder) -> None:
    if tell.book.paper.title:
        tell.put("title", tell.book.paper.title_span, title=tell.book.paper.title)


def _answer_authors(tell: _AnswerBuilder) -> None:
    names, which = tell.book.paper.authors, tell.asked.detail
    if names and which:
        tell.put(which, tell.book.paper.authors_span, names=names[0 if which == "first" else -1])
    elif names:
        key = "authors" if len(names) > 1 else "author"
        tell.put(key, tell.book.paper.authors_span, names=join_items(names, tell.answer.lang))


def _answer_count(tell: _AnswerBuilder) -> None:
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


def _answer_page_count(tell: _AnswerBuilder) -> None:
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


def _answer_item_count(tell: _AnswerBuilder, thing: Thing) -> None:
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


def _answer_list(tell: _AnswerBuilder) -> None:
    thing, lang = tell.asked.thing, tell.answer.lang
    if thing == "author":
        _answer_authors(tell)
        return
    if thing == "reference":
        _answer_count(tell)
        for index in range(min(MOST_ENTRIES, len(tell.book.paper.references))):
            _add_entry(tell, index)
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


def _answer_reference(tell: _AnswerBuilder) -> None:
    for index in tell.points.references:
        _add_entry(tell, index)
    _add_missing(tell)


def _add_entry(tell: _AnswerBuilder, index: int) -> None:
    entry = tell.book.paper.references[index]
    span = (entry.start, entry.end)
    tell.put(
        "entry", span, label=_format_label(tell, index), entry=_strip_entry_number(tell.words(span))
    )


def _format_label(tell: _AnswerBuilder, index: int) -> str:
    key = tell.book.paper.references[index].key
    return (
        format_fact("reference_label", tell.answer.lang, label=f"[{key}]") if key.isdigit() else key
    )


def _strip_entry_number(entry: str) -> str:
    """An entry without its own number."""
    return re.sub(r"^(?:\[\d+\]|\d{1,3}[.)])\s*", "", entry)


def _add_missing(tell: _AnswerBuilder) -> None:
    if tell.points.missing:
        tell.add_sentence(describe_missing(tell.points, tell.book, tell.answer.lang))


def _answer_publication(tell: _AnswerBuilder) -> None:
    """The lines of the first page that name a venue and a year; none found, none said."""
    document = tell.book.document
    until = document.pages[0].end if document.pages else min(len(document.text), 6_000)
    for match in re.finditer(r"\S(?:.(?!\n\n))*.?", document.text[:until], re.DOTALL):
        line = match.group()
        if (
            len(line) <= LONGEST_LINE
            and _VENUE.search(line)
            and _YEAR.search(line)
            and "et al" not in line
        ):
            tell.put("first_page", match.span(), line=tell.words(match.span()))
            return


def _answer_keywords(tell: _AnswerBuilder) -> None:
    words = tell.book.paper.keywords
    if not words:
        return
    text = tell.book.document.text
    label = _KEYWORDS.search(text)
    at = text.find(words[0], label.start() if label else 0)
    end = text.find(words[-1], at) + len(words[-1])
    tell.put(
        "keywords",
        (label.start() if label and at - label.end() < 20 else at, end),
        words=join_items(words, tell.answer.lang),
    )


def _answer_where(tell: _AnswerBuilder) -> None:
    paper = tell.book.paper
    for each in (paper.floats[i] for i in tell.points.floats):
        _add_place(tell, each.label, (each.start, each.end), each.page)
    for equation in (paper.equations[i] for i in tell.points.equations):
        label = format_fact("equation_label", tell.answer.lang, label=equation.label)
        _add_place(tell, label, (equation.start, equation.end), equation.page)
    for index in tell.points.references:
        _add_place(
            tell,
            _format_label(tell, index),
            (paper.references[index].start, paper.references[index].end),
        )
    _add_section_place(tell)
    _add_missing(tell)


def _add_section_place(tell: _AnswerBuilder) -> None:
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


def _add_place(tell: _AnswerBuilder, label: str, span: tuple[int, int], page: int = 0) -> None:
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


def _format_printed_page(tell: _AnswerBuilder, page: int) -> str:
    first = find_first_printed_page(tell.book)
    return (
        format_fact("printed_page", tell.answer.lang, page=str(first + page - 1))
        if first not in {None, 1} and first
        else ""
    )


def _answer_cites(tell: _AnswerBuilder) -> None:
    """Entries by number or author, or those that hold every word of a name; a topic is no work."""
    paper = tell.book.paper
    if not paper.references:
        return
    work = tell.asked.detail.strip(" \"'“”《》")
    found = list(tell.points.references)
    named = not found and _is_work_name(tell.asked.detail)
    if named:
        wanted = set(tokenize_for_index(work))
        found = [
            i
            for i, e in enumerate(paper.references)
            if wanted <= set(tokenize_for_index(tell.words((e.start, e.end))))
        ]
    for index in found[:MOST_ENTRIES]:
        entry = paper.references[index]
        span = (entry.start, entry.end)
        cited = [
            (m.start, m.end) for m in paper.mentions if m.kind == "reference" and index in m.targets
        ][:1]
        label = f"[{entry.key}]" if entry.key.isdigit() else entry.key
        tell.put("cites", span, *cited, label=label, entry=_strip_entry_number(tell.words(span)))
    if not found and (named or tell.points.missing):
        tell.put("cites_not", work=work)


def _is_work_name(words: str) -> bool:
    """`"Attention is all you need"`, `BERT`, `Vaswani`: in quotes, or capitalised and short; not
    `any work on dialogue`.
    """
    if re.fullmatch(r"\s*[\"“《'].{3,}[\"”》']\s*", words):
        return True
    parts = words.split()
    return (
        not _TOPIC.match(words)
        and len(parts) <= 3
        and all(re.match(r"[A-Z]", part) for part in parts)
    )


_TELL: Final[dict[FactKind, Callable[[_AnswerBuilder], None]]] = {
    "title": _answer_title,
    "authors": _answer_authors,
    "count": _answer_count,
    "list": _answer_list,
    "reference": _answer_reference,
    "published": _answer_publication,
    "keywords": _answer_keywords,
    "where": _answer_where,
    "cites": _answer_cites,
}

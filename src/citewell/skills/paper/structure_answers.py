"""Questions that a paper's structure answers exactly: what it is called, who wrote it, what it
holds and where, whom it cites.

The one rule: an answer is the paper's own title, captions, headings and entries, or a count of
them; other questions get None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.references import find_paper_targets
from citewell.skills.paper.structure_answer_builder import AnswerBuilder, StructureAnswer
from citewell.skills.paper.structure_lists import (
    MOST_ENTRIES,
    add_entry,
    answer_authors,
    answer_count,
    answer_list,
    strip_entry_number,
)
from citewell.skills.paper.structure_places import add_missing, answer_where
from citewell.skills.paper.structure_questions import FactKind, parse_structure_question
from citewell.skills.paper.structure_wording import join_items
from citewell.text.sentences import detect_language
from citewell.text.tokens import tokenize_for_index

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


def answer_from_structure(question: str, book: OpenPaper) -> StructureAnswer | None:
    """The answer, in the question's language; None for every question that asks for anything else,
    or where the paper's own words for it were not found.
    """
    points = find_paper_targets(question, book)
    wanted = parse_structure_question(question, points)
    if wanted is None:
        return None
    telling = AnswerBuilder(
        book, StructureAnswer(wanted.kind, detect_language(question)), points, wanted
    )
    _TELL[wanted.kind](telling)
    return telling.answer if telling.answer.sentences else None


def _answer_title(tell: AnswerBuilder) -> None:
    if tell.book.paper.title:
        tell.put("title", tell.book.paper.title_span, title=tell.book.paper.title)


def _answer_reference(tell: AnswerBuilder) -> None:
    for index in tell.points.references:
        add_entry(tell, index)
    add_missing(tell)


def _answer_publication(tell: AnswerBuilder) -> None:
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


def _answer_keywords(tell: AnswerBuilder) -> None:
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


def _answer_cites(tell: AnswerBuilder) -> None:
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
        tell.put("cites", span, *cited, label=label, entry=strip_entry_number(tell.words(span)))
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


_TELL: Final[dict[FactKind, Callable[[AnswerBuilder], None]]] = {
    "title": _answer_title,
    "authors": answer_authors,
    "count": answer_count,
    "list": answer_list,
    "reference": _answer_reference,
    "published": _answer_publication,
    "keywords": _answer_keywords,
    "where": answer_where,
    "cites": _answer_cites,
}

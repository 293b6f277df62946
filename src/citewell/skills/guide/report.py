"""The guide's report: what a paper is about, in few statements, each with the quote that proves
it.

Structure and words do the finding, the embedder orders it, a chat model only words it, and our code
proves it. A statement that is not proved is not in the report; then the paper's own sentence stands
in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import anyio.to_thread

from citewell.errors import CitewellError
from citewell.models.base import LLM, Embedder, is_connected
from citewell.skills.guide.citation_ledger import Ledger
from citewell.skills.guide.guide_wording import format_message, resolve_language
from citewell.skills.guide.paper_name import OwnWork, find_own_work
from citewell.skills.guide.pick import SLOTS, pick_lines
from citewell.skills.guide.question_source import (
    SuggestedQuestion,
    is_generic_heading,
    strip_heading_number,
)
from citewell.skills.guide.quotable import Line, find_quotable_lines
from citewell.skills.guide.suggested_questions import suggest_questions
from citewell.skills.guide.terms import extract_terms
from citewell.skills.guide.write import Written, write_report
from citewell.skills.paper.reading_context import (
    OpenPaper,
    Report,
    ReportPart,
    Slot,
    Suggestion,
    Term,
)
from citewell.skills.proof.judge import Judge

TOPICS = 3  # examples of interests


@dataclass
class _ReportJob:
    book: OpenPaper
    lines: Sequence[Line]
    own: OwnWork
    llm: LLM | None
    judge: Judge | None
    lang: str
    warnings: list[str] = field(default_factory=list)


async def make_report(
    book: OpenPaper, *, llm: LLM | None, judge: Judge | None, embedder: Embedder, lang: str
) -> Report:
    """The report in `lang`; statements in the paper's, unless a chat model writes them."""
    lang = resolve_language(lang)
    found, name = await anyio.to_thread.run_sync(_read_book, book)
    making = _ReportJob(book, found, name, llm, judge, lang)
    chosen = await pick_lines(book, found, making.own, embedder)
    worded = await _write_slots(making)
    return await anyio.to_thread.run_sync(_compose_report, making, chosen, worded)


def _read_book(book: OpenPaper) -> tuple[list[Line], OwnWork]:
    """What takes seconds of a book, so in a thread: others are served meanwhile."""
    found = find_quotable_lines(book)
    return found, find_own_work(book, found)


def _compose_report(
    making: _ReportJob, chosen: Mapping[Slot, Sequence[Line]], worded: Mapping[Slot, Written]
) -> Report:
    book, found, lang = making.book, making.lines, making.lang
    ledger = Ledger(book)
    built = [_build_part(slot, chosen[slot], worded.get(slot), ledger) for slot in SLOTS]
    parts = [part for part in built if part]
    terms = [
        (each.name, ledger.state_line(each.line)) for each in extract_terms(book, found, making.own)
    ]
    known = [Term(term=name, sentence=sentence) for name, sentence in terms if sentence]
    suggested = suggest_questions(book, found, making.own, chosen, lang)
    asked = [_build_suggestion(book, each, ledger) for each in suggested]
    _add_warnings(making, parts, worded)
    return Report(
        lang=lang,
        parts=parts,
        terms=known,
        questions=asked,
        question=build_interest_question(book, lang),
        citations=ledger.citations,
        warnings=making.warnings,
    )


def _build_suggestion(book: OpenPaper, asked: SuggestedQuestion, ledger: Ledger) -> Suggestion:
    """A question with what answers it in the one place that it names."""
    find_page, part = book.document.find_page_at, asked.line.part
    page = find_page(asked.line.start)
    there = [x for x in asked.answer if x.part.start == part.start and find_page(x.start) == page]
    return Suggestion(
        question=asked.question,
        section=" › ".join(part.heading_path),
        page=page,
        citations=[ledger.cite_line(line) for line in there],
    )


def _build_part(
    slot: Slot, picked: Sequence[Line], worded: Written | None, ledger: Ledger
) -> ReportPart | None:
    if worded is not None:
        return ReportPart(slot=slot, sentences=ledger.renumber_sentences(worded.proof, worded.kept))
    stated = [sentence for line in picked if (sentence := ledger.state_line(line)) is not None]
    return ReportPart(slot=slot, sentences=stated) if stated else None


async def _write_slots(making: _ReportJob) -> dict[Slot, Written]:
    """What the chat model made of the slots, as far as it is proved; what is not is told."""
    if making.llm is None or not is_connected(making.llm) or not making.lines:
        return {}
    try:
        made = await write_report(
            making.book, making.lines, llm=making.llm, judge=making.judge, lang=making.lang
        )
    except CitewellError as error:
        making.warnings.append(format_message("no_model", making.lang, problem=error.message))
        return {}
    joint = "" if making.lang == "zh" else " "
    for slot, draft in made.items():
        if text := joint.join(sentence.text for sentence in draft.unproved):
            named = format_message(slot, making.lang)
            making.warnings.append(format_message("unproved", making.lang, slot=named, text=text))
    return {slot: draft for slot, draft in made.items() if draft.kept}


def _add_warnings(
    making: _ReportJob, parts: Sequence[ReportPart], worded: Mapping[Slot, Written]
) -> None:
    """What the reader should know of the report itself."""
    if not making.lines:
        making.warnings.append(format_message("empty", making.lang))
        return
    there = {part.slot for part in parts}
    missing = [format_message(slot, making.lang) for slot in SLOTS if slot not in there]
    if missing:
        joint = "、" if making.lang == "zh" else ", "
        making.warnings.append(format_message("missing", making.lang, slots=joint.join(missing)))
    if resolve_language(making.book.paper.lang) != making.lang and not (
        is_connected(making.llm) and worded
    ):
        making.warnings.append(format_message("paper_language", making.lang))


def build_interest_question(book: OpenPaper, lang: str) -> str:
    """What the guide asks the reader, with examples from the paper's own headings."""
    quoted = [format_message("quoted", lang, text=topic) for topic in _find_topics(book)]
    listed = ("、" if lang == "zh" else ", ").join(quoted[:-1])
    if listed:
        listed = format_message("or", lang, items=listed, last=quoted[-1])
    topics = listed or "".join(quoted)
    examples = format_message("examples", lang, topics=topics) if topics else ""
    return format_message("ask", lang, examples=examples)


def _find_topics(book: OpenPaper) -> list[str]:
    """Headings that only this paper has: one of the method, one of the results, then others."""
    proper = book.paper.of(("method", "results", "discussion"))
    named = [p for p in proper if not p.appendix and not is_generic_heading(p)]
    inner = [p for p in named if len(p.heading_path) > 1]
    first = [p for role in ("method", "results") for p in [p for p in inner if p.role == role][:1]]
    ordered = [strip_heading_number(p.heading).rstrip("?？") for p in (*first, *inner, *named)]
    return list(dict.fromkeys(ordered))[:TOPICS]

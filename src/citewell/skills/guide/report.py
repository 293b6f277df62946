"""The guide's report: what a paper is about, in few statements, each with the quote that proves it.

Structure and words do the finding, the embedder orders it, a chat model only words it, and our code
proves it. The one rule: a statement that is not proved is not in the report; then the paper's own
sentence stands in its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import anyio.to_thread

from citewell.errors import CitewellError
from citewell.models.base import LLM, Embedder
from citewell.skills.guide.citation_ledger import Ledger
from citewell.skills.guide.guide_wording import lang_of, say
from citewell.skills.guide.paper_name import Own, own
from citewell.skills.guide.pick import SLOTS, picks
from citewell.skills.guide.quotable import Line, lines
from citewell.skills.guide.suggested_questions import Asked, bare, generic, questions
from citewell.skills.guide.terms import terms
from citewell.skills.guide.write import Written, has_room, written
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
class _Making:
    book: OpenPaper
    lines: Sequence[Line]
    own: Own
    llm: LLM | None
    judge: Judge | None
    lang: str
    warnings: list[str] = field(default_factory=list)


async def make_report(
    book: OpenPaper, *, llm: LLM | None, judge: Judge | None, embedder: Embedder, lang: str
) -> Report:
    """The report in `lang`; its statements are in the paper's language unless a chat model with
    room writes them.
    """
    lang = lang_of(lang)
    found, name = await anyio.to_thread.run_sync(_read, book)
    making = _Making(book, found, name, llm, judge, lang)
    chosen = await picks(book, found, making.own, embedder)
    worded = await _worded(making, chosen)
    return await anyio.to_thread.run_sync(_composed, making, chosen, worded)


def _read(book: OpenPaper) -> tuple[list[Line], Own]:
    """What takes seconds of a book, so in a thread: others are served meanwhile."""
    found = lines(book)
    return found, own(book, found)


def _composed(
    making: _Making, chosen: Mapping[Slot, Sequence[Line]], worded: Mapping[Slot, Written]
) -> Report:
    book, found, lang = making.book, making.lines, making.lang
    ledger = Ledger(book)
    parts = [
        part for slot in SLOTS if (part := _part(slot, chosen[slot], worded.get(slot), ledger))
    ]
    known = [
        Term(term=each.name, sentence=sentence)
        for each in terms(book, found, making.own)
        if (sentence := ledger.states(each.line)) is not None
    ]
    asked = [
        _suggested(book, each, ledger) for each in questions(book, found, making.own, chosen, lang)
    ]
    _warn(making, parts, worded)
    return Report(
        lang=lang,
        parts=parts,
        terms=known,
        questions=asked,
        question=interest_question(book, lang),
        citations=ledger.citations,
        warnings=making.warnings,
    )


def _suggested(book: OpenPaper, asked: Asked, ledger: Ledger) -> Suggestion:
    """A question with what answers it in the one place that it names."""
    page = book.document.page_at(asked.line.start)
    there = [
        x
        for x in asked.answer
        if x.part.start == asked.line.part.start and book.document.page_at(x.start) == page
    ]
    return Suggestion(
        question=asked.question,
        section=" › ".join(asked.line.part.heading_path),
        page=page,
        citations=[ledger.cites(line) for line in there],
    )


def _part(
    slot: Slot, picked: Sequence[Line], worded: Written | None, ledger: Ledger
) -> ReportPart | None:
    if worded is not None:
        return ReportPart(slot=slot, sentences=ledger.takes(worded.proof, worded.kept))
    stated = [sentence for line in picked if (sentence := ledger.states(line)) is not None]
    return ReportPart(slot=slot, sentences=stated) if stated else None


async def _worded(making: _Making, chosen: Mapping[Slot, Sequence[Line]]) -> dict[Slot, Written]:
    """What the chat model made of the slots, as far as it is proved; what is not is told. One that
    fails is told once.
    """
    slots = [slot for slot in SLOTS if chosen[slot]]
    if making.llm is None or not has_room(making.llm):
        return {}
    drafts = await asyncio.gather(
        *(_draft(making, slot, chosen[slot], making.llm) for slot in slots)
    )
    made = {slot: draft for slot, draft in zip(slots, drafts, strict=True) if draft is not None}
    making.warnings += [
        _unproved(slot, draft, making.lang) for slot, draft in made.items() if draft.unproved
    ]
    return {slot: draft for slot, draft in made.items() if draft.kept}


def _unproved(slot: Slot, draft: Written, lang: str) -> str:
    joint = "" if lang == "zh" else " "
    return say(
        "unproved",
        lang,
        slot=say(slot, lang),
        text=joint.join(sentence.text for sentence in draft.unproved),
    )


async def _draft(making: _Making, slot: Slot, picked: Sequence[Line], llm: LLM) -> Written | None:
    try:
        return await written(
            making.book,
            slot,
            picked,
            making.lines,
            making.own,
            llm=llm,
            judge=making.judge,
            lang=making.lang,
        )
    except CitewellError as error:
        if not making.warnings:
            making.warnings.append(say("no_model", making.lang, problem=error.message))
        return None


def _warn(making: _Making, parts: Sequence[ReportPart], worded: Mapping[Slot, Written]) -> None:
    """What the reader should know of the report itself."""
    if not making.lines:
        making.warnings.append(say("empty", making.lang))
        return
    missing = [
        say(slot, making.lang) for slot in SLOTS if slot not in {part.slot for part in parts}
    ]
    if missing:
        joint = "、" if making.lang == "zh" else ", "
        making.warnings.append(say("missing", making.lang, slots=joint.join(missing)))
    if lang_of(making.book.paper.lang) != making.lang and not (has_room(making.llm) and worded):
        making.warnings.append(say("paper_language", making.lang))


def interest_question(book: OpenPaper, lang: str) -> str:
    """What the guide asks the reader, with examples from the paper's own headings."""
    topics = _topics(book)
    if not topics:
        return say("ask", lang, examples="")
    quoted = [say("quoted", lang, text=topic) for topic in topics]
    joint = "、" if lang == "zh" else ", "
    listed = (
        joint.join(quoted[:-1]) + say("or", lang) + quoted[-1] if len(quoted) > 1 else quoted[0]
    )
    return say("ask", lang, examples=say("examples", lang, topics=listed))


def _topics(book: OpenPaper) -> list[str]:
    """Headings that only this paper has: one of the method, one of the results, then others."""
    named = [
        p
        for p in book.paper.of(("method", "results", "discussion"))
        if not p.appendix and not generic(p)
    ]
    first = [
        next((p for p in named if p.role == role and len(p.heading_path) > 1), None)
        for role in ("method", "results")
    ]
    ordered = [
        *(p for p in first if p is not None),
        *(p for p in named if len(p.heading_path) > 1),
        *named,
    ]
    return list(dict.fromkeys(bare(p.heading).rstrip("?？") for p in ordered))[:TOPICS]

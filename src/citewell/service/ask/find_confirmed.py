"""What people confirmed, as evidence for the agents that answer from documents: found, checked for
its collection, located. What was confirmed of one collection is evidence for questions to that
collection only, and only while it is in force and stands in its document word for word.
"""

from __future__ import annotations

import time
from dataclasses import replace

from citewell.errors import NotFound
from citewell.runtime.app import App
from citewell.service.knowledge import find_knowledge as knowledge
from citewell.service.knowledge.chains import find_missing_evidence
from citewell.skills.answer.wording import format_message
from citewell.skills.evidence.confirmed_evidence import (
    ID,
    RULE,
    ConfirmedEvidence,
    build_followed,
    is_applicable,
)
from citewell.store.confirmed.types import Confirmed, Known, Rule
from citewell.store.library.catalog import Catalog
from citewell.store.library.collection_rows import get_confirmed_collection
from citewell.text.sentences import detect_language
from citewell.types import Document, Followed, Hit, Section

ANSWER = "最终回答"  # the heading of spec 004 that the answer stands under


async def find_confirmed(
    app: App, question: str, agent: str, collection: str
) -> list[ConfirmedEvidence]:
    """The best first. Raises StorageError and what the embedder raises."""
    lang = detect_language(question)
    found: list[ConfirmedEvidence] = []
    left: set[str] = set()  # the other sides of a disagreement
    near = await knowledge.find_similar_items(app, question, agent=agent, collection=collection)
    for each in sorted(near, key=_get_sort_key):
        if (
            each.item.state != "active"
            or each.item.collection != collection
            or not is_applicable(question, each)
        ):
            continue
        followed = build_followed(each)
        hit = None if followed.item_id in left else await _build_hit(app, each, lang)
        if hit is None:
            continue
        hit = replace(hit, chunk_id=ID - len(found), score=each.similarity)
        against = each.item.conflicts if isinstance(each.item, Confirmed) else []
        stale = (
            await find_missing_evidence(app.catalog, each.item)
            if isinstance(each.item, Confirmed)
            else ""
        )
        left.update(against)
        found.append(
            ConfirmedEvidence(
                hit, followed, each.same, _format_confirmers(followed, lang), stale, bool(against)
            )
        )
    return found


def _get_sort_key(known: Known) -> float:
    """Of a disagreement the weightier side comes first; others stay where the search put them."""
    return -known.weight if isinstance(known.item, Confirmed) and known.item.conflicts else 0.0


async def _build_hit(app: App, known: Known, lang: str) -> Hit | None:
    item = known.item
    return (
        _build_rule_hit(item, known, lang)
        if isinstance(item, Rule)
        else await _build_item_hit(app.catalog, item, known, lang)
    )


def _build_rule_hit(rule: Rule, known: Known, lang: str) -> Hit:
    """A correction has no document: its words are its own."""
    text = rule.correction.strip()
    heading = (_format_confirmers(build_followed(known), lang),)
    return Hit(
        ID,
        rule.rule_id,
        rule.collection,
        rule.question,
        RULE + rule.rule_id,
        heading,
        None,
        0,
        len(text),
        text,
        rule.lang,
    )


async def _build_item_hit(catalog: Catalog, item: Confirmed, known: Known, lang: str) -> Hit | None:
    """Where its answer stands in its document; None where that is not there (any more)."""
    try:
        info = await catalog.document(item.doc_id)
        document = await catalog.content(item.doc_id)
    except NotFound:
        return None
    span = find_answer_span(document)
    if span is None or info.collection != get_confirmed_collection(item.owner):
        return None
    start, end = span
    heading = (_format_confirmers(build_followed(known), lang),)
    text = document.text[start:end]
    return Hit(
        ID,
        item.doc_id,
        info.collection,
        item.question,
        info.uri,
        heading,
        None,
        start,
        end,
        text,
        item.lang,
    )


def find_answer_span(document: Document) -> tuple[int, int] | None:
    """The answer of a confirmed chain's document, without its heading; None where there is none."""
    section = next(
        (s for s in document.sections if s.heading_path and s.heading_path[-1] == ANSWER), None
    )
    return None if section is None else _find_body_span(document.text, section)


def _find_body_span(text: str, section: Section) -> tuple[int, int] | None:
    start, end = section.start, section.end
    heading = text.find(ANSWER, start, end)
    if heading >= 0 and not text[start:heading].strip(" #\n"):
        start = heading + len(ANSWER)
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if end > start else None


def _format_confirmers(followed: Followed, lang: str) -> str:
    """Who vouches for it, since when."""
    names = ("、" if lang == "zh" else ", ").join(followed.confirmed_by) or format_message(
        "somebody", lang
    )
    day = time.strftime("%Y-%m-%d", time.gmtime(followed.confirmed_at))
    return format_message(
        "corrected_by" if followed.kind == "rule" else "confirmed_by", lang, names=names, day=day
    )

"""What people confirmed, as evidence for the agents that answer from documents: found, checked for
its collection, located.

The one rule: what was confirmed of one collection is evidence for questions to that collection
only, and only while it is in force and stands in its document word for word.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from citewell.errors import NotFound
from citewell.runtime.app import App
from citewell.service.ask.options import narrowed
from citewell.service.ask.run import Run
from citewell.service.knowledge import find_knowledge as knowledge
from citewell.service.knowledge.recheck import lacks
from citewell.skills.answer.wording import say
from citewell.skills.evidence.confirmed_evidence import ID, RULE, Vouched, bears_on, followed_of
from citewell.store.confirmed.types import Confirmed, Known, Rule
from citewell.store.library.documents import confirmed_of
from citewell.text.sentences import language
from citewell.types import Document, Followed, Hit, Section

ANSWER = "最终回答"  # the heading of spec 004 that the answer stands under


def vouching(run: Run) -> Callable[[str], Awaitable[list[Vouched]]]:
    """What such a run may see: nothing where the request says so, or names some of the documents
    only.
    """

    async def known(question: str) -> list[Vouched]:
        if run.options.knowledge is False or narrowed(run.options):
            return []
        return await vouched(run.app, question, run.agent, run.collection)

    return known


async def vouched(app: App, question: str, agent: str, collection: str) -> list[Vouched]:
    """The best first. Raises StorageError and what the embedder raises."""
    lang = language(question)
    found: list[Vouched] = []
    left: set[str] = set()  # the other sides of a disagreement
    near = await knowledge.known(app, question, agent=agent, collection=collection)
    for each in sorted(near, key=_order):
        if (
            each.item.state != "active"
            or each.item.collection != collection
            or not bears_on(question, each)
        ):
            continue
        followed = followed_of(each)
        hit = None if followed.item_id in left else await _hit(app, each, lang)
        if hit is None:
            continue
        hit = replace(hit, chunk_id=ID - len(found), score=each.similarity)
        against = each.item.conflicts if isinstance(each.item, Confirmed) else []
        stale = await lacks(app, each.item) if isinstance(each.item, Confirmed) else ""
        left.update(against)
        found.append(Vouched(hit, followed, each.same, _by(followed, lang), stale, bool(against)))
    return found


def _order(known: Known) -> float:
    """Of a disagreement the side that weighs more comes first; all others stay where the search put
    them.
    """
    return -known.weight if isinstance(known.item, Confirmed) and known.item.conflicts else 0.0


async def _hit(app: App, known: Known, lang: str) -> Hit | None:
    item = known.item
    return (
        _of_rule(item, known, lang)
        if isinstance(item, Rule)
        else await _of_item(app, item, known, lang)
    )


def _of_rule(rule: Rule, known: Known, lang: str) -> Hit:
    """A correction has no document: its words are its own."""
    text = rule.correction.strip()
    heading = (_by(followed_of(known), lang),)
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


async def _of_item(app: App, item: Confirmed, known: Known, lang: str) -> Hit | None:
    """Where its answer stands in its document; None where that is not there (any more)."""
    try:
        info = await app.catalog.document(item.doc_id)
        document = await app.catalog.content(item.doc_id)
    except NotFound:
        return None
    span = answer_span(document)
    if span is None or info.collection != confirmed_of(item.owner):
        return None
    start, end = span
    heading = (_by(followed_of(known), lang),)
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


def answer_span(document: Document) -> tuple[int, int] | None:
    """The answer of a confirmed chain's document, without its heading; None where there is none."""
    section = next(
        (s for s in document.sections if s.heading_path and s.heading_path[-1] == ANSWER), None
    )
    return None if section is None else _body(document.text, section)


def _body(text: str, section: Section) -> tuple[int, int] | None:
    start, end = section.start, section.end
    heading = text.find(ANSWER, start, end)
    if heading >= 0 and not text[start:heading].strip(" #\n"):
        start = heading + len(ANSWER)
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if end > start else None


def _by(followed: Followed, lang: str) -> str:
    """Who vouches for it, since when."""
    names = ("、" if lang == "zh" else ", ").join(followed.confirmed_by) or say("somebody", lang)
    day = time.strftime("%Y-%m-%d", time.gmtime(followed.confirmed_at))
    return say(
        "corrected_by" if followed.kind == "rule" else "confirmed_by", lang, names=names, day=day
    )

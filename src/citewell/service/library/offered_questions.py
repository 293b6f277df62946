"""Questions that documents were found to answer, as they are offered (checked_questions.py finds
them). Those of the asked language first, and of different documents.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from citewell.models.base import Vector
from citewell.runtime.app import App
from citewell.skills.answer.document_questions import propose_questions
from citewell.store.library.questions import CheckedQuestion, OverviewSentence, Questions
from citewell.text.sentences import detect_language
from citewell.types import Shown

PROPOSED = 14  # questions asked of a document at most
MOST_DOCUMENTS = 40  # of a collection, the newest: each costs some seconds of work
SAME = 0.97  # cosine from which two questions ask the same


class OfferedQuestion(Shown):
    """A question, and the document that answers it."""

    question: str
    doc_id: str
    title: str
    lang: str


class Place(NamedTuple):
    """Of a document's text."""

    doc_id: str
    start: int
    end: int


def get_questions(app: App) -> Questions:
    return app.part(_build_questions)


def _build_questions(app: App) -> Questions:
    return Questions(app.db, app.embedder.name)


async def list_suggestions(
    app: App,
    collection: str,
    *,
    limit: int,
    lang: str = "",
    near: str = "",
    documents: Sequence[str] = (),
    shown: Sequence[Place] = (),
) -> list[OfferedQuestion]:
    """The surest questions of a collection, of different documents first, those in `lang` before
    others; with `near` those nearest to it in meaning that do not ask the same, those in its
    language before others, then those of `documents`. None that what was `shown` answers. Raises
    NotFound.
    """
    found = await get_questions(app).list_of_collection(
        (await app.collections.get(collection)).name
    )
    told = await _find_told(app, found, shown)
    found = [each for each in found if (each.doc_id, each.question) not in told]
    if near and found:
        asked, lang = scale_vector(await app.embedder.query(near)), detect_language(near)
        found = _sort_by_likeness(found, asked, set(documents), lang)
    else:
        found = _take_in_turn(sorted(found, key=lambda each: bool(lang) and each.lang != lang))
    return [
        OfferedQuestion(
            question=each.question, doc_id=each.doc_id, title=each.title, lang=each.lang
        )
        for each in found[:limit]
    ]


async def list_overviews(app: App, collection: str) -> dict[str, list[OverviewSentence]]:
    """What its documents are about, by document. Raises NotFound."""
    return await get_questions(app).list_overviews((await app.collections.get(collection)).name)


async def count_waiting(app: App, collection: str, lang: str = "") -> int:
    """Documents of a collection (in `lang`) not looked at yet. Raises NotFound."""
    name = (await app.collections.get(collection)).name
    if app.reader is None:
        return 0
    return await get_questions(app).count_unasked(name, lang, MOST_DOCUMENTS)


async def _find_told(
    app: App, found: Sequence[CheckedQuestion], shown: Sequence[Place]
) -> set[tuple[str, str]]:
    """The questions, each with its document, that were made of sentences that were shown."""
    told: set[tuple[str, str]] = set()
    for doc_id in {each.doc_id for each in found} & {place.doc_id for place in shown}:
        for made in propose_questions(await app.catalog.content(doc_id), PROPOSED):
            places = (place for place in shown if place.doc_id == doc_id)
            if any(place.start < made.end and place.end > made.start for place in places):
                told.add((doc_id, made.question))
    return told


def _sort_by_likeness(
    found: Sequence[CheckedQuestion], asked: Vector, documents: Collection[str], lang: str
) -> list[CheckedQuestion]:
    likeness = {id(each): float(each.vector @ asked) for each in found}
    fresh = [each for each in found if likeness[id(each)] < SAME]
    return sorted(
        fresh,
        key=lambda each: (each.lang != lang, each.doc_id not in documents, -likeness[id(each)]),
    )


def _take_in_turn(found: Sequence[CheckedQuestion]) -> list[CheckedQuestion]:
    """The first of each document, then the second ones, in the languages' order."""
    taken: dict[str, int] = {}
    turns: list[tuple[str, int, int]] = []
    for n, each in enumerate(found):
        taken[each.doc_id] = taken.get(each.doc_id, -1) + 1
        turns.append((found[0].lang if each.lang == found[0].lang else "~", taken[each.doc_id], n))
    return [found[n] for _, _, n in sorted(turns)]


def scale_vector(vector: Vector) -> Vector:
    return (vector / (np.linalg.norm(vector) or 1.0)).astype(np.float32)

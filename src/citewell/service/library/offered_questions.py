"""Questions that documents were found to answer, as they are offered (checked_questions.py finds
them). Those of the asked language first, and of different documents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citewell.models.base import Vector
from citewell.runtime.app import App
from citewell.store.library.questions import CheckedQuestion, OverviewSentence, Questions
from citewell.types import Shown

MOST_DOCUMENTS = 40  # of a collection, the newest: each costs some seconds of work
SAME = 0.97  # cosine from which two questions ask the same


class OfferedQuestion(Shown):
    """A question, and the document that answers it."""

    question: str
    doc_id: str
    title: str
    lang: str


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
) -> list[OfferedQuestion]:
    """The surest questions of a collection, of different documents first, those in `lang` before
    others; with `near` those nearest to it in meaning that do not ask the same, those of
    `documents` before others. Raises NotFound.
    """
    found = await get_questions(app).list_of_collection(
        (await app.collections.get(collection)).name
    )
    if near and found:
        found = _sort_by_likeness(
            found, scale_vector(await app.embedder.query(near)), set(documents)
        )
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


def _sort_by_likeness(
    found: Sequence[CheckedQuestion], asked: Vector, documents: set[str]
) -> list[CheckedQuestion]:
    likeness = {id(each): float(each.vector @ asked) for each in found}
    fresh = [each for each in found if likeness[id(each)] < SAME]
    return sorted(fresh, key=lambda each: (each.doc_id not in documents, -likeness[id(each)]))


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

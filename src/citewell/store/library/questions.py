"""Questions that documents were found to answer, and what they are about. Both go with their
document, and are no longer its own once its bytes are others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import TypeAdapter
from sqlalchemy import (
    ColumnElement,
    Connection,
    ScalarSelect,
    Text,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
)

from citewell.models.base import Vector
from citewell.store.db import Database
from citewell.store.dialects.upserts import insert_or_ignore
from citewell.store.library.chunks import replace_surrogates
from citewell.store.library.library_locks import hold_documents
from citewell.store.schema.library import chunks, documents, question_sets, questions
from citewell.types import Shown


@dataclass(frozen=True, slots=True)
class CheckedQuestion:
    """`vector`: of the question, of length 1."""

    doc_id: str
    title: str
    question: str
    lang: str
    confidence: float
    vector: Vector


class OverviewSentence(Shown):
    """A sentence of a document that tells what it is about, and its place in the text."""

    text: str
    start: int
    end: int


_SENTENCES = TypeAdapter(list[OverviewSentence])


class Questions:
    """Raises StorageError."""

    def __init__(self, db: Database, embedder: str) -> None:
        self._db, self._embedder = db, embedder

    async def list_unasked(self, limit: int, most: int) -> list[tuple[str, str, str]]:
        """(document, its bytes' SHA-256, collection) of documents that can be searched by meaning
        and have not been looked at; first those of a language of which their collection has none
        that was, then the newest, in collections where fewer than `most` have.
        """
        values = {"limit": limit, "most": most}

        def rows(connection: Connection) -> list[tuple[str, str, str]]:
            found = connection.execute(_UNASKED, values)
            return [(row.doc_id, row.sha256, row.collection) for row in found]

        return await self._db.read(rows)

    async def count_unasked(self, collection: str, lang: str, most: int) -> int:
        """How many documents of a collection, in `lang` where it is said, will be looked at yet."""
        values = {"collection": collection, "lang": lang}

        def count(connection: Connection) -> int:
            unasked, asked = connection.execute(_COUNT_UNASKED, values).one()
            return int(min(unasked, max(0, most - asked)))

        return await self._db.read(count)

    async def put(
        self,
        doc_id: str,
        sha256: str,
        found: Sequence[CheckedQuestion],
        overview: Sequence[OverviewSentence] = (),
    ) -> None:
        """All of a document, in place of those before; nothing where it has gone meanwhile."""
        kept_overview = _SENTENCES.dump_json(list(overview)).decode("utf-8", "replace")

        def put(connection: Connection) -> None:
            hold_documents(connection, [doc_id])
            connection.execute(_DELETE_SET, {"of": doc_id})
            row = {"of": doc_id, "same": sha256, "told": replace_surrogates(kept_overview)}
            kept = connection.execute(_PUT_SET, row).rowcount
            if kept and found:
                connection.execute(_PUT, [self._build_row(each) for each in found])

        await self._db.write_beside(put)

    def _build_row(self, each: CheckedQuestion) -> dict[str, object]:
        return {
            "doc": each.doc_id,
            "question": replace_surrogates(each.question),
            "lang": each.lang,
            "confidence": each.confidence,
            "embedder": self._embedder,
            "vector": np.asarray(each.vector, "<f4").tobytes(),
        }

    async def list_overviews(self, collection: str) -> dict[str, list[OverviewSentence]]:
        """By document."""

        def rows(connection: Connection) -> dict[str, list[OverviewSentence]]:
            found = connection.execute(_LIST_OVERVIEWS, {"collection": collection})
            return {row.doc: _SENTENCES.validate_json(row.overview) for row in found}

        return await self._db.read(rows)

    async def list_of_collection(self, collection: str) -> list[CheckedQuestion]:
        """The surest first."""
        values = {"collection": collection, "embedder": self._embedder}

        def rows(connection: Connection) -> list[CheckedQuestion]:
            return [
                CheckedQuestion(
                    row.doc,
                    row.title,
                    row.question,
                    row.lang,
                    row.confidence,
                    np.frombuffer(row.vector, "<f4"),
                )
                for row in connection.execute(_LIST, values)
            ]

        return await self._db.read(rows)


_newer = documents.alias("e")
_known_sets = question_sets.alias("o")
_is_set_here = and_(
    question_sets.c.doc == documents.c.doc_id, question_sets.c.sha256 == documents.c.sha256
)


def _count_sets(collection: ColumnElement[str]) -> ScalarSelect[int]:
    """How many documents of a collection were looked at."""
    return (
        select(func.count())
        .select_from(_known_sets.join(_newer, _newer.c.doc_id == _known_sets.c.doc))
        .where(_newer.c.collection == collection)
        .scalar_subquery()
    )


_has_chunks = exists().where(chunks.c.doc == documents.c.doc_id)
_has_waiting = exists().where(chunks.c.doc == documents.c.doc_id, chunks.c.embedder == "")
_has_language = (
    exists()
    .select_from(_known_sets.join(_newer, _newer.c.doc_id == _known_sets.c.doc))
    .where(_newer.c.collection == documents.c.collection, _newer.c.lang == documents.c.lang)
)
_OF_UNASKED = documents.outerjoin(question_sets, _is_set_here)
_UNASKED = (
    select(documents.c.doc_id, documents.c.sha256, documents.c.collection)
    .select_from(_OF_UNASKED)
    .where(
        question_sets.c.doc.is_(None),
        _has_chunks,
        ~_has_waiting,
        _count_sets(documents.c.collection) < bindparam("most"),
    )
    .order_by(_has_language, documents.c.added_at.desc())
    .limit(bindparam("limit"))
)
_COUNT_UNASKED = (
    select(func.count(), _count_sets(bindparam("collection", type_=Text)))
    .select_from(_OF_UNASKED)
    .where(
        question_sets.c.doc.is_(None),
        documents.c.collection == bindparam("collection"),
        bindparam("lang", type_=Text).in_(["", documents.c.lang]),
        _has_chunks,
    )
)
_DELETE_SET = delete(question_sets).where(question_sets.c.doc == bindparam("of"))
_PUT_SET = insert(question_sets).from_select(
    ["doc", "sha256", "overview"],
    select(documents.c.doc_id, documents.c.sha256, bindparam("told", type_=Text)).where(
        documents.c.doc_id == bindparam("of"), documents.c.sha256 == bindparam("same")
    ),
)
_PUT = insert_or_ignore(questions)
_LIST_OVERVIEWS = (
    select(question_sets.c.doc, question_sets.c.overview)
    .select_from(documents.join(question_sets, _is_set_here))
    .where(documents.c.collection == bindparam("collection"), question_sets.c.overview != "[]")
)
_LIST = (
    select(questions, documents.c.title)
    .join(question_sets, question_sets.c.doc == questions.c.doc)
    .join(
        documents,
        and_(documents.c.doc_id == questions.c.doc, documents.c.sha256 == question_sets.c.sha256),
    )
    .where(
        documents.c.collection == bindparam("collection"),
        questions.c.embedder == bindparam("embedder"),
        documents.c.gone_since.is_(None),
    )
    .order_by(questions.c.confidence.desc(), questions.c.question)
)

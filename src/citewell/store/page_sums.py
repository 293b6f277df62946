"""How much is kept of web sites: pages, passages, bytes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, ScalarSelect, bindparam, cast, func, select

from citewell.store.schema.library import chunks, documents
from citewell.store.schema.metadata import BigInt
from citewell.store.schema.site_tables import pages


@dataclass(frozen=True, slots=True)
class Sums:
    """How many `pages` of a collection are documents, with their bytes and passages; how many
    addresses have a problem; when the first and the last of them was asked for, in seconds since
    the epoch.
    """

    collection: str
    pages: int
    problems: int
    bytes: int
    chunks: int
    embedded: int
    oldest: float
    newest: float


def count_pages(connection: Connection, embedder: str) -> list[Sums]:
    rows = connection.execute(_SUMS, {"embedder": embedder}).mappings()
    return [Sums(**row) for row in rows]


def _count_chunks(*more: ColumnElement[bool]) -> ColumnElement[int]:
    """Of a collection's pages."""
    of_page = (
        select(func.count())
        .where(chunks.c.doc == pages.c.doc_id, chunks.c.kind != "summary", *more)
        .correlate(pages)
    )
    return _sum_whole_numbers(of_page.scalar_subquery())


def _sum_whole_numbers(counts: ColumnElement[int] | ScalarSelect[int]) -> ColumnElement[int]:
    """PostgreSQL's sum of whole numbers is a decimal fraction."""
    return cast(func.coalesce(func.sum(counts), 0), BigInt)


_SUMS = (
    select(
        pages.c.collection,
        func.count(func.nullif(pages.c.doc_id, "")).label("pages"),
        func.count(func.nullif(pages.c.problem, "")).label("problems"),
        _sum_whole_numbers(documents.c.bytes).label("bytes"),
        func.min(pages.c.checked_at).label("oldest"),
        func.max(pages.c.checked_at).label("newest"),
        _count_chunks().label("chunks"),
        _count_chunks(chunks.c.embedder == bindparam("embedder")).label("embedded"),
    )
    .outerjoin(documents, documents.c.doc_id == pages.c.doc_id)
    .group_by(pages.c.collection)
    .order_by(pages.c.collection)
)

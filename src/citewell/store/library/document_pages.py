"""The documents of a collection a page at a time: one of 10,000 is 4 MB as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, Connection, func, or_, select

from citewell.store.library.documents import (
    INFO,
    IS_IN_COLLECTION,
    DocumentInfo,
    parse_document_info,
)
from citewell.store.schema.library import documents

Order = Literal["title", "media_type", "lang", "bytes", "chunks", "added_at", "priority"]
MOST = 500  # documents of a page


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Which: those with `words` in title or address, `limit` from `offset` on, in an order."""

    words: str = ""
    order: Order = "added_at"
    ascending: bool = False
    offset: int = 0
    limit: int = MOST


def list_document_page(
    connection: Connection, embedder: str, collection: str, page: DocumentPage
) -> tuple[list[DocumentInfo], int]:
    """The page, and how many there are in all."""
    asked = [IS_IN_COLLECTION, *_find_words(page.words)]
    values = {"embedder": embedder, "collection": collection}
    total = connection.execute(select(func.count()).select_from(documents).where(*asked), values)
    key = _get_key(page.order)
    ordered = INFO.where(*asked).order_by(
        key.asc() if page.ascending else key.desc(), documents.c.doc_id
    )
    rows = connection.execute(ordered.offset(page.offset).limit(page.limit), values).mappings()
    return [parse_document_info(row) for row in rows], total.scalar_one()


def _find_words(words: str) -> list[ColumnElement[bool]]:
    if not words.strip():
        return []
    wanted = words.strip().lower()
    texts = (func.lower(documents.c.title), func.lower(documents.c.uri))
    return [or_(*(text.contains(wanted, autoescape=True) for text in texts))]


def _get_key(order: Order) -> ColumnElement[object]:
    if order == "title":
        return func.lower(documents.c.title)
    return INFO.selected_columns[order]

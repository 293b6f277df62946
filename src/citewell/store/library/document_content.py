"""What a document holds: its text, bytes, and where its lines stand. Functions of a connection."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, select

from citewell.messages import load_json
from citewell.store.dialects.expressions import is_among
from citewell.store.schema.library import documents, files, lines
from citewell.types import Box, Document, Page, Section


def load_file(connection: Connection, doc_id: str) -> tuple[bytes, str]:
    """The original bytes, or the key of the object that holds them."""
    row = connection.execute(_FILE, {"doc_id": doc_id}).one()
    return bytes(row.data), row.place


def load_content(connection: Connection, doc_id: str) -> Document:
    row = connection.execute(_CONTENT, {"doc_id": doc_id}).one()
    return Document(
        title=row.title,
        media_type=row.media_type,
        lang=row.lang,
        text=row.text,
        sections=tuple(_parse_section(section) for section in json.loads(row.sections)),
        pages=tuple(Page(**page) for page in json.loads(row.pages)),
        warnings=tuple(load_json(row.warnings)),
        dated=row.dated,
    )


def get_text_lengths(connection: Connection, doc_ids: Sequence[str]) -> dict[str, int]:
    """Characters of each document's text, by doc_id."""
    rows = connection.execute(_TEXT_LENGTHS, {"ids": list(doc_ids)})
    return {row.doc_id: row.size for row in rows}


def load_boxes(connection: Connection, doc_id: str, spans: Sequence[tuple[int, int]]) -> list[Box]:
    """The lines that touch any of the spans, in order, each once. Lines do not overlap: none before
    the last one that begins at or before a span reaches into it.
    """
    found: dict[int, Box] = {}
    for start, end in spans:
        for row in connection.execute(_LINES, {"doc": doc_id, "start": start, "end": end}):
            found[row.number] = Box(row.first, row.last, row.page, row.x0, row.y0, row.x1, row.y1)
    return [found[number] for number in sorted(found)]


def _parse_section(stored: dict[str, Any]) -> Section:
    return Section(
        tuple(stored["heading_path"]), stored["start"], stored["end"], stored.get("anchor", "")
    )


_is_asked = documents.c.doc_id == bindparam("doc_id")
_FILE = (
    select(files.c.data, files.c.place)
    .join(documents, documents.c.sha256 == files.c.sha256)
    .where(_is_asked)
)
_CONTENT = select(documents).where(_is_asked)
_TEXT_LENGTHS = select(documents.c.doc_id, func.length(documents.c.text).label("size")).where(
    is_among(documents.c.doc_id, "ids")
)
_before = lines.alias("before")
_first_line = (
    select(func.max(_before.c.first))
    .where(_before.c.doc == bindparam("doc"), _before.c.first <= bindparam("start"))
    .scalar_subquery()
)
_LINES = select(lines).where(
    lines.c.doc == bindparam("doc"),
    lines.c.first < bindparam("end"),
    lines.c.last > bindparam("start"),
    lines.c.first >= func.coalesce(_first_line, 0),
)

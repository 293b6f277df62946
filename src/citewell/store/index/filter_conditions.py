"""Filters as conditions in SQL, over any table that says of a chunk its collection, document,
language, kind and span. Exact in every database; each index asks them in the way that it is fast
at.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Text,
    column,
    exists,
    func,
    literal,
    literal_column,
    select,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.selectable import TableValuedAlias

from citewell.store.dialects.expressions import is_among
from citewell.store.index.protocol import Filter
from citewell.store.library.facts import day, facts
from citewell.store.schema.library import documents

FEW_DOCUMENTS = 200
Columns = ReadOnlyColumnCollection[str, Any]
Condition = ColumnElement[bool]


def narrow_filter(connection: Connection, where: Filter) -> Filter | None:
    """What documents must be is turned into which documents they are, where those are few. None
    where nothing can pass.
    """
    if where.spans:
        docs = {doc for doc, _, _ in where.spans}
        where = replace(
            where, doc_ids=tuple(docs.intersection(where.doc_ids) if where.doc_ids else docs)
        )
        if not where.doc_ids:
            return None
    conditions = _build_document_conditions(where)
    if not conditions:
        return where
    if where.collections:
        conditions.append(is_among(facts.c.collection, where.collections))
    few = select(facts.c.doc_id).where(*conditions).limit(FEW_DOCUMENTS)
    found = set(connection.execute(few).scalars())
    if len(found) == FEW_DOCUMENTS:
        return where
    found = found.intersection(where.doc_ids) if where.doc_ids else found
    rest = replace(where, media_types=(), since=None, until=None, least_priority=None)
    return replace(rest, doc_ids=tuple(found)) if found else None


def build_conditions(of: Columns, where: Filter) -> list[Condition]:
    """All but the kinds. `of`: columns `collection`, `doc`, `lang`, `first` and `last`."""
    asked = {"collection": where.collections, "doc": where.doc_ids, "lang": where.langs}
    conditions = [is_among(of[name], values) for name, values in asked.items() if values]
    if where.spans:
        spans = _list_spans(where.spans)
        conditions.append(
            exists(
                select(spans.c.doc).where(
                    of.doc == spans.c.doc, of.first >= spans.c.first, of.last <= spans.c.last
                )
            )
        )
    of_documents = _build_document_conditions(where)
    if of_documents:
        conditions.append(
            exists(select(facts.c.doc_id).where(facts.c.doc_id == of.doc, *of_documents))
        )
    return conditions


def build_there_condition(of: Columns) -> Condition:
    """Not of a document whose place has it no more."""
    gone = select(documents.c.doc_id).where(documents.c.gone_since.is_not(None))
    result: Condition = of.doc.not_in(gone)
    return result


def count_passing(
    connection: Connection, of: FromClause, conditions: Sequence[Condition], most: int
) -> int:
    """No further than `most`."""
    rows: Select[Any] = select(literal_column("1")).select_from(of).where(*conditions).limit(most)
    counted = select(func.count()).select_from(rows.subquery())
    return int(connection.execute(counted).scalar_one())


def _build_document_conditions(where: Filter) -> list[Condition]:
    conditions = [is_among(facts.c.media_type, where.media_types)] if where.media_types else []
    if where.since is not None:
        conditions.append(day >= where.since)
    if where.until is not None:
        conditions.append(day <= where.until)
    if where.least_priority is not None:
        conditions.append(facts.c.priority >= where.least_priority)
    return conditions


class _Spans(FunctionElement[Any]):
    """Rows (doc, first, last) of a list of lists in JSON."""

    name = "spans"
    inherit_cache = True


@compiles(_Spans, "sqlite")
def _write_json_each(element: _Spans, compiler: SQLCompiler, **kw: Any) -> str:
    (given,) = element.clauses
    parts = "value ->> 0 AS doc, value ->> 1 AS first, value ->> 2 AS last"
    return f"(SELECT {parts} FROM json_each({compiler.process(given, **kw)}))"  # noqa: S608 ours


@compiles(_Spans, "postgresql")
def _write_json_elements(element: _Spans, compiler: SQLCompiler, **kw: Any) -> str:
    (given,) = element.clauses
    parts = "value ->> 0 AS doc, (value ->> 1)::bigint AS first, (value ->> 2)::bigint AS last"
    rows = f"json_array_elements(CAST({compiler.process(given, **kw)} AS json))"
    return f"(SELECT {parts} FROM {rows})"  # noqa: S608 ours


def _list_spans(spans: Sequence[tuple[str, int, int]]) -> TableValuedAlias:
    return _Spans(literal(json.dumps(spans))).table_valued(
        column("doc", Text), column("first", BigInteger), column("last", BigInteger)
    )

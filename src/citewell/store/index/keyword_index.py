"""Search by words in FTS5. Functions of a connection.

The one rule: two ways to filter, one result. Where few chunks pass, the marks of the column `place`
are part of the question to FTS5; where many do, chunks are looked at in the order of their rank
until enough have passed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, text

from citewell.store.index.base import Filter
from citewell.text import tokens as words
from citewell.types import ChunkKind

FEW = 5_000  # chunks
FEW_DOCUMENTS = 200
_KINDS: tuple[ChunkKind, ...] = ("text", "whole", "summary")


def search_keywords(
    connection: Connection, tokens: Sequence[str], k: int, where: Filter
) -> list[tuple[int, float]]:
    """(chunk id, bm25) of the `k` best that pass."""
    narrow = _narrow_filter(connection, where)
    if narrow is None:
        return []
    marks, checks = _split_filter(connection, narrow)
    conditions, values = _build_conditions(checks)
    query = _CHECKED + "".join(f" AND {each}" for each in conditions) if conditions else _PLAIN
    rows = connection.execute(
        text(query + _BEST), values | {"match": build_match_expression(tokens, marks), "k": k}
    )
    return [(row.id, -row.rank) for row in rows]  # FTS5 counts its bm25 downwards from zero


def build_match_expression(tokens: Sequence[str], where: Filter) -> str:
    """A question in FTS5's query language, every word quoted: nothing a person types is an
    operator.
    """
    quoted = [_quote_token(token) + ("*" if words.is_prefix(token) else "") for token in tokens]
    clauses = [f"tokens : ({' OR '.join(quoted)})"]
    asked = (
        [words.build_filter_tokens(collection=name) for name in where.collections],
        [words.build_filter_tokens(doc_id=doc_id) for doc_id in where.doc_ids],
        [words.build_filter_tokens(lang=lang) for lang in where.langs],
    )
    clauses += [
        _build_marks_clause([mark for value in values for mark in value] or [""])
        for values in asked
        if values
    ]
    return (
        " AND ".join(clauses)
        if not where.kinds
        else _restrict_kinds(" AND ".join(clauses), where.kinds)
    )


def _restrict_kinds(clause: str, kinds: Sequence[ChunkKind]) -> str:
    """Passages of kind `text` have no mark, so they are what is left without the marks of the
    others.
    """
    if "text" in kinds:
        others = [
            mark
            for kind in _KINDS
            if kind not in kinds
            for mark in words.build_filter_tokens(kind=kind)
        ]
        return f"({clause}) NOT {_build_marks_clause(others)}" if others else clause
    marks = [mark for kind in kinds for mark in words.build_filter_tokens(kind=kind)]
    return f"{clause} AND {_build_marks_clause(marks)}"


def _build_marks_clause(marks: Sequence[str]) -> str:
    return f"place : ({' OR '.join(_quote_token(mark) for mark in marks)})"


def _quote_token(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'


def _narrow_filter(connection: Connection, where: Filter) -> Filter | None:
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
    conditions, values = _build_document_conditions(where)
    if not conditions:
        return where
    if where.collections:
        conditions, values = (
            [*conditions, _build_in_condition("f.collection", "of")],
            values | {"of": json.dumps(where.collections)},
        )
    few = text(_DOCUMENTS + " AND ".join(conditions) + " LIMIT :few")
    docs = set(connection.execute(few, values | {"few": FEW_DOCUMENTS}).scalars())
    if len(docs) == FEW_DOCUMENTS:
        return where
    docs = docs.intersection(where.doc_ids) if where.doc_ids else docs
    return (
        replace(
            where, doc_ids=tuple(docs), media_types=(), since=None, until=None, least_priority=None
        )
        if docs
        else None
    )


def _split_filter(connection: Connection, where: Filter) -> tuple[Filter, Filter]:
    """What FTS5 is asked for by marks, and what is looked up chunk by chunk."""
    marked = Filter(where.collections, where.doc_ids, where.langs, kinds=where.kinds)
    checked = replace(where, collections=(), doc_ids=(), langs=())
    conditions, values = _build_conditions(marked)
    if not conditions:
        return marked, checked
    passing = connection.execute(
        text(_PASSING.format(" AND ".join(conditions))), values | {"few": FEW}
    ).scalar_one()
    return (marked, checked) if passing < FEW else (Filter(kinds=where.kinds), where)


def _build_conditions(where: Filter) -> tuple[list[str], dict[str, object]]:
    """In SQL, over `chunks c`; kinds are FTS5's to look at."""
    columns = {"collection": where.collections, "doc": where.doc_ids, "lang": where.langs}
    values: dict[str, object] = {
        name: json.dumps(asked) for name, asked in columns.items() if asked
    }
    conditions = [_build_in_condition(f"c.{name}", name) for name in values]
    if where.spans:
        conditions.append(_SPANS)
        values["spans"] = json.dumps(where.spans)
    of_documents, more = _build_document_conditions(where)
    if of_documents:
        conditions.append(f"EXISTS ({_DOCUMENTS}f.doc_id = c.doc AND {' AND '.join(of_documents)})")
    return conditions, values | more


def _build_document_conditions(where: Filter) -> tuple[list[str], dict[str, object]]:
    conditions: list[str] = []
    values: dict[str, object] = {}
    if where.media_types:
        conditions.append(_build_in_condition("f.media_type", "media_types"))
        values["media_types"] = json.dumps(where.media_types)
    for name, condition in _LIMITS.items():
        if getattr(where, name) is not None:
            conditions.append(condition)
            values[name] = getattr(where, name)
    return conditions, values


def _build_in_condition(column: str, name: str) -> str:
    return f"{column} IN (SELECT value FROM json_each(:{name}))"  # noqa: S608 names of ours


_LIMITS = {
    "since": "coalesce(f.dated, f.added_at) >= :since",
    "until": "coalesce(f.dated, f.added_at) <= :until",
    "least_priority": "f.priority >= :least_priority",
}
# which holds all that is asked for
_DOCUMENTS = "SELECT f.doc_id FROM documents f INDEXED BY documents_facts WHERE "
_SPANS = """EXISTS (SELECT 1 FROM json_each(:spans) s
    WHERE c.doc = s.value ->> 0 AND c.first >= s.value ->> 1 AND c.last <= s.value ->> 2)"""
_PASSING = "SELECT count(*) FROM (SELECT 1 FROM chunks c WHERE {} LIMIT :few)"
_PLAIN = "SELECT rowid AS id, rank FROM words WHERE words MATCH :match"
_CHECKED = (
    "SELECT c.id, rank FROM words CROSS JOIN chunks c ON c.id = words.rowid WHERE words MATCH "
    ":match"
)
_BEST = " ORDER BY rank LIMIT :k"

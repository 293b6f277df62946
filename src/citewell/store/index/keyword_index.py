"""Search by words in FTS5. Functions of a connection. Two ways to filter, one result. Where few
chunks pass, the marks of the column `place` are part of the question to FTS5; where many do, chunks
are looked at in the order of their rank until enough have passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    Connection,
    Join,
    bindparam,
    column,
    select,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from citewell.store.index.filter_conditions import (
    build_conditions,
    build_there_condition,
    count_passing,
    narrow_filter,
)
from citewell.store.index.protocol import Filter
from citewell.store.library import documents
from citewell.store.schema.library import chunks
from citewell.store.schema.word_table import words
from citewell.text.tokens import build_filter_tokens, is_prefix
from citewell.types import ChunkKind

FEW = 5_000  # chunks
_KINDS: tuple[ChunkKind, ...] = ("text", "whole", "summary")


def search_keywords(
    connection: Connection, tokens: Sequence[str], k: int, where: Filter
) -> list[tuple[int, float]]:
    """(chunk id, bm25) of the `k` best that pass."""
    narrow = narrow_filter(connection, where)
    if narrow is None:
        return []
    marks, checks = _split_filter(connection, narrow)
    conditions = build_conditions(chunks.c, checks)
    if not where.doc_ids and not where.spans and documents.list_gone(connection):
        conditions.append(build_there_condition(chunks.c))
    query = _CHECKED.where(*conditions) if conditions else _PLAIN
    rows = connection.execute(query, {"match": build_match_expression(tokens, marks), "k": k})
    return [(row.id, -row.rank) for row in rows]  # FTS5 counts its bm25 downwards from zero


def build_match_expression(tokens: Sequence[str], where: Filter) -> str:
    """A question in FTS5's query language, each word quoted: nothing typed is an operator."""
    quoted = [_quote_token(token) + ("*" if is_prefix(token) else "") for token in tokens]
    clauses = [f"tokens : ({' OR '.join(quoted)})"]
    asked = (
        [build_filter_tokens(collection=name) for name in where.collections],
        [build_filter_tokens(doc_id=doc_id) for doc_id in where.doc_ids],
        [build_filter_tokens(lang=lang) for lang in where.langs],
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
    """Passages of kind `text` have no mark: they are what is left without the others'."""
    if "text" in kinds:
        others = [
            mark for kind in _KINDS if kind not in kinds for mark in build_filter_tokens(kind=kind)
        ]
        return f"({clause}) NOT {_build_marks_clause(others)}" if others else clause
    marks = [mark for kind in kinds for mark in build_filter_tokens(kind=kind)]
    return f"{clause} AND {_build_marks_clause(marks)}"


def _build_marks_clause(marks: Sequence[str]) -> str:
    return f"place : ({' OR '.join(_quote_token(mark) for mark in marks)})"


def _quote_token(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'


def _split_filter(connection: Connection, where: Filter) -> tuple[Filter, Filter]:
    """What FTS5 is asked for by marks, and what is looked up chunk by chunk."""
    marked = Filter(where.collections, where.doc_ids, where.langs, kinds=where.kinds)
    checked = replace(where, collections=(), doc_ids=(), langs=())
    conditions = build_conditions(chunks.c, marked)
    if not conditions:
        return marked, checked
    return (
        (marked, checked)
        if count_passing(connection, chunks, conditions, FEW) < FEW
        else (Filter(kinds=where.kinds), where)
    )


class _OrderedJoin(Join):
    """The left side first, then for each of its rows the right one: FTS5 names the chunks."""

    inherit_cache = True


@compiles(_OrderedJoin)
def _write_cross_join(join: _OrderedJoin, compiler: SQLCompiler, **kw: Any) -> str:
    kw["asfrom"] = True
    left, right, condition = (
        compiler.process(part, **kw)
        for part in (join.left, join.right, join.onclause)
        if part is not None
    )
    return f"{left} CROSS JOIN {right} ON {condition}"


_RANKED = (
    select(words.c.rowid.label("id"), column("rank"))
    .where(text("words MATCH :match"))
    .order_by(column("rank"))
    .limit(bindparam("k"))
)
_PLAIN = _RANKED.select_from(words)
_CHECKED = _RANKED.select_from(_OrderedJoin(words, chunks, chunks.c.id == words.c.rowid))

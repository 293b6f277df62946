"""The chain of thought of a trace as an item that can be confirmed; whether two chains are the
same, and whether the evidence of one still stands. One chain is one item, whoever asked: the same
agent and place, the same statement (or the same quotes, or words), and the same question or nearly
so.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import anyio.to_thread
from sqlalchemy import Connection, bindparam, select, union

from citewell.errors import (
    NotFound,
)
from citewell.messages import Text
from citewell.service.ask.snapshot import build_snapshot
from citewell.sql.engines.engine import Rows
from citewell.store.confirmed import question_likeness as questions
from citewell.store.confirmed.item_files import TAGS, clean_text
from citewell.store.confirmed.question_likeness import Scale
from citewell.store.confirmed.types import LONGEST_ROWS, Confirmed
from citewell.store.db import Database
from citewell.store.dialects.expressions import is_among
from citewell.store.library.catalog import Catalog
from citewell.store.schema.data_tables import sources
from citewell.store.schema.library import collections, documents
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language
from citewell.types import Trace

MOST_QUOTED = 80  # characters of a quote that a reason shows
ROWS = 20  # of a table that are kept to compare a later run with
DIALECTS = {"duckdb": "duckdb", "sqlite": "sqlite", "postgres": "postgres", "mysql": "mysql"}


@dataclass(frozen=True, slots=True)
class Chain:
    """`item` as it would be new. `dialect` of its statement."""

    item: Confirmed
    dialect: str = ""


async def build_chain(db: Database, trace: Trace) -> Chain:
    """Of a trace of any agent."""
    snapshot = trace.snapshot or build_snapshot(trace)
    data = trace.answer.data or {}
    tables = trace.agent == "data"
    source = str(data.get("source") or "") if tables else ""
    question = normalize_text(_get_full_question(trace, snapshot.intent_analysis.parameters))
    fingerprint, evidence, owner = await db.read(
        lambda connection: (
            *_collect_evidence(connection, trace, source),
            _find_owner(connection, trace, source),
        )
    )
    intent = snapshot.intent_analysis
    item = Confirmed(
        item_id=f"qa_confirmed_{trace.trace_id}",
        trace_id=trace.trace_id,
        agent=trace.agent,
        question=question,
        lang=detect_language(question),
        source=source,
        collection="" if tables else trace.collection,
        intent=intent,
        logic=clean_text(str(data.get("sql") or "") if tables else "")
        or clean_text(snapshot.generated_logic),
        answer=clean_text(trace.answer.answer),
        tags=[*TAGS, *([intent.intent_type] if intent.intent_type else [])],
        state="pending",
        fingerprint=fingerprint,
        evidence=evidence,
        owner=owner,
    )
    if tables:
        # the parser is loaded before the database is locked
        await anyio.to_thread.run_sync(normalize_sql, item.logic, "")
    return Chain(item, str(data.get("dialect") or ""))


def is_same_chain(one: Chain, other: Confirmed, likeness: float, scale: Scale) -> bool:
    """Of the same place, and of questions alike at least as `scale.same` says."""
    mine = one.item
    if mine.agent != other.agent or (mine.source, mine.collection) != (
        other.source,
        other.collection,
    ):
        return False
    if mine.agent == "data":
        return normalize_sql(mine.logic, one.dialect) == normalize_sql(other.logic, one.dialect)
    if likeness < scale.alone and questions.normalize_question(
        mine.question
    ) != questions.normalize_question(other.question):
        return False
    return _collect_quotes(mine) == _collect_quotes(other) != set() or questions.normalize_question(
        mine.answer
    ) == questions.normalize_question(other.answer)


def normalize_sql(sql: str, dialect: str) -> str:
    """What two writings of one statement share: case of keywords and names, space, comments,
    needless quotes. A statement that cannot be parsed is compared by its words.
    """
    import sqlglot
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

    known = DIALECTS.get(dialect)
    try:
        tree = normalize_identifiers(sqlglot.parse_one(sql, dialect=known), dialect=known)
        return tree.sql(dialect=known, comments=False, identify=True, normalize_functions="upper")
    except (SqlglotError, ValueError, RecursionError):
        return " ".join(sql.split()).rstrip("; ")


def _get_full_question(trace: Trace, parameters: dict[str, Any]) -> str:
    """A question that leans on what was said is kept in full words; others as asked."""
    alone = parameters.get("standalone")
    return (
        alone
        if isinstance(alone, str) and alone.strip() and trace.request.get("history")
        else trace.question
    )


def _collect_quotes(item: Confirmed) -> set[tuple[str, str]]:
    """By their words: a document that was replaced may say something else at the same place."""
    return {
        (str(each.get("doc_id")), " ".join(str(each.get("quote", "")).split()))
        for each in item.evidence
    }


def _take_first_rows(data: dict[str, Any]) -> list[list[Any]]:
    """As many of the first rows as are kept; none where the first alone is too long."""
    kept: list[list[Any]] = []
    left = LONGEST_ROWS
    for row in data.get("rows", [])[:ROWS]:
        left -= len(json.dumps(row, ensure_ascii=False, default=str))
        if left < 0:
            break
        kept.append(row)
    return kept


def _find_owner(connection: Connection, trace: Trace, source: str) -> str:
    """Whose alone the tables or the documents are that an answer rests on; empty where all of them
    are everybody's. Who asked where that cannot be told any more, or where they saw what is
    another's.
    """
    if trace.agent == "data":
        owners = set(connection.execute(_OF_SOURCE, {"name": source}).scalars())
    else:
        values = {"collection": trace.collection, "ids": _list_cited(trace)}
        owners = set(connection.execute(_OF_DOCUMENTS, values).scalars())
    return "" if owners <= {""} else trace.user_id


def _collect_evidence(
    connection: Connection, trace: Trace, source: str
) -> tuple[str, list[dict[str, Any]]]:
    """(fingerprint, evidence): of tables the schema's and the first rows; else a hash of the cited
    documents' bytes, and the citations with those bytes' hash.
    """
    if trace.agent == "data":
        schema = connection.execute(_FINGERPRINT, {"name": source}).scalar_one_or_none() or ""
        data = trace.answer.data or {}
        kept_rows = {
            "columns": data.get("columns", []),
            "rows": _take_first_rows(data),
            "row_count": data.get("row_count", 0),
        }
        return str(schema), [kept_rows]
    rows = connection.execute(_HASHES, {"ids": _list_cited(trace)})
    hashes = {row.doc_id: row.sha256 for row in rows}
    kept = ("doc_id", "title", "uri", "page", "section", "quote", "start", "end", "origin")
    cited = [
        {name: getattr(citation, name) for name in kept}
        | {"sha256": hashes.get(citation.doc_id, "")}
        for citation in trace.answer.citations
    ]
    known = json.dumps(sorted(hashes.items()))
    return sha256(known.encode()).hexdigest()[:16] if hashes else "", cited


def _list_cited(trace: Trace) -> list[str]:
    return sorted({citation.doc_id for citation in trace.answer.citations})


_FINGERPRINT = select(sources.c.fingerprint).where(sources.c.name == bindparam("name"))
_OF_SOURCE = select(sources.c.owner).where(sources.c.name == bindparam("name"))
_CITED = is_among(documents.c.doc_id, "ids")
_HASHES = select(documents.c.doc_id, documents.c.sha256).where(_CITED)
_OF_DOCUMENTS = union(
    select(collections.c.owner).where(collections.c.name == bindparam("collection")),
    select(collections.c.owner).join(documents).where(_CITED),
)


async def find_missing_evidence(catalog: Catalog, item: Confirmed) -> str:
    """What of an item's evidence is gone or says something else now; empty where it stands."""
    for cited in item.evidence:
        quote, doc_id = str(cited.get("quote", "")), str(cited.get("doc_id", ""))
        if (
            not quote
            or not doc_id
            or cited.get("origin") == "memory"
            or str(cited.get("uri", "")).startswith("rule:")
        ):
            continue
        try:
            info = await catalog.document(doc_id)
            if cited.get("sha256") == info.sha256:
                continue
            text = (await catalog.content(doc_id)).text
        except NotFound:
            return Text("{title} was removed", title=cited.get("title") or doc_id)
        if " ".join(quote.split()) not in " ".join(text.split()):
            return Text(
                "{title} does not say any more: {quote}",
                title=info.title,
                quote=_shorten_quote(quote),
            )
    return ""


def find_column_change(evidence: Sequence[dict[str, Any]], rows: Rows) -> str:
    """How the columns differ from those that were confirmed: their names, or the kind of what
    stands in them. Other rows are no fault: data changes.
    """
    before = next(iter(evidence), {})
    columns = [str(name) for name in before.get("columns", [])]
    if not columns:
        return ""
    if columns != list(rows.columns):
        return f"its columns were {', '.join(columns)} and are {', '.join(rows.columns) or 'none'}"
    old, new = (
        _get_column_kinds(before.get("rows", []), len(columns)),
        _get_column_kinds(rows.rows, len(columns)),
    )
    for name, one, other in zip(columns, old, new, strict=True):
        if one and other and one != other:
            return f"column {name} held {one}s and holds {other}s"
    return ""


def _get_column_kinds(rows: Sequence[Sequence[Any]], width: int) -> list[str]:
    """What stands in each column; empty where nothing does."""
    found: list[set[str]] = [set() for _ in range(width)]
    for row in rows:
        for place, value in enumerate(row[:width]):
            if value is not None:
                figure = isinstance(value, int | float) and not isinstance(value, bool)
                found[place].add(
                    "number" if figure else "truth value" if isinstance(value, bool) else "text"
                )
    return [next(iter(kinds)) if len(kinds) == 1 else "" for kinds in found]


def _shorten_quote(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:MOST_QUOTED]}{'…' if len(line) > MOST_QUOTED else ''}”"


def has_same_rows(evidence: Sequence[dict[str, Any]], rows: Rows) -> bool:
    """Whether a statement gives the very rows confirmed, as far as kept. No rows tell nothing."""
    before = next(iter(evidence), {})
    old = [list(row) for row in before.get("rows", [])]
    count = before.get("row_count", len(old))
    if not old or count != len(rows.rows) or list(before.get("columns", [])) != list(rows.columns):
        return False
    new = [list(row) for row in rows.rows]
    return (
        sorted(map(repr, old)) == sorted(map(repr, new))
        if len(old) == count
        else old == new[: len(old)]
    )

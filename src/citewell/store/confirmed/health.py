"""What keeps confirmed knowledge healthy, as rows. Functions of a connection. Only what nobody can
use any more is deleted; what was vouched for leaves use first, and its row some time after.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, and_, bindparam, delete, or_, select

from citewell.store.dialects.expressions import is_among
from citewell.store.library.collection_rows import is_confirmed_collection
from citewell.store.schema.knowledge import (
    confirmations,
    confirmed,
    feedback,
    knowledge_log,
    knowledge_uses,
    rules,
)
from citewell.store.schema.library import collections, documents


def delete_items(connection: Connection, ids: Sequence[str]) -> None:
    """Rows with all that hangs on them: confirmations, uses, log."""
    for statement in _DELETE_ITEM:
        connection.execute(statement, {"ids": ids})


def delete_rules(connection: Connection, ids: Sequence[str]) -> None:
    for statement in _DELETE_RULE:
        connection.execute(statement, {"ids": ids})


def list_orphan_documents(connection: Connection) -> list[str]:
    """Documents of the reserved collections that belong to no item in force."""
    return list(connection.execute(_ORPHANS, _list_reserved(connection)).scalars())


def list_document_ids(connection: Connection) -> set[str]:
    """All documents of the reserved collections."""
    return set(connection.execute(_DOCUMENTS, _list_reserved(connection)).scalars())


def list_orphan_feedback(connection: Connection, before: float, gone: Sequence[str]) -> list[str]:
    """Votes whose trace was deleted, whose item or rule is not there or among the `gone`, and those
    kept for analysis since before that moment.
    """
    return list(connection.execute(_VOTES, {"before": before, "gone": gone}).scalars())


def delete_feedback(connection: Connection, ids: Sequence[str]) -> None:
    connection.execute(_DELETE_VOTES, {"ids": ids})


def _list_reserved(connection: Connection) -> dict[str, list[str]]:
    names = connection.execute(select(collections.c.name)).scalars()
    return {"reserved": [name for name in names if is_confirmed_collection(name)]}


_DELETE_ITEM = [
    delete(table).where(is_among(table.c.item_id, "ids"))
    for table in (confirmations, knowledge_uses, knowledge_log, confirmed)
]
_DELETE_RULE = [
    delete(key.table).where(is_among(key, "ids"))
    for key in (knowledge_uses.c.item_id, knowledge_log.c.item_id, rules.c.rule_id)
]
_DOCUMENTS = select(documents.c.doc_id).where(is_among(documents.c.collection, "reserved"))
_ORPHANS = _DOCUMENTS.where(
    documents.c.doc_id.not_in(select(confirmed.c.doc_id).where(confirmed.c.state == "active"))
)
_ITEM = feedback.c.item_id
_VOTES = select(feedback.c.feedback_id).where(
    feedback.c.state == "done",
    or_(
        feedback.c.trace == "",
        and_(_ITEM == "", feedback.c.updated_at < bindparam("before")),
        is_among(_ITEM, "gone"),
        and_(
            _ITEM != "",
            _ITEM.not_in(select(confirmed.c.item_id)),
            _ITEM.not_in(select(rules.c.rule_id)),
        ),
    ),
)
# not one that was given anew just now
_DELETE_VOTES = delete(feedback).where(
    is_among(feedback.c.feedback_id, "ids"), feedback.c.state == "done"
)

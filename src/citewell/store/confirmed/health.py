"""What keeps confirmed knowledge healthy, as rows. Functions of a connection.

The one rule: only what nobody can use any more is deleted; what was vouched for leaves use first,
and its row some time after.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, text

from citewell.store.library.collection_rows import CONFIRMED


def set_fingerprint(connection: Connection, item_id: str, fingerprint: str) -> None:
    """Of the schema that it runs on now."""
    query = text("UPDATE confirmed SET fingerprint = :f WHERE item_id = :id")
    connection.execute(query, {"f": fingerprint, "id": item_id})


def delete_items(connection: Connection, ids: Sequence[str]) -> None:
    """Rows with all that hangs on them: confirmations, uses, log."""
    for statement in _DELETE_ITEM:
        connection.execute(statement, {"ids": json.dumps(list(ids))})


def delete_rules(connection: Connection, ids: Sequence[str]) -> None:
    for statement in _DELETE_RULE:
        connection.execute(statement, {"ids": json.dumps(list(ids))})


def list_orphan_documents(connection: Connection) -> list[str]:
    """Documents of the reserved collections that belong to no item in force."""
    return list(connection.execute(_ORPHANS, _RESERVED).scalars())


def list_document_ids(connection: Connection) -> set[str]:
    """All documents of the reserved collections."""
    query = text(
        "SELECT doc_id FROM documents WHERE collection = :collection OR collection GLOB :own"
    )
    return set(connection.execute(query, _RESERVED).scalars())


def list_orphan_feedback(connection: Connection, before: float, gone: Sequence[str]) -> list[str]:
    """Votes whose trace was deleted, whose item or rule is not there or among the `gone`, and those
    kept for analysis since before that moment.
    """
    return list(
        connection.execute(_VOTES, {"before": before, "gone": json.dumps(list(gone))}).scalars()
    )


def delete_feedback(connection: Connection, ids: Sequence[str]) -> None:
    query = text("DELETE FROM feedback WHERE feedback_id IN (SELECT value FROM json_each(:ids))")
    connection.execute(query, {"ids": json.dumps(list(ids))})


# documents.keeps_confirmed
_RESERVED = {"collection": CONFIRMED, "own": f"{CONFIRMED}-{'[0-9a-f]' * 16}"}
_OF = "(SELECT value FROM json_each(:ids))"
_DELETE_ITEM = [
    text(f"DELETE FROM {table} WHERE item_id IN {_OF}")  # noqa: S608 - names of ours only
    for table in ("confirmations", "knowledge_uses", "knowledge_log", "confirmed")
]
_DELETE_RULE = [
    text(f"DELETE FROM {table} WHERE {key} IN {_OF}")  # noqa: S608 - names of ours only
    for table, key in (
        ("knowledge_uses", "item_id"),
        ("knowledge_log", "item_id"),
        ("rules", "rule_id"),
    )
]
_ORPHANS = text(
    """SELECT doc_id FROM documents WHERE (collection = :collection OR collection GLOB :own)
    AND doc_id NOT IN (SELECT doc_id FROM confirmed WHERE state = 'active')"""
)
_VOTES = text(
    """SELECT feedback_id FROM feedback WHERE state = 'done' AND (
        trace = '' OR (item_id = '' AND updated_at < :before)
        OR item_id IN (SELECT value FROM json_each(:gone))
        OR (item_id <> '' AND item_id NOT IN (SELECT item_id FROM confirmed)
            AND item_id NOT IN (SELECT rule_id FROM rules)))"""
)

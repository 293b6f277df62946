"""Confirmed chains as rows, who stands by each, and which answers used them. Functions of a
connection.

The one rule: a row is never deleted here: what is undone keeps its row and its log, and no search
reads either.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, RowMapping, text

from citewell.errors import NotFound
from citewell.store.confirmed.types import Confirmation, Confirmed, ItemState
from citewell.store.memory_rows import Stored
from citewell.store.users.identity import VISITOR, get_person_key, is_one_of
from citewell.types import Followed, IntentAnalysis, Shown

PATH = "knowledge/confirmed_qa/{trace_id}.md"  # below the home folder


class Logged(Shown):
    """Who did what to an item or a rule, when (seconds since the epoch) and why."""

    at: float
    user_id: str
    action: str
    reason: str = ""


class Votes(NamedTuple):
    """How many people said answers that followed an item to be right, and how many to be wrong."""

    good: int
    bad: int


def insert_item(connection: Connection, item: Confirmed, stored: Stored) -> None:
    """A new row; who stands by it is added by `confirm_item`."""
    connection.execute(_INSERT, _to_row(item) | stored._asdict())


def update_item(connection: Connection, item: Confirmed, stored: Stored) -> None:
    """The chain itself, anew: another run of the same trace's question, or an import. Counts and
    confirmations stay.
    """
    connection.execute(_UPDATE, _to_row(item) | stored._asdict())


def find_item(connection: Connection, item_id: str) -> Confirmed | None:
    row = (
        connection.execute(text(f"{_SELECT} WHERE item_id = :id"), {"id": item_id})
        .mappings()
        .one_or_none()
    )
    return None if row is None else _parse_items(connection, [row])[0]


def get_item(connection: Connection, item_id: str) -> Confirmed:
    """Raises NotFound."""
    item = find_item(connection, item_id)
    if item is None:
        raise make_unknown_item(item_id)
    return item


def make_unknown_item(item_id: str) -> NotFound:
    return NotFound(f"no confirmed answer {item_id!r}", hint="`citewell knowledge list` shows all")


def list_items(
    connection: Connection,
    *,
    state: str | None = None,
    source: str | None = None,
    collection: str | None = None,
) -> list[Confirmed]:
    """The newest first; None: whatever it is."""
    where = "(:state IS NULL OR state = :state) AND (:source IS NULL OR source = :source)"
    where += " AND (:collection IS NULL OR collection = :collection)"
    query = text(f"{_SELECT} WHERE {where} ORDER BY created_at DESC, item_id")
    rows = (
        connection.execute(query, {"state": state, "source": source, "collection": collection})
        .mappings()
        .all()
    )
    return _parse_items(connection, rows)


def find_items(connection: Connection, ids: Iterable[str]) -> dict[str, Confirmed]:
    query = text(f"{_SELECT} WHERE item_id IN (SELECT value FROM json_each(:ids))")  # noqa: S608
    rows = connection.execute(query, {"ids": json.dumps(sorted(set(ids)))}).mappings().all()
    return {item.item_id: item for item in _parse_items(connection, rows)}


def confirm_item(
    connection: Connection, item_id: str, user_id: str, trace_id: str, at: float
) -> bool:
    """Add one who stands by it. False where they do already."""
    values = {"item": item_id, "user": user_id, "trace": trace_id, "at": at}
    return connection.execute(_CONFIRM, values).rowcount > 0


def withdraw_confirmation(connection: Connection, item_id: str, user_id: str) -> bool:
    """False where they did not stand by it."""
    query = text("DELETE FROM confirmations WHERE item_id = :item AND user_id = :user")
    return connection.execute(query, {"item": item_id, "user": user_id}).rowcount > 0


def withdraw_confirmations(connection: Connection, item_id: str) -> None:
    connection.execute(text("DELETE FROM confirmations WHERE item_id = :item"), {"item": item_id})


def list_confirmed_items(connection: Connection, trace_id: str, user_id: str) -> list[str]:
    """The items that this user stands by for this very trace."""
    query = text("SELECT item_id FROM confirmations WHERE trace_id = :trace AND user_id = :user")
    return list(connection.execute(query, {"trace": trace_id, "user": user_id}).scalars())


def move_confirmation(connection: Connection, item_id: str, user_id: str, trace_id: str) -> None:
    """They stand by it for another trace."""
    query = text(
        "UPDATE confirmations SET trace_id = :trace WHERE item_id = :item AND user_id = :user"
    )
    connection.execute(query, {"item": item_id, "user": user_id, "trace": trace_id})


def set_state(
    connection: Connection, item_id: str, state: ItemState, reason: str, now: float
) -> None:
    values = {"id": item_id, "state": state, "reason": reason, "now": now}
    connection.execute(_SET_STATE, values)


def set_document(connection: Connection, item_id: str, doc_id: str) -> None:
    connection.execute(
        text("UPDATE confirmed SET doc_id = :doc WHERE item_id = :id"),
        {"id": item_id, "doc": doc_id},
    )


def set_votes(connection: Connection, item_id: str, votes: Votes) -> None:
    query = text("UPDATE confirmed SET good = :good, bad = :bad WHERE item_id = :id")
    connection.execute(query, {"id": item_id} | votes._asdict())


def count_votes(connection: Connection, item_id: str, reviewers: Sequence[str]) -> Votes:
    """Of people who said something of an answer that followed this item, since it was last vouched
    for (`restored`). One person, one voice: the last one. With reviewers only theirs.
    """
    said: dict[str, bool] = {}
    for row in connection.execute(_VOTES, {"item": item_id}):
        if row.user_id != VISITOR and (not reviewers or is_one_of(row.user_id, reviewers)):
            said[get_person_key(row.user_id)] = bool(row.is_correct)
    return Votes(sum(said.values()), len(said) - sum(said.values()))


def list_followed_items(connection: Connection, trace_id: str) -> list[str]:
    """The items that the answer of this trace followed; rules are none."""
    return list(connection.execute(_FOLLOWED, {"trace": trace_id}).scalars())


def note_uses(
    connection: Connection, trace_id: str, followed: Sequence[Followed], at: float
) -> None:
    """Each item and rule that an answer followed, once an answer."""
    for each in followed:
        values = {"item": each.item_id, "trace": trace_id, "how": each.how, "at": at}
        if connection.execute(_USE, values).rowcount:
            connection.execute(
                _USED_RULE if each.kind == "rule" else _USED_ITEM, {"id": each.item_id, "at": at}
            )


def log_action(
    connection: Connection, item_id: str, user_id: str, action: str, at: float, reason: str = ""
) -> None:
    connection.execute(
        _LOG, {"item": item_id, "user": user_id, "action": action, "at": at, "reason": reason}
    )


def list_log_entries(connection: Connection, item_id: str) -> list[Logged]:
    """What was done to an item or a rule, in order."""
    query = text(
        "SELECT at, user_id, action, reason FROM knowledge_log WHERE item_id = :id ORDER BY at, "
        "rowid"
    )
    return [Logged(**row) for row in connection.execute(query, {"id": item_id}).mappings()]


def _parse_items(connection: Connection, rows: Sequence[RowMapping]) -> list[Confirmed]:
    by: dict[str, list[Confirmation]] = {row["item_id"]: [] for row in rows}
    for each in connection.execute(_BY, {"ids": json.dumps(sorted(by))}).mappings():
        by[each["item_id"]].append(
            Confirmation(user_id=each["user_id"], trace_id=each["trace_id"], at=each["at"])
        )
    return [_parse_item(row, by[row["item_id"]]) for row in rows]


def _parse_item(row: RowMapping, confirmed: list[Confirmation]) -> Confirmed:
    values: dict[str, Any] = dict(row)
    values["intent"] = IntentAnalysis(**json.loads(row["intent"]))
    values |= {name: json.loads(row[name]) for name in ("tags", "evidence")}
    path = PATH.format(trace_id=row["trace_id"]) if row["state"] == "active" else ""
    return Confirmed(**values, confirmed_by=confirmed, path=path)


def _to_row(item: Confirmed) -> dict[str, Any]:
    values = item.model_dump(
        mode="python", exclude={"priority", "confirmed_by", "conflicts", "path"}
    )
    lists = {
        name: json.dumps(values[name], ensure_ascii=False, default=str)
        for name in ("intent", "tags", "evidence")
    }
    return values | lists


_COLUMNS = """item_id, trace_id, agent, question, lang, source, collection, intent, logic, answer,
    tags, state, reason, fingerprint, evidence, doc_id, uses, good, bad, used_at, created_at,
    updated_at, owner"""
_SELECT = f"SELECT {_COLUMNS} FROM confirmed"  # noqa: S608 - names of ours only
_INSERT = text(
    f"""INSERT INTO confirmed ({_COLUMNS}, embedder, vec)
    VALUES (:item_id, :trace_id, :agent, :question, :lang, :source, :collection, :intent, :logic,
        :answer, :tags, :state, :reason, :fingerprint, :evidence, :doc_id, :uses, :good, :bad,
        :used_at, :created_at, :updated_at, :owner, :embedder, :vec)"""  # noqa: S608
)
_UPDATE = text(
    """UPDATE confirmed SET question = :question, lang = :lang, intent = :intent, logic = :logic,
        answer = :answer, tags = :tags, fingerprint = :fingerprint, evidence = :evidence,
        updated_at = :updated_at, owner = :owner, embedder = :embedder, vec = :vec
    WHERE item_id = :item_id"""
)
_CONFIRM = text(
    "INSERT OR IGNORE INTO confirmations (item_id, user_id, trace_id, at) VALUES (:item, :user, "
    ":trace, :at)"
)
_BY = text(
    """SELECT item_id, user_id, trace_id, at FROM confirmations
    WHERE item_id IN (SELECT value FROM json_each(:ids)) ORDER BY at, user_id"""
)
_SET_STATE = text(
    "UPDATE confirmed SET state = :state, reason = :reason, updated_at = :now WHERE item_id = :id"
)
_VOTES = text(
    """SELECT f.user_id, f.is_correct FROM knowledge_uses u
    JOIN feedback f ON f.trace_id = u.trace_id
    WHERE u.item_id = :item
    AND f.updated_at > (SELECT coalesce(max(at), 0) FROM knowledge_log WHERE item_id = :item
        AND action = 'restored')
    ORDER BY f.updated_at, f.rowid"""
)
_FOLLOWED = text(
    "SELECT u.item_id FROM knowledge_uses u JOIN confirmed c ON c.item_id = u.item_id WHERE "
    "u.trace_id = :trace"
)
_USE = text(
    "INSERT OR IGNORE INTO knowledge_uses (item_id, trace_id, how, at) VALUES (:item, :trace, "
    ":how, :at)"
)
_USED_ITEM = text(
    "UPDATE confirmed SET uses = uses + 1, used_at = max(used_at, :at) WHERE item_id = :id"
)
_USED_RULE = text(
    "UPDATE rules SET uses = uses + 1, used_at = max(used_at, :at) WHERE rule_id = :id"
)
_LOG = text(
    "INSERT INTO knowledge_log (item_id, at, user_id, action, reason) VALUES (:item, :at, :user, "
    ":action, :reason)"
)

"""Confirmed chains as rows, who stands by each, and which answers used them. Functions of a
connection. A row is never deleted here: what is undone keeps its row and its log, and no search
reads either.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, RowMapping, bindparam, delete, func, insert, select, update

from citewell.errors import NotFound
from citewell.messages import AnyText, Text, encode_column
from citewell.store.confirmed.types import Confirmation, Confirmed, ItemState
from citewell.store.dialects.expressions import greatest, is_among
from citewell.store.dialects.locks import hold
from citewell.store.dialects.upserts import insert_or_ignore
from citewell.store.memory_rows import Stored
from citewell.store.schema.knowledge import (
    confirmations,
    confirmed,
    feedback,
    knowledge_log,
    knowledge_uses,
    rules,
)
from citewell.store.schema.metadata import match_optional, pick_columns
from citewell.store.users.identity import VISITOR, get_person_key, is_one_of
from citewell.types import Followed, IntentAnalysis, Shown

PATH = "knowledge/confirmed_qa/{trace_id}.md"  # below the home folder


def hold_knowledge(connection: Connection) -> None:
    """For who decides on what people said of items: which item is the same, how many stand by it,
    how many spoke against it, and so in which state it and its document are. Such transactions are
    short and few, so they take turns.
    """
    hold(connection, "knowledge")


class Logged(Shown):
    """Who did what to an item or a rule, when (seconds since the epoch) and why."""

    at: float
    user_id: str
    action: str
    reason: AnyText = ""


class Votes(NamedTuple):
    """How many people said answers that followed an item to be right, and how many to be wrong."""

    good: int
    bad: int


def insert_item(connection: Connection, item: Confirmed, stored: Stored) -> None:
    """A new row; who stands by it is added by `confirm_item`."""
    connection.execute(insert(confirmed), _to_row(item) | stored._asdict())


def update_item(connection: Connection, item: Confirmed, stored: Stored) -> None:
    """The chain anew: the same trace's question run again, or an import. Counts stay."""
    row = _to_row(item)
    chain = {name: row[name] for name in _CHAIN}
    connection.execute(_CHANGE, {"id": item.item_id} | chain | stored._asdict())


def find_item(connection: Connection, item_id: str) -> Confirmed | None:
    row = connection.execute(_ITEM, {"id": item_id}).mappings().one_or_none()
    return None if row is None else _parse_items(connection, [row])[0]


def get_item(connection: Connection, item_id: str) -> Confirmed:
    """Raises NotFound."""
    item = find_item(connection, item_id)
    if item is None:
        raise make_unknown_item(item_id)
    return item


def make_unknown_item(item_id: str) -> NotFound:
    return NotFound(
        Text("no confirmed answer {item_id!r}", item_id=item_id),
        hint=Text("`citewell knowledge list` shows all"),
    )


def list_items(
    connection: Connection,
    *,
    state: str | None = None,
    source: str | None = None,
    collection: str | None = None,
) -> list[Confirmed]:
    """The newest first; None: whatever it is."""
    wanted = {"state": state, "source": source, "collection": collection}
    return _parse_items(connection, connection.execute(_LIST, wanted).mappings().all())


def find_items(connection: Connection, ids: Iterable[str]) -> dict[str, Confirmed]:
    rows = connection.execute(_ITEMS, {"ids": sorted(set(ids))}).mappings().all()
    return {item.item_id: item for item in _parse_items(connection, rows)}


def confirm_item(
    connection: Connection, item_id: str, user_id: str, trace_id: str, at: float
) -> bool:
    """Add one who stands by it. False where they do already."""
    row = {"item_id": item_id, "user_id": user_id, "trace_id": trace_id, "at": at}
    return connection.execute(_CONFIRM, row).rowcount > 0


def withdraw_confirmation(connection: Connection, item_id: str, user_id: str) -> bool:
    """False where they did not stand by it."""
    return connection.execute(_WITHDRAW, {"item": item_id, "user": user_id}).rowcount > 0


def withdraw_confirmations(connection: Connection, item_id: str) -> None:
    connection.execute(_WITHDRAW_ALL, {"item": item_id})


def list_confirmed_items(connection: Connection, trace_id: str, user_id: str) -> list[str]:
    """The items that this user stands by for this very trace."""
    return list(connection.execute(_VOUCHED, {"trace": trace_id, "user": user_id}).scalars())


def move_confirmation(connection: Connection, item_id: str, user_id: str, trace_id: str) -> None:
    """They stand by it for another trace."""
    connection.execute(_MOVE, {"item": item_id, "user": user_id, "trace_id": trace_id})


def set_state(
    connection: Connection, item_id: str, state: ItemState, reason: str, now: float
) -> None:
    values = {"state": state, "reason": encode_column(reason), "updated_at": now}
    connection.execute(_CHANGE, {"id": item_id} | values)


def set_document(connection: Connection, item_id: str, doc_id: str) -> None:
    connection.execute(_CHANGE, {"id": item_id, "doc_id": doc_id})


def set_fingerprint(connection: Connection, item_id: str, fingerprint: str) -> None:
    """Of the schema that it runs on now."""
    connection.execute(_CHANGE, {"id": item_id, "fingerprint": fingerprint})


def set_votes(connection: Connection, item_id: str, votes: Votes) -> None:
    connection.execute(_CHANGE, {"id": item_id} | votes._asdict())


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
    """Each item and rule that an answer followed, once an answer: counted by the row's own number,
    in one order for all.
    """
    for each in sorted(followed, key=lambda one: one.item_id):
        row = {"item_id": each.item_id, "trace_id": trace_id, "how": each.how, "at": at}
        if connection.execute(_USE, row).rowcount:
            used = _USED_RULE if each.kind == "rule" else _USED_ITEM
            connection.execute(used, {"id": each.item_id, "at": at})


def log_action(
    connection: Connection, item_id: str, user_id: str, action: str, at: float, reason: str = ""
) -> None:
    row = {"item_id": item_id, "user_id": user_id, "action": action, "at": at}
    connection.execute(insert(knowledge_log), row | {"reason": encode_column(reason)})


def list_log_entries(connection: Connection, item_id: str) -> list[Logged]:
    """What was done to an item or a rule, in order."""
    return [Logged(**row) for row in connection.execute(_LOGGED, {"id": item_id}).mappings()]


def _parse_items(connection: Connection, rows: Sequence[RowMapping]) -> list[Confirmed]:
    by: dict[str, list[Confirmation]] = {row["item_id"]: [] for row in rows}
    for each in connection.execute(_BY, {"ids": sorted(by)}).all():
        by[each.item_id].append(Confirmation.of(each))
    return [_parse_item(row, by[row["item_id"]]) for row in rows]


def _parse_item(row: RowMapping, confirmed_by: list[Confirmation]) -> Confirmed:
    values: dict[str, Any] = dict(row)
    values["intent"] = IntentAnalysis(**json.loads(row["intent"]))
    values |= {name: json.loads(row[name]) for name in ("tags", "evidence")}
    path = PATH.format(trace_id=row["trace_id"]) if row["state"] == "active" else ""
    return Confirmed(**values, confirmed_by=confirmed_by, path=path)


def _to_row(item: Confirmed) -> dict[str, Any]:
    values = item.model_dump(
        mode="python", exclude={"priority", "confirmed_by", "conflicts", "path"}
    )
    lists = {
        name: json.dumps(values[name], ensure_ascii=False, default=str)
        for name in ("intent", "tags", "evidence")
    }
    return values | lists | {"reason": encode_column(item.reason)}


_SELECT = select(*pick_columns(confirmed, Confirmed))
_ITEM = _SELECT.where(confirmed.c.item_id == bindparam("id"))
_ITEMS = _SELECT.where(is_among(confirmed.c.item_id, "ids"))
_LIST = _SELECT.where(
    *(match_optional(confirmed.c[name], name) for name in ("state", "source", "collection"))
).order_by(confirmed.c.created_at.desc(), confirmed.c.item_id)
_CHAIN = {"question", "lang", "intent", "logic", "answer", "tags", "fingerprint", "evidence"}
_CHAIN |= {"updated_at", "owner"}
_CHANGE = update(confirmed).where(confirmed.c.item_id == bindparam("id"))
_OF_ITEM = confirmations.c.item_id == bindparam("item")
_OF_USER = confirmations.c.user_id == bindparam("user")
_CONFIRM = insert_or_ignore(confirmations)
_WITHDRAW = delete(confirmations).where(_OF_ITEM, _OF_USER)
_WITHDRAW_ALL = delete(confirmations).where(_OF_ITEM)
_MOVE = update(confirmations).where(_OF_ITEM, _OF_USER)
_VOUCHED = select(confirmations.c.item_id).where(
    confirmations.c.trace_id == bindparam("trace"), _OF_USER
)
_BY = (
    select(confirmations)
    .where(is_among(confirmations.c.item_id, "ids"))
    .order_by(confirmations.c.at, confirmations.c.user_id)
)
_RESTORED = select(func.coalesce(func.max(knowledge_log.c.at), 0.0)).where(
    knowledge_log.c.item_id == bindparam("item"), knowledge_log.c.action == "restored"
)
_VOTES = (
    select(feedback.c.user_id, feedback.c.is_correct)
    .join(knowledge_uses, knowledge_uses.c.trace_id == feedback.c.trace_id)
    .where(
        knowledge_uses.c.item_id == bindparam("item"),
        feedback.c.updated_at > _RESTORED.scalar_subquery(),
    )
    .order_by(feedback.c.updated_at, feedback.c.rowid)
)
_FOLLOWED = (
    select(knowledge_uses.c.item_id)
    .join(confirmed, confirmed.c.item_id == knowledge_uses.c.item_id)
    .where(knowledge_uses.c.trace_id == bindparam("trace"))
)
_USE = insert_or_ignore(knowledge_uses)
_USED_ITEM, _USED_RULE = (
    update(key.table)
    .where(key == bindparam("id"))
    .values(uses=key.table.c.uses + 1, used_at=greatest(key.table.c.used_at, bindparam("at")))
    for key in (confirmed.c.item_id, rules.c.rule_id)
)
_LOGGED = (
    select(*pick_columns(knowledge_log, Logged))
    .where(knowledge_log.c.item_id == bindparam("id"))
    .order_by(knowledge_log.c.at, knowledge_log.c.rowid)
)

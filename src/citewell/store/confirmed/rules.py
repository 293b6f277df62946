"""Corrections as rows. Functions of a connection. The one rule: a correction that nobody has
reviewed is used for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256

from sqlalchemy import Connection, text

from citewell.errors import NotFound
from citewell.store.confirmed.types import Rule, RuleState
from citewell.store.memory_rows import Stored


def compute_rule_id(trace_id: str, user_id: str) -> str:
    """One rule for each user and trace, however often its job is done."""
    return "rule_" + sha256(f"{trace_id}\n{user_id}".encode()).hexdigest()[:16]


def put_rule(connection: Connection, rule: Rule, stored: Stored) -> None:
    """A new one, or other words for it: it waits for review (again)."""
    connection.execute(_PUT, rule.model_dump() | stored._asdict())


def find_rule(connection: Connection, rule_id: str) -> Rule | None:
    row = (
        connection.execute(text(f"{_SELECT} WHERE rule_id = :id"), {"id": rule_id})
        .mappings()
        .one_or_none()
    )
    return None if row is None else Rule(**row)


def get_rule(connection: Connection, rule_id: str) -> Rule:
    """Raises NotFound."""
    rule = find_rule(connection, rule_id)
    if rule is None:
        raise make_unknown_rule(rule_id)
    return rule


def make_unknown_rule(rule_id: str) -> NotFound:
    return NotFound(f"no correction {rule_id!r}", hint="`citewell knowledge rules` shows all")


def list_rules(connection: Connection, state: str | None = None) -> list[Rule]:
    """Those that wait first, then the newest; None: of every state."""
    order = "ORDER BY state <> 'waiting', updated_at DESC, rule_id"
    query = text(f"{_SELECT} WHERE :state IS NULL OR state = :state {order}")
    return [Rule(**row) for row in connection.execute(query, {"state": state}).mappings()]


def find_rules(connection: Connection, ids: Iterable[str]) -> dict[str, Rule]:
    query = text(f"{_SELECT} WHERE rule_id IN (SELECT value FROM json_each(:ids))")  # noqa: S608
    rows = connection.execute(query, {"ids": json.dumps(sorted(set(ids)))}).mappings()
    return {row["rule_id"]: Rule(**row) for row in rows}


def set_state(
    connection: Connection, rule_id: str, state: RuleState, reason: str, by: str, now: float
) -> None:
    connection.execute(
        _SET_STATE, {"id": rule_id, "state": state, "reason": reason, "by": by, "now": now}
    )


def set_logic(connection: Connection, rule_id: str, logic: str) -> None:
    connection.execute(
        text("UPDATE rules SET logic = :logic WHERE rule_id = :id"), {"id": rule_id, "logic": logic}
    )


_COLUMNS = """rule_id, trace_id, user_id, agent, question, lang, source, collection, wrong,
    correction, logic, state, reason, reviewed_by, uses, used_at, created_at, updated_at, owner"""
_SELECT = f"SELECT {_COLUMNS} FROM rules"  # noqa: S608 - names of ours only
_PUT = text(
    f"""INSERT INTO rules ({_COLUMNS}, embedder, vec)
    VALUES (:rule_id, :trace_id, :user_id, :agent, :question, :lang, :source, :collection, :wrong,
        :correction, :logic, :state, :reason, :reviewed_by, :uses, :used_at, :created_at,
        :updated_at, :owner, :embedder, :vec)
    ON CONFLICT (rule_id) DO UPDATE SET correction = excluded.correction, logic = excluded.logic,
        state = excluded.state, reason = excluded.reason, reviewed_by = '',
        updated_at = excluded.updated_at, embedder = excluded.embedder, vec = excluded.vec"""  # noqa: S608
)
_SET_STATE = text(
    "UPDATE rules SET state = :state, reason = :reason, reviewed_by = :by, updated_at = :now "
    "WHERE rule_id = :id"
)

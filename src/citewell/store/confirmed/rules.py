"""Corrections as rows. Functions of a connection. A correction that nobody has reviewed is used for
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from sqlalchemy import Connection, bindparam, literal, select, update

from citewell.errors import NotFound
from citewell.messages import Text, encode_column
from citewell.store.confirmed.types import Rule, RuleState
from citewell.store.dialects.expressions import is_among
from citewell.store.dialects.upserts import get_excluded, upsert
from citewell.store.memory_rows import Stored
from citewell.store.schema.knowledge import rules
from citewell.store.schema.metadata import match_optional, pick_columns


def compute_rule_id(trace_id: str, user_id: str) -> str:
    """One rule for each user and trace, however often its job is done."""
    return "rule_" + sha256(f"{trace_id}\n{user_id}".encode()).hexdigest()[:16]


def put_rule(connection: Connection, rule: Rule, stored: Stored) -> None:
    """A new one, or other words for it: it waits for review (again)."""
    values = rule.model_dump() | {"reason": encode_column(rule.reason)}
    connection.execute(_PUT, values | stored._asdict())


def find_rule(connection: Connection, rule_id: str) -> Rule | None:
    row = connection.execute(_RULE, {"id": rule_id}).mappings().one_or_none()
    return None if row is None else Rule(**row)


def get_rule(connection: Connection, rule_id: str) -> Rule:
    """Raises NotFound."""
    rule = find_rule(connection, rule_id)
    if rule is None:
        raise make_unknown_rule(rule_id)
    return rule


def make_unknown_rule(rule_id: str) -> NotFound:
    return NotFound(
        Text("no correction {rule_id!r}", rule_id=rule_id),
        hint=Text("`citewell knowledge rules` shows all"),
    )


def list_rules(connection: Connection, state: str | None = None) -> list[Rule]:
    """Those that wait first, then the newest; None: of every state."""
    return [Rule(**row) for row in connection.execute(_LIST, {"state": state}).mappings()]


def find_rules(connection: Connection, ids: Iterable[str]) -> dict[str, Rule]:
    rows = connection.execute(_RULES, {"ids": sorted(set(ids))}).mappings()
    return {row["rule_id"]: Rule(**row) for row in rows}


def set_state(
    connection: Connection, rule_id: str, state: RuleState, reason: str, by: str, now: float
) -> None:
    values = {"state": state, "reason": encode_column(reason), "reviewed_by": by, "updated_at": now}
    connection.execute(_CHANGE, {"id": rule_id} | values)


def set_logic(connection: Connection, rule_id: str, logic: str) -> None:
    connection.execute(_CHANGE, {"id": rule_id, "logic": logic})


_SELECT = select(*pick_columns(rules, Rule))
_RULE = _SELECT.where(rules.c.rule_id == bindparam("id"))
_RULES = _SELECT.where(is_among(rules.c.rule_id, "ids"))
_LIST = _SELECT.where(match_optional(rules.c.state, "state")).order_by(
    rules.c.state != "waiting", rules.c.updated_at.desc(), rules.c.rule_id
)
_NEW = ("correction", "logic", "state", "reason", "updated_at", "embedder", "vec")
_PUT = upsert(
    rules,
    rules.c.rule_id,
    update={rules.c[name]: get_excluded(rules).c[name] for name in _NEW}
    | {rules.c.reviewed_by: literal("")},
)
_CHANGE = update(rules).where(rules.c.rule_id == bindparam("id"))

"""Confirmed knowledge: items, their confirmations and uses, rules, and the votes behind them."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Index, LargeBinary, Table, UniqueConstraint

from citewell.store.schema.metadata import BigInt, Text, make_rowid, metadata

confirmed = Table(
    "confirmed",
    metadata,
    make_rowid(),
    Column("item_id", Text, primary_key=True),
    Column("trace_id", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("collection", Text, nullable=False),
    Column("intent", Text, nullable=False),
    Column("logic", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("evidence", Text, nullable=False),
    Column("doc_id", Text, nullable=False),
    Column("uses", BigInt, nullable=False),
    Column("good", BigInt, nullable=False),
    Column("bad", BigInt, nullable=False),
    Column("used_at", Double, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("embedder", Text, nullable=False),
    Column("vec", LargeBinary, nullable=False),
    Column("owner", Text, nullable=False, server_default=""),
    Index("confirmed_state", "state", "source", "collection"),
)

confirmations = Table(
    "confirmations",
    metadata,
    Column("item_id", Text, ForeignKey("confirmed.item_id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("trace_id", Text, nullable=False),
    Column("at", Double, nullable=False),
    sqlite_with_rowid=False,
)

knowledge_log = Table(
    "knowledge_log",
    metadata,
    make_rowid(),
    Column("item_id", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Index("knowledge_log_item", "item_id", "at"),
)

knowledge_uses = Table(
    "knowledge_uses",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column("trace_id", Text, primary_key=True),
    Column("how", Text, nullable=False),
    Column("at", Double, nullable=False),
    Index("knowledge_uses_trace", "trace_id"),
    sqlite_with_rowid=False,
)

rules = Table(
    "rules",
    metadata,
    make_rowid(),
    Column("rule_id", Text, primary_key=True),
    Column("trace_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("collection", Text, nullable=False),
    Column("wrong", Text, nullable=False),
    Column("correction", Text, nullable=False),
    Column("logic", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("reviewed_by", Text, nullable=False),
    Column("uses", BigInt, nullable=False),
    Column("used_at", Double, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("embedder", Text, nullable=False),
    Column("vec", LargeBinary, nullable=False),
    Column("owner", Text, nullable=False, server_default=""),
    Index("rules_state", "state", "source", "collection"),
)

feedback = Table(
    "feedback",
    metadata,
    make_rowid(),
    Column("feedback_id", Text, primary_key=True),
    Column("trace_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("is_correct", BigInt, nullable=False),
    Column("correction", Text, nullable=False),
    Column("trace", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("item_id", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    UniqueConstraint("trace_id", "user_id"),
    Index("feedback_created", "created_at"),
)

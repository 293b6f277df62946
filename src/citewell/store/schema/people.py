"""Users, their tokens and signed-in browsers, and the audit log."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Index, LargeBinary, Table

from citewell.store.schema.metadata import BigInt, Text, make_rowid, metadata

users = Table(
    "users",
    metadata,
    make_rowid(),
    Column("user_id", Text, primary_key=True),
    Column("person", Text, unique=True, nullable=False),
    Column("role", Text, nullable=False),
    Column("created_at", Double, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    make_rowid(),
    Column("token_id", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.user_id", ondelete="CASCADE"), nullable=False),
    Column("name", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("sha256", Text, unique=True, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("used_at", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("bound", Text, nullable=False, server_default=""),
    Index("tokens_user", "user_id", "created_at"),
)

sign_ins = Table(
    "sign_ins",
    metadata,
    make_rowid(),
    Column("sha256", Text, primary_key=True),
    Column("token_id", Text, ForeignKey("tokens.token_id", ondelete="CASCADE"), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("used_at", Double, nullable=False),
    Index("sign_ins_token", "token_id"),
)

audit = Table(
    "audit",
    metadata,
    Column("seq", BigInt, primary_key=True),
    Column("at", Double, nullable=False),
    Column("channel", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("mac", Text, nullable=False),
    Index("audit_action", "action"),
    sqlite_autoincrement=True,
)

# how many entries there ever were: one row
audit_count = Table(
    "audit_count",
    metadata,
    Column("audit", BigInt, primary_key=True, autoincrement=False),
    Column("entries", BigInt, nullable=False),
)

audit_names = Table(
    "audit_names",
    metadata,
    make_rowid(),
    Column("alias", Text, primary_key=True),
    Column("name", Text, unique=True, nullable=False),
    Column("salt", LargeBinary, nullable=False),
)

"""Conversations: sessions, folders, links that share them, traces, and runs under way."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Index, Table, UniqueConstraint, text

from citewell.store.schema.metadata import BigInt, Text, make_rowid, metadata

sessions = Table(
    "sessions",
    metadata,
    make_rowid(),
    Column("session_id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("title", Text),
    Column("current_state", Text, nullable=False),
    Column("session_data", Text),
    Column("last_updated", Double, nullable=False),
    Index("sessions_user", "user_id", "last_updated"),
)

folders = Table(
    "folders",
    metadata,
    make_rowid(),
    Column("folder_id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    UniqueConstraint("user_id", "name"),
)

shares = Table(
    "shares",
    metadata,
    make_rowid(),
    Column("share_id", Text, primary_key=True),
    Column(
        "session_id", Text, ForeignKey("sessions.session_id", ondelete="CASCADE"), nullable=False
    ),
    Column("user_id", Text, nullable=False),
    Column("messages", BigInt, nullable=False),
    Column("named", BigInt, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Index("shares_session", "session_id"),
)

share_readers = Table(
    "share_readers",
    metadata,
    make_rowid(),
    Column("share_id", Text, ForeignKey("shares.share_id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", Text, primary_key=True),
)

traces = Table(
    "traces",
    metadata,
    make_rowid(),
    Column("trace_id", Text, primary_key=True),
    Column("session_id", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("trace", Text, nullable=False),
    Column("user_id", Text, nullable=False, server_default="local"),
    Column("agent", Text, nullable=False, server_default=""),
    Column("status", Text, nullable=False, server_default=""),
    Column("words", Text, nullable=False, server_default=""),
    Index("traces_created", "user_id", "created_at"),
    Index("traces_expires", "expires"),
    Index("traces_session", "session_id"),
)

runs = Table(
    "runs",
    metadata,
    make_rowid(),
    Column("trace_id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("next", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("holder", Text, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("lease", Double, nullable=False, server_default=text("0")),
    Column("process", Text, nullable=False, server_default=""),
    Column("attempts", BigInt, nullable=False, server_default=text("1")),
    Column("seen_at", Double, nullable=False, server_default=text("0")),
    Column("wish", Text, nullable=False, server_default=""),
    Index("runs_updated", "updated_at"),
)

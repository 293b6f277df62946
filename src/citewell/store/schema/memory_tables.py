"""What is remembered of each user, and the clock that its expiry follows."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Index, LargeBinary, Table

from citewell.store.schema.metadata import BigInt, Text, make_rowid, metadata

memories = Table(
    "memories",
    metadata,
    make_rowid(),
    Column("memory_id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("collection", Text, nullable=False),
    Column("route", Text, nullable=False),
    Column("trace_id", Text, nullable=False),
    Column("docs", Text, nullable=False),
    Column("derived_from", Text, nullable=False),
    Column("replaced_by", Text),
    Column("seen", BigInt, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("embedder", Text, nullable=False),
    Column("vec", LargeBinary, nullable=False),
    Index("memories_expires", "expires"),
    Index("memories_history", "replaced_by"),
    Index("memories_user", "user_id", "replaced_by", "updated_at"),
)

memory_uses = Table(
    "memory_uses",
    metadata,
    Column(
        "memory_id", Text, ForeignKey("memories.memory_id", ondelete="CASCADE"), primary_key=True
    ),
    Column("trace_id", Text, primary_key=True),
    sqlite_with_rowid=False,
)

moments = Table(
    "moments",
    metadata,
    make_rowid(),
    Column("trusted", Double, nullable=False),
    Column("ahead", Double),
)

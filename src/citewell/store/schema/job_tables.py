"""Jobs, and the connectors that run as jobs."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Index, Table, text

from citewell.store.schema.metadata import BigInt, Text, make_rowid, metadata

jobs = Table(
    "jobs",
    metadata,
    make_rowid(),
    Column("job_id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("done", BigInt, nullable=False),
    Column("total", BigInt, nullable=False),
    Column("detail", Text, nullable=False),
    Column("result", Text),
    Column("error", Text),
    Column("attempts", BigInt, nullable=False),
    Column("lease", Double, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("owner", Text, nullable=False, server_default=""),
    Column("process", Text, nullable=False, server_default=""),
    Column("deaths", BigInt, nullable=False, server_default=text("0")),
    Column("faults", BigInt, nullable=False, server_default=text("0")),
    Column("priority", BigInt, nullable=False, server_default=text("1")),
    Index("jobs_state", "state", "created_at"),
)

syncs = Table(
    "syncs",
    metadata,
    make_rowid(),
    Column("sync_id", Text, primary_key=True),
    Column("collection", Text, ForeignKey("collections.name", ondelete="CASCADE"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("place", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("every", Double, nullable=False),
    Column("next_at", Double, nullable=False),
    Column("job_id", Text, nullable=False),
    Column("mark", Text, nullable=False),
    Column("report", Text, nullable=False),
    Column("ran_at", Double, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("syncs_collection", "collection"),
)

sync_items = Table(
    "sync_items",
    metadata,
    Column("sync_id", Text, ForeignKey("syncs.sync_id", ondelete="CASCADE"), primary_key=True),
    Column("uri", Text, primary_key=True),
    Column("version", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("gone_at", Double),
    Column("document", Text, nullable=False),
    Index("sync_items_document", "document"),
    sqlite_with_rowid=False,
)

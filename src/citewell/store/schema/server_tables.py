"""What several servers tell each other of the moment: how often somebody has asked, and what a
question that is answered now has said so far. Nothing here outlives its minute. In PostgreSQL the
tables are UNLOGGED, so they cost no write to the log and are empty after a crash; no backup and no
move has them.
"""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Table

from citewell.store.schema.metadata import BigInt, Text, metadata

# `key`: a hash of who and what is counted; `slot`: the number of the window since the epoch
rate_counts = Table(
    "rate_counts",
    metadata,
    Column("key", Text, primary_key=True),
    Column("slot", BigInt, nullable=False),
    Column("hits", BigInt, nullable=False),
    Column("hits_before", BigInt, nullable=False),
    Column("expires", Double, nullable=False),
    sqlite_with_rowid=False,
)

# `wish`: "cancel" where its user wants it ended; `ended_at`: 0 while it is answered
live_runs = Table(
    "live_runs",
    metadata,
    Column("trace_id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("wish", Text, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("ended_at", Double, nullable=False),
    sqlite_with_rowid=False,
)

# some events at a time, as a JSON list; `n` counts these from 0
live_events = Table(
    "live_events",
    metadata,
    Column(
        "trace_id",
        Text,
        ForeignKey("live_runs.trace_id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("n", BigInt, primary_key=True, autoincrement=False),
    Column("events", Text, nullable=False),
    sqlite_with_rowid=False,
)
EPHEMERAL = (rate_counts, live_runs, live_events)

"""What several servers tell each other of the moment, and whether a run is wanted to answer now."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"

_COUNTS = """rate_counts (key {text} NOT NULL PRIMARY KEY, slot {whole} NOT NULL,
    hits {whole} NOT NULL, hits_before {whole} NOT NULL, expires {real} NOT NULL)"""
_RUNS = """live_runs (trace_id {text} NOT NULL PRIMARY KEY, user_id {text} NOT NULL,
    question {text} NOT NULL, agent {text} NOT NULL, session_id {text} NOT NULL,
    wish {text} NOT NULL, started_at {real} NOT NULL, seen_at {real} NOT NULL,
    ended_at {real} NOT NULL)"""
_EVENTS = """live_events (n {whole} NOT NULL, events {text} NOT NULL,
    trace_id {text} NOT NULL REFERENCES live_runs (trace_id) ON DELETE CASCADE,
    PRIMARY KEY (trace_id, n))"""
_SQLITE = {"text": "TEXT", "whole": "INTEGER", "real": "REAL"}
_POSTGRESQL = {"text": 'TEXT COLLATE "C"', "whole": "BIGINT", "real": "DOUBLE PRECISION"}


def upgrade() -> None:
    """UNLOGGED: nothing of it outlives its minute, so it is not written twice."""
    postgresql = op.get_bind().dialect.name == "postgresql"
    types = _POSTGRESQL if postgresql else _SQLITE
    kind, after = ("UNLOGGED TABLE", "") if postgresql else ("TABLE", " WITHOUT ROWID")
    for table in (_COUNTS, _RUNS, _EVENTS):
        op.execute(f"CREATE {kind} {table.format(**types)}{after}")
    op.execute(f"ALTER TABLE runs ADD COLUMN wish {types['text']} NOT NULL DEFAULT ''")

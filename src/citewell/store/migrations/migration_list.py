"""The tables of SQLite as they came about before PostgreSQL: an ordered list of steps, closed. What
comes next is a revision of `versions/`, for both.

Step number n is the n-th of MIGRATIONS, and runs in one transaction with its record. Times are
seconds since the epoch, ids are text with a prefix.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from citewell.store.migrations.steps_001_to_009 import (
    m001_knowledge,
    m002_sessions,
    m003_traces,
    m004_jobs,
    m005_sections,
    m006_containers,
    m007_memories,
    m008_runs,
    m009_pages,
)
from citewell.store.migrations.steps_010_to_016 import (
    m010_leases,
    m011_sources,
    m012_feedback,
    m013_users,
    m014_traces_found,
    m015_bound_tokens,
    m016_holders,
)
from citewell.store.migrations.steps_017_to_018 import m017_audit, m018_sealed_sources
from citewell.store.migrations.steps_019_to_020 import m019_questions
from citewell.store.migrations.steps_020_syncs import m020_syncs
from citewell.store.migrations.steps_021_descriptions import m021_descriptions
from citewell.store.migrations.steps_022_boards import m022_boards
from citewell.store.migrations.steps_023_conversations import m023_conversations
from citewell.store.migrations.steps_024_objects import m024_objects
from citewell.store.migrations.steps_025_audit_count import m025_audit_count

MIGRATIONS: list[Callable[[Connection], None]] = [
    m001_knowledge,
    m002_sessions,
    m003_traces,
    m004_jobs,
    m005_sections,
    m006_containers,
    m007_memories,
    m008_runs,
    m009_pages,
    m010_leases,
    m011_sources,
    m012_feedback,
    m013_users,
    m014_traces_found,
    m015_bound_tokens,
    m016_holders,
    m017_audit,
    m018_sealed_sources,
    m019_questions,
    m020_syncs,
    m021_descriptions,
    m022_boards,
    m023_conversations,
    m024_objects,
    m025_audit_count,
]

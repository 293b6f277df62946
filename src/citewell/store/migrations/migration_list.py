"""The tables, as an ordered list of steps that are only ever added to.

The one rule: a step that has been released is never changed; the next one corrects it. Step number
n is the n-th of MIGRATIONS, and runs in one transaction with its record. Times are seconds since
the epoch, ids are text with a prefix.
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
]

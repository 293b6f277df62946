"""Step 25: how many entries the audit log ever had, in a table of ours. A step that has been
released is never changed; the next one corrects it.
"""

from __future__ import annotations

from sqlalchemy import Connection

from citewell.store.migrations.statements import run_statements


def m025_audit_count(connection: Connection) -> None:
    """As SQLite has counted them."""
    run_statements(
        connection,
        "CREATE TABLE audit_count (audit INTEGER PRIMARY KEY, entries INTEGER NOT NULL)",
        "INSERT INTO audit_count SELECT 1, seq FROM sqlite_sequence WHERE name = 'audit'",
    )

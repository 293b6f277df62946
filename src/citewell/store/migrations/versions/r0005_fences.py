"""A second fence between users, in PostgreSQL: rows of one person are not there for a transaction
that says it is another's.
"""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"

_TABLES = ("sessions", "traces", "memories", "runs", "folders", "live_runs")
# who says nothing is the house itself: workers, administrators, servers without users
_OWN = "coalesce(current_setting('citewell.user_id', true), '') IN ('', user_id)"


def upgrade() -> None:
    """FORCE: for the owner of the tables too, which Citewell's own role is. A superuser passes."""
    if op.get_bind().dialect.name != "postgresql":
        return
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_rows ON {table} USING ({_OWN})")

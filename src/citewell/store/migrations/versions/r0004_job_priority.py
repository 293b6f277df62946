"""What work comes first: people who wait before whole collections."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    whole = "BIGINT" if op.get_bind().dialect.name == "postgresql" else "INTEGER"
    op.execute(f"ALTER TABLE jobs ADD COLUMN priority {whole} NOT NULL DEFAULT 1")

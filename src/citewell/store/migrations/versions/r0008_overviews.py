"""What a document is about, kept beside the questions that it was found to answer. Those that were
looked at before are looked at again.
"""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.execute("ALTER TABLE question_sets ADD COLUMN overview TEXT NOT NULL DEFAULT '[]'")
    op.execute("DELETE FROM question_sets")

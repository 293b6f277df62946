"""All tables as they were when PostgreSQL came. In SQLite the steps before it have made them."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        script = Path(__file__).with_name("baseline_postgresql.sql").read_text("utf-8")
        connection.execution_options(no_parameters=True).exec_driver_sql(script)

"""What servers without a common home share: small files of it, and holds on the object store while
a backup copies what lies there.
"""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"

_TABLES = (
    "CREATE TABLE object_holds (holder {text} NOT NULL PRIMARY KEY, until {double} NOT NULL)",
    """CREATE TABLE home_files (name {text} NOT NULL PRIMARY KEY, data {bytes} NOT NULL,
        changed_at {double} NOT NULL)""",
)
_TYPES = {
    "sqlite": {"text": "TEXT", "double": "REAL", "bytes": "BLOB"},
    "postgresql": {"text": 'TEXT COLLATE "C"', "double": "DOUBLE PRECISION", "bytes": "BYTEA"},
}


def upgrade() -> None:
    connection = op.get_bind()
    for table in _TABLES:
        connection.exec_driver_sql(table.format(**_TYPES[connection.dialect.name]))
    if connection.dialect.name == "postgresql":
        for name in ("object_holds", "home_files"):
            arrival = "ADD COLUMN rowid BIGINT GENERATED ALWAYS AS IDENTITY"
            connection.exec_driver_sql(f"ALTER TABLE {name} {arrival}")

"""Keys of objects whose row in `files` has gone: a trigger writes them in the same transaction, and
they stay until the object has gone too.
"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

_SQLITE = (
    """CREATE TRIGGER files_released AFTER DELETE ON files WHEN old.place <> ''
        BEGIN INSERT INTO released_objects (place) VALUES (old.place); END""",
)
_POSTGRESQL = (
    "ALTER TABLE released_objects ADD COLUMN rowid BIGINT GENERATED ALWAYS AS IDENTITY",
    """CREATE FUNCTION release_object() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO released_objects (place) VALUES (old.place); RETURN NULL; END $$""",
    """CREATE TRIGGER files_released AFTER DELETE ON files
        FOR EACH ROW WHEN (old.place <> '') EXECUTE FUNCTION release_object()""",
)


def upgrade() -> None:
    connection = op.get_bind()
    postgresql = connection.dialect.name == "postgresql"
    collation = ' COLLATE "C"' if postgresql else ""
    op.execute(f"CREATE TABLE released_objects (place TEXT{collation} NOT NULL PRIMARY KEY)")
    for statement in _POSTGRESQL if postgresql else _SQLITE:
        connection.exec_driver_sql(statement)

"""Step 24: original files that lie in an object store. A step that has been released is never
changed; the next one corrects it.
"""

from __future__ import annotations

from sqlalchemy import Connection


def m024_objects(connection: Connection) -> None:
    """`place`: the key of the object that holds the bytes; empty: `data` holds them."""
    connection.exec_driver_sql("ALTER TABLE files ADD COLUMN place TEXT NOT NULL DEFAULT ''")

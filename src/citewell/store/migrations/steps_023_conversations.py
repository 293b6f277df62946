"""Step 23: folders of conversations, and links by which others read one. A step that has been
released is never changed; the next one corrects it.
"""

from __future__ import annotations

from sqlalchemy import Connection


def m023_conversations(connection: Connection) -> None:
    """A link of `named` is for its readers alone, also when none of them is left."""
    for statement in (
        """CREATE TABLE folders (
            folder_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL,
            created_at REAL NOT NULL, UNIQUE (user_id, name))""",
        """CREATE TABLE shares (
            share_id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions
            ON DELETE CASCADE, user_id TEXT NOT NULL, messages INTEGER NOT NULL,
            named INTEGER NOT NULL, created_at REAL NOT NULL, expires_at REAL NOT NULL)""",
        "CREATE INDEX shares_session ON shares (session_id)",
        """CREATE TABLE share_readers (
            share_id TEXT NOT NULL REFERENCES shares ON DELETE CASCADE, user_id TEXT NOT NULL,
            PRIMARY KEY (share_id, user_id))""",
    ):
        connection.exec_driver_sql(statement)

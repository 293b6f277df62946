"""Step 22: saved questions over tables, and boards. A step that has been released is never changed;
the next one corrects it.
"""

from __future__ import annotations

from sqlalchemy import Connection


def m022_boards(connection: Connection) -> None:
    """`chart`: JSON, empty where none was chosen. `source` is a name: tables may go and come."""
    for statement in (
        """CREATE TABLE saved_questions (
            saved_id TEXT PRIMARY KEY, name TEXT NOT NULL, source TEXT NOT NULL, sql TEXT NOT NULL,
            question TEXT NOT NULL, edited INTEGER NOT NULL, chart TEXT NOT NULL,
            lang TEXT NOT NULL, owner TEXT NOT NULL, shared INTEGER NOT NULL,
            created_at REAL NOT NULL, updated_at REAL NOT NULL)""",
        "CREATE INDEX saved_questions_owner ON saved_questions (owner)",
        """CREATE TABLE boards (
            board_id TEXT PRIMARY KEY, name TEXT NOT NULL, owner TEXT NOT NULL,
            shared INTEGER NOT NULL, refresh_seconds INTEGER NOT NULL, created_at REAL NOT NULL,
            updated_at REAL NOT NULL)""",
        """CREATE TABLE board_cards (
            board TEXT NOT NULL REFERENCES boards ON DELETE CASCADE, position INTEGER NOT NULL,
            card TEXT NOT NULL REFERENCES saved_questions ON DELETE CASCADE,
            PRIMARY KEY (board, position))""",
        "CREATE INDEX board_cards_card ON board_cards (card)",
    ):
        connection.exec_driver_sql(statement)

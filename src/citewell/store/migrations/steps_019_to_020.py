"""Step 19: questions that a document was found to answer. A step that has been released is never
changed; the next one corrects it.
"""

from __future__ import annotations

from sqlalchemy import Connection


def m019_questions(connection: Connection) -> None:
    """Of each document those of its bytes `sha256`; a document without any was looked at too."""
    for statement in (
        """CREATE TABLE question_sets (
            doc TEXT PRIMARY KEY REFERENCES documents ON DELETE CASCADE, sha256 TEXT NOT NULL)""",
        """CREATE TABLE questions (
            doc TEXT NOT NULL REFERENCES question_sets ON DELETE CASCADE, question TEXT NOT NULL,
            lang TEXT NOT NULL, confidence REAL NOT NULL, embedder TEXT NOT NULL,
            vector BLOB NOT NULL, PRIMARY KEY (doc, question))""",
    ):
        connection.exec_driver_sql(statement)

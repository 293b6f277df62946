"""Step 20: places that collections are kept in step with. A step that has been released is never
changed; the next one corrects it.
"""

from __future__ import annotations

from sqlalchemy import Connection


def m020_syncs(connection: Connection) -> None:
    """Places that documents are taken from again and again, and what was seen there.

    `place` holds no password: `secret` names a variable or a file that does, or is sealed. `every`
    0: only when asked. `mark`: what the place as a whole was when all of it had been read.
    `report`: of the last run, JSON. Of an item `version` is what its place calls it (an ETag, a
    hash); empty: to be read again; `document` the address that its document is kept under, another
    one where a page of the web leads on. `gone_since` of a document: since when its place has it no
    more.
    """
    for statement in (
        """CREATE TABLE syncs (
            sync_id TEXT PRIMARY KEY,
            collection TEXT NOT NULL REFERENCES collections ON DELETE CASCADE, kind TEXT NOT NULL,
            place TEXT NOT NULL, options TEXT NOT NULL, secret TEXT NOT NULL, every REAL NOT NULL,
            next_at REAL NOT NULL, job_id TEXT NOT NULL, mark TEXT NOT NULL, report TEXT NOT NULL,
            ran_at REAL NOT NULL, created_at REAL NOT NULL)""",
        "CREATE INDEX syncs_collection ON syncs (collection)",
        """CREATE TABLE sync_items (
            sync_id TEXT NOT NULL REFERENCES syncs ON DELETE CASCADE, uri TEXT NOT NULL,
            version TEXT NOT NULL, problem TEXT NOT NULL, seen_at REAL NOT NULL, gone_at REAL,
            document TEXT NOT NULL, PRIMARY KEY (sync_id, uri)) WITHOUT ROWID""",
        "CREATE INDEX sync_items_document ON sync_items (document)",
        "ALTER TABLE documents ADD COLUMN gone_since REAL",
        "CREATE INDEX documents_gone ON documents (doc_id) WHERE gone_since IS NOT NULL",
        "DROP INDEX documents_facts",
        (
            "CREATE INDEX documents_facts ON documents (doc_id, collection, media_type, "
            "priority, dated, added_at, gone_since)"
        ),
    ):
        connection.exec_driver_sql(statement)

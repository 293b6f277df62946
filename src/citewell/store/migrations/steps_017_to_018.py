"""Steps 17 and 18, which keep what is guarded: the log of administration, and the secrets of
sources. A step that has been released is never changed; the next one corrects it.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

from citewell.store.users.home_key import get_home_folder
from citewell.store.users.sealing import MARK, is_secret, seal_secret

_REFUSED = "BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END"


def m017_audit(connection: Connection) -> None:
    """Who administered what, in a chain (store/users/audit.py), and the names of aliases."""
    for statement in (
        """CREATE TABLE audit (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, channel TEXT NOT NULL,
            who TEXT NOT NULL, action TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL,
            detail TEXT NOT NULL, key TEXT NOT NULL, mac TEXT NOT NULL)""",
        "CREATE INDEX audit_action ON audit (action)",
        (
            "CREATE TABLE audit_names (alias TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, salt "
            "BLOB NOT NULL)"
        ),
        # against faults of our own; who writes to the file itself can take these away, and is found
        # by the chain
        f"CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit {_REFUSED}",
        f"CREATE TRIGGER audit_kept BEFORE DELETE ON audit {_REFUSED}",
    ):
        connection.exec_driver_sql(statement)


def m018_sealed_sources(connection: Connection) -> None:
    """Where a database is, with its password, is sealed from now on (store/users/sealing.py);
    `secure_delete` overwrites what was there.
    """
    change = text("UPDATE sources SET location = :location WHERE name = :name")
    for row in connection.execute(text("SELECT name, location FROM sources")).all():
        if is_secret(row.location) and not row.location.startswith(MARK):
            connection.execute(
                change,
                {
                    "name": row.name,
                    "location": seal_secret(get_home_folder(connection), row.location, row.name),
                },
            )

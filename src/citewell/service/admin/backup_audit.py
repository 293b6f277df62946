"""Backups and restores in the log of administration. The one rule: a backup is noted in the home
that it is of, after it is there; a restore in the home that it made.
"""

from __future__ import annotations

from pathlib import Path

from citewell.service.admin.backup import BackupMade
from citewell.service.admin.backup_list import DATABASE, Manifest
from citewell.store.db import Database
from citewell.store.users.audit import Audit


async def note_backup(home: Path, made: BackupMade) -> None:
    """Where it is, so that `citewell user forget` can name it. Raises StorageError."""
    async with Database(home / DATABASE) as db:
        await Audit(db).record(
            "home.backup", "home", str(home), file=made.file, made=made.created_at
        )


async def note_restore(folder: Path, home: Path, archive: Path, manifest: Manifest) -> None:
    """`folder`: the new home while it is not in its place. Raises StorageError."""
    async with Database(folder / DATABASE) as db:
        await Audit(db).record(
            "home.restore", "home", str(home), file=str(archive), made=manifest.created_at
        )

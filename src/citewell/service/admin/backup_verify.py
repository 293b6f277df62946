"""`citewell backup --verify` and `--keep`: an archive is whole when what it makes has been opened
and asked. An older archive is removed only after a newer one was found whole.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from citewell.errors import StorageError
from citewell.service.admin.backup import BackupMade, open_staging_folder
from citewell.service.admin.backup_list import DATABASE, Manifest, Tell, make_damaged_error
from citewell.service.admin.backup_read import check_schema_version, read_archive
from citewell.service.admin.backup_restore import check_database, check_free_space, migrate_home
from citewell.store.db import Database
from citewell.store.users.audit import Audit


async def note_backup(db: Database, home: Path, made: BackupMade) -> None:
    """Where it is, so that `citewell user forget` can name it. Raises StorageError."""
    async with db:
        await Audit(db).record(
            "home.backup", "home", str(home), file=made.file, made=made.created_at
        )


async def note_restore(db: Database, home: Path, archive: Path, manifest: Manifest) -> None:
    """`db`: the new one, which may not be in its place yet. Raises StorageError."""
    async with db:
        await Audit(db).record(
            "home.restore", "home", str(home), file=str(archive), made=manifest.created_at
        )


_NAME: Final = re.compile(r"citewell-\d{4}-\d\d-\d\d(-\d{6})?\.tar\.gz")


def verify_backup(archive: Path, home: Path, tell: Tell) -> Manifest:
    """Unpack it in the home, look through its database, open that and ask it. Raises NotFound,
    UnreadableFile, StorageError.
    """
    with unpack_inside(archive, home, tell) as (_, manifest):
        return manifest


@contextmanager
def unpack_inside(archive: Path, home: Path, tell: Tell) -> Iterator[tuple[Path, Manifest]]:
    """What an archive makes, in a hidden folder of the home while the block lasts: checked, brought
    up to date, and asked. Raises NotFound, UnreadableFile, StorageError.
    """

    def check_manifest(manifest: Manifest) -> None:
        check_schema_version(archive, manifest)
        check_free_space(manifest, home)

    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open_staging_folder(home) as folder:
        made = folder / "verified"
        made.mkdir(mode=0o700)
        manifest = read_archive(archive, tell, check_manifest, made)
        check_database(archive, made / DATABASE, manifest)
        try:
            asyncio.run(migrate_home(made))
        except StorageError as error:
            raise make_damaged_error(
                archive, error.message.replace(str(made / DATABASE), DATABASE)
            ) from None
        yield made, manifest


def remove_old_backups(folder: Path, keep: int) -> list[str]:
    """Remove all but a folder's newest `keep` dated archives; which. Raises StorageError."""
    there = sorted(
        path for path in folder.iterdir() if _NAME.fullmatch(path.name) and path.is_file()
    )
    removed = []
    for path in there[:-keep]:
        try:
            path.unlink()
        except OSError as error:
            raise StorageError(
                f"{path}: {error.strerror}", hint="remove it yourself, or see whose it is"
            ) from None
        removed.append(str(path))
    return removed

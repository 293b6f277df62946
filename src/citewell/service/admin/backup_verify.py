"""`citewell backup --verify` and `--keep`: an archive is whole when what it makes has been opened
and asked.

The one rule: an older archive is removed only after a newer one was found whole.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

from citewell.errors import StorageError
from citewell.service.admin.backup import staged
from citewell.service.admin.backup_list import DATABASE, Manifest, Tell, damaged
from citewell.service.admin.backup_read import newer, read
from citewell.service.admin.backup_restore import checked, migrated, room_for

_NAME: Final = re.compile(r"citewell-\d{4}-\d\d-\d\d(-\d{6})?\.tar\.gz")


def verify(archive: Path, home: Path, tell: Tell) -> Manifest:
    """Unpack it in the home, look through its database, open that and ask it. Raises NotFound,
    UnreadableFile, StorageError.
    """

    def ready(manifest: Manifest) -> None:
        newer(archive, manifest)
        room_for(manifest, home)

    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with staged(home) as folder:
        made = folder / "verified"
        made.mkdir(mode=0o700)
        manifest = read(archive, tell, ready, made)
        checked(archive, made / DATABASE, manifest)
        try:
            asyncio.run(migrated(made))
        except StorageError as error:
            raise damaged(archive, error.message.replace(str(made / DATABASE), DATABASE)) from None
    return manifest


def rotate(folder: Path, keep: int) -> list[str]:
    """Remove all but the newest `keep` archives of a folder that are named by their moment; which
    went. Raises StorageError.
    """
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

"""Copies of a home that killed backups and restores left, with every document in them. What lies in
the home is swept away where whoever made it is certainly gone; what lies outside it is told of, and
is its owner's to remove.
"""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from citewell.service.admin.backup_list import STAGING
from citewell.store.processes import has_ended

OWNER: Final = "process"  # in a folder of a home in which a backup is prepared: who does that
OUTSIDE: Final = "outside"  # beside it: the path of the archive that is being written
# seconds after which a folder is forsaken of which nobody says whose it is
LONG_AGO: Final = 86_400.0


def get_restore_prefix(home: Path) -> str:
    """Prefix of folders beside a home in which a restore is prepared; NAME.owner has the owner."""
    return f".{home.name}.restoring-"


def sweep_hidden_copies(home: Path) -> list[Path]:
    """Throw away what killed backups left in the home; what they left outside of it."""
    outside: list[Path] = []
    for folder in _list_folders(home, STAGING):
        if not _is_abandoned(folder, folder / OWNER):
            continue
        with suppress(OSError, ValueError):
            part = Path((folder / OUTSIDE).read_text("utf-8"))
            if part.is_file():  # the note stays until it is gone
                outside.append(part)
                for each in folder.iterdir():
                    if each.is_dir():
                        shutil.rmtree(each, ignore_errors=True)
                continue
        shutil.rmtree(folder, ignore_errors=True)
    for note in home.parent.glob(f"{get_restore_prefix(home)}*.owner"):
        # its folder has its last name
        if not note.with_suffix("").exists() and _is_abandoned(note, note):
            note.unlink(missing_ok=True)
    outside += [
        folder
        for folder in _list_folders(home.parent, get_restore_prefix(home))
        if _is_abandoned(folder, get_owner_file(folder))
    ]
    return outside


def get_owner_file(folder: Path) -> Path:
    """The owner's file of a restore folder, beside it, for the folder becomes the home."""
    return folder.with_name(f"{folder.name}.owner")


def describe_copy(path: Path) -> str:
    """What to say of one outside."""
    return (
        f"{path}: a backup or a restore that was killed left it, with all documents in it; "
        "remove it"
    )


def _list_folders(above: Path, begins: str) -> list[Path]:
    try:
        return sorted(
            path
            for path in above.iterdir()
            if path.name.startswith(begins) and path.is_dir() and not path.is_symlink()
        )
    except OSError:
        return []


def _is_abandoned(folder: Path, owner: Path) -> bool:
    with suppress(OSError):
        return has_ended(owner.read_text("utf-8"))
    try:
        return abs(time.time() - folder.stat().st_mtime) > LONG_AGO
    except OSError:
        return False

"""What a backup holds: which files of a home, and the list that stands first in the archive. What
the list does not name is not in the archive, and a name that no home of ours has is refused, on
both ways.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from citewell.config.page_settings import FILE as PAGE
from citewell.errors import UnreadableFile
from citewell.retrieve.confidence import OWN
from citewell.store.users.home_key import FILE as KEY
from citewell.types import Shown

FORMAT: Final = 1
LIST: Final = "manifest.json"
DATABASE: Final = "citewell.db"
SETTINGS: Final = "citewell.toml"
FILES: Final = (SETTINGS, PAGE, OWN, KEY)  # of a home, beside its database
FOLDERS: Final = ("knowledge", "sources", "uploads")
# the copy of the database holds what they do
MADE_AGAIN: Final = (f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal")
STAGING: Final = ".backup-"  # how the names of folders begin in which a backup is prepared
LARGEST_LIST: Final = 64_000_000
Tell = Callable[[int, int], None]  # bytes done, bytes in all
_PART: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}"
_NAME: Final = re.compile(
    f"(?:{'|'.join(map(re.escape, (DATABASE, *FILES)))}|(?:{'|'.join(FOLDERS)})(?:/{_PART}){{1,8}})"
)
_UNFINISHED: Final = (".part", ".owner")  # ends of names of what is still being written


class Packed(Shown):
    """A file of the archive, by its name below the home."""

    path: str
    size: int = Field(ge=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Manifest(Shown):
    """`schema_version`: database. `left_out`: else in the home. `created_at`: ISO 8601, UTC."""

    format: int
    version: str
    schema_version: int = Field(ge=0)
    created_at: str
    counts: dict[str, int]
    files: list[Packed]
    left_out: list[str] = Field(default=[])

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def is_home_file(name: str) -> bool:
    return len(name) <= 250 and _NAME.fullmatch(name) is not None


def list_home_files(home: Path) -> tuple[list[str], list[str]]:
    """The files to keep besides the database, and others there: strangers' files, links."""
    kept, others = list[str](), list[str]()
    for path in sorted(home.iterdir()):
        name = path.name
        if name in FILES and _is_plain_file(path):
            kept.append(name)
        elif name in FOLDERS and path.is_dir() and not path.is_symlink():
            for each in sorted(path.rglob("*")):
                below = each.relative_to(home).as_posix()
                if not each.is_symlink() and (each.is_dir() or each.name.endswith(_UNFINISHED)):
                    continue
                (kept if _is_plain_file(each) and is_home_file(below) else others).append(below)
        elif name not in {DATABASE, *MADE_AGAIN} and not name.startswith(STAGING):
            others.append(name)
    return kept, others


def _is_plain_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def parse_manifest(data: bytes, archive: Path) -> Manifest:
    """The list of an archive that this version can read. Raises UnreadableFile."""
    try:
        manifest = Manifest.model_validate_json(data)
    except ValidationError:
        raise make_damaged_error(archive, "its list of files cannot be read") from None
    if manifest.format != FORMAT:
        why = (
            f"{archive}: a backup of form {manifest.format}, made by Citewell "
            f"{manifest.version}; this one reads form {FORMAT}"
        )
        raise UnreadableFile(why, hint="upgrade Citewell")
    names = [file.path for file in manifest.files]
    strange = next((name for name in names if not is_home_file(name)), None)
    if strange is not None:
        raise make_damaged_error(
            archive, f"it names a file that is none of a home: {strange[:200]!r}"
        )
    if len(set(names)) != len(names):
        raise make_damaged_error(archive, "it names a file twice")
    if names[:1] != [DATABASE]:
        raise make_damaged_error(archive, "it has no database")
    return manifest


def make_damaged_error(archive: Path, why: str) -> UnreadableFile:
    return UnreadableFile(
        f"{archive}: {why}",
        hint="the archive is damaged or not one of `citewell backup`; use another one",
    )

"""Which backups may still hold what was deleted here: those that the log of administration knows,
and what lies beside them. Nothing is changed or unpacked; an archive tells when it was made, and
who came before that may be in it.
"""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from citewell.config import Settings
from citewell.errors import CitewellError
from citewell.service.admin.backup_list import LARGEST_LIST, LIST, parse_manifest
from citewell.store.users.audit import Audit
from citewell.types import Shown

MOST = 10_000  # archives that are looked at
PATTERN = "*.tar.gz"


class Holding(Shown):
    """`made`: ISO 8601, or empty if unreadable. `holds`: `unknown` if unreadable or older."""

    place: str
    made: str
    holds: Literal["yes", "unknown"]


async def list_holding_backups(
    audit: Audit, settings: Settings, since: float | None, folders: Sequence[Path]
) -> list[Holding]:
    """Archives made after `since` (seconds; None: all), homes that a restore replaced, and what
    cannot be read. `folders`: more places to look at.
    """
    home = settings.home
    known = [
        Path(str(each.detail.get("file", ""))) for each in await audit.list_by_action("home.backup")
    ]
    around = [*folders, *{path.parent for path in known}]
    archives = {path for path in known if path.is_file()}
    archives |= {
        path.absolute() for folder in around if folder.is_dir() for path in folder.glob(PATTERN)
    }
    found = [
        each
        for path in sorted(archives)[:MOST]
        if (each := _inspect_archive(path, since)) is not None
    ]
    beside = sorted(home.parent.glob(f"{home.name}.replaced-*"))
    return [*found, *(Holding(place=str(path), made="", holds="unknown") for path in beside)]


def _inspect_archive(path: Path, since: float | None) -> Holding | None:
    """None for one that was made before there was anything (it tells whole seconds), and for what
    is no backup of ours.
    """
    try:
        with tarfile.open(path, "r:gz") as packed:
            first = packed.next()
            if first is None or first.name != LIST or first.size > LARGEST_LIST:
                return None
            file = packed.extractfile(first)
            made = parse_manifest(file.read() if file else b"", path).created_at
            moment = datetime.fromisoformat(made).timestamp()
    except (OSError, EOFError, tarfile.TarError, CitewellError, ValueError):
        return Holding(place=str(path), made="", holds="unknown")
    return (
        None
        if since is not None and moment + 1 < since
        else Holding(place=str(path), made=made, holds="yes")
    )

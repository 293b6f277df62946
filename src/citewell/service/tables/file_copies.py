"""The copies of files that are asked, under `CITEWELL_HOME/sources`: made beside, shown at once,
cleaned away. A copy has a name of its own and is never changed; which one is asked is told by the
database alone. So whoever reads an old one goes on, and what a killed process left is in nobody's
way. With an object store the copy is there before the database tells of it, and each server fetches
it when it is asked.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread

from citewell.disk import sync_to_disk
from citewell.errors import StorageError
from citewell.ingest.bounded import run_in_time
from citewell.ingest.tables.table_store import Imported
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.store.library.file_objects import COPIES
from citewell.store.processes import has_ended, name_this_process

# seconds that a copy stays after it was replaced: longer than any question takes
GRACE: Final = 600.0
# seconds after which what a process of another machine left is thrown away
ORPHAN: Final = 86_400.0
_OWNER: Final = ".owner"
_IMPORT: Final = "citewell.ingest.tables.import_file:import_file"

Stat = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Copy:
    """`path` of the file; `relative` to the home, as it is kept."""

    path: Path
    relative: str
    imported: Imported


def read_stat(path: Path) -> Stat:
    """Of a file now, with the log of a SQLite file's last changes. Raises OSError."""
    found = path.stat()
    stat: Stat = {"size": found.st_size, "mtime_ns": found.st_mtime_ns}
    with suppress(OSError):
        log = path.with_name(path.name + "-wal").stat()
        stat |= {"log_size": log.st_size, "log_mtime_ns": log.st_mtime_ns} if log.st_size else {}
    return stat


@asynccontextmanager
async def copy_tables(app: App, path: Path, title: str) -> AsyncIterator[Copy]:
    """A new copy of the tables in the file at `path`, which people call `title`. Where the block
    raises, it goes again.

    Raises UnreadableFile, StorageError.
    """
    folder = app.settings.home / COPIES
    token = secrets.token_hex(8)
    part, final = folder / f"{token}.part", folder / f"{token}.duckdb"
    try:
        size = await anyio.to_thread.run_sync(_claim_copy, folder, token, path)
        ingest = app.settings.ingest
        imported: Imported = await run_in_time(
            _IMPORT, size, title, ingest, str(path), str(part), title, ingest
        )
        await anyio.to_thread.run_sync(_publish_copy, folder, part, final)
        await _share_copy(app, final)
        yield Copy(final, f"{COPIES}/{final.name}", imported)
    except BaseException:
        _delete_files(folder, token)  # an object is swept
        raise
    with suppress(OSError):
        (folder / (token + _OWNER)).unlink()


def _claim_copy(folder: Path, token: str, path: Path) -> int:
    """Say whose copy it will be, and how large the file is."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / (token + _OWNER)).write_text(name_this_process(), "utf-8")
    except OSError as error:
        hint = Text("see that the disk has room and the folder can be written to")
        raise StorageError(
            Text(
                "{folder}: a copy cannot be kept: {strerror}",
                folder=folder,
                strerror=error.strerror or error,
            ),
            hint=hint,
        ) from None
    try:
        return path.stat().st_size
    except OSError:
        return 0  # whoever reads it tells


def _publish_copy(folder: Path, part: Path, final: Path) -> None:
    part.chmod(0o600)
    part.rename(final)
    sync_to_disk(folder)


async def _share_copy(app: App, final: Path) -> None:
    if app.file_objects.store is not None:
        with final.open("rb") as file:
            await app.file_objects.store.put_at(f"{COPIES}/{final.name}", file)


async def fetch_copy(app: App, relative: str) -> Path | None:
    """The copy as a file here; None where it is nowhere. Raises StorageError where it cannot be
    fetched now.
    """
    path, store = app.settings.home / relative, app.file_objects.store
    if not await anyio.Path(path).is_file():
        if store is None or await store.get_size(relative) is None:
            return None
        await app.file_objects.fetch(relative, path)
    return path


def mark_replaced(app: App, relative: str) -> None:
    """A copy is no longer asked; those who are at it may go on for a while."""
    with suppress(OSError):
        os.utime(app.settings.home / relative)


async def delete_copy(app: App, relative: str) -> None:
    """Remove a copy now; what other servers have fetched of it they sweep."""
    if relative:
        folder = app.settings.home / COPIES
        await anyio.to_thread.run_sync(_delete_files, folder, Path(relative).stem)
        await app.file_objects.discard([relative])


def _delete_files(folder: Path, token: str) -> None:
    import shutil

    for left in folder.glob(token + "*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            with suppress(OSError):
                left.unlink()


async def sweep_copies(app: App) -> None:
    """Throw away what no source asks: what kills left, and copies replaced a while ago."""
    folder = app.settings.home / COPIES
    found = await anyio.to_thread.run_sync(_list_abandoned, folder)
    if not found:
        return
    # read after the folder: what was finished in between has an owner there, or stands here
    wanted = {Path(path).stem for path in await app.sources.paths()}
    for token in found - wanted:
        await anyio.to_thread.run_sync(_delete_files, folder, token)


def _list_abandoned(folder: Path) -> set[str]:
    """The copies that nobody is at work on, and that are not new."""
    if not folder.is_dir():
        return set()
    tokens: dict[str, list[Path]] = {}
    for each in folder.iterdir():
        tokens.setdefault(each.name.partition(".")[0], []).append(each)
    return {
        token for token, files in tokens.items() if _is_abandoned(folder / (token + _OWNER), files)
    }


def _is_abandoned(owner: Path, files: list[Path]) -> bool:
    age = 0.0
    with suppress(OSError):
        age = time.time() - max(each.stat().st_mtime for each in files)
    try:
        process = owner.read_text("utf-8")
    except OSError:
        return age > GRACE
    return has_ended(process) or age > ORPHAN


def format_copy_time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))

"""`citewell restore`: a home out of an archive. The home is the old one or the new one, never
something between.

It is made beside the home, checked and brought up to date there, and takes its place in one step of
the file system; the old one stays, under a name with the moment.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import Field
from sqlalchemy import func, select

from citewell.disk import sync_to_disk
from citewell.errors import Conflict, StorageError
from citewell.service.admin.backup_list import (
    DATABASE,
    SETTINGS,
    Manifest,
    Tell,
    make_damaged_error,
)
from citewell.service.admin.backup_read import check_schema_version, read_archive
from citewell.service.admin.hidden_copies import (
    get_owner_file,
    get_restore_prefix,
    sweep_hidden_copies,
)
from citewell.store.copies import SCHEMA, check_copy, lock_exclusively
from citewell.store.db import Database
from citewell.store.index.adapters import INDEXES
from citewell.store.processes import name_this_process
from citewell.store.schema.library import chunks
from citewell.types import Shown

ROOM: Final = 64_000_000  # bytes that have to be left on the disk
MOST_FOUND: Final = 20
_MIDDLE: Final = select(func.max(chunks.alias().c.id) // 2).scalar_subquery()
_SOME: Final = (
    select(chunks.c.id, func.substr(chunks.c.text, 1, 300).label("text"))
    .where(chunks.c.kind == "text", chunks.c.id >= _MIDDLE)
    .order_by(chunks.c.id)
    .limit(5)
)
_HERE: Final = -100  # AT_FDCWD of Linux
_EXCHANGE: Final = 2  # RENAME_EXCHANGE: https://man7.org/linux/man-pages/man2/rename.2.html


class Restored(Shown):
    """`replaced`: the former home's place. `migrated_from`: an older archive's schema."""

    home: str
    file: str
    replaced: str = ""
    version: str
    schema_version: int
    migrated_from: int | None = None
    created_at: str
    counts: dict[str, int]
    files: int
    warnings: list[str] = Field(default=[])


def check_restore_target(home: Path, *, force: bool) -> None:
    """Raises Conflict where something is there that would be replaced, or that cannot be."""
    if not home.exists():
        return
    if home.is_mount():
        hint = (
            f"restore into a folder of it, as --home {home / 'home'}, and have CITEWELL_HOME "
            "name that"
        )
        raise Conflict(
            f"{home}: a disk is mounted there, which cannot be replaced in one step", hint=hint
        )
    if not home.is_dir():
        raise Conflict(f"{home}: that is no folder", hint="name another with --home")
    if any(home.iterdir()) and not force:
        hint = (
            "--force puts the restored one in its place and keeps this one beside it; or name "
            "another with --home"
        )
        raise Conflict(f"{home}: there is something in it already", hint=hint)


@contextmanager
def unpack_archive(archive: Path, home: Path, tell: Tell) -> Iterator[tuple[Path, Manifest]]:
    """The home of an archive, checked, beside where it is to be; what is not taken away from there
    is thrown away.

    Raises NotFound, UnreadableFile, StorageError.
    """
    for left in sweep_hidden_copies(home):  # of restores that were killed, to this very home
        if left.name.startswith(get_restore_prefix(home)):
            shutil.rmtree(left, ignore_errors=True)
            get_owner_file(left).unlink(missing_ok=True)
    beside = home.with_name(f"{get_restore_prefix(home)}{secrets.token_hex(4)}")

    def check_manifest(manifest: Manifest) -> None:
        check_schema_version(archive, manifest)
        check_free_space(manifest, home.parent)

    try:
        try:
            home.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            get_owner_file(beside).write_text(name_this_process(), "utf-8")
            beside.mkdir(mode=0o700)
        except OSError as error:
            raise StorageError(
                f"{home.parent}: {error.strerror}", hint="name another home with --home"
            ) from None
        manifest = read_archive(archive, tell, check_manifest, beside)
        check_database(archive, beside / DATABASE, manifest)
        yield beside, manifest
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        get_owner_file(beside).unlink(missing_ok=True)


def check_free_space(manifest: Manifest, folder: Path) -> None:
    """Raises StorageError where what an archive holds does not fit in a folder."""
    free = shutil.disk_usage(folder).free
    if manifest.size + ROOM > free:
        why = f"{folder}: {manifest.size:,} bytes are to be restored, and {free:,} are free"
        raise StorageError(why, hint="free some space, or name a home on another disk with --home")


def check_database(archive: Path, database: Path, manifest: Manifest) -> None:
    """Raises UnreadableFile where the archive's database is not whole and as its list says."""
    try:
        schema = check_copy(database)
    except StorageError as error:
        raise make_damaged_error(archive, error.message.replace(str(database), DATABASE)) from None
    if schema != manifest.schema_version:
        raise make_damaged_error(
            archive, f"its list says schema {manifest.schema_version}, its database {schema}"
        )


async def migrate_home(folder: Path) -> None:
    """Bring the database of an unpacked home to what this version knows, and ask it for something
    that it holds. Raises StorageError.
    """
    async with Database(folder / DATABASE) as db:
        some = await db.read(lambda connection: connection.execute(_SOME).all())
        found = [await INDEXES["sqlite"](db, "").search_words(row.text, MOST_FOUND) for row in some]
    if some and not any(
        row.id in {chunk for chunk, _ in hits} for row, hits in zip(some, found, strict=True)
    ):
        why = f"{folder / DATABASE}: it does not find by their words the passages that it holds"
        raise StorageError(why, hint="use another backup")


def put_in_place(made: Path, home: Path, *, force: bool) -> Path | None:
    """Make `made` the home; returns the old one's place. Raises Conflict, StorageError."""
    check_restore_target(home, force=force)
    for folder, _, _ in os.walk(made, topdown=False):
        Path(folder).chmod(0o700)
        sync_to_disk(Path(folder))
    try:
        if not home.exists() or not any(home.iterdir()):
            made.rename(home)
            sync_to_disk(home.parent)
            return None
        before = _choose_aside_path(home)
        database = home / DATABASE
        with lock_exclusively(database) if database.is_file() else nullcontext():
            made.rename(before)
            _exchange_folders(before, home)
            sync_to_disk(home.parent)
    except OSError as error:
        raise StorageError(
            f"{home}: {error.strerror or error}",
            hint="the home is as it was; name another with --home",
        ) from None
    return before


def collect_warnings(home: Path) -> list[str]:
    """What its settings file says that may not fit where it is now."""
    try:
        said = tomllib.loads((home / SETTINGS).read_text("utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        return [f"{home / SETTINGS}: {error}"]
    told = []
    if "home" in said and Path(str(said["home"])).absolute() != home.absolute():
        told.append(
            f"{SETTINGS} says home = {said['home']}, which is another place: take that line out"
        )
    gone = [
        name
        for name in ("llm_file", "scripted_replies")
        if said.get(name) and not Path(str(said[name])).is_file()
    ]
    return told + [
        f"{SETTINGS} says {name} = {said[name]}, which is not on this machine" for name in gone
    ]


def build_restore_result(
    archive: Path, home: Path, manifest: Manifest, before: Path | None
) -> Restored:
    """What came of it."""
    old = manifest.schema_version
    return Restored(
        home=str(home),
        file=str(archive),
        replaced=str(before or ""),
        version=manifest.version,
        schema_version=SCHEMA,
        migrated_from=old if old < SCHEMA else None,
        created_at=manifest.created_at,
        counts=manifest.counts,
        files=len(manifest.files),
        warnings=collect_warnings(home),
    )


def _choose_aside_path(home: Path) -> Path:
    name = f"{home.name}.replaced-{datetime.now(UTC):%Y-%m-%d-%H%M%S}"
    return next(
        path
        for n in range(1_000)
        if not (path := home.with_name(f"{name}-{n}" if n else name)).exists()
    )


def _exchange_folders(one: Path, other: Path) -> None:
    """Two folders change places at once if possible; else in two steps, undone if one fails."""
    renameat2 = (
        getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        if os.name == "posix"
        else None
    )
    if renameat2 is not None:
        if renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
            return
        code = ctypes.get_errno()
        if code not in {errno.EINVAL, errno.ENOSYS}:
            raise OSError(code, os.strerror(code))
    aside = one.with_name(f"{one.name}.old")
    other.rename(aside)
    try:
        one.rename(other)
    except OSError:
        aside.rename(other)
        raise
    aside.rename(one)

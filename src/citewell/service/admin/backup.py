"""`citewell backup`: all that a home holds, as it is at one moment, in one archive. The archive is
there whole or not at all, and of a database that is; whoever goes on working meanwhile notices
nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import secrets
import shutil
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from pydantic import Field

from citewell import __version__
from citewell.disk import sync_to_disk
from citewell.errors import Conflict, InvalidInput, NotFound, StorageError
from citewell.service.admin.backup_list import (
    DATABASE,
    FORMAT,
    LIST,
    MADE_AGAIN,
    STAGING,
    Manifest,
    Packed,
    Tell,
    list_home_files,
)
from citewell.service.admin.hidden_copies import OUTSIDE, OWNER, sweep_hidden_copies
from citewell.store.copies import check_copy, copy_database, inspect_copy
from citewell.store.processes import name_this_process
from citewell.types import Shown

# of gzip: vectors hardly get smaller by more, and it is what takes the time (docs/backup.md)
LEVEL: Final = 1
BLOCK: Final = 1 << 20
# bytes of a file whose size the plain form of a tar header can hold
LARGEST_PLAIN: Final = 8 * 1024**3
_FILES: Final = "files"


class BackupMade(Shown):
    """`bytes` of the archive; `unpacked`: of all that is in it. `removed`: older archives that
    went, once it was `verified`.
    """

    file: str
    bytes: int
    unpacked: int
    seconds: float
    version: str
    schema_version: int
    created_at: str
    counts: dict[str, int]
    files: int
    left_out: list[str]
    verified: bool = False
    removed: list[str] = Field(default=[])


Copy = Callable[[Path, Path], list[str]]


def create_backup(
    home: Path, file: Path | None, tell: Tell, copy: Copy | None = None
) -> BackupMade:
    """Write an archive. `file` None, or a folder: under a name with the moment. `tell` hears of
    bytes packed and bytes in all. `copy`: puts the files of one moment into a folder, and says what
    it left out; None: `copy_home`.

    Raises NotFound (there is no library), Conflict (the file is there), InvalidInput (it would be
    in the home), StorageError, also where the database is damaged.
    """
    started, copy = time.monotonic(), copy or copy_home
    if copy is copy_home:  # before anything is made
        _check_library(home)
    file = _resolve_target(home, file)
    with open_staging_folder(home) as folder, _open_output(file, folder / OUTSIDE) as out:
        manifest = _collect_files(home, folder, copy)
        _pack_files(out, folder / _FILES, manifest, tell)
    return BackupMade.of(
        manifest,
        file=str(file),
        bytes=file.stat().st_size,
        unpacked=manifest.size,
        seconds=round(time.monotonic() - started, 2),
        files=len(manifest.files),
    )


def _check_library(home: Path) -> None:
    if not (home / DATABASE).is_file():
        raise NotFound(
            f"{home}: there is no library to back up",
            hint="CITEWELL_HOME names the home; `citewell add` begins one",
        )


def _resolve_target(home: Path, file: Path | None) -> Path:
    name = f"citewell-{datetime.now(UTC):%Y-%m-%d-%H%M%S}.tar.gz"
    file = (file or Path()).expanduser()
    file = (file / name if file.is_dir() else file).absolute()
    if file.exists() or file.is_symlink():
        raise Conflict(
            f"{file}: it is there already, and a backup overwrites nothing",
            hint="choose another name, or remove it",
        )
    if file.resolve().is_relative_to(home.resolve()):
        raise InvalidInput(
            f"{file}: that is inside the home that is backed up",
            hint="choose a place outside, best another disk",
        )
    return file


@contextmanager
def open_staging_folder(home: Path) -> Iterator[Path]:
    """A folder in the home, on the same disk, where things are kept still; with what killed backups
    left thrown away. Raises StorageError.
    """
    sweep_hidden_copies(home)
    folder = home / f"{STAGING}{secrets.token_hex(4)}"
    try:
        (folder / _FILES).mkdir(mode=0o700, parents=True)
        folder.chmod(0o700)
        (folder / OWNER).write_text(name_this_process(), "utf-8")
        yield folder
    except OSError as error:
        raise StorageError(
            f"{error.filename or folder}: {error.strerror or error}",
            hint="see that the disk has room and can be written to",
        ) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _open_output(file: Path, note: Path) -> Iterator[IO[bytes]]:
    """Under the name in `note` until whole and on the disk. Raises StorageError, Conflict."""
    beside = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        note.write_text(str(beside), "utf-8")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        _publish_file(beside, file)
    except OSError as error:
        hint = "see that the folder is there, can be written to, and its disk has room"
        raise StorageError(
            f"{file}: {error.strerror or error}; no backup was written", hint=hint
        ) from None
    finally:
        with suppress(OSError):
            beside.unlink()


def _publish_file(beside: Path, file: Path) -> None:
    """Give it its name, which nobody may have taken meanwhile."""
    try:
        os.link(beside, file)
    except FileExistsError:
        raise Conflict(
            f"{file}: it is there already, and a backup overwrites nothing",
            hint="choose another name",
        ) from None
    except OSError:  # a disk without links
        beside.rename(file)
    sync_to_disk(file.parent)


def copy_home(home: Path, files: Path) -> list[str]:
    """The database copied, the other files linked, for they are never written in place; what else
    the home holds. Raises NotFound, StorageError.
    """
    _check_library(home)
    others = list[str]()
    copy_database(home / DATABASE, files / DATABASE, lambda: others.extend(link_files(home, files)))
    return others


def link_files(home: Path, files: Path) -> list[str]:
    """What a home keeps beside its database; what else is there. Once more does no harm."""
    kept, others = list_home_files(home)
    for name in kept:
        link_or_copy(home / name, files / name)
    return others


def _collect_files(home: Path, folder: Path, copy: Copy) -> Manifest:
    """The files of one moment, in the folder, and checked."""
    files = folder / _FILES
    others = copy(home, files)
    try:
        check_copy(files / DATABASE)
    except StorageError as error:
        why = error.message.replace(str(files / DATABASE), str(home / DATABASE))
        hint = "keep the backups of before: the last of them that is whole can be restored"
        raise StorageError(f"{why}; no backup was written", hint=hint) from None
    copied = inspect_copy(files / DATABASE)
    rest = sorted(path.relative_to(files).as_posix() for path in files.rglob("*") if path.is_file())
    rest = [name for name in rest if name not in {DATABASE, *MADE_AGAIN}]
    return Manifest(
        format=FORMAT,
        version=__version__,
        schema_version=copied.schema,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        counts=copied.counts,
        files=[_describe_file(files, name) for name in (DATABASE, *rest)],
        left_out=others,
    )


def link_or_copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target, follow_symlinks=False)
    except (FileNotFoundError, FileExistsError):
        return  # thrown away just now: nothing that is kept speaks of it any more; or linked before
    except OSError:  # a disk without links
        shutil.copyfile(source, target)


def _describe_file(files: Path, name: str) -> Packed:
    with (files / name).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Packed(path=name, size=file.tell(), sha256=digest)


def _pack_files(out: IO[bytes], files: Path, manifest: Manifest, tell: Tell) -> None:
    """The list, then what it names in its order. Memory is one block, whatever the size."""
    done, listed = 0, manifest.model_dump_json(indent=1).encode()
    moment = int(datetime.fromisoformat(manifest.created_at).timestamp())
    with gzip.GzipFile(filename="", mode="wb", compresslevel=LEVEL, fileobj=out, mtime=0) as packed:
        packed.write(_build_header(LIST, len(listed), moment) + listed + bytes(-len(listed) % 512))
        for file in manifest.files:
            packed.write(_build_header(file.path, file.size, moment))
            left = file.size
            with (files / file.path).open("rb") as source:
                while left and (block := source.read(min(BLOCK, left))):
                    packed.write(block)
                    left -= len(block)
                    done += len(block)
                    tell(done, manifest.size)
            if left:
                raise StorageError(
                    f"{file.path}: it became shorter while it was packed", hint="try again"
                )
            packed.write(bytes(-file.size % 512))
        packed.write(bytes(2 * 512))


def _build_header(name: str, size: int, moment: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = size, 0o600, moment
    return info.tobuf(
        tarfile.USTAR_FORMAT if size < LARGEST_PLAIN else tarfile.GNU_FORMAT, "ascii", "strict"
    )

"""An archive of `citewell backup`, read from its beginning to its end: checked, and unpacked where
that is wanted. The list at its beginning says all that may come, in which order and how large; the
first byte that is otherwise ends it. So links, devices, names that lead elsewhere and bombs never
get as far as the disk.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from citewell.errors import NotFound, StorageError
from citewell.service.admin.backup_list import (
    LARGEST_LIST,
    LIST,
    Manifest,
    Tell,
    make_damaged_error,
    parse_manifest,
)
from citewell.store.copies import SCHEMA

BLOCK: Final = 1 << 20
PADDING: Final = 1 << 16  # bytes of nothing that other programs add at the end at most
HEADER: Final = 512

Ready = Callable[[Manifest], None]


def read_archive(archive: Path, tell: Tell, ready: Ready, into: Path | None = None) -> Manifest:
    """Check an archive, byte by byte; `into`: a folder that its files are written to. `ready` hears
    of the list before any of them, and may raise. Raises NotFound, UnreadableFile (what is wrong
    with it), StorageError.
    """
    with _open_archive(archive) as packed:
        manifest = _read_manifest(packed, archive)
        ready(manifest)
        done = 0
        for file in manifest.files:
            size = _read_next_header(packed, archive, file.path)
            if size != file.size:
                raise make_damaged_error(
                    archive, f"{file.path}: its list says {file.size} bytes, and there are {size}"
                )
            digest = hashlib.sha256()
            with _open_target(into, file.path) as out:
                for block in _read_blocks(packed, archive, size):
                    digest.update(block)
                    out.write(block)
                    done += len(block)
                    tell(done, manifest.size)
            if digest.hexdigest() != file.sha256:
                raise make_damaged_error(
                    archive, f"{file.path}: its bytes are not those that were packed"
                )
        _check_archive_end(packed, archive)
    return manifest


def read_manifest(archive: Path) -> Manifest:
    """What an archive says it holds, nothing unpacked. Raises NotFound, UnreadableFile."""
    with _open_archive(archive) as packed:
        return _read_manifest(packed, archive)


def check_schema_version(archive: Path, manifest: Manifest) -> None:
    """Raises StorageError where a later Citewell wrote the database."""
    if manifest.schema_version > SCHEMA:
        why = (
            f"{archive}: Citewell {manifest.version} wrote it (schema "
            f"{manifest.schema_version}, this one knows {SCHEMA})"
        )
        raise StorageError(why, hint="upgrade Citewell, then restore")


@contextmanager
def _open_archive(archive: Path) -> Iterator[gzip.GzipFile]:
    """What goes wrong in reading it, in words."""
    try:
        with archive.open("rb") as file, gzip.GzipFile(fileobj=file) as packed:
            yield packed
    except (FileNotFoundError, IsADirectoryError):
        raise NotFound(
            f"{archive}: there is no such file", hint="name an archive that `citewell backup` wrote"
        ) from None
    except EOFError:
        raise make_damaged_error(archive, "it is cut off") from None
    except (
        gzip.BadGzipFile,
        zlib.error,
        tarfile.HeaderError,
        UnicodeError,
        ValueError,
        OverflowError,
    ):
        raise make_damaged_error(archive, "it cannot be read") from None
    except OSError as error:
        where = error.filename or archive
        raise StorageError(
            f"{where}: {error.strerror or error}",
            hint="see that it can be read, and the disk has room",
        ) from None


def _read_manifest(packed: gzip.GzipFile, archive: Path) -> Manifest:
    size = _read_next_header(packed, archive, LIST)
    if size > LARGEST_LIST:
        raise make_damaged_error(archive, f"its list of files is too large ({size} bytes)")
    return parse_manifest(b"".join(_read_blocks(packed, archive, size)), archive)


def _read_next_header(packed: gzip.GzipFile, archive: Path, expected: str) -> int:
    """The size of the next file, which is to be this one."""
    header = _read_exactly(packed, HEADER)
    if not any(header):
        raise make_damaged_error(archive, f"it ends before {expected}")
    info = tarfile.TarInfo.frombuf(header, "ascii", "strict")
    if info.type != tarfile.REGTYPE:
        raise make_damaged_error(
            archive,
            f"{info.name[:200]!r} in it is no plain file but a {_describe_entry_type(info)}",
        )
    if info.name != expected:
        raise make_damaged_error(
            archive, f"{expected} is to come, and it holds {info.name[:200]!r}"
        )
    if info.size < 0:  # base 256 can say so
        raise make_damaged_error(archive, f"{expected} in it has a size below zero")
    return info.size


def _describe_entry_type(info: tarfile.TarInfo) -> str:
    if info.issym() or info.islnk():
        return "link"
    return "folder" if info.isdir() else "device" if info.isdev() else "special entry"


def _read_blocks(packed: gzip.GzipFile, archive: Path, size: int) -> Iterator[bytes]:
    left = size
    while left:
        block = packed.read(min(BLOCK, left))
        if not block:
            raise EOFError
        left -= len(block)
        yield block
    if any(_read_exactly(packed, -size % HEADER)):
        raise make_damaged_error(archive, "there is something between its files")


def _read_exactly(packed: gzip.GzipFile, size: int) -> bytes:
    data = packed.read(size) if size else b""
    while len(data) < size:
        more = packed.read(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def _check_archive_end(packed: gzip.GzipFile, archive: Path) -> None:
    """Nothing but nothing; reading on to the end has the checksum of all looked at."""
    if any(_read_exactly(packed, 2 * HEADER)):
        raise make_damaged_error(archive, "it holds more than its list says")
    rest = packed.read(PADDING + 1)
    if len(rest) > PADDING or any(rest):
        raise make_damaged_error(archive, "something follows its end")
    if packed.read(1):
        raise make_damaged_error(archive, "something follows its end")


@contextmanager
def _open_target(into: Path | None, name: str) -> Iterator[IO[bytes]]:
    """A new file, private and on the disk when the block ends; without a folder, nowhere."""
    if into is None:
        with Path(os.devnull).open("wb") as nowhere:
            yield nowhere
        return
    path = into / name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        yield out
        out.flush()
        os.fsync(out.fileno())

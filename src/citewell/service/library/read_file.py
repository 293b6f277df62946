"""A file's bytes at one moment, of the disk or of a bucket. It never waits for a pipe or reads more
than it may.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import UnreadableFile
from citewell.messages import Text
from citewell.store.library.object_store import Bucket

TRIES = 3  # readings of a file that somebody is writing to
REST = 0.2  # seconds between two of them


@dataclass(frozen=True, slots=True)
class Read:
    """`changed`: written at each reading: perhaps of two versions. `dated`: its last change."""

    data: bytes
    dated: float
    changed: bool = False


def read_file(path: Path, limit: int) -> Read:
    """Raises UnreadableFile for what is no file or has more than `limit` bytes, and OSError."""
    for _ in range(TRIES):
        before, data, after = _read_once(path, limit)
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
            return Read(data, after.st_mtime)
        time.sleep(REST)
    return Read(data, after.st_mtime, changed=True)


def read_object(address: str, limit: int) -> Read:
    """The same for an object, such as s3://BUCKET/KEY. Raises what `Bucket.read` raises too."""
    data, size, written = Bucket(address).read(limit)
    if size > limit:
        raise _make_size_error(size, limit)
    return Read(data, written)


def _read_once(path: Path, limit: int) -> tuple[os.stat_result, bytes, os.stat_result]:
    # without O_NONBLOCK, opening a pipe that took the file's place would wait for its writer
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        before = os.fstat(file.fileno())
        if not stat.S_ISREG(before.st_mode):
            raise UnreadableFile(Text("it is not a file any more"))
        if before.st_size > limit:
            raise _make_size_error(before.st_size, limit)
        data = file.read(before.st_size + 1)
        if len(data) > before.st_size:  # it grows, or is of a kind whose size is not told
            data += file.read(limit + 1 - len(data))
        if len(data) > limit:
            raise _make_size_error(len(data), limit)
        return before, data, os.fstat(file.fileno())


def _make_size_error(size: int, limit: int) -> UnreadableFile:
    hint = Text("raise ingest.max_bytes, or split the file")
    return UnreadableFile(
        Text("{size:,} bytes is more than the {limit:,} allowed", size=size, limit=limit), hint=hint
    )

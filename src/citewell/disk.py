"""Files as the disk has them. A rename counts once the folder that lists it is on the disk."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def sync_to_disk(path: Path) -> None:
    """A file's bytes, or the names that a folder lists, are on the disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def compute_sha256(path: Path) -> str:
    """Of the file's bytes, in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def get_file_size(path: Path) -> int:
    """0 for a file that is not there; that is told by who reads it."""
    try:
        return path.stat().st_size
    except OSError:
        return 0

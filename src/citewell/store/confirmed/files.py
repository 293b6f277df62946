"""The files of confirmed chains under the home folder. The one rule: a file is whole or not there,
and its name is ours.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from citewell.disk import sync_to_disk
from citewell.errors import InvalidInput, StorageError
from citewell.store.confirmed.items import PATH

_OURS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


def get_item_path(home: Path, trace_id: str) -> Path:
    """Raises InvalidInput for an id that is none of ours: it is to be part of a file's name."""
    if not _OURS.fullmatch(trace_id):
        raise InvalidInput(
            f"trace {trace_id!r}: not an id of Citewell's",
            hint="letters, digits, hyphens and underscores",
        )
    return home / PATH.format(trace_id=trace_id)


def write_file(path: Path, text: str) -> None:
    """Another file in its place, at once and for good. Raises StorageError, and then nothing has
    changed.
    """
    data = text.encode("utf-8")
    if has_same_content(path, data):
        return
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        sync_to_disk(path.parent)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise _make_write_error(path, error) from error


def has_same_content(path: Path, data: bytes) -> bool:
    """Whether the file holds just these bytes."""
    try:
        return path.read_bytes() == data
    except OSError:
        return False  # not there, or not to be read


def remove_file(path: Path) -> None:
    """Nothing happens where it is not there. Raises StorageError."""
    try:
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            sync_to_disk(path.parent)
    except OSError as error:
        raise _make_write_error(path, error) from error


def _make_write_error(path: Path, error: OSError) -> StorageError:
    hint = "see that the disk has room and the folder can be written to; it is tried again"
    return StorageError(f"{path}: cannot be written: {error.strerror or error}", hint=hint)

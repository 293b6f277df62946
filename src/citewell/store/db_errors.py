"""Errors of SQLite in words."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

from citewell.errors import StorageError
from citewell.messages import Text

ELSEWHERE = Text("restore a copy of it, or move it away, or set CITEWELL_HOME to another folder")
_REASONS: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: (
        Text("the disk is full"),
        Text("free some space and try again; nothing of this change was kept"),
    ),
    sqlite3.SQLITE_READONLY: (
        Text("it cannot be written to"),
        Text("make the file and its folder writable, or set CITEWELL_HOME"),
    ),
    sqlite3.SQLITE_CANTOPEN: (
        Text("it cannot be opened"),
        Text("make the file and its folder readable and writable, or set CITEWELL_HOME"),
    ),
    sqlite3.SQLITE_PERM: (
        Text("access is not permitted"),
        Text("make the file and its folder readable and writable, or set CITEWELL_HOME"),
    ),
    sqlite3.SQLITE_BUSY: (
        Text("another process is writing to it"),
        Text("wait until it is done and try again"),
    ),
    sqlite3.SQLITE_LOCKED: (
        Text("another process is writing to it"),
        Text("wait until it is done and try again"),
    ),
    sqlite3.SQLITE_NOTADB: (Text("it is not a Citewell database"), ELSEWHERE),
    sqlite3.SQLITE_CORRUPT: (Text("the file is damaged"), ELSEWHERE),
    sqlite3.SQLITE_IOERR: (
        Text("the disk reports an error"),
        Text("check the disk and its free space, then try again"),
    ),
}


def to_storage_error(path: Path, error: BaseException | None) -> StorageError:
    """SQLite's refusal in words: which file, why, what to do."""
    code = _refine_error_code(path, (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF)
    reason, hint = _REASONS.get(
        code,
        (
            Text("the database refuses: {error}", error=error),
            Text("`citewell doctor` checks the database"),
        ),
    )
    return StorageError(Text("{path}: {reason}", path=path, reason=reason), hint=hint)


def _refine_error_code(path: Path, code: int) -> int:
    """SQLite says that it cannot open a file also where a full disk takes no journal beside it."""
    if code == sqlite3.SQLITE_CANTOPEN:
        with contextlib.suppress(OSError):
            if shutil.disk_usage(path.parent).free == 0:
                return sqlite3.SQLITE_FULL
    return code

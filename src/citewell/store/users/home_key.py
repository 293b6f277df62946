"""The key of a home: 256 random bits in a file that its owner alone may read, made when it is first
needed. The key itself signs and seals nothing; each purpose has a key of its own, derived from it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from citewell.disk import sync_to_disk
from citewell.errors import StorageError
from citewell.messages import Text
from citewell.store.dialects.server import HOME

FILE: Final = "citewell.key"
_BYTES: Final = 32
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def get_home_folder(connection: Connection) -> Path:
    """The home that an open database is in."""
    return Path(connection.get_execution_options()[HOME])


def get_home_key(folder: Path) -> bytes:
    """The home's key. A link to a file elsewhere is followed: so the key can be kept apart from the
    home and its backups. Raises StorageError.
    """
    path = folder / FILE
    try:
        if not path.exists():
            _create_key_file(path)
        _restrict_permissions(path)
        key = bytes.fromhex(path.read_text("ascii").strip())
    except OSError as error:
        hint = Text("make the file and its folder readable and writable for this user")
        raise StorageError(
            Text(
                "{path}: the key cannot be read: {strerror}",
                path=path,
                strerror=error.strerror or error,
            ),
            hint=hint,
        ) from error
    except ValueError:
        key = b""
    if len(key) != _BYTES:
        raise StorageError(
            Text("{path}: this is no key of Citewell", path=path),
            hint=Text("put the key of this home back, from a backup say"),
        )
    return key


def derive_key(key: bytes, purpose: str) -> bytes:
    """A key for one purpose: 32 bytes."""
    return hmac.digest(key, f"citewell {purpose}".encode(), "sha256")


def get_key_id(key: bytes) -> str:
    """What a key is called where it was used; says nothing of it."""
    return hashlib.sha256(derive_key(key, "id")).hexdigest()[:8]


def _create_key_file(path: Path) -> None:
    """Whole or not at all; of two processes that do it at once, the first one's counts."""
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(
            os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii"
        ) as file:
            file.write(secrets.token_hex(_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        _publish_key_file(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    sync_to_disk(path.parent)


def _publish_key_file(made: Path, path: Path) -> None:
    try:
        os.link(made, path)
    except FileExistsError:
        return  # another process was first
    except OSError:  # a disk without links
        made.rename(path)


def _restrict_permissions(path: Path) -> None:
    if os.name == "posix" and path.stat().st_mode & _OTHERS and path.stat().st_uid == os.getuid():
        path.chmod(0o600)

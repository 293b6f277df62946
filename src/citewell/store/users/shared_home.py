"""What servers with homes of their own have in common besides rows and objects: one key, and small
files that each copies into its home when it opens the database.

The one rule: the database knows which key is its own, never the key. A server with another one, or
none, is refused; it could neither read what was sealed nor go on with the log of administration.
"""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import Final

import anyio
from sqlalchemy import Connection, select

from citewell.errors import ConfigError, StorageError
from citewell.messages import Text
from citewell.store.db import Database
from citewell.store.dialects.locks import hold
from citewell.store.dialects.upserts import upsert
from citewell.store.schema.home_tables import home_files
from citewell.store.users.home_key import FILE as KEY
from citewell.store.users.home_key import get_home_key, get_key_id
from citewell.store.users.sealing import open_sealed, seal_secret

_KEY_ID: Final = "key"  # the row that says which key is this database's


async def open_shared_home(db: Database) -> None:
    """Check the key of this home, and bring its small files up to date. Raises ConfigError for a
    key that is missing or another one, and StorageError.
    """
    known = await db.read(_read_files)
    own = known.get(_KEY_ID)
    path = anyio.Path(db.home / KEY)
    if own is None:
        own = get_key_id(get_home_key(db.home)).encode()
        own = await db.write_beside(_claim_key, own)
    if not await path.exists() or get_key_id(get_home_key(db.home)).encode() != own:
        raise ConfigError(
            Text(
                "{path}: it has to be the key {own} of {name}, as all its servers have it",
                path=path,
                own=own.decode(),
                name=db.server.name,
            ),
            hint=Text("copy citewell.key from the home of another server, or mount it there"),
        )
    await fetch_home_files(db)


async def fetch_home_files(db: Database) -> None:
    """Those that others have changed. Raises StorageError, SourceUnavailable."""
    known = await db.read(_read_files)
    for name, sealed in known.items():
        if name != _KEY_ID:
            await _write_file(db.home / name, open_sealed(db.home, sealed.decode(), name))


async def share_home_file(db: Database, path: Path) -> None:
    """Keep a file of this home for the others, sealed: it may hold passwords. Raises
    StorageError.
    """
    text = await anyio.Path(path).read_text("utf-8")
    await db.write_beside(_put_file, path.name, seal_secret(db.home, text, path.name).encode())


async def _write_file(path: Path, text: str) -> None:
    target = anyio.Path(path)
    beside = target.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        if not await target.is_file() or await target.read_text("utf-8") != text:
            await beside.touch(0o600)
            await beside.write_text(text, "utf-8")
            await beside.replace(target)
    except OSError as error:
        raise StorageError(
            Text("{path}: {error}", path=path, error=error.strerror or str(error)),
            hint=Text("make the folder writable"),
        ) from None


def _claim_key(connection: Connection, key_id: bytes) -> bytes:
    """The id of the database's key: this one, where there was none before."""
    hold(connection, "home files")
    return _read_files(connection).get(_KEY_ID) or _put_file(connection, _KEY_ID, key_id)


def _read_files(connection: Connection) -> dict[str, bytes]:
    return {row.name: bytes(row.data) for row in connection.execute(_ALL)}


def _put_file(connection: Connection, name: str, data: bytes) -> bytes:
    connection.execute(_PUT, {"name": name, "data": data, "changed_at": time.time()})
    return data


_ALL = select(home_files.c.name, home_files.c.data)
_PUT = upsert(home_files, home_files.c.name)

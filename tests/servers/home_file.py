"""SQLite's file of a new home, made once a run: making it takes four fifths of the time of opening
a home, and most tests open one of their own.

The one rule: processes that tests start make theirs themselves, and so do the tests of the store.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress

import pytest

from citewell.store.dialects.sqlite_file import SqliteFile


@pytest.fixture(scope="session")
def home_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """As a home is when it was opened for the first time."""
    path = tmp_path_factory.mktemp("new") / "citewell.db"
    file = SqliteFile(path)
    file.open()
    file.close()
    return path.read_bytes()


@pytest.fixture
def copied_homes(home_file: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Homes that are new begin with a copy of that file. One that cannot be written, or is there,
    is left to `open`.
    """
    open_file, copying = SqliteFile.open, threading.Lock()

    def open_copy(self: SqliteFile, *, moving: bool = False) -> None:
        with copying, suppress(OSError):
            if not moving and not self.path.exists():
                with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                    file.write(home_file)
        open_file(self, moving=moving)

    monkeypatch.setattr(SqliteFile, "open", open_copy)

"""Homes as earlier versions made them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import Connection

from citewell.store.dialects import sqlite_file


def be_earlier(
    monkeypatch: pytest.MonkeyPatch, steps: Sequence[Callable[[Connection], None]]
) -> None:
    """From now on a file of SQLite is opened by a version that knows these steps alone, and no
    Alembic.
    """
    monkeypatch.setattr(sqlite_file, "MIGRATIONS", list(steps))
    monkeypatch.setattr(sqlite_file, "set_baseline", lambda _: None)
    monkeypatch.setattr(sqlite_file, "_apply_missing", lambda _: None)

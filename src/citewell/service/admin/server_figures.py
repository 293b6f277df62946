"""What the server keeps, as figures for `/metrics`; a refusing database is a figure too."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from citewell.disk import get_file_size
from citewell.errors import CitewellError
from citewell.runtime.app import App
from citewell.store.dialects.soundness import measure_database
from citewell.store.figures import Totals, count_totals


@dataclass(frozen=True, slots=True)
class Figures:
    """`up`: whether the database can be read; else `totals` are none. `oldest`: seconds that
    the oldest job waits. `bytes`: of the database with its log; `free`: on the disk of the home.
    """

    up: bool
    totals: Totals
    oldest: float
    bytes: int
    free: int


async def collect_figures(app: App) -> Figures:
    """As they are now."""
    embedder = app.embedder.name
    files, free = await anyio.to_thread.run_sync(_measure_disk, app.settings.database)
    try:
        found, size = await app.db.read(
            lambda connection: (count_totals(connection, embedder), measure_database(connection))
        )
    except CitewellError:
        return Figures(False, Totals(), 0.0, files, free)
    waits = max(0.0, time.time() - found.oldest) if found.queued else 0.0
    return Figures(True, found, waits, files or size, free)


def _measure_disk(database: Path) -> tuple[int, int]:
    return sum(
        get_file_size(each) for each in (database, database.with_name(database.name + "-wal"))
    ), _get_free_space(database.parent)


def _get_free_space(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0

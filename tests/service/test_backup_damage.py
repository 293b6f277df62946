"""A database that is damaged: no backup of it is made, none is found whole, and none takes a whole
one's place.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.service.test_backup import names, quiet

from citewell.config import Settings
from citewell.errors import CitewellError, StorageError, UnreadableFile
from citewell.runtime.app import App
from citewell.service.admin import backup as backups
from citewell.service.admin.backup import create_backup
from citewell.service.admin.backup_verify import remove_old_backups, verify_backup
from citewell.service.library.embedding import embed_pending
from citewell.service.library.intake import add_data
from citewell.store import copies

pytestmark = pytest.mark.sqlite  # archives hold a file

NOTES = 60


@pytest.fixture
async def home(settings: Settings) -> Path:
    async with App(settings) as app:
        for n in range(NOTES):
            text = (
                f"# Note {n}\n\nThe lighthouse number {n} was built in {1000 + n}. "
                + f"Its lamp is of {n} candles. " * 40
            )
            await add_data(app, text.encode(), f"{n}.md", f"/{n}.md", "docs")
        await embed_pending(app)
    return settings.home


@pytest.fixture
def unlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Backups as they were made before: nobody looks through the database."""
    monkeypatch.setattr(backups, "check_copy", lambda path: 0)


def flip(path: Path, times: int, seed: int) -> None:
    """As a failing disk does: bytes anywhere but in the first page."""
    data, chance = bytearray(path.read_bytes()), random.Random(seed)
    for _ in range(times):
        data[chance.randrange(4096, len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def broken(home: Path, how: str) -> None:
    with closing(sqlite3.connect(home / "citewell.db", isolation_level=None)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if how == "reference":
            database.execute(
                "DELETE FROM documents WHERE doc_id = (SELECT min(doc_id) FROM documents)"
            )
        if how == "original":
            database.execute(
                "UPDATE files SET data = zeroblob(20) WHERE sha256 = (SELECT min(sha256) FROM "
                "files)"
            )
        if how == "words":
            database.execute("DELETE FROM words_data WHERE id > 10")
    if how == "bytes":
        flip(home / "citewell.db", 200, 1)


DAMAGE = ("bytes", "reference", "original", "words")


@pytest.mark.parametrize("how", DAMAGE)
def test_no_backup_of_a_damaged_database(home: Path, tmp_path: Path, how: str) -> None:
    """It says so, and nothing is written; the one of before stays."""
    before = create_backup(home, tmp_path / "citewell-2026-01-01.tar.gz", quiet)
    broken(home, how)
    with pytest.raises(StorageError, match=r"citewell\.db") as refused:
        create_backup(home, tmp_path / "b.tar.gz", quiet)
    assert "no backup was written" in refused.value.message or "damaged" in refused.value.message
    assert (names(tmp_path, "*.gz"), names(tmp_path, ".*.gz*")) == ([Path(before.file).name], [])
    assert verify_backup(Path(before.file), home, quiet).counts["documents"] == NOTES


@pytest.mark.parametrize("how", DAMAGE)
def test_a_backup_of_a_damaged_database_is_not_whole(
    home: Path, tmp_path: Path, unlooked: None, how: str
) -> None:
    """Whoever made it: `--verify` refuses what a restore refuses, and leaves nothing behind."""
    broken(home, how)
    try:
        archive = Path(create_backup(home, tmp_path / "b.tar.gz", quiet).file)
    except StorageError:
        assert how == "bytes", "so bad that it cannot even be copied"
        return
    with pytest.raises(UnreadableFile, match=r"b\.tar\.gz"):
        verify_backup(archive, tmp_path / "elsewhere", quiet)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bytes(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """A handful anywhere: where the backup is made, what it says of its documents is what was
    added.
    """
    whole = originals(home)
    with closing(sqlite3.connect(home / "citewell.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    flip(home / "citewell.db", 5, seed)
    try:
        create_backup(home, tmp_path / "b.tar.gz", quiet)
    except CitewellError:
        return
    assert originals(home) == whole


def originals(home: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(home / "citewell.db")) as database:
        return database.execute("SELECT sha256, data FROM files ORDER BY sha256").fetchall()


def test_rotation_after_a_verified_one(home: Path, tmp_path: Path) -> None:
    """The newest so many stay; what has another name is nobody's to remove."""
    folder = tmp_path / "backups"
    folder.mkdir()
    whole = Path(create_backup(home, folder / "citewell-2026-01-05.tar.gz", quiet).file)
    for name in (
        "citewell-2026-01-01.tar.gz",
        "citewell-2026-01-04-031500.tar.gz",
        "mine.tar.gz",
        "citewell-old.tar.gz",
    ):
        shutil.copy(whole, folder / name)
    assert [Path(path).name for path in remove_old_backups(folder, 2)] == [
        "citewell-2026-01-01.tar.gz"
    ]
    left = [
        "citewell-2026-01-04-031500.tar.gz",
        "citewell-2026-01-05.tar.gz",
        "citewell-old.tar.gz",
        "mine.tar.gz",
    ]
    assert names(folder) == left


def test_what_is_looked_through(home: Path) -> None:
    """A whole one is whole."""
    with closing(sqlite3.connect(home / "citewell.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert copies.check_copy(home / "citewell.db") == copies.SCHEMA

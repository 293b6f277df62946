"""The bytes of uploads, in a folder each until their job has ended, on the disk."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from citewell.disk import sync_to_disk
from citewell.errors import StorageError
from citewell.messages import Text

ORPHAN = 86_400.0  # seconds after which bytes of no job are thrown away


@dataclass(frozen=True, slots=True)
class Upload:
    """One file as it arrives: the name its sender gave, and where its bytes can be read."""

    name: str
    file: BinaryIO


def get_base_name(name: str) -> str:
    """A sender's file name without folders and what cannot be printed."""
    base = name.replace("\\", "/").rpartition("/")[2]
    return "".join(letter for letter in base if letter.isprintable()).strip()[-200:] or "unnamed"


def store_uploads(folder: Path, uploads: Sequence[Upload]) -> None:
    """Write each to its number. Raises StorageError, and then leaves nothing."""
    try:
        _write_uploads(folder, uploads)
    except OSError as error:
        delete_uploads(folder)
        raise StorageError(
            Text(
                "{filename}: the upload cannot be kept: {strerror}",
                filename=error.filename or folder,
                strerror=error.strerror or error,
            ),
            hint=Text(
                "see that the disk has room and the folder can be written to; nothing of "
                "this upload was kept"
            ),
        ) from error


def _write_uploads(folder: Path, uploads: Sequence[Upload]) -> None:
    folder.mkdir(parents=True)
    for number, upload in enumerate(uploads):
        upload.file.seek(0)
        with (folder / str(number)).open("wb") as target:
            shutil.copyfileobj(upload.file, target)
            target.flush()
            os.fsync(target.fileno())
    for each in (folder, folder.parent):
        sync_to_disk(each)


def delete_uploads(folder: Path) -> None:
    """Remove what is there; what cannot be removed goes as an orphan."""
    shutil.rmtree(folder, ignore_errors=True)


def delete_orphaned_uploads(uploads: Path, wanted: set[str]) -> None:
    """Bytes whose job was never made: the server died in between, and nobody was told."""
    for folder in list(uploads.iterdir()) if uploads.is_dir() else []:
        with suppress(OSError):  # gone meanwhile: its job has ended
            if folder.name not in wanted and time.time() - folder.stat().st_mtime > ORPHAN:
                shutil.rmtree(folder)

"""What was sent with a job: in the object store, where one is set, under `uploads/FOLDER/NUMBER`;
else, and while a worker reads it, in the folder of that name in the home.

The one rule: with an object store the home's folder is a copy, which may be lost at any time.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from citewell.config import Settings
from citewell.errors import CitewellError
from citewell.runtime.app import App
from citewell.service.library.uploads import (
    Upload,
    delete_orphaned_uploads,
    delete_uploads,
    store_uploads,
)
from citewell.store.library.file_objects import UPLOADS, list_upload_keys


async def keep_sent_files(app: App, uploads: Sequence[Upload]) -> str:
    """The name of their folder, when all are kept for good. Raises StorageError; what was kept by
    then goes again.
    """
    folder, store = secrets.token_hex(8), app.file_objects.store
    if store is None:
        await anyio.to_thread.run_sync(store_uploads, _get_path(app.settings, folder), uploads)
        return folder
    keys = list_upload_keys({"folder": folder, "names": uploads})
    try:
        for key, upload in zip(keys, uploads, strict=True):
            upload.file.seek(0)
            await store.put_at(key, upload.file)
    except CitewellError:
        await app.file_objects.discard(keys)
        raise
    return folder


async def fetch_sent_files(app: App, payload: Mapping[str, Any]) -> Path:
    """The folder in which they lie by their number. Raises StorageError."""
    path = _get_path(app.settings, str(payload["folder"]))
    for number, key in enumerate(list_upload_keys(payload)):
        await app.file_objects.fetch(key, path / str(number))
    return path


async def has_sent_files(app: App, payload: Mapping[str, Any]) -> bool:
    """Whether what was sent is still there. Raises StorageError."""
    if await anyio.Path(_get_path(app.settings, str(payload["folder"]))).is_dir():
        return True
    store, keys = app.file_objects.store, list_upload_keys(payload)
    return store is not None and bool(keys) and await store.get_size(keys[0]) is not None


async def delete_sent_files(app: App, payload: Mapping[str, Any]) -> None:
    """Nothing happens for a job that was sent none; what cannot be deleted is swept later."""
    folder = str(payload.get("folder", ""))
    if folder.isalnum():
        await anyio.to_thread.run_sync(delete_uploads, _get_path(app.settings, folder))
        await app.file_objects.discard(list_upload_keys(payload))


async def sweep_sent_files(app: App) -> None:
    """Files in the home whose job was never made, or has ended on another machine."""
    wanted = await app.jobs.list_folders()
    await anyio.to_thread.run_sync(delete_orphaned_uploads, app.settings.home / UPLOADS, wanted)


def _get_path(settings: Settings, folder: str) -> Path:
    return settings.home / UPLOADS / folder

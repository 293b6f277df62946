"""Uploads as durable jobs: submitted, cancelled, tried again. The bytes are on the disk before the
job is, and the job before anyone is told.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from citewell.config import Settings
from citewell.errors import CitewellError, Conflict
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.library.collection_owner import ensure_collection
from citewell.service.library.uploads import Upload, delete_uploads, get_base_name, store_uploads
from citewell.store.job_rows import BULK, URGENT, Job
from citewell.store.jobs import Jobs
from citewell.store.library.collection_rows import check_name

KIND = "upload"
FEW, SMALL = 10, 20_000_000  # files of an upload that is no import, and their bytes
MOST_JOBS = 10_000  # looked at for those of a collection that is deleted


async def submit_uploads(app: App, collection: str, uploads: Sequence[Upload]) -> Job:
    """Store the bytes, then the job: kept on return. Raises InvalidInput, StorageError."""
    await ensure_collection(app, check_name(collection))
    folder = get_uploads_folder(app.settings) / secrets.token_hex(8)
    names = [get_base_name(upload.name) for upload in uploads]
    await anyio.to_thread.run_sync(store_uploads, folder, uploads)
    payload: dict[str, Any] = {"collection": collection, "folder": folder.name, "names": names}
    try:
        job = await app.jobs.create(KIND, payload, await anyio.to_thread.run_sync(_rank, folder))
    except CitewellError:
        await anyio.to_thread.run_sync(delete_uploads, folder)
        raise
    app.new_job.set()
    return job


def _rank(folder: Path) -> int:
    """Somebody waits for a few small files; many or large ones are an import."""
    sizes = [file.stat().st_size for file in folder.iterdir()]
    return BULK if len(sizes) > FEW or sum(sizes) > SMALL else URGENT


async def cancel_or_discard_job(jobs: Jobs, settings: Settings, job_id: str) -> Job:
    """Stop a job, or forget what a failed one was sent: what it has added stays, its other files
    go. Raises NotFound, and Conflict where it has ended otherwise.
    """
    before = await jobs.get(job_id)
    job = await jobs.cancel(job_id)
    if before.state != "running":  # else its worker does it, which hears of it at its next step
        await delete_sent_files(settings, job)
    return job


async def retry_job(app: App, job_id: str) -> Job:
    """A failed job. Raises NotFound, and Conflict where it cannot be tried again."""
    job = await app.jobs.get(job_id)
    if (
        job.state == "failed"
        and "folder" in job.payload
        and not await anyio.Path(get_sent_folder(app.settings, job)).is_dir()
    ):
        raise Conflict(
            Text("job {job_id}: what was sent is there no more", job_id=job_id),
            hint=Text("send it again"),
        )
    job = await app.jobs.try_again(job_id)
    app.new_job.set()
    return job


async def delete_sent_files(settings: Settings, job: Job) -> None:
    if "folder" in job.payload:
        await anyio.to_thread.run_sync(delete_uploads, get_sent_folder(settings, job))


def get_uploads_folder(settings: Settings) -> Path:
    return settings.home / "uploads"


def get_sent_folder(settings: Settings, job: Job) -> Path:
    return get_uploads_folder(settings) / str(job.payload["folder"])

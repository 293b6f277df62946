"""Uploads as durable jobs: submitted, cancelled, tried again.

The one rule: the bytes are on the disk before the job is, and the job before anyone is told.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from citewell.errors import CitewellError, Conflict
from citewell.runtime.app import App
from citewell.service.library.collection_owner import ensure_collection
from citewell.service.library.uploads import Upload, delete_uploads, get_base_name, store_uploads
from citewell.store.job_rows import Job
from citewell.store.library.collection_rows import check_name

KIND = "upload"
MOST_JOBS = 10_000  # looked at for those of a collection that is deleted


async def submit_uploads(app: App, collection: str, uploads: Sequence[Upload]) -> Job:
    """Store the bytes, then the job. When this returns, a kill loses nothing. Raises InvalidInput,
    StorageError.
    """
    await ensure_collection(app, check_name(collection))
    folder = get_uploads_folder(app) / secrets.token_hex(8)
    names = [get_base_name(upload.name) for upload in uploads]
    await anyio.to_thread.run_sync(store_uploads, folder, uploads)
    payload: dict[str, Any] = {"collection": collection, "folder": folder.name, "names": names}
    try:
        job = await app.jobs.create(KIND, payload)
    except CitewellError:
        await anyio.to_thread.run_sync(delete_uploads, folder)
        raise
    app.new_job.set()
    return job


async def cancel_or_discard_job(app: App, job_id: str) -> Job:
    """Stop a job, or forget what a failed one was sent: what it has added stays, its other files
    go. Raises NotFound, and Conflict where it has ended otherwise.
    """
    before = await app.jobs.get(job_id)
    job = await app.jobs.cancel(job_id)
    if before.state != "running":  # else its worker does it, which hears of it at its next step
        await delete_sent_files(app, job)
    return job


async def retry_job(app: App, job_id: str) -> Job:
    """A job that failed, or was given up. Raises NotFound, and Conflict where it cannot be tried
    again.
    """
    job = await app.jobs.get(job_id)
    if (
        job.state == "failed"
        and "folder" in job.payload
        and not await anyio.Path(get_sent_folder(app, job)).is_dir()
    ):
        raise Conflict(f"job {job_id}: what was sent is there no more", hint="send it again")
    job = await app.jobs.try_again(job_id)
    app.new_job.set()
    return job


async def delete_sent_files(app: App, job: Job) -> None:
    if "folder" in job.payload:
        await anyio.to_thread.run_sync(delete_uploads, get_sent_folder(app, job))


def get_uploads_folder(app: App) -> Path:
    return app.settings.home / "uploads"


def get_sent_folder(app: App, job: Job) -> Path:
    return get_uploads_folder(app) / str(job.payload["folder"])

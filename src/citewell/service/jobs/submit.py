"""Uploads as durable jobs: submitted, cancelled, tried again. The bytes are kept before the job is,
and the job before anyone is told.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from citewell.errors import CitewellError, Conflict
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.jobs.sent_files import (
    delete_sent_files,
    has_sent_files,
    keep_sent_files,
)
from citewell.service.library.collection_owner import ensure_collection
from citewell.service.library.uploads import Upload, get_base_name
from citewell.store.job_rows import BULK, URGENT, Job
from citewell.store.library.collection_rows import check_name

KIND = "upload"
FEW, SMALL = 10, 20_000_000  # files of an upload that is no import, and their bytes
MOST_JOBS = 10_000  # looked at for those of a collection that is deleted


async def submit_uploads(app: App, collection: str, uploads: Sequence[Upload]) -> Job:
    """Store the bytes, then the job: kept on return. Raises InvalidInput, StorageError."""
    await ensure_collection(app, check_name(collection))
    names = [get_base_name(upload.name) for upload in uploads]
    folder = await keep_sent_files(app, uploads)
    payload: dict[str, Any] = {"collection": collection, "folder": folder, "names": names}
    try:
        job = await app.jobs.create(KIND, payload, _rank(uploads))
    except CitewellError:
        await delete_sent_files(app, payload)
        raise
    app.new_job.set()
    return job


def _rank(uploads: Sequence[Upload]) -> int:
    """Somebody waits for a few small files; many or large ones are an import."""
    sizes = [upload.file.seek(0, os.SEEK_END) for upload in uploads]
    return BULK if len(sizes) > FEW or sum(sizes) > SMALL else URGENT


async def cancel_or_discard_job(app: App, job_id: str) -> Job:
    """Stop a job, or forget what a failed one was sent: what it has added stays, its other files
    go. Raises NotFound, and Conflict where it has ended otherwise.
    """
    before = await app.jobs.get(job_id)
    job = await app.jobs.cancel(job_id)
    if before.state != "running":  # else its worker does it, which hears of it at its next step
        await delete_sent_files(app, job.payload)
    return job


async def retry_job(app: App, job_id: str) -> Job:
    """A failed job. Raises NotFound, StorageError, and Conflict where it cannot be tried again."""
    job = await app.jobs.get(job_id)
    if (
        job.state == "failed"
        and "folder" in job.payload
        and not await has_sent_files(app, job.payload)
    ):
        raise Conflict(
            Text("job {job_id}: what was sent is there no more", job_id=job_id),
            hint=Text("send it again"),
        )
    job = await app.jobs.try_again(job_id)
    app.new_job.set()
    return job

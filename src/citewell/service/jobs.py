"""Uploads as durable jobs. The one rule: the bytes are on the disk before the job is, and the job before anyone is told.

Worker tasks in the server take jobs as they come; a job whose server was killed is taken again, and files it had added are
then found unchanged.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import anyio.to_thread

from citewell.errors import CitewellError, Conflict, StorageError
from citewell.knowledge.jobs import Job
from citewell.service.add import AddReport, FileReport, add_file, embed_pending
from citewell.service.app import App
from citewell.service.collections import check_name
from citewell.service.progress import Progress

log = logging.getLogger(__name__)
KIND = "upload"
BEAT = 4.0  # seconds between two signs of life; a lease lasts LEASE_SECONDS of service/app.py
MOST_JOBS = 10_000  # looked at for the files they still need
WORKERS = 3  # jobs at once
POLL = 5.0  # seconds between two looks for a job that another process left
ORPHAN = 86_400.0  # seconds after which bytes of no job are thrown away


@dataclass(frozen=True, slots=True)
class Upload:
    """One file as it arrives: the name its sender gave, and where its bytes can be read."""

    name: str
    file: BinaryIO


async def submit(app: App, collection: str, uploads: Sequence[Upload]) -> Job:
    """Store the bytes, then the job. When this returns, a kill loses nothing. Raises InvalidInput, StorageError."""
    check_name(collection)
    folder = _uploads(app) / secrets.token_hex(8)
    names = [_base(upload.name) for upload in uploads]
    await anyio.to_thread.run_sync(_store, folder, uploads)
    payload: dict[str, Any] = {"collection": collection, "folder": folder.name, "names": names}
    try:
        job = await app.jobs.create(KIND, payload)
    except CitewellError:
        await anyio.to_thread.run_sync(_throw_away, folder)
        raise
    app.new_job.set()
    return job


async def work(app: App) -> None:
    """For ever: embed what a killed run left, and do jobs as they come. One embeds at a time, so that others can be read."""
    embedding = asyncio.Lock()
    async with asyncio.TaskGroup() as group:
        group.create_task(_pick_up(app, embedding))
        for _ in range(WORKERS):
            group.create_task(_work(app, embedding))


async def _work(app: App, embedding: asyncio.Lock) -> None:
    """What the disk refuses is tried again later, and a fault of ours never ends the worker."""
    while True:
        app.new_job.clear()
        try:
            while (job := await app.jobs.claim()) is not None:
                await _do(app, job, embedding)
        except CitewellError as error:
            log.warning("jobs wait: %s", error.message)
        except Exception:
            log.exception("jobs wait")
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL):
                await app.new_job.wait()


async def _pick_up(app: App, embedding: asyncio.Lock) -> None:
    """What earlier runs left: bytes of no job, chunks without vectors. Where it fails, the next start or job does it."""
    try:
        wanted = {str(job.payload["folder"]) for job in await app.jobs.list(MOST_JOBS) if job.state in {"queued", "running"}}
        await anyio.to_thread.run_sync(_throw_away_orphans, _uploads(app), wanted)
    except Exception:
        log.exception("bytes of no job stay in %s", _uploads(app))
    try:
        async with embedding:
            await embed_pending(app)
    except CitewellError as error:
        log.warning("embedding waits: %s", error.message)
    except Exception:
        log.exception("embedding waits")


async def _do(app: App, job: Job, embedding: asyncio.Lock) -> None:
    """Run one job to its end; a fault of one job never stops the worker."""
    holder = Holder(app, job)
    beat = asyncio.create_task(holder.beat())
    try:
        report = await _add(app, job, holder, embedding)
        await app.jobs.finish(job.job_id, report.model_dump(mode="json"), attempt=job.attempts)
    except asyncio.CancelledError:
        beat.cancel()
        await asyncio.shield(asyncio.create_task(_release(app, job)))
        raise
    except Conflict as error:
        log.warning("%s", error.message)  # another worker has it now, and its files
        return
    except CitewellError as error:
        await app.jobs.fail(job.job_id, error, attempt=job.attempts)
    except Exception as error:
        log.exception("job %s", job.job_id)
        fault = {
            "code": "internal",
            "message": f"internal error: {type(error).__name__}",
            "hint": "the server's log says where",
        }
        await app.jobs.fail(job.job_id, fault, attempt=job.attempts)
    finally:
        beat.cancel()
    await anyio.to_thread.run_sync(_throw_away, _uploads(app) / str(job.payload["folder"]))


async def _release(app: App, job: Job) -> None:
    """A server that is stopped hands its job back: stopping is no fault of the job's."""
    try:
        await app.jobs.release(job.job_id, attempt=job.attempts)
    except CitewellError as error:
        log.warning("%s", error.message)  # it ended just now, or the disk refuses: then its lease runs out


async def _add(app: App, job: Job, holder: Holder, embedding: asyncio.Lock) -> AddReport:
    folder, names = _uploads(app) / str(job.payload["folder"]), list(job.payload["names"])
    reports: list[FileReport] = []
    for number, name in enumerate(names):
        await holder.tell(Progress("read", number, len(names), name))
        path, collection = folder / str(number), str(job.payload["collection"])
        reports.append(await add_file(app, path, collection, uri=f"upload:{name}", name=name))
    await holder.tell(Progress("read", len(names), len(names)))
    if any(report.status != "failed" for report in reports):
        async with embedding:
            await embed_pending(app, holder.tell)
    return AddReport(files=reports)


class Holder:
    """Holds a job by saying how far it is: at each step, and in between so that the lease does not run out."""

    def __init__(self, app: App, job: Job) -> None:
        self._jobs = app.jobs
        self._job = job
        self._last = Progress("read", 0, 0)

    async def tell(self, progress: Progress) -> None:
        """Raises Conflict when another worker has taken the job."""
        self._last = progress
        detail = f"{progress.phase} {progress.name}".strip()
        await self._jobs.progress(self._job.job_id, progress.done, progress.total, detail, attempt=self._job.attempts)

    async def beat(self) -> None:
        with suppress(CitewellError):  # the next step says why
            while True:
                await asyncio.sleep(BEAT)
                await self.tell(self._last)


def _uploads(app: App) -> Path:
    return app.settings.home / "uploads"


def _base(name: str) -> str:
    """A sender's file name without folders and what cannot be printed."""
    base = name.replace("\\", "/").rpartition("/")[2]
    return "".join(letter for letter in base if letter.isprintable()).strip()[-200:] or "unnamed"


def _store(folder: Path, uploads: Sequence[Upload]) -> None:
    try:
        _write(folder, uploads)
    except OSError as error:
        _throw_away(folder)
        raise StorageError(
            f"{error.filename or folder}: the upload cannot be kept: {error.strerror or error}",
            hint="see that the disk has room and the folder can be written to; nothing of this upload was kept",
        ) from error


def _write(folder: Path, uploads: Sequence[Upload]) -> None:
    folder.mkdir(parents=True)
    for number, upload in enumerate(uploads):
        upload.file.seek(0)
        with (folder / str(number)).open("wb") as target:
            shutil.copyfileobj(upload.file, target)
            target.flush()
            os.fsync(target.fileno())
    for each in (folder, folder.parent):
        handle = os.open(each, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _throw_away(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _throw_away_orphans(uploads: Path, wanted: set[str]) -> None:
    """Bytes whose job was never made: the server died between the two, and nobody was told they had arrived."""
    for folder in list(uploads.iterdir()) if uploads.is_dir() else []:
        with suppress(OSError):  # gone meanwhile: its job has ended
            if folder.name not in wanted and time.time() - folder.stat().st_mtime > ORPHAN:
                shutil.rmtree(folder)

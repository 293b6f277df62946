"""Documents on their way in; who stops waiting stops the work, and keeps what was added."""

from __future__ import annotations

import asyncio
import io
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from mcp_types import CallToolResult

from citewell.errors import CitewellError, InvalidInput, StorageError, UnreadableFile
from citewell.interfaces.mcp import render
from citewell.runtime.app import App
from citewell.runtime.progress import Progress
from citewell.service.jobs.submit import cancel_or_discard_job, submit_uploads
from citewell.service.jobs.worker import process_job
from citewell.service.library.add_report import FileReport
from citewell.service.library.read_and_embed import ingest_paths
from citewell.service.library.uploads import Upload
from citewell.service.sites.refresh_site import submit_page
from citewell.store.job_rows import ENDED, Job

Tell = Callable[[float, float | None, str | None], Awaitable[None]]
POLL = 0.2  # seconds between two looks at a job
PATIENCE = 60.0  # seconds that a server's job is waited for; it goes on after them
MOST_FILES = 50  # told of one by one


class Given(NamedTuple):
    """What a model names to be added: one of `url`, `text` (with a `title`) and `path`."""

    url: str | None
    text: str | None
    title: str | None
    path: str | None


async def add_given(
    app: App, given: Given, collection: str | None, tell: Tell, *, local: bool
) -> CallToolResult:
    """Into the collection named, or that of the settings. Raises InvalidInput."""
    into = collection or app.settings.collection
    names = "path, url or text" if local else "url or text"
    if sum(bool(each) for each in (given.url, given.text, given.path)) != 1:
        raise InvalidInput(f"add one thing at a time: {names}", hint=f"name one of {names}")
    if given.path is not None and "://" in given.path:
        raise InvalidInput(f"{given.path}: not a path", hint="name it as url")
    if given.path:
        return await add_local_path(app, given.path, into, tell)
    if given.url:
        job = await submit_page(app, into, given.url)
    else:
        data = io.BytesIO((given.text or "").encode())
        job = await submit_uploads(app, into, [Upload(_make_file_name(given.title), data)])
    return await wait_for_job(app, job, into, tell, work=local)


def _make_file_name(title: str | None) -> str:
    """Raises InvalidInput for a text without a title."""
    name = re.sub(r"[/\\\s]+", " ", title or "").strip()
    if not name:
        raise InvalidInput(
            "a text needs a title", hint="name it, so that it can be found and replaced"
        )
    return f"{name}.md"


async def add_local_path(app: App, path: str, collection: str, tell: Tell) -> CallToolResult:
    """Read a local file or folder. Raises UnreadableFile where nothing could be added."""

    async def on_progress(progress: Progress) -> None:
        await tell(
            progress.done, progress.total or None, f"{progress.phase} {progress.name}".strip()
        )

    done = await ingest_paths(app, [path], collection, on_progress=MonotonicProgress(on_progress))
    if done.report.error is not None:
        kept = sum(file.status != "failed" for file in done.report.files)
        raise StorageError(
            f"{done.report.error['message']}; {kept} files are kept whole",
            hint=done.report.error["hint"],
        )
    return _build_added_result(collection, None, done.report.files, done.report.links)


class MonotonicProgress:
    """Progress of one phase only, and never less than before: the protocol allows no other."""

    def __init__(self, tell: Callable[[Progress], Awaitable[None]]) -> None:
        self._tell = tell
        self._before = -1

    async def __call__(self, progress: Progress) -> None:
        if progress.phase == "read" and progress.done > self._before:
            self._before = progress.done
            await self._tell(progress)


async def wait_for_job(
    app: App, job: Job, collection: str, tell: Tell, *, work: bool
) -> CallToolResult:
    """Wait for a job. `work`: nobody else does it, so it is done here. Raises UnreadableFile, and
    what the job failed with.
    """
    until, before = time.monotonic() + PATIENCE, -1
    try:
        while job.state not in ENDED and (work or time.monotonic() < until):
            if job.done > before:
                before = job.done
                await tell(job.done, job.total or None, job.detail or job.state)
            mine = await app.jobs.claim(job.kind) if work else None
            if mine is not None:
                await process_job(app, mine)
            else:
                await asyncio.sleep(POLL)
            job = await app.jobs.get(job.job_id)
    except asyncio.CancelledError:
        with suppress(CitewellError):  # it has just ended
            await asyncio.shield(asyncio.ensure_future(cancel_or_discard_job(app, job.job_id)))
        raise
    if job.state == "failed":
        error = job.error or {}
        raise CitewellError(
            error.get("message", "failed"),
            hint=error.get("hint", ""),
            code=error.get("code", "error"),
        )
    if job.state == "cancelled":
        raise InvalidInput(f"job {job.job_id} was cancelled", hint="add it again")
    return _build_added_result(
        collection, job, [FileReport(**each) for each in (job.result or {}).get("files", [])]
    )


def _build_added_result(
    collection: str, job: Job | None, files: list[FileReport], links: Sequence[str] = ()
) -> CallToolResult:
    failed = [each for each in files if each.status == "failed"]
    if files and len(failed) == len(files):
        why = "; ".join(f"{each.path}: {each.reason}" for each in failed[:MOST_FILES])
        raise UnreadableFile(why, hint="nothing was added")
    return render.render_added(collection, job, files[:MOST_FILES], links[:MOST_FILES])

"""Who holds a job, and what is told of it. A worker that lost it, or is cancelled, stops."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import anyio

from citewell.errors import CitewellError, Conflict, unwrap_first_error
from citewell.messages import Text, dump_model
from citewell.runtime.app import App
from citewell.runtime.progress import Progress
from citewell.service.library.add_report import AddReport, FileReport
from citewell.store.job_rows import Job

T = TypeVar("T")

log = logging.getLogger(__name__)
BEAT = 4.0  # seconds between two signs of life; a lease lasts LEASE_SECONDS of runtime/app.py
VERBS = {"read": Text("reading"), "cut": Text("cutting"), "write": Text("writing the summary of")}
OFTEN = 0.5  # seconds between two writings of the reports so far: there may be a thousand


class Holder:
    """Holds a job by saying how far it is, at each step and before the lease runs out."""

    def __init__(self, app: App, job: Job) -> None:
        self._jobs = app.jobs
        self._job = job
        self._first = {file["path"]: file for file in (job.result or {}).get("files", [])}
        self._read, self._embed = Progress("read", 0, 0), Progress("embed", 0, 0)
        self._reports: list[FileReport] = []
        self._written = -OFTEN  # the first is written at once

    async def run_held(self, work: Callable[[Holder], Awaitable[T]]) -> T:
        """What `work` returns while the job is held. Raises what it raises; Conflict if lost."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._send_heartbeats)
                result = await work(self)
                group.cancel_scope.cancel()
        except BaseExceptionGroup as errors:
            raise unwrap_first_error(errors) from None
        return result

    async def tell(self, progress: Progress) -> None:
        """Raises Conflict when another worker has taken the job, or it was cancelled."""
        if progress.phase == "embed":
            self._embed = progress
        else:
            self._read = progress
        await self._send_progress()

    async def check_held(self) -> None:
        """Raises Conflict when the job is no longer this worker's: asked before a document is
        committed, so that none is after a cancelled job was said to be.
        """
        await self._jobs.check_held(self._job.job_id, self._job.attempts)

    def add_reports(self, reports: Sequence[FileReport]) -> None:
        """A file was dealt with; the next sign of life says so."""
        self._reports += reports

    def restore_first_status(self, reports: Sequence[FileReport]) -> list[FileReport]:
        """As reported by an attempt that was stopped: what it had added is no news of the file's,
        but it is of the job's.
        """
        return [
            report.model_copy(update={"status": self._first[report.path]["status"]})
            if report.status == "unchanged"
            and self._first.get(report.path, {}).get("status") in {"added", "replaced"}
            else report
            for report in reports
        ]

    async def _send_heartbeats(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            try:
                await self._send_progress()
            except Conflict:
                raise
            except CitewellError as error:
                # the lease may last until the next sign
                log.warning("job %s: %s", self._job.job_id, error.message)

    async def _send_progress(self) -> None:
        read, embed = self._read, self._embed
        shown = read if read.done < read.total or not embed.total else embed
        await self._jobs.report_progress(
            self._job.job_id,
            shown.done,
            shown.total,
            self._format_detail(),
            attempt=self._job.attempts,
            result=self._build_partial_result(),
        )

    def _format_detail(self) -> str:
        read, embed = self._read, self._embed
        parts: list[str] = []
        if read.done < read.total:
            verb = VERBS[read.phase]
            parts.append(Text("{verb} {name}", verb=verb, name=read.name) if read.name else verb)
        if embed.total:
            parts.append(
                Text("{done} of {total} passages embedded", done=embed.done, total=embed.total)
            )
        if embed.rate:
            parts.append(Text("{rate:.1f} a second", rate=embed.rate))
        if embed.left is not None:
            parts.append(Text("about {left:.0f} s left", left=embed.left))
        return Text(", ").join(parts)

    def _build_partial_result(self) -> dict[str, Any] | None:
        """The reports so far, now and then: what the next attempt goes on from after a kill."""
        if not self._reports or time.monotonic() - self._written < OFTEN:
            return None
        self._written = time.monotonic()
        return dump_model(AddReport(files=self.restore_first_status(self._reports)))

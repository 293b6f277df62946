"""`citewell jobs`: a server's work. What failed is told with why, and how it is tried again."""

from __future__ import annotations

import time
from typing import Annotated, Final

from citewell.interfaces.cli.arguments import Json, argument, option
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    print_json,
    print_parts,
    print_text,
)
from citewell.interfaces.cli.run import DONE, command
from citewell.runtime.app import App
from citewell.service.jobs.submit import cancel_or_discard_job, retry_job
from citewell.store.job_rows import Job

STYLES: Final = {
    "done": "green",
    "failed": "red",
    "running": "cyan",
    "queued": "cyan",
    "cancelled": "dim",
}
Failed = Annotated[bool, option("Only those that failed, to try again or to drop.", "--failed")]
JobId = Annotated[str, argument("A job.", "JOB_ID")]


@command
async def show_jobs(app: App, failed: Failed = False, json: Json = False) -> int:
    """List jobs, the newest first: what waits, runs, is done, has failed and why."""
    jobs = await app.jobs.list(state="failed" if failed else None)
    if json:
        return print_json({"jobs": jobs})
    if not jobs:
        print_text(
            "no job has failed"
            if failed
            else "no jobs yet; uploads to `citewell serve` become some"
        )
    for job in jobs:
        _show_job(job)
    return DONE


@command
async def try_job_again(app: App, job_id: JobId, json: Json = False) -> int:
    """Try a job again that failed or was given up; a running server takes it, or the next one to
    start.
    """
    return _report_job(await retry_job(app, job_id), json=json)


@command
async def stop_job(app: App, job_id: JobId, json: Json = False) -> int:
    """Stop a job, or have a failed one forget what it was sent; what was added stays."""
    return _report_job(await cancel_or_discard_job(app, job_id), json=json)


def _report_job(job: Job, *, json: bool) -> int:
    if json:
        return print_json({"job": job})
    _show_job(job)
    return DONE


def _show_job(job: Job) -> None:
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(job.created_at))
    what = ", ".join(
        map(
            str,
            job.payload.get("names")
            or [job.payload.get("url") or job.payload.get("collection") or ""],
        )
    )
    print_parts(
        (f"{job.state:<9} ", STYLES[job.state]),
        f"{job.job_id} {job.kind} {at} {escape_line_breaks(what)}".rstrip(),
    )
    if job.error:
        print_text(
            f"{job.error.get('message', '')}; {job.error.get('hint', '')}".removesuffix("; "),
            "yellow",
            indent=10,
        )
    if job.state == "failed":
        print_text(f"citewell jobs again {job.job_id}  (or: cancel, to drop it)", indent=10)


group = create_group(
    "Uploads and other work of the server: list, try again, cancel.",
    {"list": show_jobs, "again": try_job_again, "cancel": stop_job},
)

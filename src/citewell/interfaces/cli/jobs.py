"""`citewell jobs`: the work that a server does. The one rule: what failed is told with why, and how
it is tried again.
"""

from __future__ import annotations

import time
from typing import Annotated, Final

import typer

from citewell.interfaces.cli.arguments import Json
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.run import DONE, run
from citewell.interfaces.cli.terminal import (
    escape_line_breaks,
    get_stdout,
    print_json,
    style_text,
    write_paragraph,
)
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
JobId = Annotated[str, typer.Argument(metavar="JOB_ID", help="A job.", show_default=False)]


def run_list(json: Json = False) -> None:
    """List jobs, the newest first: what waits, runs, is done, has failed and why."""
    run(lambda app: show_jobs(app, json=json), json=json)


def run_again(job_id: JobId, json: Json = False) -> None:
    """Try a job again that failed or was given up; a running server takes it, or the next one to
    start.
    """
    run(lambda app: try_job_again(app, job_id, json=json), json=json)


def run_cancel(job_id: JobId, json: Json = False) -> None:
    """Stop a job, or have a failed one forget what it was sent; what was added stays."""
    run(lambda app: stop_job(app, job_id, json=json), json=json)


async def show_jobs(app: App, *, json: bool) -> int:
    jobs = await app.jobs.list()
    if json:
        print_json({"jobs": [job.model_dump(mode="json") for job in jobs]})
        return DONE
    if not jobs:
        write_paragraph(
            get_stdout(), style_text("no jobs yet; uploads to `citewell serve` become some")
        )
    for job in jobs:
        _show_job(job)
    return DONE


async def try_job_again(app: App, job_id: str, *, json: bool) -> int:
    return _report_job(await retry_job(app, job_id), json=json)


async def stop_job(app: App, job_id: str, *, json: bool) -> int:
    return _report_job(await cancel_or_discard_job(app, job_id), json=json)


def _report_job(job: Job, *, json: bool) -> int:
    if json:
        print_json({"job": job.model_dump(mode="json")})
    else:
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
    write_paragraph(
        get_stdout(),
        style_text(f"{job.state:<9} ", STYLES[job.state])
        + style_text(f"{job.job_id} {job.kind} {at} {escape_line_breaks(what)}".rstrip()),
    )
    if job.error:
        write_paragraph(
            get_stdout(),
            style_text(
                f"{job.error.get('message', '')}; {job.error.get('hint', '')}".removesuffix("; "),
                "yellow",
            ),
            indent=10,
        )
    if job.state == "failed":
        write_paragraph(get_stdout(), style_text(f"citewell jobs again {job.job_id}"), indent=10)


group = create_group(
    "Uploads and other work of the server: list, try again, cancel.",
    {
        "list": run_list,
        "again": run_again,
        "cancel": run_cancel,
    },
)

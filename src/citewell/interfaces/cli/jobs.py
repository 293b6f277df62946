"""`citewell jobs`: the work that a server does. The one rule: what failed is told with why, and how
it is tried again.
"""

from __future__ import annotations

import time
from typing import Final

from citewell.interfaces.cli.run import DONE
from citewell.interfaces.cli.terminal import one_line, out, print_json, styled, write
from citewell.runtime.app import App
from citewell.service.jobs.submit import cancel, try_again
from citewell.store.jobs import Job

STYLES: Final = {
    "done": "green",
    "failed": "red",
    "running": "cyan",
    "queued": "cyan",
    "cancelled": "dim",
}


async def show_all(app: App, *, json: bool) -> int:
    jobs = await app.jobs.list()
    if json:
        print_json({"jobs": [job.model_dump(mode="json") for job in jobs]})
        return DONE
    if not jobs:
        write(out(), styled("no jobs yet; uploads to `citewell serve` become some"))
    for job in jobs:
        _show(job)
    return DONE


async def again(app: App, job_id: str, *, json: bool) -> int:
    return _told(await try_again(app, job_id), json=json)


async def stop(app: App, job_id: str, *, json: bool) -> int:
    return _told(await cancel(app, job_id), json=json)


def _told(job: Job, *, json: bool) -> int:
    if json:
        print_json({"job": job.model_dump(mode="json")})
    else:
        _show(job)
    return DONE


def _show(job: Job) -> None:
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(job.created_at))
    what = ", ".join(
        map(
            str,
            job.payload.get("names")
            or [job.payload.get("url") or job.payload.get("collection") or ""],
        )
    )
    write(
        out(),
        styled(f"{job.state:<9} ", STYLES[job.state])
        + styled(f"{job.job_id} {job.kind} {at} {one_line(what)}".rstrip()),
    )
    if job.error:
        write(
            out(),
            styled(
                f"{job.error.get('message', '')}; {job.error.get('hint', '')}".removesuffix("; "),
                "yellow",
            ),
            indent=10,
        )
    if job.state == "failed":
        write(out(), styled(f"citewell jobs again {job.job_id}"), indent=10)

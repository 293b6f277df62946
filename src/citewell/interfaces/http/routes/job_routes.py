"""`/api/jobs/{id}`: how far an upload is, asked for or as events; cancel; try again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from starlette.types import Scope

from citewell.interfaces.http.body import JSONRoute
from citewell.interfaces.http.deps import LOOK, Citewell, recheck_access
from citewell.interfaces.http.sse import Pair, stream_events
from citewell.runtime.access_scope import require_role
from citewell.service.jobs.submit import cancel_or_discard_job, retry_job
from citewell.store.job_rows import ENDED, Job, State
from citewell.store.jobs import Jobs

router = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=JSONRoute)
POLL = 0.25  # seconds between two looks at the table: the worker may be another process


class JobList(BaseModel):
    jobs: list[Job]


@router.get("")
async def list_jobs(
    app: Citewell,
    state: Annotated[
        State | None, Query(description="only these; `failed`: what can be tried again")
    ] = None,
) -> JobList:
    """Newest first."""
    return JobList(jobs=await app.jobs.list(state=state))


@router.get("/{job_id}")
async def get_job(job_id: str, app: Citewell) -> Job:
    """How far it is, and what has come of it."""
    return await app.jobs.get(job_id)


@router.delete("/{job_id}")
async def cancel_job(job_id: str, app: Citewell) -> Job:
    """Stop it, or have one that failed forget what it was sent. Documents it has added stay; 409
    where it has ended.
    """
    # of others too; a report or a vote is its user's own
    if "collection" in (await app.jobs.get(job_id)).payload:
        require_role(app, "editor", "to stop what is being added")
    return await cancel_or_discard_job(app, job_id)


@router.post("/{job_id}/again")
async def try_job_again(job_id: str, app: Citewell) -> Job:
    """Try one again that failed or was given up: it has kept what it was sent. 409 for others."""
    if "collection" in (await app.jobs.get(job_id)).payload:
        require_role(app, "editor", "to have added what failed")
    return await retry_job(app, job_id)


@router.get(
    "/{job_id}/events",
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {}}}},
    operation_id="follow_job",
)
async def events(job_id: str, request: Request, app: Citewell) -> Response:
    """`progress` whenever the job has moved on, then `done`, `failed` or `cancelled`; each carries
    the job.
    """
    await app.jobs.get(job_id)
    return stream_events(request, _follow_job(app.jobs, job_id, request.scope), follows=True)


async def _follow_job(jobs: Jobs, job_id: str, scope: Scope) -> AsyncIterator[Pair]:
    last: Job | None = None
    looked = time.monotonic()
    while True:
        if time.monotonic() - looked > LOOK:
            await recheck_access(scope)
            looked = time.monotonic()
        job = await jobs.get(job_id)
        if job.state in ENDED:
            yield job.state, job.model_dump(mode="json")
            return
        if job != last:
            yield "progress", job.model_dump(mode="json")
            last = job
        await asyncio.sleep(POLL)

"""Jobs for votes and changed tables, done at once: for programs without a worker."""

from __future__ import annotations

import anyio

from citewell.runtime.app import App
from citewell.service.jobs.isolated_jobs import run_isolated_jobs
from citewell.service.jobs.run_job import run_job
from citewell.service.knowledge.feedback_job import learn_from_vote
from citewell.service.knowledge.give_feedback import KIND, PASSING
from citewell.service.knowledge.recheck import recheck_source
from citewell.service.knowledge.removed_sources import CHECK

WORK = {KIND: learn_from_vote, CHECK: recheck_source}


async def run_pending_jobs(app: App, seconds: float | None = None) -> int:
    """Do the jobs that wait for votes and for changed tables, whoever left them; how many. For
    programs without a worker: two looks where there is nothing to do. What goes wrong with a vote
    is kept with its job, and is tried again the next time; what is not done in so many `seconds`
    waits again.
    """
    count = 0
    with anyio.move_on_after(seconds):
        await app.jobs.again(KIND, PASSING)
        for kind in (KIND, CHECK):
            while (job := await app.jobs.claim(kind)) is not None:
                await run_job(app, job, WORK[kind])
                count += 1
            await run_isolated_jobs(app, kind)
    return count

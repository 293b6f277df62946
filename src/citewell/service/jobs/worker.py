"""Uploads and other long work as durable jobs. The bytes are kept before the job is, and the job
before anyone is told.

Worker tasks in the server take jobs as they come; several run at once and take turns in reading and
embedding. A job whose server was killed is taken again, however often: files it had added are found
unchanged then, and reported as they were first. One that was under way in several that died is
tried alone (isolated_jobs.py). What is given up keeps its bytes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress

import anyio
import anyio.to_thread

from citewell.disk import get_file_size
from citewell.errors import CitewellError
from citewell.runtime.app import App
from citewell.service.admin.hidden_copies import describe_copy, sweep_hidden_copies
from citewell.service.jobs.isolated_jobs import run_isolated_jobs_forever
from citewell.service.jobs.job_lease import Holder
from citewell.service.jobs.run_job import Work, run_job
from citewell.service.jobs.sent_files import fetch_sent_files, sweep_sent_files
from citewell.service.jobs.submit import KIND
from citewell.service.knowledge.feedback_job import learn_from_vote
from citewell.service.knowledge.give_feedback import KIND as FEEDBACK
from citewell.service.knowledge.give_feedback import retry_refused_jobs as try_votes_again
from citewell.service.knowledge.recheck import recheck_source
from citewell.service.knowledge.removed_sources import CHECK
from citewell.service.library import rechunk
from citewell.service.library.add import Source, add_sources
from citewell.service.library.add_report import AddReport
from citewell.service.library.checked_questions import check_questions_forever
from citewell.service.library.embedding import Embedding, embed_pending
from citewell.service.library.rechunk import RechunkReport
from citewell.service.library.write_summaries import write_summaries_forever
from citewell.service.papers import delete_session
from citewell.service.papers.guide_job import make_report
from citewell.service.sites import refresh_site as refresh
from citewell.service.sites import sites
from citewell.service.sync.schedule import run_sync_job, start_due_syncs_forever
from citewell.service.sync.sync_places import SYNC
from citewell.service.sync.watch_folders import watch_folders_forever
from citewell.service.tables.file_copies import sweep_copies
from citewell.store.dialects.rate_counts import sweep_counts
from citewell.store.job_rows import BULK, USUAL, Job

log = logging.getLogger(__name__)
# jobs at once: what they cost is bounded by the turns they take, so a long one holds up no other
WORKERS = 16
KEPT_FREE = 4  # of them, which take no imports: a question's work and small uploads find one
LEFT = 30.0  # seconds between two looks for chunks that nobody embeds
SWEPT = 3_600.0  # seconds between two looks for objects and files that no row names
POLL = 5.0  # seconds between two looks for a job that another process left


async def run_worker_until_closing(app: App) -> None:
    """`run_worker` until the server takes nothing new; the next start does the rest."""
    working = asyncio.create_task(run_worker(app))
    closing = asyncio.create_task(app.root.stopping.closing.wait())
    try:
        await asyncio.wait({working, closing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        closing.cancel()
        working.cancel()
        await asyncio.gather(closing, working, return_exceptions=True)


async def run_worker(app: App) -> None:
    """For ever: embed what a killed run left, do jobs as they come, start those of schedules, write
    summaries and check questions behind them.
    """
    async with asyncio.TaskGroup() as group:
        group.create_task(_resume_leftovers(app))
        group.create_task(write_summaries_forever(app))
        group.create_task(check_questions_forever(app))
        group.create_task(run_isolated_jobs_forever(app))
        group.create_task(start_due_syncs_forever(app))
        group.create_task(watch_folders_forever(app))
        group.create_task(app.db.server.listen_for_jobs(app.new_job.set))
        for number in range(WORKERS):
            group.create_task(_run_job_loop(app, USUAL if number < KEPT_FREE else BULK))


async def _run_job_loop(app: App, least: int) -> None:
    """What the disk refuses is tried again later, and a fault of ours never ends the worker.
    `least`: as of `Jobs.claim`.
    """
    while True:
        _raise_if_cancelled()
        app.new_job.clear()
        try:
            while (job := await app.jobs.claim(least=least)) is not None:
                await process_job(app, job)
                _raise_if_cancelled()
        except CitewellError as error:
            log.warning("jobs wait: %s", error.message)
        except Exception:
            log.exception("jobs wait")
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL):
                await app.new_job.wait()


def _raise_if_cancelled() -> None:
    """A task that is cancelled just when its job is lost sees the job's error alone, and would wait
    for the next job while everybody waits for it.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def _resume_leftovers(app: App) -> None:
    """What earlier runs left: copies of killed backups, chunks without vectors, bytes of no job.
    Then, for ever, what other work leaves (jobs that were cancelled, sections cut anew); chunks the
    newest first, because `citewell add` beside us begins with the oldest.
    """
    try:
        for left in await anyio.to_thread.run_sync(sweep_hidden_copies, app.settings.home):
            log.warning("%s", describe_copy(left))
    except Exception:
        log.exception("what earlier runs left stays in %s", app.settings.home)
    next_sweep = 0.0
    while True:
        try:
            await try_votes_again(app)
            await embed_pending(app, newest=True)
            await app.file_objects.release()
            if time.monotonic() > next_sweep:
                next_sweep = time.monotonic() + SWEPT
                await app.file_objects.sweep()
                if app.db.dialect == "postgresql":
                    await app.db.write_beside(sweep_counts)
                await app.jobs.forget_ended(app.settings.trace_days)
                await sweep_sent_files(app)
                await sweep_copies(app)
        except CitewellError as error:
            log.warning("embedding waits: %s", error.message)
        except Exception:
            log.exception("embedding waits")
        await asyncio.sleep(LEFT)


async def process_job(app: App, job: Job) -> None:
    """Run one job to its end."""
    await run_job(app, job, WORK[job.kind])


async def _add_uploads(app: App, job: Job, holder: Holder) -> AddReport:
    folder, names = await fetch_sent_files(app, job.payload), list(job.payload["names"])
    sizes = await anyio.to_thread.run_sync(
        lambda: [get_file_size(folder / str(number)) for number in range(len(names))]
    )
    sources = [
        Source(f"upload:{name}", folder / str(number), name, sizes[number], dates=False)
        for number, name in enumerate(names)
    ]
    return await _add_sources(app, job, sources, holder)


async def _add_page(app: App, job: Job, holder: Holder) -> AddReport:
    url = str(job.payload["url"])
    return await _add_sources(app, job, [Source(url, None, url, url=url)], holder)


async def _add_sources(app: App, job: Job, sources: Sequence[Source], holder: Holder) -> AddReport:
    """Read and embed side by side. The job ends when its own passages can be found by meaning."""
    collection = str(job.payload["collection"])
    embedding = Embedding(app, holder.tell, docs=())
    async with anyio.create_task_group() as group:
        group.start_soon(embedding.run)
        reports = await add_sources(
            app, sources, collection, holder.tell, embedding, holder.add_reports, holder.check_held
        )
        embedding.close()
    return AddReport(files=holder.restore_first_status(reports))


async def _rechunk_collection(app: App, job: Job, holder: Holder) -> RechunkReport:
    """Chunks of new text are embedded as the job goes on, or after it by `_resume_leftovers`."""
    return await rechunk.rechunk_collection(
        app, str(job.payload["collection"]), on_progress=holder.tell
    )


async def _refresh_site(app: App, job: Job, holder: Holder) -> refresh.Refreshed:
    return await refresh.refresh_site(
        app, str(job.payload["collection"]), holder.tell, allowed=holder.check_held
    )


WORK: dict[str, Work] = {
    KIND: _add_uploads,
    sites.PAGE: _add_page,
    sites.REFRESH: _refresh_site,
    rechunk.KIND: _rechunk_collection,
    delete_session.KIND: make_report,
    CHECK: recheck_source,
    FEEDBACK: learn_from_vote,
    SYNC: run_sync_job,
}

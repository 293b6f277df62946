"""Uploads and other long work as durable jobs. The one rule: the bytes are on the disk before the
job is, and the job before anyone is told.

Worker tasks in the server take jobs as they come; several run at once and take turns in reading and
embedding. A job whose server was killed is taken again, however often: files it had added are found
unchanged then, and reported as they were first. One that was under way in several that died is
tried alone (isolated_jobs.py). What is given up keeps its bytes.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from citewell.errors import CitewellError, Conflict, Stopped, StorageError
from citewell.instrumentation import doing
from citewell.runtime.app import App
from citewell.service.admin.hidden_copies import sweep, told_of
from citewell.service.jobs.isolated_jobs import keep_trying
from citewell.service.jobs.job_lease import Holder
from citewell.service.knowledge.give_feedback import KIND as FEEDBACK
from citewell.service.knowledge.give_feedback import try_again as try_votes_again
from citewell.service.library import rechunk
from citewell.service.library.add import AddReport, Source, add_sources, embed_pending
from citewell.service.library.collection_owner import reach
from citewell.service.library.embedding import Embedding
from citewell.service.library.rechunk import RechunkReport
from citewell.service.library.uploads import (
    Upload,
    base_name,
    store,
    throw_away,
    throw_away_orphans,
)
from citewell.service.library.write_summaries import keep_writing
from citewell.service.papers import delete_session as papers_delete
from citewell.service.sites import sites
from citewell.store.jobs import LONGEST_PAUSE, Job, put_off_so_often
from citewell.store.library.documents import check_name
from citewell.types import Shown

log = logging.getLogger(__name__)
KIND = "upload"
MOST_JOBS = 10_000  # looked at for those of a collection that is deleted
# jobs at once: what they cost is bounded by the turns they take, so a long one holds up no other
WORKERS = 16
LEFT = 30.0  # seconds between two looks for chunks that nobody embeds
POLL = 5.0  # seconds between two looks for a job that another process left
PAUSE = 5.0  # seconds that a job waits which the disk refused: four times as long each time
MOST_REFUSALS = 100  # of the disk, for one job: a day


async def submit(app: App, collection: str, uploads: Sequence[Upload]) -> Job:
    """Store the bytes, then the job. When this returns, a kill loses nothing. Raises InvalidInput,
    StorageError.
    """
    await reach(app, check_name(collection))
    folder = _uploads(app) / secrets.token_hex(8)
    names = [base_name(upload.name) for upload in uploads]
    await anyio.to_thread.run_sync(store, folder, uploads)
    payload: dict[str, Any] = {"collection": collection, "folder": folder.name, "names": names}
    try:
        job = await app.jobs.create(KIND, payload)
    except CitewellError:
        await anyio.to_thread.run_sync(throw_away, folder)
        raise
    app.new_job.set()
    return job


async def cancel(app: App, job_id: str) -> Job:
    """Stop a job, or forget what a failed one was sent: what it has added stays, its other files
    go. Raises NotFound, and Conflict where it has ended otherwise.
    """
    before = await app.jobs.get(job_id)
    job = await app.jobs.cancel(job_id)
    if before.state != "running":  # else its worker does it, which hears of it at its next step
        await _throw_away(app, job)
    return job


async def try_again(app: App, job_id: str) -> Job:
    """A job that failed, or was given up. Raises NotFound, and Conflict where it cannot be tried
    again.
    """
    job = await app.jobs.get(job_id)
    if (
        job.state == "failed"
        and "folder" in job.payload
        and not await anyio.Path(_folder(app, job)).is_dir()
    ):
        raise Conflict(f"job {job_id}: what was sent is there no more", hint="send it again")
    job = await app.jobs.try_again(job_id)
    app.new_job.set()
    return job


async def work_until_closing(app: App) -> None:
    """`work`, until the server takes nothing new: what is done then is kept, and the next start
    goes on with the rest.
    """
    working = asyncio.create_task(work(app))
    closing = asyncio.create_task(app.root.stopping.closing.wait())
    try:
        await asyncio.wait({working, closing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        closing.cancel()
        working.cancel()
        await asyncio.gather(closing, working, return_exceptions=True)


async def work(app: App) -> None:
    """For ever: embed what a killed run left, do jobs as they come, write summaries behind them."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_pick_up(app))
        group.create_task(keep_writing(app))
        group.create_task(keep_trying(app))
        for _ in range(WORKERS):
            group.create_task(_work(app))


async def _work(app: App) -> None:
    """What the disk refuses is tried again later, and a fault of ours never ends the worker."""
    while True:
        app.new_job.clear()
        try:
            while (job := await app.jobs.claim()) is not None:
                await do(app, job)
        except CitewellError as error:
            log.warning("jobs wait: %s", error.message)
        except Exception:
            log.exception("jobs wait")
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL):
                await app.new_job.wait()


async def _pick_up(app: App) -> None:
    """What earlier runs left: bytes of no job, copies of killed backups, chunks without vectors.
    Then, for ever, chunks that other work leaves (jobs that were cancelled, sections cut anew); the
    newest first, because `citewell add` beside us begins with the oldest.
    """
    try:
        await anyio.to_thread.run_sync(throw_away_orphans, _uploads(app), await app.jobs.folders())
        for left in await anyio.to_thread.run_sync(sweep, app.settings.home):
            log.warning("%s", told_of(left))
    except Exception:
        log.exception("what earlier runs left stays in %s", app.settings.home)
    while True:
        try:
            await try_votes_again(app)
            await embed_pending(app, newest=True)
        except CitewellError as error:
            log.warning("embedding waits: %s", error.message)
        except Exception:
            log.exception("embedding waits")
        await asyncio.sleep(LEFT)


async def do(app: App, job: Job) -> None:
    """Run one job to its end; a fault of one job never stops the worker."""
    with doing("job", job.kind, ids={"job_id": job.job_id}) as this:
        log.info("job begins: %s", job.kind)
        this.facts["state"] = await _done(app, job)
        log.info("job %s: %s", this.facts["state"], job.kind)


async def _done(app: App, job: Job) -> str:
    """How it ended: `done`, `failed`, `cancelled`, `taken` by another worker, or `queued` again
    where the disk refused.
    """
    state = "done"
    try:
        report = await Holder(app, job).held(lambda holder: WORK[job.kind](app, job, holder))
        await app.jobs.finish(job.job_id, report.model_dump(mode="json"), attempt=job.attempts)
    except (asyncio.CancelledError, Stopped):
        # what it asked an agent is cut off together with this worker
        await asyncio.shield(asyncio.create_task(_release(app, job)))
        raise asyncio.CancelledError from None
    except Conflict as error:
        return await _lost(app, job, error)
    except CitewellError as error:
        if (
            isinstance(error, StorageError)
            and job.kind != FEEDBACK
            and put_off_so_often(job) < MOST_REFUSALS
        ):
            # `try_again` does it for a vote, which says so meanwhile
            return await _put_off(app, job, error)
        state = "failed"
        log.warning("job failed: %s", error.code)
        await app.jobs.fail(job.job_id, error, attempt=job.attempts)
    except Exception as error:
        state = "failed"
        log.exception("job %s", job.job_id)
        fault = {
            "code": "internal",
            "message": f"internal error: {type(error).__name__}",
            "hint": "the server's log says where",
        }
        await app.jobs.fail(job.job_id, fault, attempt=job.attempts)
    if state == "done":  # what failed keeps what it was sent, to be tried again
        await _throw_away(app, job)
    return state


async def _put_off(app: App, job: Job, error: StorageError) -> str:
    """What was acknowledged is not lost because the disk refuses: the job waits with its bytes, and
    is done again.
    """
    pause = min(LONGEST_PAUSE, PAUSE * 4 ** put_off_so_often(job))
    log.warning("job waits for %.0f seconds: %s", pause, error.message)
    try:
        return (await app.jobs.put_off(job.job_id, error, pause, attempt=job.attempts)).state
    except Conflict as conflict:
        return await _lost(app, job, conflict)


async def _lost(app: App, job: Job, error: Conflict) -> str:
    """It was cancelled, or another worker has it now, and its files."""
    log.warning("%s", error.message)
    if (await app.jobs.get(job.job_id)).state != "cancelled":
        return "taken"
    await _throw_away(app, job)
    return "cancelled"


async def _throw_away(app: App, job: Job) -> None:
    if "folder" in job.payload:
        await anyio.to_thread.run_sync(throw_away, _folder(app, job))


async def _release(app: App, job: Job) -> None:
    """A server that is stopped hands its job back: stopping is no fault of the job's."""
    try:
        await app.jobs.release(job.job_id, attempt=job.attempts)
    except CitewellError as error:
        # it ended just now, or the disk refuses: then its lease runs out
        log.warning("%s", error.message)


async def _add(app: App, job: Job, holder: Holder) -> AddReport:
    folder, names = _folder(app, job), list(job.payload["names"])
    sizes = await anyio.to_thread.run_sync(
        lambda: [_size(folder / str(number)) for number in range(len(names))]
    )
    sources = [
        Source(f"upload:{name}", folder / str(number), name, sizes[number], dates=False)
        for number, name in enumerate(names)
    ]
    return await _add_all(app, job, sources, holder)


async def _add_page(app: App, job: Job, holder: Holder) -> AddReport:
    url = str(job.payload["url"])
    return await _add_all(app, job, [Source(url, None, url, url=url)], holder)


async def _add_all(app: App, job: Job, sources: Sequence[Source], holder: Holder) -> AddReport:
    """Read and embed at the same time. The job ends when its own passages can be found by
    meaning.
    """
    collection = str(job.payload["collection"])
    embedding = Embedding(app, holder.tell, docs=())
    async with anyio.create_task_group() as group:
        group.start_soon(embedding.run)
        reports = await add_sources(
            app, sources, collection, holder.tell, embedding, holder.reported, holder.still
        )
        embedding.close()
    return AddReport(files=holder.as_first(reports))


async def _cut_anew(app: App, job: Job, holder: Holder) -> RechunkReport:
    """Chunks whose text is new are embedded as the job goes on, or after it by `_pick_up`."""
    return await rechunk.rechunk(app, str(job.payload["collection"]), on_progress=holder.tell)


async def _read_paper(app: App, job: Job, holder: Holder) -> Shown:
    # it asks an agent: heavy, and that knows of what submits jobs
    from citewell.service.papers.guide_job import make_report

    return await make_report(app, job, holder)


async def _learn(app: App, job: Job, holder: Holder) -> Shown:
    from citewell.service.knowledge.feedback_job import learn  # parsers of SQL and of Markdown

    return await learn(app, job, holder)


async def _refresh(app: App, job: Job, holder: Holder) -> sites.Refreshed:
    return await sites.refresh(
        app, str(job.payload["collection"]), holder.tell, allowed=holder.still
    )


async def _check_source(app: App, job: Job, holder: Holder) -> Shown:
    from citewell.service.knowledge.recheck import check_source  # it opens engines: not light

    await holder.still()
    return await check_source(app, str(job.payload["source"]))


WORK: dict[str, Callable[[App, Job, Holder], Awaitable[Shown]]] = {
    KIND: _add,
    sites.PAGE: _add_page,
    sites.REFRESH: _refresh,
    rechunk.KIND: _cut_anew,
    papers_delete.KIND: _read_paper,
    "check_source": _check_source,  # source_gone.CHECK
    FEEDBACK: _learn,
}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # it is reported when it is read


def _uploads(app: App) -> Path:
    return app.settings.home / "uploads"


def _folder(app: App, job: Job) -> Path:
    return _uploads(app) / str(job.payload["folder"])

"""Jobs, leases, and workers that die."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from citewell.errors import Conflict, NotFound, StorageError, UnreadableFile
from citewell.knowledge.db import Database
from citewell.knowledge.jobs import MOST_ATTEMPTS, Jobs, put_off_so_often


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_the_life_of_a_job(db: Database) -> None:
    """Queued, claimed oldest first, reported on, finished; nothing is left to claim."""
    jobs = Jobs(db)
    first = await jobs.create("add", {"paths": ["一.pdf"]})
    second = await jobs.create("add", {})
    assert (first.state, first.payload, first.attempts) == ("queued", {"paths": ["一.pdf"]}, 0)
    claimed = await jobs.claim()
    assert claimed is not None
    assert (claimed.job_id, claimed.state, claimed.attempts) == (first.job_id, "running", 1)
    assert (await jobs.progress(first.job_id, 3, 10, "page 3")).detail == "page 3"
    done = await jobs.finish(first.job_id, {"files": 1}, attempt=1)
    assert (done.state, done.result, done.done, done.total) == ("done", {"files": 1}, 3, 10)
    claimed = await jobs.claim()
    assert claimed is not None
    failed = await jobs.fail(second.job_id, UnreadableFile("x.pdf is encrypted", hint="unlock it"))
    assert failed.error == {"code": "unreadable_file", "message": "x.pdf is encrypted", "hint": "unlock it"}
    assert await jobs.claim() is None
    assert [job.job_id for job in await jobs.list()] == [second.job_id, first.job_id]


async def test_users_take_turns(db: Database) -> None:
    """Who has sent many waits behind who has sent one; each user's own come in their order."""
    jobs, owners = Jobs(db), list[str]()
    for name in ("ann", "ann", "ann", "ann", "bob", "", "bob"):
        await jobs.seen_by(name).create("add", {"of": name, "n": len(owners)})
        owners.append(name)
    taken = [await jobs.claim() for _ in range(4)]
    assert [job.payload["n"] for job in taken if job] == [0, 4, 5, 1]
    assert taken[0] is not None
    await jobs.finish(taken[0].job_id, {})
    for name in ("ann", "bob"):
        await jobs.seen_by(name).create("add", {"of": name, "n": len(owners)})
        owners.append(name)
    later = [await jobs.claim() for _ in range(5)]
    assert [job.payload["n"] for job in later if job] == [2, 6, 3, 8, 7]
    assert await jobs.claim() is None


async def test_a_job_is_claimed_once(db: Database, path: Path) -> None:
    """Many workers in two databases: each job goes to one of them."""
    for n in range(10):
        await Jobs(db).create("add", {"n": n})
    async with Database(path) as other:
        claims = await asyncio.gather(*[Jobs(db if n % 2 else other).claim() for n in range(24)])
    taken = [job.job_id for job in claims if job is not None]
    assert len(taken) == len(set(taken)) == 10


async def test_a_dead_workers_job_is_taken_again(db: Database) -> None:
    """Not before its lease runs out; progress renews it; the slow worker's result is refused then."""
    clock = Clock()
    jobs = Jobs(db, clock, lease=60)
    job = await jobs.create("add", {})
    await jobs.claim()
    clock.now += 59
    assert await jobs.claim() is None
    await jobs.progress(job.job_id, 1, 2, attempt=1)
    clock.now += 59
    assert await jobs.claim() is None
    clock.now += 2
    again = await jobs.claim()
    assert again is not None
    assert (again.job_id, again.attempts) == (job.job_id, 2)
    for call in (jobs.finish(job.job_id, {}, attempt=1), jobs.progress(job.job_id, 1, 2, attempt=1)):
        with pytest.raises(Conflict, match=job.job_id):
            await call
    assert (await jobs.finish(job.job_id, {}, attempt=2)).state == "done"


async def test_a_job_that_kills_its_workers_is_given_up(db: Database) -> None:
    """After three attempts it is failed and says why; the next job is not held up."""
    clock = Clock()
    jobs = Jobs(db, clock, lease=1)
    bad = await jobs.create("add", {})
    for _ in range(MOST_ATTEMPTS):
        assert (await jobs.claim()) is not None
        clock.now += 2
    clock.now += 1
    good = await jobs.create("add", {})
    claimed = await jobs.claim()
    assert claimed is not None
    assert claimed.job_id == good.job_id
    given_up = await jobs.get(bad.job_id)
    assert given_up.state == "failed"
    assert given_up.error is not None
    assert given_up.error["code"] == "gave_up"


async def test_what_ended_does_not_change(db: Database) -> None:
    """Neither by its worker nor by anyone; and an unknown job is named."""
    jobs = Jobs(db)
    job = await jobs.create("add", {})
    with pytest.raises(Conflict, match="queued"):
        await jobs.finish(job.job_id, {})
    await jobs.claim()
    await jobs.finish(job.job_id, {})
    with pytest.raises(Conflict, match="done"):
        await jobs.fail(job.job_id, {"code": "x", "message": "late"})
    with pytest.raises(NotFound, match="job_x"):
        await jobs.get("job_x")


async def test_a_released_job_loses_no_attempt(db: Database) -> None:
    """It can be taken again at once, however often; a job of another, or one that has ended, is not released."""
    jobs = Jobs(db, lease=60)
    job = await jobs.create("add", {})
    for _ in range(MOST_ATTEMPTS + 1):
        claimed = await jobs.claim()
        assert claimed is not None
        assert claimed.attempts == 1
        released = await jobs.release(job.job_id, attempt=1)
        assert (released.state, released.attempts) == ("queued", 0)
    with pytest.raises(Conflict, match="queued"):
        await jobs.release(job.job_id, attempt=0)
    await jobs.claim()
    with pytest.raises(Conflict, match="attempt 1"):
        await jobs.release(job.job_id, attempt=2)


async def test_a_job_that_is_put_off_waits_for_its_time(db: Database) -> None:
    """Nobody takes it before; it uses up no attempt; why, and how often, is told; what comes of it in the end clears that."""
    clock = Clock()
    jobs = Jobs(db, clock, lease=60)
    job = await jobs.create("add", {})
    for times in range(1, MOST_ATTEMPTS + 2):
        claimed = await jobs.claim()
        assert claimed is not None
        assert (claimed.attempts, put_off_so_often(claimed)) == (1, times - 1)
        waits = await jobs.put_off(job.job_id, StorageError("the disk is full", hint="free some space"), 30, attempt=1)
        assert (waits.state, waits.attempts, put_off_so_often(waits)) == ("queued", 0, times)
        assert waits.error is not None
        assert (waits.error["code"], waits.error["message"]) == (StorageError.code, "the disk is full")
        with pytest.raises(Conflict, match="queued"):
            await jobs.put_off(job.job_id, StorageError("late"), 30, attempt=1)
        clock.now += 29
        assert await jobs.claim() is None
        clock.now += 1
    assert await jobs.claim() is not None
    assert (await jobs.finish(job.job_id, {}, attempt=1)).error is None

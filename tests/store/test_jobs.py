"""Jobs, leases, and workers that die."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from citewell.errors import Conflict, NotFound, StorageError, UnreadableFile
from citewell.store import job_claims
from citewell.store.db import Database
from citewell.store.job_claims import LONGEST_PAUSE, MOST_FAULTS, PATIENCE, SUSPECT
from citewell.store.job_rows import BULK, URGENT, USUAL, Job, count_postponements
from citewell.store.jobs import Jobs
from citewell.store.processes import name_process, name_this_process


def ended_process() -> str:
    """How a process of this machine named itself that is gone now."""
    with subprocess.Popen(["sleep", "9"]) as process:
        name = name_process(process.pid)
        process.kill()
    return name


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
    assert (await jobs.report_progress(first.job_id, 3, 10, "page 3")).detail == "page 3"
    done = await jobs.finish(first.job_id, {"files": 1}, attempt=1)
    assert (done.state, done.result, done.done, done.total) == ("done", {"files": 1}, 3, 10)
    claimed = await jobs.claim()
    assert claimed is not None
    failed = await jobs.fail(second.job_id, UnreadableFile("x.pdf is encrypted", hint="unlock it"))
    assert failed.error == {
        "code": "unreadable_file",
        "message": "x.pdf is encrypted",
        "hint": "unlock it",
    }
    assert await jobs.claim() is None
    assert [job.job_id for job in await jobs.list()] == [second.job_id, first.job_id]


async def test_users_take_turns(db: Database) -> None:
    """Who has sent many waits behind who has sent one; each user's own come in their order."""
    jobs, owners = Jobs(db), list[str]()
    for name in ("ann", "ann", "ann", "ann", "bob", "", "bob"):
        await jobs.restrict_to_viewer(name).create("add", {"of": name, "n": len(owners)})
        owners.append(name)
    taken = [await jobs.claim() for _ in range(4)]
    assert [job.payload["n"] for job in taken if job] == [0, 4, 5, 1]
    assert taken[0] is not None
    await jobs.finish(taken[0].job_id, {})
    for name in ("ann", "bob"):
        await jobs.restrict_to_viewer(name).create("add", {"of": name, "n": len(owners)})
        owners.append(name)
    later = [await jobs.claim() for _ in range(5)]
    assert [job.payload["n"] for job in later if job] == [2, 6, 3, 8, 7]
    assert await jobs.claim() is None


async def test_what_somebody_waits_for_comes_before_imports(db: Database) -> None:
    """Whoever's it is, in turns among what is as urgent; an import that has waited for long is no
    less so; and some workers take no imports at all.
    """
    clock = Clock()
    jobs = Jobs(db, clock, steady=clock, lease=60)
    for n, (name, priority) in enumerate(
        [("ann", BULK), ("ann", BULK), ("bob", USUAL), ("ann", URGENT), ("ann", URGENT)]
    ):
        await jobs.restrict_to_viewer(name).create("add", {"n": n}, priority)
    taken = [await jobs.claim(least=USUAL) for _ in range(4)]
    assert [job.payload["n"] if job else None for job in taken] == [3, 4, 2, None]
    clock.now += PATIENCE
    await jobs.restrict_to_viewer("bob").create("add", {"n": 5}, URGENT)
    await jobs.restrict_to_viewer("eve").create("add", {"n": 6}, URGENT)
    clock.now += 1
    for job in taken:
        if job:
            await jobs.finish(job.job_id, {})
    later = [await jobs.claim() for _ in range(4)]
    assert [job.payload["n"] for job in later if job] == [0, 5, 6, 1]


async def test_what_failed_for_good_is_listed(db: Database) -> None:
    """With its reason, however much has come since, until it is tried again or dropped."""
    jobs = Jobs(db)
    failed = [await jobs.create("add", {"n": n}) for n in range(2)]
    for job in failed:
        await jobs.claim()
        await jobs.fail(job.job_id, UnreadableFile("x.pdf is encrypted"), attempt=1)
    for n in range(5):
        await jobs.create("add", {"n": n})
    dead = await jobs.list(3, state="failed")
    assert [job.job_id for job in dead] == [job.job_id for job in reversed(failed)]
    assert {str((job.error or {})["message"]) for job in dead} == {"x.pdf is encrypted"}
    await jobs.try_again(failed[0].job_id)
    await jobs.cancel(failed[1].job_id)
    assert await jobs.list(3, state="failed") == []


async def test_a_job_is_claimed_once(db: Database, path: Path, database_url: str) -> None:
    """Many workers in two databases: each job goes to one of them."""
    for n in range(10):
        await Jobs(db).create("add", {"n": n})
    async with Database(path, database_url) as other:
        claims = await asyncio.gather(*[Jobs(db if n % 2 else other).claim() for n in range(24)])
    taken = [job.job_id for job in claims if job is not None]
    assert len(taken) == len(set(taken)) == 10


async def test_a_dead_workers_job_is_taken_again(db: Database) -> None:
    """Not before its lease runs out; progress renews it; the slow worker's result is refused
    then.
    """
    clock = Clock()
    jobs = Jobs(db, clock, steady=clock, lease=60)
    job = await jobs.create("add", {})
    await jobs.claim()
    clock.now += 59
    assert await jobs.claim() is None
    await jobs.report_progress(job.job_id, 1, 2, attempt=1)
    clock.now += 59
    assert await jobs.claim() is None
    clock.now += 2
    again = await jobs.claim()
    assert again is not None
    assert (again.job_id, again.attempts) == (job.job_id, 2)
    for call in (
        jobs.finish(job.job_id, {}, attempt=1),
        jobs.report_progress(job.job_id, 1, 2, attempt=1),
    ):
        with pytest.raises(Conflict, match=job.job_id):
            await call
    assert (await jobs.finish(job.job_id, {}, attempt=2)).state == "done"


async def test_deaths_of_a_server_harm_no_job(
    db: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often: it is free at once, and after the second time taken by those only who try jobs
    alone.
    """
    job = await Jobs(db).create("add", {})
    for death in range(20):
        jobs = Jobs(db, lease=3600)
        name = ended_process()
        monkeypatch.setattr(job_claims, "name_this_process", lambda name=name: name)
        claimed = await jobs.claim(alone=death >= SUSPECT)
        assert claimed is not None, death
        assert (claimed.job_id, claimed.attempts) == (job.job_id, death + 1)
        assert await jobs.claim(alone=death + 1 < SUSPECT) is None, "others are not to take it"
    monkeypatch.setattr(job_claims, "name_this_process", name_this_process)
    assert await Jobs(db).has_suspects()
    claimed = await Jobs(db).claim("add", alone=True)
    assert claimed is not None
    assert (await Jobs(db).finish(job.job_id, {}, attempt=claimed.attempts)).state == "done"


async def test_a_start_of_the_machine_is_no_jobs_fault(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever was at work before is gone, and their job waits as if nothing had been."""
    machine, _, *rest = name_this_process().split(" ")
    before = " ".join([machine, "an-earlier-start", *rest])
    monkeypatch.setattr(job_claims, "name_this_process", lambda: before)
    job = await Jobs(db).create("add", {})
    for times in range(SUSPECT + 2):
        claimed = await Jobs(db, lease=3600).claim()
        assert claimed is not None
        assert (claimed.job_id, claimed.attempts) == (job.job_id, times + 1)


async def test_clock_that_is_set(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither way does it take a job from who is at work, nor keep one from who waits."""
    wall, steady = Clock(), Clock()
    wall.now = 1_700_000_000.0
    jobs = Jobs(db, wall, steady=steady, lease=60)
    job = await jobs.create("add", {})
    assert await jobs.claim() is not None
    for step in (-86_400.0, 3 * 86_400.0):
        wall.now += step
        assert await jobs.claim() is None
        await jobs.report_progress(job.job_id, 1, 2, attempt=1)
    steady.now += 61
    wall.now -= 86_400
    assert await jobs.claim() is not None
    await jobs.put_off(job.job_id, StorageError("full"), 30, attempt=2)
    wall.now -= 86_400
    steady.now += 31
    assert await jobs.claim() is not None
    await jobs.put_off(job.job_id, StorageError("full"), 30, attempt=2)
    # a clock that begins anew, on a system that does not say that it was started: no pause is that
    # long
    steady.now = 5.0
    assert await jobs.claim() is not None
    await jobs.fail(job.job_id, StorageError("full"), attempt=2)
    wall.now -= 86_400
    assert await jobs.requeue_failed("add", ["storage"], 60) == 1, "failed in the future"
    assert LONGEST_PAUSE < 995


async def died_alone(db: Database, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A process that was alone with the job has died, and whoever started it saw it."""
    name = ended_process()
    monkeypatch.setattr(job_claims, "name_this_process", lambda: name)
    claimed = await Jobs(db).claim(alone=True)
    assert claimed is not None
    [blamed] = await Jobs(db).record_crash(name)
    return blamed


async def test_a_job_that_kills_who_is_alone_with_it_is_given_up(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried again a little later each time; the next job is not held up; and it can be tried
    again after all.
    """
    jobs = Jobs(db)
    bad = await jobs.create("upload", {"folder": "bad"})
    for _ in range(SUSPECT):
        name = ended_process()
        monkeypatch.setattr(job_claims, "name_this_process", lambda name=name: name)
        assert await jobs.claim() is not None
    assert await jobs.claim() is None
    for fault in range(1, MOST_FAULTS + 1):
        await db.write(lambda connection: connection.exec_driver_sql("UPDATE jobs SET lease = 0"))
        blamed = await died_alone(db, monkeypatch)
        assert (blamed.job_id, blamed.state) == (
            bad.job_id,
            "queued" if fault < MOST_FAULTS else "failed",
        )
        assert not await jobs.has_suspects()
    monkeypatch.setattr(job_claims, "name_this_process", name_this_process)
    good = await jobs.create("upload", {"folder": "good"})
    claimed = await jobs.claim()
    assert claimed is not None
    assert claimed.job_id == good.job_id
    given_up = await jobs.get(bad.job_id)
    assert given_up.error is not None
    assert given_up.error["code"] == "gave_up"
    assert await jobs.list_folders() == {"bad", "good"}
    assert (await jobs.try_again(bad.job_id)).state == "queued"
    with pytest.raises(Conflict, match="queued"):
        await jobs.try_again(bad.job_id)
    assert await jobs.claim() is None, "it is tried alone"
    assert (await jobs.claim(alone=True)) is not None


async def test_who_ended_is_not_blamed_for_what_it_handed_back(db: Database) -> None:
    """Only for what it was at."""
    jobs = Jobs(db)
    for n in range(4):
        await jobs.create("add", {"n": n})
    held = [await jobs.claim() for _ in range(3)]
    assert held[0] is not None
    assert held[1] is not None
    await jobs.release(held[0].job_id, attempt=1)
    await jobs.put_off(held[1].job_id, StorageError("full"), 30, attempt=1)
    assert [job.payload["n"] for job in await jobs.record_crash(name_this_process())] == [2]


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
    """It can be taken again at once, however often; a job of another, or one that has ended, is not
    released.
    """
    jobs = Jobs(db, lease=60)
    job = await jobs.create("add", {})
    for _ in range(4):
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
    """Nobody takes it before; it uses up no attempt; why, and how often, is told; what comes of it
    in the end clears that.
    """
    clock = Clock()
    jobs = Jobs(db, clock, steady=clock, lease=60)
    job = await jobs.create("add", {})
    for times in range(1, 5):
        claimed = await jobs.claim()
        assert claimed is not None
        assert (claimed.attempts, count_postponements(claimed)) == (1, times - 1)
        waits = await jobs.put_off(
            job.job_id, StorageError("the disk is full", hint="free some space"), 30, attempt=1
        )
        assert (waits.state, waits.attempts, count_postponements(waits)) == ("queued", 0, times)
        assert waits.error is not None
        assert (waits.error["code"], waits.error["message"]) == (
            StorageError.code,
            "the disk is full",
        )
        with pytest.raises(Conflict, match="queued"):
            await jobs.put_off(job.job_id, StorageError("late"), 30, attempt=1)
        clock.now += 29
        assert await jobs.claim() is None
        clock.now += 1
    assert await jobs.claim() is not None
    assert (await jobs.finish(job.job_id, {}, attempt=1)).error is None


async def test_jobs_that_ended_are_forgotten_in_time(db: Database) -> None:
    """What failed stays until somebody cancels it; what is young, waits or runs, in any case."""
    clock = Clock()
    jobs = Jobs(db, clock, steady=clock, lease=60)
    done, failed, running, waiting = [(await jobs.create("add", {})).job_id for _ in range(4)]
    for _ in range(3):
        await jobs.claim()
    await jobs.finish(done, {})
    await jobs.fail(failed, StorageError("the disk is full"))
    for day in range(31):
        clock.now = 1000.0 + day * 86_400
        assert await jobs.forget_ended(30) == 0
    clock.now += 1
    assert await jobs.forget_ended(30) == 1
    assert {job.job_id for job in await jobs.list()} == {failed, running, waiting}
    await jobs.cancel(failed)
    for _ in range(31):
        clock.now += 86_400
        await jobs.forget_ended(30)
    assert {job.job_id for job in await jobs.list()} == {running, waiting}

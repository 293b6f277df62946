"""Jobs and runs of several servers, on several machines, in one PostgreSQL."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, select, update

from citewell.errors import Conflict, StorageError
from citewell.store import processes
from citewell.store.db import Database
from citewell.store.jobs import Jobs
from citewell.store.runs import Runs
from citewell.store.schema.conversations import runs as run_table
from citewell.store.schema.job_tables import jobs as job_table

JOBS, WORKERS = 100, 8


@pytest.fixture
async def servers(tmp_path: Path, home_url: str) -> AsyncIterator[list[Database]]:
    """Two that share one database."""
    async with (
        Database(tmp_path / "one" / "citewell.db", home_url) as one,
        Database(tmp_path / "two" / "citewell.db", home_url) as two,
    ):
        yield [one, two]


@contextmanager
def on_another_machine() -> Iterator[None]:
    """What is done here is done by a process of a machine that is not this one."""
    with pytest.MonkeyPatch.context() as elsewhere:
        elsewhere.setattr(processes, "_get_machine", lambda: "elsewhere")
        elsewhere.setattr(processes, "_get_boot_id", lambda: "another-boot")
        yield


async def end_leases(db: Database) -> None:
    """As if an hour had passed for whoever holds something."""

    def end(connection: Connection) -> None:
        for table in (job_table, run_table):
            connection.execute(update(table).values(lease=table.c.lease - 3600))

    await db.write(end)


async def test_no_job_is_done_twice(servers: list[Database]) -> None:
    """Many workers of two servers that take jobs at once, while others are sent."""
    done = Counter[str]()

    async def send() -> None:
        for number in range(JOBS):
            await Jobs(servers[number % 2]).create("add", {"n": number})

    async def work(jobs: Jobs) -> None:
        while sum(done.values()) < JOBS:
            job = await jobs.claim()
            if job is None:
                await asyncio.sleep(0.01)
                continue
            await jobs.report_progress(job.job_id, 1, 1, attempt=job.attempts)
            await jobs.finish(job.job_id, {}, attempt=job.attempts)
            done[job.job_id] += 1

    async with asyncio.timeout(120):
        await asyncio.gather(send(), *[work(Jobs(servers[n % 2])) for n in range(2 * WORKERS)])
    assert len(done) == JOBS
    assert set(done.values()) == {1}
    assert {job.attempts for job in await Jobs(servers[0]).list(JOBS)} == {1}


async def test_other_servers_hear_of_a_job(servers: list[Database]) -> None:
    """At once where the database can tell, also after the connection was cut; not before the
    transaction is kept.
    """
    if servers[0].dialect == "sqlite":
        await servers[0].server.listen_for_jobs(lambda: None)  # returns: nobody tells
        return
    heard = asyncio.Event()
    listening = asyncio.create_task(servers[1].server.listen_for_jobs(heard.set))
    try:
        async with asyncio.timeout(60):
            await heard.wait()  # it listens
            heard.clear()
            await Jobs(servers[0]).create("add", {})
            await heard.wait()
            heard.clear()
            cut = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE query LIKE 'LISTEN%' AND datname = current_database()"""
            await servers[0].write(lambda c: c.exec_driver_sql(cut.replace("%", "%%")).all())
            await heard.wait()
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


async def test_a_job_that_is_being_taken_is_passed_over(servers: list[Database]) -> None:
    """Nobody waits for who is just taking one: the next is there."""
    first, second = [await Jobs(servers[0]).create("add", {}) for _ in range(2)]
    taken: list[str | None] = []

    def hold(connection: Connection) -> None:
        lock = select(job_table.c.job_id).where(job_table.c.job_id == first.job_id)
        connection.execute(lock.with_for_update())

        async def claim() -> None:
            async with asyncio.timeout(20):
                job = await Jobs(servers[1]).claim()
                taken.append(job.job_id if job else None)

        asyncio.run_coroutine_threadsafe(claim(), loop).result(30)

    loop = asyncio.get_running_loop()
    await servers[0].write_beside(hold)
    assert taken == [second.job_id]


async def test_a_worker_elsewhere_holds_its_job_by_the_clock_of_the_database(
    servers: list[Database],
) -> None:
    """Whatever the clocks of the machines say; when its lease is over it counts as dead, and what
    has killed two is tried alone.
    """
    here = Jobs(servers[0], lambda: time.time() + 86_400, lease=600)
    there = Jobs(servers[1], lambda: time.time() - 86_400, lease=600)
    job = await here.create("add", {})
    for death in range(2):
        with on_another_machine():
            held = await there.claim()
            assert held is not None
            await there.report_progress(job.job_id, 1, 2, attempt=held.attempts)
        assert await here.claim() is None
        await end_leases(servers[0])
        assert await here.has_suspects() is False
        taken = await here.claim()
        if death == 0:
            assert taken is not None
            assert taken.attempts == 2
            with on_another_machine(), pytest.raises(Conflict, match="not this worker's"):
                await there.finish(job.job_id, {}, attempt=held.attempts)
            await here.release(job.job_id, attempt=taken.attempts)
    assert taken is None
    assert await here.has_suspects()
    alone = await here.claim(alone=True)
    assert alone is not None
    assert (await here.finish(job.job_id, {}, attempt=alone.attempts)).state == "done"


async def test_what_is_put_off_is_put_off_everywhere(servers: list[Database]) -> None:
    here, there = Jobs(servers[0]), Jobs(servers[1])
    job = await here.create("add", {})
    assert await here.claim() is not None
    await here.put_off(job.job_id, StorageError("full"), 600, attempt=1)
    with on_another_machine():
        assert await there.claim() is None
    await end_leases(servers[0])
    with on_another_machine():
        assert await there.claim() is not None


async def test_a_run_of_a_server_elsewhere(servers: list[Database]) -> None:
    """It is nobody else's before its lease is over; of two that want it then, one gets it."""
    here, there = [Runs(db, 30.0, lease=600) for db in servers]
    with on_another_machine():
        holder = await there.begin("tr_1", "ann", "qa", {"question": "Why?"})
        await there.renew("tr_1", holder)
        await there.keep("tr_1", holder, "ask", {})
    [run] = await here.list("ann")
    assert run.alive
    with pytest.raises(Conflict, match="another process"):
        await here.take("tr_1", "ann")
    await end_leases(servers[0])
    [run] = await here.list("ann")
    assert not run.alive
    taken = await asyncio.gather(
        *[runs.take("tr_1", "ann") for runs in (here, there)], return_exceptions=True
    )
    assert sorted(isinstance(each, Conflict) for each in taken) == [False, True]
    with pytest.raises(Conflict, match="gone on with elsewhere"):
        await there.renew("tr_1", holder)


async def test_a_run_of_another_server_is_told_to_answer_now(servers: list[Database]) -> None:
    """At its next sign of life; not by another user, and not where nobody is at work on it."""
    here, there = (Runs(db, 30) for db in servers)
    holder = await here.begin("tr_1", "ann", "website", {"question": "?"})
    assert await here.renew("tr_1", holder) is False
    assert await there.request_stop("tr_1", "eve") is False
    assert await there.request_stop("tr_1", "ann") is True
    assert await here.renew("tr_1", holder) is True
    await here.release("tr_1", holder)
    assert await there.request_stop("tr_1", "ann") is False

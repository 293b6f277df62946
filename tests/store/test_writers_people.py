"""Conversations, memories, votes, jobs and users in PostgreSQL while two servers write at once:
what one decides on is not changed under it by the other.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, select
from tests.store.gate import run_during
from tests.store.test_memory import by_subject, direction
from tests.store.test_traces import trace

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.store.boards.saved_questions import SavedQuestions
from citewell.store.confirmed import feedback
from citewell.store.conversations import folders as folder_module
from citewell.store.conversations.folders import Folders
from citewell.store.db import Database
from citewell.store.jobs import Jobs
from citewell.store.memory import Memories
from citewell.store.memory_judgement import Told
from citewell.store.runs import Runs
from citewell.store.schema.conversations import traces as trace_table
from citewell.store.schema.knowledge import feedback as vote_table
from citewell.store.schema.people import sign_ins
from citewell.store.sessions import Sessions
from citewell.store.source_rows import Source
from citewell.store.sources import Sources
from citewell.store.traces import Traces
from citewell.store.users import sign_ins as sign_in_module
from citewell.store.users.audit import Audit
from citewell.store.users.users import Users
from citewell.types import Message, Trace

Verb = Callable[[Database], Awaitable[Any]]


@pytest.fixture
async def servers(tmp_path: Path, home_url: str) -> AsyncIterator[list[Database]]:
    """Two that share one database."""
    path = tmp_path / "home" / "citewell.db"
    async with Database(path, home_url) as one, Database(path, home_url) as two:
        yield [one, two]


async def do_both(servers: list[Database], first: Verb, second: Verb) -> list[Any]:
    one, two = servers
    return await run_during(one, lambda: first(one), lambda: second(two))


def memories(db: Database, most: int = 100) -> Memories:
    return Memories(db, "e", 10, most)


# ---------------------------------------------------------------- conversations


async def test_two_that_speak_in_one_session(servers: list[Database]) -> None:
    session = (await Sessions(servers[0]).create("qa")).session_id

    def say(words: str) -> Verb:
        said = [Message(role="user", content=words), Message(role="assistant", content=words)]
        return lambda db: Sessions(db).append(session, said)

    async def mark(db: Database) -> None:
        await Sessions(db).mark(session, pinned=True)

    await do_both(servers, say("a"), say("b"))
    await do_both(servers, say("c"), mark)
    history = await Sessions(servers[0]).history(session)
    assert [each.content for each in history] == list("aabbcc")
    assert (await Sessions(servers[0]).get(session)).pinned


async def test_one_step_of_a_session_is_made_once(servers: list[Database]) -> None:
    session = (await Sessions(servers[0]).create("paper", state="ONE")).session_id

    async def advance(db: Database) -> None:
        await db.write_beside(
            lambda connection: Sessions(db).advance_in(
                connection, session, before="ONE", after="TWO", said=[], change=lambda _: None
            )
        )

    done, refused = await do_both(servers, advance, advance)
    assert done is None
    assert isinstance(refused, Conflict)


async def test_a_session_that_goes_while_somebody_speaks(servers: list[Database]) -> None:
    session = (await Sessions(servers[0]).create("qa")).session_id
    said = [Message(role="user", content="a")]
    _, refused = await do_both(
        servers,
        lambda db: Sessions(db).delete(session),
        lambda db: Sessions(db).append(session, said),
    )
    assert isinstance(refused, NotFound)
    assert await Sessions(servers[0]).list() == []


async def test_bounds_are_not_passed(
    servers: list[Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "MOST", 1)
    _, refused = await do_both(
        servers,
        lambda db: Folders(db).create("ann", "a"),
        lambda db: Folders(db).create("ann", "b"),
    )
    assert isinstance(refused, InvalidInput)
    monkeypatch.setattr(folder_module, "MOST", 9)
    _, refused = await do_both(
        servers,
        lambda db: Folders(db).create("bob", "a"),
        lambda db: Folders(db).create("bob", "a"),
    )
    assert isinstance(refused, Conflict)
    monkeypatch.setattr("citewell.store.boards.saved_questions.MOST_SAVED", 1)
    values = {"name": "n", "source": "s", "sql": "SELECT 1", "question": "q", "lang": "en"}
    _, refused = await do_both(
        servers,
        lambda db: SavedQuestions(db).add("ann", values),
        lambda db: SavedQuestions(db).add("ann", values),
    )
    assert isinstance(refused, InvalidInput)


async def test_a_run_is_taken_once(servers: list[Database]) -> None:
    runs = Runs(servers[0], 10)
    holder = await runs.begin("tr_1", "ann", "qa", {"question": "q"})
    await runs.keep("tr_1", holder, "node", {})
    _, refused = await do_both(
        servers,
        lambda db: Runs(db, 10).take("tr_1", "ann"),
        lambda db: Runs(db, 10).take("tr_1", "ann"),
    )
    assert isinstance(refused, Conflict)
    with pytest.raises(Conflict):
        await runs.keep("tr_1", holder, "node", {})


# ---------------------------------------------------------------- memories


async def test_the_same_is_remembered_once(servers: list[Database]) -> None:
    async def keep(db: Database) -> None:
        await memories(db).keep("ann", Told("fact", "plan", "pro"), direction(0), by_subject)

    await do_both(servers, keep, keep)
    [memory] = await memories(servers[0]).list("ann")
    assert memory.seen == 2


async def test_no_more_is_remembered_than_there_is_room_for(servers: list[Database]) -> None:
    def keep(n: int) -> Verb:
        told = Told("fact", f"s{n}", "t")
        return lambda db: memories(db, 2).keep("ann", told, direction(n), by_subject)

    await keep(0)(servers[0])
    await do_both(servers, keep(1), keep(2))
    assert len(await memories(servers[0]).list("ann")) == 2


async def test_what_is_forgotten_is_not_remembered_by_another(servers: list[Database]) -> None:
    """Said again, it is new; what was derived from it is not kept."""
    kept = await memories(servers[0]).keep("ann", Told("fact", "a", "t"), direction(0), by_subject)
    assert kept.memory is not None
    memory_id = kept.memory.memory_id
    derived = Told("question", "b", "t", derived_from=(memory_id,))
    _, dropped = await do_both(
        servers,
        lambda db: memories(db).forget("ann", memory_id),
        lambda db: memories(db).keep("ann", derived, direction(1), by_subject),
    )
    assert dropped.outcome == "dropped"
    assert await memories(servers[0]).list("ann") == []


# ---------------------------------------------------------------- votes


def anns(trace_id: str) -> Trace:
    return trace(trace_id, time.time()).model_copy(update={"user_id": "ann"})


def vote(trace_id: str, *, right: bool = True) -> Verb:
    """As a server takes it; "" where there is no trace."""

    def put(connection: Connection) -> str:
        kept = feedback.find_trace(connection, trace_id, "ann", time.time())
        if kept is None:
            return ""
        before = feedback.find_vote(connection, trace_id, "ann")
        if before is not None and before.is_correct == right:
            return before.feedback_id
        return feedback.put_vote(
            connection,
            anns(trace_id),
            kept,
            "ann",
            is_correct=right,
            correction="",
            now=time.time(),
        ).feedback_id

    return lambda db: db.write_beside(put)


async def test_a_vote_is_counted_once(servers: list[Database]) -> None:
    await Traces(servers[0], 30).put(anns("tr_1"))
    one, two = await do_both(servers, vote("tr_1"), vote("tr_1"))
    assert one == two
    await do_both(servers, vote("tr_1", right=False), vote("tr_1"))
    [kept] = await servers[0].read(feedback.list_votes, None, 10)
    assert kept.is_correct


@pytest.mark.parametrize("deleted_first", [True, False])
async def test_a_vote_keeps_no_copy_of_what_was_deleted(
    servers: list[Database], deleted_first: bool
) -> None:
    await Traces(servers[0], 30).put(anns("tr_1"))

    def delete(db: Database) -> Awaitable[None]:
        return Traces(db, 30).delete("tr_1")

    both = (delete, vote("tr_1")) if deleted_first else (vote("tr_1"), delete)
    await do_both(servers, *both)
    copies = await servers[0].read(lambda c: list(c.execute(select(vote_table.c.trace)).scalars()))
    assert copies == ([] if deleted_first else [""])


@pytest.mark.parametrize("forgotten_first", [True, False])
async def test_a_vote_keeps_no_copy_of_what_a_memory_took_with_it(
    servers: list[Database], forgotten_first: bool
) -> None:
    kept = await memories(servers[0]).keep("ann", Told("fact", "a", "t"), direction(0), by_subject)
    assert kept.memory is not None
    memory_id = kept.memory.memory_id
    await Traces(servers[0], 30).put(anns("tr_1"))
    await memories(servers[0]).note_uses("ann", "tr_1", [memory_id])

    def forget(db: Database) -> Awaitable[Any]:
        return memories(db).forget("ann", memory_id)

    both = (forget, vote("tr_1")) if forgotten_first else (vote("tr_1"), forget)
    await do_both(servers, *both)
    columns = (vote_table.c.trace, trace_table.c.trace)
    copies = [
        each
        for column in columns
        for each in await servers[0].read(
            lambda c, column=column: list(c.execute(select(column)).scalars())  # type: ignore[misc]
        )
    ]
    assert [each for each in copies if each] == []


# ---------------------------------------------------------------- jobs, users


async def test_a_job_ends_in_one_way(servers: list[Database]) -> None:
    jobs = Jobs(servers[0])
    await jobs.create("add", {})
    job = await jobs.claim()
    assert job is not None
    _, refused = await do_both(
        servers,
        lambda db: Jobs(db).cancel(job.job_id),
        lambda db: Jobs(db).finish(job.job_id, {}, attempt=job.attempts),
    )
    assert isinstance(refused, Conflict)
    assert (await jobs.get(job.job_id)).state == "cancelled"


async def test_one_user_of_a_name_and_an_admin_is_left(servers: list[Database]) -> None:
    def add(name: str) -> Verb:
        return lambda db: Users(db).add_with_token(name)

    added, refused = await do_both(servers, add("ann"), add("ANN"))
    assert added[0].role == "admin"
    assert isinstance(refused, Conflict)
    await Users(servers[0]).add("bob", "admin")
    gone = await do_both(
        servers, lambda db: Users(db).remove("ann"), lambda db: Users(db).set_role("bob", "reader")
    )
    assert isinstance(gone[1], Conflict)
    assert [user.role for user in await Users(servers[0]).list()] == ["admin"]
    log = await Audit(servers[0]).verify()
    assert log.damage == []


async def test_administration_waits_for_no_other_writer(servers: list[Database]) -> None:
    """A token is revoked while a large document is being put, not when it is."""
    one, two = servers
    begun, go = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def put_slowly(_: Connection) -> bool:
        loop.call_soon_threadsafe(begun.set)
        return go.wait(20)

    putting = asyncio.ensure_future(one.write_beside(put_slowly))
    await begun.wait()
    source = Source(name="s", dialect="duckdb", location="upload:s.csv")
    try:
        _, made = await Users(two).add_with_token("ann")
        await Users(two).revoke_token(made.info.token_id)
        await Audit(two).record("backup", "home", "home")
        await Sources(two).put(source, source.location)
        await Sources(two).remove("s")
        assert not putting.done()
    finally:
        go.set()
    assert await putting


async def test_one_source_of_a_name(servers: list[Database]) -> None:
    def add(place: str) -> Verb:
        source = Source(name="s", dialect="duckdb", location=place)
        return lambda db: Sources(db).put(source, place, unless=place)

    _, refused = await do_both(servers, add("upload:a.csv"), add("upload:b.csv"))
    assert isinstance(refused, Conflict)


async def test_sign_ins_of_one_token_are_bounded(servers: list[Database]) -> None:
    _, made = await Users(servers[0]).add_with_token("ann")
    most = sign_in_module.SIGN_INS
    await asyncio.gather(
        *(Users(servers[n % 2]).sign_in(made.info.token_id) for n in range(most + 6))
    )
    rows = await servers[0].read(lambda c: c.execute(select(sign_ins.c.sha256)).all())
    assert len(rows) == most


async def test_writers_that_are_alone_wait_for_the_others(servers: list[Database]) -> None:
    """And the others for them; nobody is refused."""
    rows = np.zeros(1)

    async def count_up(db: Database) -> None:
        def add(_: Connection) -> None:
            before = rows[0]
            time.sleep(0.005)
            rows[0] = before + 1

        await db.write(add)

    async def beside(db: Database) -> None:
        await Sessions(db).create("qa")

    await asyncio.gather(
        *(verb(db) for _ in range(10) for db in servers for verb in (count_up, beside))
    )
    assert rows[0] == 20

"""Long-term memory: kept, merged, replaced, forgotten, and never mixed between users."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from citewell.errors import InvalidInput, NotFound
from citewell.models.base import Vector
from citewell.store.db import Database
from citewell.store.memory import DAY, Memories
from citewell.store.memory_judgement import Judgement, Kept, Told
from citewell.store.memory_rows import Memory
from citewell.store.traces import Traces
from citewell.types import Answer, Trace

DIM = 8


def direction(n: int) -> Vector:
    """Unit vectors that have nothing in common."""
    return np.asarray(np.eye(DIM, dtype=np.float32)[n])


def between(one: int, other: int, share: float) -> Vector:
    """`share` of one, the rest of the other."""
    mixed = share * direction(one) + (1 - share) * direction(other)
    return np.asarray(mixed / np.linalg.norm(mixed), np.float32)


def by_subject(told: Told, near: Sequence[tuple[Memory, float]]) -> Judgement:
    """The same words are the same; other words on the same subject say otherwise."""
    same = [m.memory_id for m, _ in near if (m.subject, m.text) == (told.subject, told.text)]
    others = [m.memory_id for m, _ in near if m.subject == told.subject and m.text != told.text]
    return Judgement(same[0] if same else None, tuple(others))


def new(told: Told, near: Sequence[tuple[Memory, float]]) -> Judgement:
    return Judgement()


@dataclass
class Clock:
    at: float = 1_000_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memories(db: Database, clock: Clock) -> Memories:
    return Memories(db, "one", 10, 100, clock)


async def keep(
    memories: Memories, user: str, subject: str, said: str, n: int = 0, **more: Any
) -> Memory:
    kept = await memories.keep(
        user, Told(more.pop("kind", "fact"), subject, said, **more), direction(n), by_subject
    )
    assert kept.memory is not None
    return kept.memory


def trace_of(trace_id: str) -> Trace:
    answer = Answer(
        answer="a", status="answered", confidence=1.0, agent="dual_loop", trace_id=trace_id
    )
    return Trace(
        trace_id=trace_id,
        agent="dual_loop",
        question="?",
        collection="c",
        session_id="",
        created_at=time.time(),
        steps=[],
        prompts=[],
        answer=answer,
    )


async def count(db: Database, table: str) -> int:
    return int(
        await db.read(lambda c: c.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())
    )


async def test_what_is_kept_comes_back(memories: Memories, clock: Clock) -> None:
    """All fields, odd characters made harmless, the id and the times ours."""
    told = Told(
        "question", "何时？\0\ud800", "一八五七年。", "docs", "direct", "tr_1", ("doc_1", "doc_2")
    )
    kept = await memories.keep("li", told, direction(1), new)
    assert kept.outcome == "new"
    assert kept.memory is not None
    found = await memories.get("li", kept.memory.memory_id)
    assert found == kept.memory
    assert found.memory_id.startswith("mem_")
    assert (found.subject, found.text, found.doc_ids) == (
        "何时？  ",
        "一八五七年。",
        ["doc_1", "doc_2"],
    )
    assert (found.trace_id, found.route, found.collection, found.seen) == (
        "tr_1",
        "direct",
        "docs",
        1,
    )
    assert (found.created_at, found.expires_at) == (clock.at, clock.at + 10 * DAY)


async def test_nearest_first_and_exact(memories: Memories) -> None:
    """Cosines in order; facts and questions together."""
    for n in range(4):
        await keep(memories, "li", f"s{n}", "t", n, kind="question" if n % 2 else "fact")
    near = await memories.find_near("li", between(2, 1, 0.7), 2)
    assert [memory.subject for memory, _ in near] == ["s2", "s1"]
    assert near[0][1] == pytest.approx(0.7 / np.hypot(0.7, 0.3), abs=1e-5)


async def test_the_same_again_is_one_memory(memories: Memories, clock: Clock) -> None:
    """Confirmed: counted, its day renewed, the newer proof kept."""
    first = await keep(memories, "li", "q", "a", kind="question", trace_id="tr_1")
    clock.at += 5 * DAY
    kept = await memories.keep(
        "li", Told("question", "q", "a", trace_id="tr_2", doc_ids=("d",)), direction(0), by_subject
    )
    assert kept.outcome == "merged"
    [only] = await memories.list("li")
    assert (only.memory_id, only.seen, only.trace_id, only.doc_ids) == (
        first.memory_id,
        2,
        "tr_2",
        ["d"],
    )
    assert (only.created_at, only.updated_at, only.expires_at) == (
        first.created_at,
        clock.at,
        clock.at + 10 * DAY,
    )


async def test_a_run_gone_on_with_counts_once(memories: Memories) -> None:
    """The same told by the same run is the same time; by another run, or by nobody known, it is one
    more.
    """
    for trace_id, seen in (("tr_1", 1), ("tr_1", 1), ("tr_2", 2), ("tr_2", 2), ("", 3), ("", 4)):
        assert (
            await keep(memories, "li", "q", "a", kind="question", trace_id=trace_id)
        ).seen == seen
    [only] = await memories.list("li")
    assert (only.seen, only.trace_id) == (4, "tr_2")


async def test_the_newer_wins_and_the_older_is_history(memories: Memories, clock: Clock) -> None:
    """Twice: the history of the newest has both, and none of them is found any more."""
    pro = await keep(memories, "li", "plan", "my plan is Pro")
    clock.at += 1
    basic = await keep(memories, "li", "plan", "my plan is Basic", 1)
    clock.at += 1
    kept = await memories.keep(
        "li", Told("fact", "plan", "my plan is Team"), direction(2), by_subject
    )
    assert kept.outcome == "replaced"
    assert [m.memory_id for m in kept.replaced] == [basic.memory_id]
    assert kept.memory is not None
    assert kept.replaced[0].replaced_by == kept.memory.memory_id
    assert [m.text for m in await memories.list("li")] == ["my plan is Team"]
    assert [m.memory_id for m in await memories.history("li", kept.memory.memory_id)] == [
        basic.memory_id,
        pro.memory_id,
    ]
    assert len(await memories.list("li", history=True)) == 3
    assert [m.text for m, _ in await memories.find_near("li", direction(0), 5)] == [
        "my plan is Team"
    ]


async def test_the_judge_sees_the_same_kind_and_subject_only_live(memories: Memories) -> None:
    """Those of the same subject come along from afar; other kinds, users and history do not."""
    await keep(memories, "li", "plan", "Pro", 0)
    now = await keep(memories, "li", "plan", "Basic", 1)
    await keep(memories, "li", "plan", "an answer", 1, kind="question")
    await keep(memories, "han", "plan", "Pro", 1)
    for n in range(30):
        await memories.keep("li", Told("fact", f"s{n}", "t"), direction(2), new)
    shown: list[tuple[str, float]] = []

    def look(told: Told, near: Sequence[tuple[Memory, float]]) -> Judgement:
        shown.extend((m.memory_id, cosine) for m, cosine in near)
        return Judgement(same_as="mem_of_nobody", replaces=("mem_neither",))

    kept = await memories.keep("li", Told("fact", "plan", "Team"), direction(2), look)
    assert kept.outcome == "new"  # what the judge was not shown it cannot name
    assert len(shown) == 21
    assert shown[-1] == (now.memory_id, 0.0)


async def test_what_rests_on_a_replaced_fact_is_not_found(memories: Memories) -> None:
    """It was settled for the old plan. It is still listed, and still known when the same is settled
    again.
    """
    plan = await keep(memories, "li", "plan", "Pro", 0)
    first = await keep(
        memories, "li", "q", "30 days", 1, kind="question", derived_from=(plan.memory_id,)
    )
    await keep(memories, "li", "q2", "so 30", 2, kind="question", derived_from=(first.memory_id,))
    assert {m.subject for m, _ in await memories.find_near("li", direction(1), 9)} == {
        "plan",
        "q",
        "q2",
    }
    await keep(memories, "li", "plan", "Basic", 0)
    assert {m.text for m, _ in await memories.find_near("li", direction(1), 9)} == {"Basic"}
    assert len(await memories.list("li")) == 3


async def test_nothing_rests_on_itself(memories: Memories) -> None:
    """An answer from memory that confirms or replaces that memory rests on what the memory rested
    on.
    """
    plan = await keep(memories, "li", "plan", "Pro", 0)
    first = await keep(
        memories, "li", "q", "30", 1, kind="question", derived_from=(plan.memory_id,)
    )
    again = await keep(
        memories, "li", "q", "30", 1, kind="question", derived_from=(first.memory_id,)
    )
    assert (again.memory_id, again.derived_from) == (first.memory_id, [plan.memory_id])
    other = await keep(
        memories, "li", "q", "14", 1, kind="question", derived_from=(first.memory_id,)
    )
    assert other.derived_from == [plan.memory_id]
    assert other.memory_id in {
        m.memory_id for m, _ in await memories.find_near("li", direction(1), 9)
    }


async def test_nothing_is_derived_from_what_is_forgotten(memories: Memories) -> None:
    """Forgotten while the question was answered; or another user's."""
    mine = await keep(memories, "li", "plan", "Pro")
    theirs = await keep(memories, "han", "plan", "Pro")
    await memories.forget("li", mine.memory_id)
    for gone in (mine, theirs):
        told = Told("question", "q", "30 days", derived_from=(gone.memory_id,))
        kept = await memories.keep("li", told, direction(1), new)
        assert (kept.outcome, kept.memory) == ("dropped", None)
    assert await memories.list("li") == []


async def test_expiry(memories: Memories, clock: Clock, db: Database) -> None:
    """Past its day it is not shown; the first write of anybody a day later deletes it, with its
    history.
    """
    await keep(memories, "li", "plan", "Pro", 0)
    old = await keep(memories, "li", "plan", "Basic", 0)
    clock.at += 8 * DAY
    await keep(memories, "li", "name", "Li", 1)
    clock.at += 2.5 * DAY
    await keep(memories, "han", "name", "Han")
    assert [m.subject for m in await memories.list("li", history=True)] == ["name"]
    assert [m.subject for m, _ in await memories.find_near("li", direction(0), 5)] == ["name"]
    with pytest.raises(NotFound):
        await memories.get("li", old.memory_id)
    assert await count(db, "memories") == 4
    clock.at += 0.5 * DAY
    await keep(memories, "han", "name", "Han")
    assert await count(db, "memories") == 2


async def test_history_is_not_shown_longer_than_what_replaced_it(
    db: Database, clock: Clock
) -> None:
    """Even where it was to be kept longer, because the setting was higher then."""
    await keep(Memories(db, "one", 100, 10, clock), "li", "plan", "Pro")
    short = Memories(db, "one", 1, 10, clock)
    await keep(short, "li", "plan", "Basic")
    clock.at += 1.5 * DAY
    await keep(short, "han", "x", "y")
    assert await short.list("li", history=True) == []


async def test_history_goes_with_what_replaced_it(db: Database, clock: Clock) -> None:
    """Even where it was to be kept longer, because the setting was higher then."""
    await keep(Memories(db, "one", 100, 10, clock), "li", "plan", "Pro")
    short = Memories(db, "one", 1, 10, clock)
    await keep(short, "li", "plan", "Basic")
    for _ in range(4):  # a clock that leaps by more than a day is not believed at once
        clock.at += 0.5 * DAY
        await keep(short, "han", "x", "y")
    assert await count(db, "memories") == 1


async def test_beyond_most_the_oldest_go(db: Database, clock: Clock) -> None:
    """History first, confirmed ones last; other users are not touched."""
    memories = Memories(db, "one", 10, 3, clock)
    await keep(memories, "han", "s", "t")
    for n in range(3):
        clock.at += 1
        await keep(memories, "li", f"s{n}", "t", n)
    clock.at += 1
    await keep(memories, "li", "s0", "t", 0)
    clock.at += 1
    await keep(memories, "li", "s3", "t", 3)
    assert [m.subject for m in await memories.list("li")] == ["s3", "s0", "s2"]
    clock.at += 1
    await keep(memories, "li", "s3", "other", 3)
    assert [m.text for m in await memories.list("li", history=True)] == ["other", "t", "t"]
    assert len(await memories.list("han")) == 1


async def test_editing_keeps_the_old_words(memories: Memories, clock: Clock) -> None:
    """The id stays; what was derived from the old words is derived from the history now, and is not
    found.
    """
    fact = await keep(memories, "li", "plan", "my plan is Pro", trace_id="tr_1")
    await keep(memories, "li", "q", "30 days", 1, kind="question", derived_from=(fact.memory_id,))
    clock.at += 1
    edited = await memories.edit("li", fact.memory_id, "my plan is Basic", direction(2), by_subject)
    assert (edited.memory_id, edited.text, edited.trace_id, edited.updated_at) == (
        fact.memory_id,
        "my plan is Basic",
        "",
        clock.at,
    )
    [old] = await memories.history("li", fact.memory_id)
    assert (old.text, old.trace_id, old.replaced_by) == ("my plan is Pro", "tr_1", fact.memory_id)
    [derived] = [m for m in await memories.list("li") if m.kind == "question"]
    assert derived.derived_from == [old.memory_id]
    assert [(m.text, round(c, 3)) for m, c in await memories.find_near("li", direction(2), 5)] == [
        ("my plan is Basic", 1.0)
    ]


async def test_editing_to_what_another_says(memories: Memories) -> None:
    """A fact that it now agrees with or contradicts becomes its history; the same words again
    change nothing.
    """
    plan = await keep(memories, "li", "plan", "Pro", 0)
    name = await keep(memories, "li", "name", "Li", 1)
    await memories.edit("li", name.memory_id, "Basic", direction(0), by_subject, subject="plan")
    assert [m.text for m in await memories.list("li")] == ["Basic"]
    assert {m.memory_id for m in await memories.history("li", name.memory_id)} >= {plan.memory_id}
    same = await memories.edit("li", name.memory_id, "Basic", direction(0), by_subject)
    assert len(await memories.history("li", name.memory_id)) == 2
    assert same.text == "Basic"


async def test_what_cannot_be_edited(memories: Memories) -> None:
    """A proved answer, and an older version; the hint says what to do."""
    answer = await keep(memories, "li", "q", "a", kind="question")
    old = await keep(memories, "li", "plan", "Pro", 1)
    current = await keep(memories, "li", "plan", "Basic", 1)
    with pytest.raises(InvalidInput, match="answer") as refused:
        await memories.edit("li", answer.memory_id, "b", direction(0), new)
    assert "again" in refused.value.hint
    with pytest.raises(InvalidInput, match="older") as refused:
        await memories.edit("li", old.memory_id, "Team", direction(0), new)
    assert current.memory_id in refused.value.hint


async def test_forgetting_takes_all_that_came_of_it(memories: Memories, db: Database) -> None:
    """History, what was derived from it or from its history, from those in turn; the traces that
    used any; no others.
    """
    traces = Traces(db, 30)
    for n in range(5):
        await traces.put(trace_of(f"tr_{n}"))
    pro = await keep(memories, "li", "plan", "Pro", 0)
    first = await keep(memories, "li", "q", "30", 1, kind="question", derived_from=(pro.memory_id,))
    second = await keep(
        memories, "li", "q2", "so 30", 2, kind="question", derived_from=(first.memory_id,)
    )
    basic = await keep(memories, "li", "plan", "Basic", 0)
    other = await keep(memories, "li", "name", "Li", 3)
    await memories.note_uses("li", "tr_0", [pro.memory_id, other.memory_id])
    await memories.note_uses("li", "tr_1", [second.memory_id])
    await memories.note_uses("li", "tr_2", [other.memory_id])
    await memories.note_uses("li", "tr_gone", [basic.memory_id])
    gone = await memories.forget("li", basic.memory_id)
    assert set(gone.memory_ids) == {m.memory_id for m in (pro, first, second, basic)}
    assert gone.traces == 2
    assert {t.trace_id for t in await traces.list()} == {"tr_2", "tr_3", "tr_4"}
    assert [m.memory_id for m in await memories.list("li", history=True)] == [other.memory_id]
    assert await count(db, "memory_uses") == 2  # of `other`


async def test_only_what_was_forgotten_is_missing(
    path: Path, db: Database, clock: Clock, database_url: str
) -> None:
    """Not what expired or made room while the answer was made; whichever process did it."""
    memories = Memories(db, "one", 10, 3, clock)
    old = await keep(memories, "li", "old", "t", 0)
    clock.at += 9.9 * DAY
    shed, forgotten, kept = [await keep(memories, "li", f"s{n}", "t", n) for n in range(3)]
    clock.at += 0.2 * DAY
    async with Database(path, database_url) as opened:
        other = Memories(opened, "one", 10, 3, clock)
        await other.forget("li", forgotten.memory_id)
        for n in range(3, 5):
            await keep(other, "li", f"s{n}", "t", n)
    assert [m.subject for m in await memories.list("li", history=True)] == ["s4", "s3", "s2"]
    ids = [each.memory_id for each in (old, shed, forgotten, kept)]
    await Traces(db, 30).put(trace_of("tr_1"))
    assert await memories.note_uses("li", "tr_1", ids) == [
        old.memory_id,
        shed.memory_id,
        kept.memory_id,
    ]
    assert await memories.note_uses("han", "tr_1", ids) == []
    assert (await memories.forget_all("li")).traces == 1
    assert await count(db, "memories") == 0


async def test_what_made_room_goes_for_good(db: Database, clock: Clock) -> None:
    """A day later, with its history; it is neither found nor counted meanwhile."""
    memories = Memories(db, "one", 10, 2, clock)
    for n in range(6):
        clock.at += 1
        await keep(memories, "li", f"s{n}", "t", n)
        assert len(await memories.list("li", history=True)) == min(2, n + 1)
    assert [m.subject for m, _ in await memories.find_near("li", direction(0), 9)] in (
        ["s5", "s4"],
        ["s4", "s5"],
    )
    assert await count(db, "memories") == 6
    clock.at += DAY
    await keep(memories, "han", "s", "t")
    assert await count(db, "memories") == 3


@pytest.mark.sqlite
async def test_forgetting_leaves_no_copy_on_the_disk(memories: Memories, path: Path) -> None:
    """Neither in the file nor in its log."""
    fact = await keep(memories, "li", "nickname", "xyzzyplugh")
    assert any(b"xyzzyplugh" in file.read_bytes() for file in path.parent.iterdir())
    await memories.forget("li", fact.memory_id)
    assert not any(b"xyzzyplugh" in file.read_bytes() for file in path.parent.iterdir())


async def test_a_cycle_of_memories_is_forgotten_too(memories: Memories) -> None:
    """One that was derived from another, and later confirmed by it."""
    one = await keep(memories, "li", "a", "1", 0, kind="question")
    two = await keep(memories, "li", "b", "2", 1, kind="question", derived_from=(one.memory_id,))
    await keep(memories, "li", "a", "1", 0, kind="question", derived_from=(two.memory_id,))
    assert set((await memories.forget("li", two.memory_id)).memory_ids) == {
        one.memory_id,
        two.memory_id,
    }


async def test_forgetting_an_unknown_one_forgets_none(memories: Memories) -> None:
    """One transaction: the known one beside it stays."""
    fact = await keep(memories, "li", "plan", "Pro")
    with pytest.raises(NotFound, match="mem_x"):
        await memories.forget("li", fact.memory_id, "mem_x")
    assert len(await memories.list("li")) == 1


async def test_users_do_not_mix(memories: Memories, db: Database) -> None:
    """Every verb, with the id of the other's memory: not found, nothing changed, nothing shown."""
    mine = await keep(memories, "li", "plan", "Pro")
    theirs = await keep(memories, "han", "plan", "Basic")
    await Traces(db, 30).put(trace_of("tr_1"))
    await memories.note_uses("han", "tr_1", [theirs.memory_id])
    assert [m.memory_id for m in await memories.list("li", history=True)] == [mine.memory_id]
    assert [m.memory_id for m, _ in await memories.find_near("li", direction(0), 9)] == [
        mine.memory_id
    ]
    crossing: list[Callable[[], Awaitable[object]]] = [
        lambda: memories.get("li", theirs.memory_id),
        lambda: memories.history("li", theirs.memory_id),
        lambda: memories.edit("li", theirs.memory_id, "Team", direction(0), by_subject),
        lambda: memories.forget("li", theirs.memory_id),
        lambda: memories.forget("li", mine.memory_id, theirs.memory_id),
    ]
    for cross in crossing:
        with pytest.raises(NotFound, match=theirs.memory_id):
            await cross()
    assert await memories.note_uses("li", "tr_2", [theirs.memory_id, mine.memory_id]) == [
        mine.memory_id
    ]
    await memories.put_vector("li", theirs, direction(5))
    assert (await memories.find_near("han", direction(0), 1))[0][1] == pytest.approx(1.0)
    assert await memories.list_stale("li", DIM + 1, 9) == [mine]
    gone = await memories.forget_all("li")
    assert (gone.memory_ids, gone.traces) == ([mine.memory_id], 0)
    assert await memories.list("han") == [theirs]
    assert len(await Traces(db, 30).list()) == 1


async def test_forgetting_all(memories: Memories, db: Database, clock: Clock) -> None:
    """What has expired but is still on the disk goes too, and with all of it its traces."""
    await Traces(db, 30).put(trace_of("tr_1"))
    fact = await keep(memories, "li", "plan", "Pro")
    await memories.note_uses("li", "tr_1", [fact.memory_id])
    clock.at += 20 * DAY
    assert await memories.list("li") == []
    assert (await memories.forget_all("li")).traces == 1
    assert (
        await count(db, "memories") + await count(db, "memory_uses") + await count(db, "traces")
        == 0
    )


async def test_a_change_of_embedder_loses_nothing(
    memories: Memories, db: Database, clock: Clock
) -> None:
    """What another one embedded is listed, judged by its subject, not found by meaning, and found
    again once embedded again.
    """
    plan = await keep(memories, "li", "plan", "Pro", 0)
    await keep(memories, "han", "plan", "Pro", 0)
    other = Memories(db, "two", 10, 100, clock)
    wide = np.eye(12, dtype=np.float32)
    assert [m.memory_id for m in await other.list("li")] == [plan.memory_id]
    assert await other.find_near("li", wide[0], 5) == []
    merged = await other.keep("li", Told("fact", "plan", "Pro"), wide[0], by_subject)
    assert (merged.outcome, merged.memory and merged.memory.memory_id) == ("merged", plan.memory_id)
    [waiting] = await other.list_stale("han", 12, 5)
    await other.put_vector("han", waiting, wide[3])
    assert await other.list_stale("han", 12, 5) == []
    assert [c for _, c in await other.find_near("han", wide[3], 5)] == [pytest.approx(1.0)]
    assert (
        await Memories(db, "two", 10, 100, clock).find_near(
            "han", np.eye(5, dtype=np.float32)[0], 5
        )
        == []
    )


async def test_a_vector_of_old_words_is_not_put(
    memories: Memories, db: Database, clock: Clock
) -> None:
    """The subject was changed while it was embedded again."""
    name = await keep(memories, "li", "name", "Li", 0)
    await memories.edit("li", name.memory_id, "Pro", direction(1), new, subject="plan")
    await memories.put_vector("li", name, direction(4))
    assert (await memories.find_near("li", direction(1), 1))[0][1] == pytest.approx(1.0)


async def test_a_vector_that_is_none(memories: Memories) -> None:
    with pytest.raises(InvalidInput, match="finite"):
        await memories.keep("li", Told("fact", "s", "t"), np.full(DIM, np.nan, np.float32), new)


async def test_a_failure_keeps_nothing(
    memories: Memories, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed or failing half-way, each verb leaves all as it was."""
    plan = await keep(memories, "li", "plan", "Pro", 0)
    derived = await keep(
        memories, "li", "q", "30", 1, kind="question", derived_from=(plan.memory_id,)
    )
    await memories.note_uses("li", "tr_1", [plan.memory_id])
    await Traces(db, 30).put(trace_of("tr_1"))

    def fail(*_: object) -> None:
        raise RuntimeError("killed")

    verbs: dict[str, Callable[[], Awaitable[object]]] = {
        "memory_links.expire_oldest": lambda: keep(memories, "li", "plan", "Basic", 0),
        "memory_rows.mark_replaced": lambda: memories.edit(
            "li", plan.memory_id, "Team", direction(2), by_subject
        ),
        "memory_links.delete_memories": lambda: memories.forget("li", plan.memory_id),
    }
    for last, verb in verbs.items():
        with monkeypatch.context() as patch:
            patch.setattr(f"citewell.store.{last}", fail)
            with pytest.raises(RuntimeError, match="killed"):
                await verb()
        assert await memories.list("li", history=True) == [derived, plan]
        assert len(await Traces(db, 30).list()) == 1


async def test_two_writers_at_once(
    memories: Memories, path: Path, clock: Clock, database_url: str
) -> None:
    """Two databases open on one file, the same and other words told at once: one live fact, the
    rest its history.
    """
    async with Database(path, database_url) as opened:
        both = [memories, Memories(opened, "one", 10, 100, clock)]
        said = [f"my plan is {n % 5}" for n in range(30)]
        kept: list[Kept] = await asyncio.gather(
            *[
                both[n % 2].keep("li", Told("fact", "plan", each), direction(0), by_subject)
                for n, each in enumerate(said)
            ]
        )
    assert all(each.memory for each in kept)
    [live] = await memories.list("li")
    rows = await memories.list("li", history=True)
    assert sum(each.seen for each in rows) == 30
    assert len(await memories.history("li", live.memory_id)) == len(rows) - 1

"""Traces and their days."""

from __future__ import annotations

import json
import math
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from citewell.errors import InvalidInput, NotFound
from citewell.store.db import Database
from citewell.store.traces import DAY, Traces, TraceSummary, Wanted
from citewell.types import Answer, Step, Trace


def trace(trace_id: str, created_at: float) -> Trace:
    steps = [
        Step(
            n=1,
            node="DocumentRetrievalNode",
            action="generate_answer",
            seconds=0.1,
            detail={"hits": [1, 2], "x": None},
        )
    ]
    answer = Answer(
        answer="14天。", status="answered", confidence=0.9, agent="qa", trace_id=trace_id
    )
    return Trace(
        trace_id=trace_id,
        agent="qa",
        question="退款\ud800？",
        collection="default",
        session_id="",
        created_at=created_at,
        steps=steps,
        prompts=[{"node": "x", "messages": []}],
        answer=answer,
    )


async def test_a_trace_comes_back_whole(db: Database) -> None:
    """Equal to what was put, the newest first in the list; put again, it is replaced."""
    traces = Traces(db, 30, lambda: 100.0)
    for n in range(3):
        await traces.put(trace(f"tr_{n}", float(n)))
    await traces.put(trace("tr_1", 1.0))
    assert await traces.get("tr_1") == trace("tr_1", 1.0).model_copy(
        update={"expires_at": 1.0 + 30 * DAY}
    )
    assert [t.trace_id for t in await traces.list(2)] == ["tr_2", "tr_1"]


async def test_traces_expire(db: Database) -> None:
    """Past its days a trace is not shown, though still in the file, and the next put deletes it."""
    now = [0.0]
    traces = Traces(db, 2, lambda: now[0])
    await traces.put(trace("tr_old", 0.0))
    now[0] = 2 * DAY
    with pytest.raises(NotFound, match="tr_old") as caught:
        await traces.get("tr_old")
    assert "2 days" in caught.value.hint
    assert await traces.list(10) == []
    for day in (0.9, 1.8, 2.0):  # a library in use: no day without a look at the clock
        now[0] = day * DAY
        await traces.put(trace("tr_new", 2 * DAY))
    assert await db.write(lambda c: (traces.expire_in(c, dry_run=True), traces.expire_in(c))) == (
        0,
        0,
    )
    rows = await db.read(lambda c: c.execute(text("SELECT trace_id FROM traces")).scalars().all())
    assert rows == ["tr_new"]
    now[0] = 4 * DAY
    assert await db.write(traces.expire_in) == 0
    now[0] = 5 * DAY
    assert await db.write(
        lambda c: (traces.expire_in(c, dry_run=True), traces.expire_in(c), traces.expire_in(c))
    ) == (1, 1, 0)


async def test_a_clock_that_leaps_forward_deletes_nothing(db: Database) -> None:
    """What it makes old is not shown, and is there again when the clock is right; one that goes on
    for a day is believed.
    """
    now = [1_000 * DAY]
    traces = Traces(db, 30, lambda: now[0])
    await traces.put(trace("tr_kept", now[0]))
    for leap in (400, 31, 90_000):
        now[0] += leap * DAY
        await traces.put(trace(f"tr_{leap}", now[0]))
        with pytest.raises(NotFound):
            await traces.get("tr_kept")
        now[0] -= leap * DAY
        await traces.put(trace("tr_other", now[0]))
        assert (await traces.get("tr_kept")).trace_id == "tr_kept"
    now[0] += 40 * DAY  # nobody asked for so long
    assert await db.write(traces.expire_in) == 0
    now[0] += 0.9 * DAY
    assert await db.write(traces.expire_in) == 0
    now[0] += 0.2 * DAY
    assert await db.write(traces.expire_in) == 2


async def test_a_trace_may_end_at_its_own_time(db: Database) -> None:
    """What it says itself counts, and is what it is told with."""
    now = [0.0]
    traces = Traces(db, 2, lambda: now[0])
    await traces.put(trace("tr_short", 0.0).model_copy(update={"expires_at": 50.0}))
    assert (await traces.get("tr_short")).expires_at == 50.0
    now[0] = 50.0
    with pytest.raises(NotFound):
        await traces.get("tr_short")


async def test_a_page_at_a_time(db: Database) -> None:
    """Each trace once, the newest first, also where several have the same moment and new ones come
    between two pages.
    """
    traces = Traces(db, 30, lambda: 100.0)
    for n in range(7):
        await traces.put(trace(f"tr_{n}", float(n // 3)))
    first = await traces.page(3, "local", Wanted())
    await traces.put(trace("tr_new", 50.0))
    second = await traces.page(3, "local", Wanted(before=first.next))
    third = await traces.page(3, "local", Wanted(before=second.next))
    found = [each.trace_id for each in (*first.traces, *second.traces, *third.traces)]
    assert found == ["tr_6", "tr_5", "tr_4", "tr_3", "tr_2", "tr_1", "tr_0"]
    assert third.next == ""
    assert (await traces.page(7, "local", Wanted(before=first.next))).next == ""
    for wrong in ("x", "1", "1~x", "nan~1", f"1~{2**63}", "~"):
        with pytest.raises(InvalidInput, match="no place in the list"):
            await traces.page(3, "local", Wanted(before=wrong))


async def test_traces_are_looked_for(db: Database) -> None:
    """By agent, status and words in whatever case; never another user's."""
    traces = Traces(db, 30, lambda: 100.0)
    other = trace("tr_data", 2.0)
    answer = other.answer.model_copy(update={"status": "refused"})
    await traces.put(trace("tr_qa", 1.0))
    await traces.put(
        other.model_copy(
            update={"agent": "data", "question": "ÜBER 100% _Sales_", "answer": answer}
        )
    )

    async def ids(**wanted: str) -> list[str]:
        return [each.trace_id for each in (await traces.page(10, "local", Wanted(**wanted))).traces]

    assert await ids() == ["tr_data", "tr_qa"]
    assert (
        await ids(agent="data")
        == await ids(status="refused")
        == await ids(words=" über 100%")
        == ["tr_data"]
    )
    assert await ids(words="退款") == await ids(words="TR_QA") == ["tr_qa"]
    assert await ids(words="_sales_", agent="qa") == await ids(words="100_") == []
    assert (await traces.page(10, "bob", Wanted())).traces == []


async def test_the_list_parses_no_whole_traces(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it shows is what each trace says, half characters and all; also of one that the database
    takes for no JSON.
    """
    traces = Traces(db, 30, lambda: 100.0)
    odd = trace("tr_odd", 2.5)
    odd.steps[0].detail["score"] = math.nan
    for each in (trace("tr_plain", 1.25), odd):
        await traces.put(each)
    read: list[int] = []

    def loads(words: str) -> Any:
        read.append(len(words))
        return json.loads(words)

    monkeypatch.setattr("citewell.store.traces.json", SimpleNamespace(loads=loads))
    monkeypatch.setattr("citewell.store.traces.load_json", loads)
    newest, oldest = (await traces.page(10, "local", Wanted())).traces
    assert newest == TraceSummary(
        trace_id="tr_odd",
        agent="qa",
        question="退款\ud800？",
        collection="default",
        session_id="",
        created_at=2.5,
        expires_at=2.5 + 30 * DAY,
        status="answered",
    )
    assert oldest == newest.model_copy(
        update={"trace_id": "tr_plain", "created_at": 1.25, "expires_at": 1.25 + 30 * DAY}
    )
    assert [size > 60 for size in read] == [True, db.dialect == "postgresql"]


async def test_whole_traces_are_parsed_in_the_databases_thread(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all others wait, nothing large is parsed."""
    traces = Traces(db, 30, lambda: 100.0)
    await traces.put(trace("tr_1", 1.0).model_copy(update={"session_id": "ses_1"}))
    where: list[int] = []

    def loads(words: str) -> Any:
        where.append(threading.get_ident())
        return json.loads(words)

    monkeypatch.setattr("citewell.store.traces.json", SimpleNamespace(loads=loads))
    monkeypatch.setattr("citewell.store.traces.load_json", loads)
    for read in (
        traces.get("tr_1"),
        traces.list(),
        traces.list_session("ses_1"),
        traces.page(5, "local", Wanted()),
    ):
        await read
    assert len(where) == 4
    assert threading.get_ident() not in where

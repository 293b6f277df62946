"""Sessions."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Connection, text

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.store.db import Database
from citewell.store.sessions import Sessions
from citewell.types import Message


def said(content: str) -> list[Message]:
    return [
        Message(role="user", content=content),
        Message(role="assistant", content=f"re: {content}"),
    ]


async def test_the_table_has_the_fields_of_the_spec(db: Database) -> None:
    """Spec 003, 3.4.2, in its order; the history is in session_data."""
    session = await Sessions(db).create("qa", title="标题")
    await Sessions(db).append(session.session_id, said("你好"))
    row = (await db.read(lambda c: c.execute(text("SELECT * FROM sessions")).mappings().all()))[0]
    assert [name for name in row if name != "rowid"] == [
        "session_id",
        "user_id",
        "title",
        "current_state",
        "session_data",
        "last_updated",
    ]
    assert '"chat_history"' in row["session_data"]
    assert session.session_id.startswith("ses_")
    assert (session.agent, session.user_id, session.title, session.messages) == (
        "qa",
        "local",
        "标题",
        0,
    )


async def test_history_is_kept_in_order(db: Database) -> None:
    """What was said comes back, odd characters included, and moves the session to the top of the
    list.
    """
    clock = itertools.count(1000.0)
    sessions = Sessions(db, lambda: next(clock))
    first, second = await sessions.create("qa"), await sessions.create("paper", user_id="local")
    await sessions.create("qa", user_id="other")
    assert [s.session_id for s in await sessions.list("local")] == [
        second.session_id,
        first.session_id,
    ]
    odd = said("\0 \ud800 😀 \u2028")
    await sessions.append(first.session_id, odd)
    await sessions.append(first.session_id, said("again"))
    assert await sessions.history(first.session_id) == [*odd, *said("again")]
    assert [s.session_id for s in await sessions.list("local")] == [
        first.session_id,
        second.session_id,
    ]
    assert (await sessions.get(first.session_id)).messages == 4


async def test_two_terminals_lose_nothing(db: Database, path: Path, database_url: str) -> None:
    """Two databases open on one file append at once: all is there, and what was said together
    stands together.
    """
    sessions = Sessions(db)
    session = (await sessions.create("qa")).session_id
    async with Database(path, database_url) as other:
        both = [sessions, Sessions(other)]
        await asyncio.gather(*[both[n % 2].append(session, said(str(n))) for n in range(40)])
    history = await sessions.history(session)
    assert sorted(m.content for m in history[::2]) == sorted(str(n) for n in range(40))
    assert [f"re: {m.content}" for m in history[::2]] == [m.content for m in history[1::2]]


async def test_data_and_state_change_together(db: Database) -> None:
    """Keys are merged, the state goes along, and the history is not set this way."""
    sessions = Sessions(db)
    session = (await sessions.create("paper", state="GUIDE_PENDING_REPORT")).session_id
    await sessions.set_data(session, {"report": {"n": 1}}, state="GUIDE_PENDING_PLAN")
    await sessions.set_data(session, {"plan": [1, 2]})
    data = await sessions.data(session)
    assert (data["agent"], data["report"], data["plan"]) == ("paper", {"n": 1}, [1, 2])
    assert (await sessions.get(session)).current_state == "GUIDE_PENDING_PLAN"
    with pytest.raises(InvalidInput, match="chat_history"):
        await sessions.set_data(session, {"chat_history": []})


async def test_rename_and_delete(db: Database) -> None:
    sessions = Sessions(db)
    session = (await sessions.create("qa")).session_id
    assert (await sessions.rename(session, "新")).title == "新"
    await sessions.delete(session)
    assert await sessions.list() == []


async def test_an_unknown_session(db: Database) -> None:
    """Every verb names it."""
    sessions = Sessions(db)
    for call in (
        sessions.get("ses_x"),
        sessions.history("ses_x"),
        sessions.data("ses_x"),
        sessions.rename("ses_x", "t"),
        sessions.delete("ses_x"),
        sessions.append("ses_x", said("?")),
        sessions.set_data("ses_x", {}),
    ):
        with pytest.raises(NotFound, match="ses_x"):
            await call


async def test_a_session_advances_in_one_piece(db: Database) -> None:
    sessions = Sessions(db)
    session = await sessions.create("paper", state="A")

    def keep(data: dict[str, Any]) -> None:
        data["report"] = len(data["chat_history"])

    def step(connection: Connection) -> None:
        sessions.advance_in(
            connection, session.session_id, before="A", after="B", said=said("q"), change=keep
        )

    await db.write(step)
    data = await sessions.data(session.session_id)
    assert (data["report"], len(data["chat_history"])) == (0, 2)
    assert (await sessions.get(session.session_id)).current_state == "B"


async def test_whoever_is_slower_does_not_advance_it_again(db: Database) -> None:
    """Two that make the same step: one makes it, the other is told; nothing of it is there
    twice.
    """
    sessions = Sessions(db)
    session = await sessions.create("paper", state="A")

    async def step() -> None:
        def step_in(connection: Connection) -> None:
            sessions.advance_in(
                connection,
                session.session_id,
                before="A",
                after="B",
                said=said("q"),
                change=lambda _: None,
            )

        await db.write(step_in)

    outcomes = await asyncio.gather(step(), step(), return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "NoneType"]
    assert len(await sessions.history(session.session_id)) == 2


async def test_a_change_that_fails_changes_nothing(db: Database) -> None:
    sessions = Sessions(db)
    session = await sessions.create("paper", state="A")

    def broken(data: dict[str, Any]) -> None:
        data["report"] = "half"
        raise Conflict("meanwhile")

    def step(connection: Connection) -> None:
        sessions.advance_in(
            connection, session.session_id, before="A", after="B", said=said("q"), change=broken
        )

    with pytest.raises(Conflict, match="meanwhile"):
        await db.write(step)
    assert (await sessions.get(session.session_id)).current_state == "A"
    assert "report" not in await sessions.data(session.session_id)


@pytest.mark.sqlite
async def test_the_list_reads_no_histories(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """It tells the same as each session by itself; also of one that SQLite takes for no JSON, and
    of one without data.
    """
    sessions = Sessions(db)
    plain, odd, bare = [(await sessions.create("qa", title=str(n))).session_id for n in range(3)]
    for each in (plain, odd):
        await sessions.append(each, said("word \ud800 " * 100))
    await sessions.set_data(odd, {"score": math.nan})
    change = text("UPDATE sessions SET session_data = NULL WHERE session_id = :s")
    await db.write(lambda connection: connection.execute(change, {"s": bare}) and None)
    singly = {each: await sessions.get(each) for each in (plain, odd, bare)}
    assert [(each.agent, each.messages) for each in singly.values()] == [
        ("qa", 2),
        ("qa", 2),
        ("", 0),
    ]
    read: list[int] = []

    def loads(words: str) -> Any:
        read.append(len(words))
        return json.loads(words)

    monkeypatch.setattr("citewell.store.session_rows.json", SimpleNamespace(loads=loads))
    assert {each.session_id: each for each in await sessions.list()} == singly
    assert [size > 100 for size in sorted(read)] == [False, False, True]

"""Conversations by what was said in them; pinned, archived."""

from __future__ import annotations

from citewell.store.db import Database
from citewell.store.sessions import Sessions
from citewell.types import Message


async def test_sessions_are_found_by_what_was_said(db: Database) -> None:
    """All words, whatever their case, in the title or in a message; of this user alone."""
    sessions = Sessions(db)
    one = await sessions.create("qa", title="The Mill")
    two = await sessions.create("qa", title="差旅")
    other = await sessions.create("qa", "ann", title="The mill")
    await sessions.append(one.session_id, [Message(role="user", content="Is it of OAK?")])
    await sessions.append(two.session_id, [Message(role="assistant", content="每天补贴100元")])
    assert await sessions.find("local", ["mill", "oak"]) == {one.session_id}
    assert await sessions.find("local", ["补贴"]) == {two.session_id}
    assert await sessions.find("local", ["mill", "补贴"]) == set()
    assert await sessions.find("ann", ["MILL"]) == {other.session_id}


async def test_marks_stay_and_the_place_in_the_list_too(db: Database) -> None:
    clock = iter(range(1, 100))
    sessions = Sessions(db, clock=lambda: float(next(clock)))
    one, two = await sessions.create("qa"), await sessions.create("qa")
    await sessions.append(one.session_id, [Message(role="user", content="a")])
    marked = await sessions.mark(two.session_id, pinned=True)
    assert (marked.pinned, marked.archived) == (True, False)
    assert (await sessions.mark(two.session_id, archived=True)).pinned
    listed = await sessions.list()
    assert [each.session_id for each in listed] == [one.session_id, two.session_id]
    assert [(each.pinned, each.archived) for each in listed] == [(False, False), (True, True)]
